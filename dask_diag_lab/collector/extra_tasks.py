"""Extras about tasks: what time went into, and which failed.

Must not visit single tasks, but those that erred last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dask.utils import key_split

from dask_diag_lab.collector.strings import cut, key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

MAX_EXCEPTION: Final = 2_000
MAX_TRACEBACK: Final = 8_000
"""Characters; the end of a traceback says most."""

MAX_WORKERS: Final = 100
"""Workers named of one failed task."""


def durations(scheduler: Scheduler) -> list[tuple[str, str, float]]:
    """Return prefix, action and seconds: `TaskPrefix.all_durations`."""
    rows = []
    for prefix in getattr(scheduler, "task_prefixes", {}).values():
        spent = getattr(prefix, "all_durations", None)
        if spent:
            name = key_text(prefix.name)
            rows += [(name, key_text(action), float(spent[action])) for action in spent]
    return rows


def errors(scheduler: Scheduler) -> list[tuple[Any, ...]]:
    """Return key, prefix, time, workers, exception and traceback of tasks that erred, newest last.

    Tasks that erred only because of another one are left out: that one says what happened.
    """
    rows = []
    for erred in reversed(getattr(scheduler, "erred_tasks", ())):
        if not (erred.exception_text or erred.erred_on):
            continue
        ts = scheduler.tasks.get(erred.key)
        prefix = ts.group.prefix.name if ts is not None else key_split(erred.key)
        text = erred.exception_text
        if not text:  # the engine gives this one no text
            text = "KilledWorker: the worker died while it ran the task, once too often"
        workers = tuple(sorted(map(str, erred.erred_on))[:MAX_WORKERS])
        rows.append(
            (
                key_text(erred.key),
                key_text(prefix),
                float(erred.timestamp),
                workers,
                cut(_plain(text), MAX_EXCEPTION),
                _tail(_plain(erred.traceback_text or "")),
            )
        )
    return rows


def _plain(text: object) -> str:
    """Return text that can be encoded whatever a user's exception says."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _tail(text: str) -> str:
    if len(text) <= MAX_TRACEBACK:
        return text
    return f"… ({len(text)} characters)\n{text[-MAX_TRACEBACK:]}"
