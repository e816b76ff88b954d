"""``performance_report``: one HTML file of what ran in a block, made from the store.

Must not touch the store but through `Diagnostics`, and does its work in the thread of its caller:
the scheduler is asked what a live plot asks.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np
from dask.utils import format_bytes

from dask_diag_lab.capture import task_rows
from dask_diag_lab.capture.task_rows import TIMEOUT_S, Position, TaskRows
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.transport.link import LinkLostError
from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from types import FrameType

    from dask_diag_lab.server.saved import Wanted
    from dask_diag_lab.session import Diagnostics
    from dask_diag_lab.store import Store

T = TypeVar("T")
TITLE: Final = "Dask Performance Report"
NO_CODE: Final = "<Code not available>"
MAX_PREFIXES: Final = 50
"""Rows of the summary, those with most time first."""


class performance_report:  # noqa: N801  # `distributed`'s name for it
    """Write one HTML file of what ran in a block: ``with performance_report("report.html"): …``.

    Takes what `distributed`'s context manager of this name takes, and needs no dashboard. The file
    has everything in it and opens without network: a summary with the calling code, the plots as
    they are live (task stream, progress, memory, profiles, transfers and bandwidths, metrics, the
    scheduler's process), the scheduler's log, versions and settings without secrets. It is written
    also where the block raises. With an asynchronous client it is used with ``async with``.

    Parameters
    ----------
    filename : str
        A path, or a URL that ``fsspec`` can write; an ending like ``.gz`` compresses.
    stacklevel : int
        Whose code is shown: 1 is the function that has the block, 2 its caller.
    mode : str, optional
        Taken for compatibility: everything is in the file, as with ``"inline"``.
    storage_options : dict, optional
        For ``fsspec.open``.

    Raises
    ------
    ValueError
        There is no client.
    RuntimeError
        At the begin of the block: its scheduler cannot be reached. At the end: the client was
        closed in the block.
    OSError
        The file cannot be written. Where the block itself raised, a warning says so instead.
    """

    _diagnostics: Diagnostics
    _begin: Position
    _start_s: float

    def __init__(
        self,
        filename: str = "dask-report.html",
        stacklevel: int = 1,
        mode: str | None = None,  # noqa: ARG002  # see above
        storage_options: dict[str, Any] | None = None,  # fsspec's own
    ) -> None:
        self.filename = filename
        self.storage_options = storage_options or {}
        self._depth = max(stacklevel, 1)
        self._code = NO_CODE

    def __enter__(self) -> Self:
        self._start(sys._getframe(self._depth))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._finish(has_failed=kind is not None)

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._start, sys._getframe(self._depth))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await asyncio.to_thread(self._finish, has_failed=kind is not None)

    def _start(self, caller: FrameType) -> None:
        from distributed import get_client

        # What is missing for the file is said before the block, not after an hour in it.
        import dask_diag_lab.capture.task_stream_figure  # noqa: F401
        from dask_diag_lab.session import attach

        self._code = _source_of(caller)
        self._diagnostics = attach(get_client())
        try:
            self._begin, self._start_s = self._ask(_moment, is_fresh=True)
        except (LinkLostError, TimeoutError) as error:
            raise RuntimeError(f"No report can be made: {error}.") from error

    def _finish(self, *, has_failed: bool) -> None:
        try:
            self._write(self._page())
        except Exception as error:
            if not has_failed:
                raise
            message = f"The performance report {self.filename} could not be written: {error}"
            warnings.warn(message, RuntimeWarning, stacklevel=3)

    def _write(self, page: str) -> None:
        import fsspec

        to = {"mode": "w", "encoding": "utf-8", "compression": "infer"}
        with fsspec.open(self.filename, **to, **self.storage_options) as file:
            file.write(page)

    def _page(self) -> str:
        from dask_diag_lab.capture.task_stream_figure import store_of, stream_panel
        from dask_diag_lab.server.saved import Panel, fill, saved_page

        note = ""
        try:
            end, stop_s = self._ask(_moment, is_fresh=True)
        except (LinkLostError, TimeoutError) as error:
            end, stop_s = self._ask(_moment)
            note = f"The end is missing: {error}."
        rows = task_rows.between(self._ask, self._begin.cursor, end.cursor)
        workers, _ = self._ask(task_rows.surroundings)
        live, facts = self._diagnostics.saved(_wanted(self._start_s, stop_s)).result(TIMEOUT_S)
        if lost := end.cursor - self._begin.cursor - len(rows) + end.dropped - self._begin.dropped:
            note += f" {fmt.plural(lost, 'action')} of this time were lost: buffers were full."
        prefixes, more = _prefixes(rows)
        summary = fill(
            "summary.html",
            note=note,
            facts=_facts(rows, self._start_s, stop_s),
            prefixes=prefixes,
            more=more,
            code=self._code,
            **facts,
        )
        stream = stream_panel(store_of(rows, workers, stop_s))
        system = Panel("Logs and Settings", fill("system.html", **facts))
        panels = [Panel("Summary", summary), stream, *live, system]
        return saved_page(TITLE, fmt.clock(self._start_s), panels)

    def _ask(self, function: Callable[[Store], T], *, is_fresh: bool = False) -> T:
        return self._diagnostics.submit(function, is_fresh=is_fresh).result(TIMEOUT_S)


def _moment(store: Store) -> tuple[Position, float]:
    return task_rows.position(store), store.time


def _wanted(start_s: float, stop_s: float) -> list[Wanted]:
    """Return the live plots of a report, in the order of its tabs."""
    from dask_diag_lab.server.saved import Wanted

    period = {"start": f"{start_s:.3f}", "stop": f"{stop_s:.3f}"}
    return [
        Wanted("progress", {}),
        Wanted("workers-memory-timeseries", period, "Memory"),
        Wanted("workers-cpu-timeseries", period, "CPU"),
        Wanted("costs", {}),
        Wanted("profile", period),
        Wanted("profile-server", {"source": "worker-loops", **period}, "Worker Loops"),
        Wanted("profile-server", {"source": "scheduler-loop", **period}, "Scheduler Loop"),
        Wanted("transfers", {}),
        Wanted("bandwidth-workers", {}),
        Wanted("bandwidth-types", {}),
        Wanted("fine-performance-metrics", {}, "Fine Metrics"),
        Wanted("exceptions", {}),
        Wanted("scheduler-system", {}, "Scheduler"),
    ]


def _source_of(frame: FrameType) -> str:
    """Return the code of the function, cell or file that a frame runs."""
    try:
        return inspect.getsource(frame)
    except (OSError, TypeError):  # as typed at a prompt
        return NO_CODE


def _facts(rows: TaskRows, start_s: float, stop_s: float) -> list[tuple[str, str]]:
    """Return names and values of what ran, as a table of the summary has them."""
    columns = rows.columns
    spent = columns["stop"] - columns["start"]
    is_last = np.diff(columns["task"], append=-1) != 0
    failed = int((is_last & (columns["outcome"] != Outcome.OK)).sum())
    times = [
        (f"Time in {name}", fmt.duration(float(spent[columns["kind"] == kind].sum())))
        for kind, name in zip(Kind, task_rows.ACTIONS, strict=True)
        if (columns["kind"] == kind).any()
    ]
    return [
        ("Began", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(start_s))),
        ("Duration", fmt.duration(stop_s - start_s)),
        ("Tasks", fmt.count(int(is_last.sum()))),
        ("Failed", fmt.count(failed) if failed else ""),
        *times,
    ]


def _prefixes(rows: TaskRows) -> tuple[list[tuple[str, ...]], str]:
    """Return what each function took, a header first, and how many are left out in words."""
    columns = rows.columns
    ids, of = np.unique(columns["prefix"], return_inverse=True)
    is_last = np.diff(columns["task"], append=-1) != 0

    def per_prefix(weights: Any) -> Any:  # columns
        return np.bincount(of, weights, len(ids))

    spent = columns["stop"] - columns["start"]
    compute, transfer = (
        per_prefix(np.where(columns["kind"] == kind, spent, 0.0))
        for kind in (Kind.COMPUTE, Kind.TRANSFER)
    )
    n = per_prefix(is_last)
    failed = per_prefix(is_last & (columns["outcome"] != Outcome.OK))
    nbytes = per_prefix(np.where(is_last, np.maximum(columns["nbytes"], 0), 0))
    order = np.argsort(-compute - transfer, kind="stable")
    table = [
        (
            rows.texts[int(ids[at])],
            fmt.count(n[at]),
            fmt.count(failed[at]),
            fmt.duration(compute[at]),
            fmt.duration(compute[at] / max(n[at], 1)),
            fmt.duration(transfer[at]),
            format_bytes(int(nbytes[at])),
        )
        for at in order[:MAX_PREFIXES].tolist()
    ]
    if not table:
        return [], ""
    header = ("Function", "Tasks", "Failed", "Computing", "A task", "Transfers", "Results")
    left = len(ids) - MAX_PREFIXES
    return [header, *table], fmt.plural(left, "more function") if left > 0 else ""
