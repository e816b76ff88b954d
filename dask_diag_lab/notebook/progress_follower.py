"""Follows a computation from a thread of its own, so that a cell that runs does not stop it.

Must not draw: whoever wants to see gets reports, in that thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import sys
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import cloudpickle
from dask.utils import key_split

from dask_diag_lab.notebook import progress_counter
from dask_diag_lab.notebook.progress_report import GroupCount, Report
from dask_diag_lab.transport.link import Link, LinkLostError, RefusedError

if TYPE_CHECKING:
    from distributed import Client

logger = logging.getLogger(__name__)

CALL_TIMEOUT_S: Final = 60.0
"""A scheduler that takes in a large graph is silent for long."""
CONNECT_TIMEOUT_S: Final = 10.0
LEAVE_TIMEOUT_S: Final = 2.0
LOST_S: Final = 1.0
"""Keys that nobody waits for and that the scheduler does not know so long are lost."""

GroupBy = str | Callable[[Any], Hashable] | None
"""What `progress_counter.Counter` takes."""


class Follower:
    """Counts the tasks behind some keys until all have ended or the client is gone.

    Parameters
    ----------
    client : distributed.Client
        Is not kept alive.
    keys : sequence of Key
    group_by : 'prefix', 'spans', None or callable
    is_complete : bool
        Count tasks that were done at the beginning too.
    interval_s : float
    draw : callable
        Takes each `Report`, in the thread of this follower; the last one has ``is_last``.

    Raises
    ------
    pickle.PicklingError, TypeError
        For a ``group_by`` that cannot be sent to a scheduler.
    """

    def __init__(
        self,
        client: Client | None,
        keys: Sequence[Any],  # any hashable
        *,
        group_by: GroupBy,
        is_complete: bool,
        interval_s: float,
        draw: Callable[[Report], None],
    ) -> None:
        self._client = (lambda: None) if client is None else weakref.ref(client)
        self._keys = keys
        self._group_by = group_by
        self._interval_s = interval_s
        self._draw = draw
        self._name = f"dask-diag-lab-progress-{uuid.uuid4().hex}"
        self._counter = _by_value(
            progress_counter.Counter(self._name, keys, group_by, is_complete=is_complete)
        )
        self._began = time.perf_counter()
        self._waiting_since = time.monotonic()
        self._stop = threading.Event()
        # IPython finds the cell that output belongs to in the context.
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._run,), name="dask-diag-lab-progress", daemon=True
        )

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Count no more; returns at once, harmless twice."""
        self._stop.set()

    def join(self, timeout_s: float) -> bool:
        """Wait for the end; return whether it has come."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            asyncio.run(self._follow())
        except Exception as error:
            logger.exception("Progress is not followed any more; the computation goes on")
            self._tell(Report(is_last=True, note=f"Progress cannot be followed: {error!r}."))

    async def _follow(self) -> None:
        client = self._client()
        if client is None or client.scheduler is None or not self._keys:
            self._tell(Report(is_counted=True, is_last=True))
            return
        address, args = str(client.scheduler.addr), dict(client.connection_args)
        del client
        try:
            link = await Link.open(address, args, timeout_s=CONNECT_TIMEOUT_S)
        except LinkLostError as error:
            self._tell(Report(is_last=True, note=f"The scheduler cannot be reached: {error}."))
            return
        try:
            await self._pull(link)
        except LinkLostError as error:
            self._tell(Report(is_last=True, note=f"The scheduler is gone: {error}."))
        except RefusedError as error:
            await self._watch_futures(
                f"Only the given futures are counted, not what they need: {error}."
            )
        finally:
            await link.close()

    async def _pull(self, link: Link) -> None:
        """Put a counter there, ask it until all is done, and take it away."""
        await self._register(link)
        try:
            last = await self._last_report(link)
        finally:
            with contextlib.suppress(LinkLostError, RefusedError):
                await link.call(self._name, is_last=True, timeout_s=LEAVE_TIMEOUT_S)
        if last is not None:
            self._tell(last)

    async def _last_report(self, link: Link) -> Report | None:
        """Tell each report but the last, and return that; None when stopped before."""
        while not self._stop.is_set():
            answer = await link.call(self._name, timeout_s=CALL_TIMEOUT_S)
            if answer is None:  # this process was held up for longer than the counter waits
                await self._register(link)
                continue
            report = self._report(answer)
            if not report.is_last and (ended := self._end_of_client()):
                report = replace(report, is_last=True, note=ended)
            if report.is_last:
                return report
            self._tell(report)
            await asyncio.sleep(self._interval_s)
        return None

    async def _register(self, link: Link) -> None:
        if link.python and link.python != sys.version_info[:2]:
            raise RefusedError("the scheduler runs another version of Python")
        await link.call(
            "register_scheduler_plugin",
            plugin=self._counter,
            idempotent=True,
            timeout_s=CALL_TIMEOUT_S,
        )

    def _report(self, answer: Mapping[str, Any]) -> Report:  # what `Counter.report` returns
        if self._is_lost(answer["missing"]):
            return self._report_futures("")
        key, text = answer["failure"]
        groups = tuple(GroupCount(*group) for group in answer["groups"])
        is_done = answer["is_counted"] and not any(group.pending for group in groups)
        error = answer["error"]
        return Report(
            groups,
            is_counted=answer["is_counted"],
            is_last=bool(is_done or error),
            failure=f"{key}: {text}" if key else "",
            note=f"Tasks cannot be counted: {error}." if error else "",
        )

    def _is_lost(self, n_missing: int) -> bool:
        """Tell whether the scheduler will never hear of some keys, as after a broken graph."""
        if not n_missing or self._is_any_pending():
            self._waiting_since = time.monotonic()
        return time.monotonic() - self._waiting_since > LOST_S

    def _tell(self, report: Report) -> None:
        elapsed_s = time.perf_counter() - self._began
        self._draw(replace(report, elapsed_s=elapsed_s))

    def _end_of_client(self) -> str:
        client = self._client()
        is_gone = client is None or client.status in {"closing", "closed"}
        return "The client was closed." if is_gone else ""

    # Where the scheduler lets nobody count: what the client itself knows of its futures.

    def _states(self) -> list[Any]:  # the engine's FutureState, or None where it was let go
        client = self._client()
        futures = {} if client is None else client.futures
        return [futures.get(key) for key in self._keys]

    def _is_any_pending(self) -> bool:
        return any(state is not None and state.status == "pending" for state in self._states())

    async def _watch_futures(self, note: str) -> None:
        while not self._stop.is_set():
            report = self._report_futures(note)
            self._tell(report)
            if report.is_last:
                return
            await asyncio.sleep(self._interval_s)

    def _report_futures(self, note: str) -> Report:
        groups: dict[str, list[int]] = {}
        failure = ""
        for key, state in zip(self._keys, self._states(), strict=True):
            counts = groups.setdefault(self._label(key), [0] * progress_counter.N_CLASSES)
            status = "cancelled" if state is None else state.status
            counts[_CLASS_OF_STATUS.get(status, progress_counter.SKIPPED)] += 1
            if status == "error" and not failure:
                failure = f"{key}: {state.exception!r}"
        is_last = not any(counts[progress_counter.PENDING] for counts in groups.values())
        counted = tuple(GroupCount(label, *counts) for label, counts in groups.items())
        return Report(counted, is_counted=True, is_last=is_last, failure=failure, note=note)

    def _label(self, key: Any) -> str:  # any hashable
        if callable(self._group_by):
            return str(self._group_by(key))
        return str(key_split(key)) if self._group_by == "prefix" else ""


_CLASS_OF_STATUS: Final = {
    "pending": progress_counter.PENDING,
    "lost": progress_counter.PENDING,
    "finished": progress_counter.DONE,
    "error": progress_counter.FAILED,
}


_REGISTRY: Final = threading.Lock()
"""cloudpickle's registry of modules sent by value is shared by all threads."""


def _by_value(counter: progress_counter.Counter) -> bytes:
    """Return ``counter`` so that a scheduler without this package can load it."""
    with _REGISTRY:
        cloudpickle.register_pickle_by_value(progress_counter)
        try:
            return bytes(cloudpickle.dumps(counter))
        finally:
            cloudpickle.unregister_pickle_by_value(progress_counter)
