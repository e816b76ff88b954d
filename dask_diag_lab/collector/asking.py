"""Answers about one task from what the scheduler knows, and of workers by its `broadcast`.

Reads only, bounded, and never raises into the scheduler.
"""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgpack
from distributed.protocol.serialize import Serialize, Serialized

from dask_diag_lab.collector.wire import MAX_TEXT, cut, encodable, key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState

MAX_SEARCHED: Final = 20_000
"""Tasks compared one by one for a key that cannot be looked up: about 10 ms."""

MAX_NEIGHBOURS: Final = 500
MAX_STORY: Final = 200
MAX_TRACEBACK: Final = 20_000
MAX_WORKERS: Final = 1_000
"""Addresses that have a task's result; scattered data may be everywhere."""

MAX_ASKED: Final = 1_000
"""Workers of one question."""

LONGEST_S: Final = 60.0
"""Wait for one worker."""

MAX_ANSWER_BYTES: Final = 16_000_000
"""Of one worker; a profile of 50 000 nodes has as much."""

AT_ONCE: Final = 32
"""Workers that are asked side by side: those that are busy take half a second to answer."""


def ask_handler(scheduler: Scheduler) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Return the RPC handler that has some workers answer one ``message``.

    It answers ``{"answers": {address: answer}, "missing": {address: reason}}`` within
    ``worker_timeout_s`` for each `AT_ONCE` workers. Each answer is msgpack of its own: one that
    cannot be sent, or cannot be read, costs no other. What a worker pickled stays as it is.

    Raises
    ------
    ValueError
        To whom asked, for what is no question.
    """

    async def dask_diag_lab_ask(
        workers: Any,
        message: Any,
        worker_timeout_s: Any,  # whatever a client sent
    ) -> dict[str, Any]:
        if not (
            isinstance(workers, (list, tuple))
            and len(workers) <= MAX_ASKED
            and all(type(worker) is str for worker in workers)
            and isinstance(message, Mapping)
            and type(worker_timeout_s) in {int, float}
            and 0 < worker_timeout_s <= LONGEST_S
        ):
            raise ValueError("what was asked names no workers, message and seconds")
        answers: dict[str, bytes] = {}
        missing: dict[str, str] = {}
        places = asyncio.Semaphore(AT_ONCE)

        async def ask(worker: str) -> None:
            async with places:
                try:
                    broadcast = scheduler.broadcast(msg=dict(message), workers=[worker])
                    found = await asyncio.wait_for(broadcast, worker_timeout_s)
                    answers[worker] = _packed(found[worker])
                except TimeoutError:
                    missing[worker] = f"no answer in {worker_timeout_s:.0f} s"
                except OSError:
                    missing[worker] = "the worker is gone or cannot be reached"
                except Exception as error:  # noqa: BLE001 - whatever its handler raised
                    missing[worker] = f"{type(error).__name__}: {error!s:.300}"

        await asyncio.gather(*map(ask, workers))
        return {"answers": answers, "missing": missing}

    return dask_diag_lab_ask


def _packed(answer: Any) -> bytes:  # what a worker sent
    """Return an answer as msgpack, which takes no objects, nor what is nested deeply."""
    packed: bytes = msgpack.packb(answer, default=_frames)
    if len(packed) > MAX_ANSWER_BYTES:
        raise ValueError(f"its answer has {len(packed)} bytes, more than {MAX_ANSWER_BYTES}")
    return packed


def _frames(value: Any) -> bytes:  # what a worker serialized, in this process or another
    if isinstance(value, Serialized) and not any(value.header.get("compression") or ()):
        return b"".join(value.frames)
    if isinstance(value, Serialize) and isinstance(value.data, bytes):
        return value.data
    raise TypeError(f"its answer has a {type(value).__name__} in it")


def task_handler(scheduler: Scheduler) -> Callable[..., dict[str, Any]]:
    """Return the RPC handler that answers ``key``, a key as text, with ``{"task": …}``.

    None stands for a task that is not known; an error of its own comes as ``{"error": text}``.
    """

    def dask_diag_lab_task(key: str) -> dict[str, Any]:
        try:
            ts = _find(scheduler, key)
            return {"task": None if ts is None else _describe_task(scheduler, ts)}
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            return {"error": f"{type(error).__name__}: {error}"[:1000]}

    return dask_diag_lab_task


def _find(scheduler: Scheduler, text: str) -> TaskState | None:
    """Return the task that is written so: as text, as a literal, or cut on its way to a screen."""
    tasks = scheduler.tasks
    if text in tasks:
        return tasks[text]
    if len(text) <= MAX_TEXT:  # what is longer was cut, and could take the parser long
        # No literal after all, or not one that can be a key.
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError, KeyError):
            return tasks[ast.literal_eval(text)]
    newest = islice(reversed(tasks.items()), MAX_SEARCHED)
    return next((ts for key, ts in newest if key_text(key) == text), None)


def _describe_task(scheduler: Scheduler, ts: TaskState) -> dict[str, Any]:
    sets = {"dependencies": ts.dependencies, "dependents": ts.dependents}
    who_has = ts.who_has or ()
    blame = ts.exception_blame
    return {
        "key": key_text(ts.key),
        "prefix": key_text(ts.prefix.name),
        "group": key_text(ts.group.name),
        "state": ts.state,
        "priority": str(ts.priority or ""),
        "nbytes": ts.nbytes,
        "type": cut(ts.type or ""),
        "worker": ts.processing_on.address if ts.processing_on else "",
        "who_has": [ws.address for ws in islice(who_has, MAX_WORKERS)],
        **{name: _neighbours(members) for name, members in sets.items()},
        "counts": {name: len(members) for name, members in (*sets.items(), ("who_has", who_has))},
        "retries": ts.retries,
        "suspicious": ts.suspicious,
        "annotations": cut(encodable(ts.annotations or "")),
        "exception": cut(encodable(ts.exception_text or ""), MAX_TRACEBACK),
        "traceback": cut(encodable(ts.traceback_text or ""), MAX_TRACEBACK),
        "blame": key_text(blame.key) if blame is not None and blame is not ts else "",
        "erred_on": sorted(ts.erred_on or ())[:MAX_WORKERS],
        "story": _story(scheduler, ts),
    }


def _neighbours(members: Iterable[TaskState]) -> list[dict[str, str]]:
    return [{"key": key_text(t.key), "state": t.state} for t in islice(members, MAX_NEIGHBOURS)]


def _story(scheduler: Scheduler, ts: TaskState) -> list[dict[str, Any]]:
    """Return what is left of the task's transitions: the log is one for the whole cluster."""
    entries = [entry for entry in scheduler.transition_log if entry[0] == ts.key]
    return [
        {
            "time": entry[5],
            "start": entry[1],
            "finish": entry[2],
            "stimulus": cut(str(entry[4])),
        }
        for entry in entries[-MAX_STORY:]
    ]
