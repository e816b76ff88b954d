"""What failed tasks raised, kept beyond the engine's own list, which a restart empties.

Must not visit single tasks: the engine's list has the error of the one that has just erred.
"""

from __future__ import annotations

from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from dask.utils import key_split

from dask_diag_lab.collector.strings import cut, key_text

if TYPE_CHECKING:
    from distributed.scheduler import ErredTask, Scheduler

MAX_ERRORS: Final = 100
"""Different errors, so many for the engine's own list has 100 tasks."""
MAX_TASKS: Final = 10
"""Tasks of one error that are listed; of more the last ones, and how many there were."""

MAX_EXCEPTION: Final = 2_000
MAX_TRACEBACK: Final = 8_000
"""Characters; the end of a traceback says most."""

MAX_WORKERS: Final = 100
"""Workers named of one failed task."""

KILLED: Final = "KilledWorker: the worker died while it ran the task, once too often"
"""The engine gives this one no text."""

Row = tuple[Any, ...]  # columns differ in type: key, prefix, time, workers, exception, traceback


class _Error:
    """One error of one prefix."""

    __slots__ = ("n_tasks", "rows")

    def __init__(self) -> None:
        self.n_tasks = 0
        self.rows: deque[Row] = deque(maxlen=MAX_TASKS)


class Errors:
    """Errors since the start, and before that those that the engine still lists.

    Tasks that erred only because of another one are left out: that one says what happened.

    Attributes
    ----------
    n_dropped : int
        Tasks that failed with errors of which nothing is kept any more.
    """

    def __init__(self, scheduler: Scheduler, limit: int = MAX_ERRORS) -> None:
        self._scheduler = scheduler
        self._limit = limit
        self._errors: dict[tuple[str, str], _Error] = {}  # the one that came last is the last
        self.n_dropped = 0
        for erred in reversed(scheduler.erred_tasks):
            ts = scheduler.tasks.get(erred.key)
            self._add(erred, ts.group.prefix.name if ts is not None else key_split(erred.key))

    def note(self, key: Any, prefix: str) -> None:  # any hashable
        """Take over what the engine has just listed of a task that erred."""
        newest = self._scheduler.erred_tasks
        if newest and newest[0].key == key:  # its list may have been set to length 0
            self._add(newest[0], prefix)

    def rows(self) -> list[Row]:
        """Return rows of the extra ``errors``, newest last."""
        rows = [(*row, error.n_tasks) for error in self._errors.values() for row in error.rows]
        return sorted(rows, key=itemgetter(2))

    def clear(self) -> None:
        """Let all errors go."""
        self._errors.clear()

    def _add(self, erred: ErredTask, prefix: str) -> None:
        if not (erred.exception_text or erred.erred_on):
            return
        text = cut(_plain(erred.exception_text or KILLED), MAX_EXCEPTION)
        name = prefix, text
        error = self._errors[name] = self._errors.pop(name) if name in self._errors else _Error()
        error.n_tasks += 1
        error.rows.append(
            (
                key_text(erred.key),
                key_text(prefix),
                float(erred.timestamp),
                tuple(sorted(map(str, erred.erred_on))[:MAX_WORKERS]),
                text,
                _tail(_plain(erred.traceback_text or "")),
            )
        )
        if len(self._errors) > self._limit:
            self.n_dropped += self._errors.pop(next(iter(self._errors))).n_tasks


def _plain(text: object) -> str:
    """Return text that can be encoded whatever a user's exception says."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _tail(text: str) -> str:
    if len(text) <= MAX_TRACEBACK:
        return text
    return f"… ({len(text)} characters)\n{text[-MAX_TRACEBACK:]}"
