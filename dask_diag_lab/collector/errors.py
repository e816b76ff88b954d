"""What failed tasks raised, kept beyond the engine's own list, which a restart empties.

Must not visit single tasks: the engine's list has the error of the one that has just erred.
"""

from __future__ import annotations

from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from dask.utils import key_split

from dask_diag_lab.collector.error_kind import error_kind
from dask_diag_lab.collector.strings import cut, key_text

if TYPE_CHECKING:
    from distributed.scheduler import ErredTask, Scheduler

MAX_ERRORS: Final = 100
"""Different texts, so many for the engine's own list has 100 tasks."""
MAX_TASKS: Final = 10
"""Tasks of one text that are listed; of more the last ones, and how many there were."""

MAX_EXCEPTION: Final = 2_000
MAX_TRACEBACK: Final = 8_000
"""Characters; the end of a traceback says most."""

MAX_WORKERS: Final = 100
"""Workers named of one failed task."""

KILLED: Final = "KilledWorker: the worker died while it ran the task, once too often"
"""The engine gives this one no text."""

Row = tuple[Any, ...]  # columns differ in type: key, prefix, time, workers, exception, traceback


class _Kind:
    """Errors of one prefix that are alike but for their texts, which may be one a task."""

    __slots__ = ("counts", "first", "n_tasks", "rows")

    def __init__(self, first: float) -> None:
        self.first = first
        self.n_tasks = 0
        self.counts: dict[str, int] = {}
        self.rows: dict[str, deque[Row]] = {}  # by text; the one that came last is the last


class Errors:
    """Errors since the start, and before that those that the engine still lists.

    Tasks that erred only because of another one are left out: that one says what happened.

    Attributes
    ----------
    n_dropped : int
        Tasks that failed with kinds of errors of which nothing is kept any more.
    """

    def __init__(self, scheduler: Scheduler, limit: int = MAX_ERRORS) -> None:
        self._scheduler = scheduler
        self._limit = limit
        self._kinds: dict[tuple[str, str], _Kind] = {}  # the one that came last is the last
        self._n_texts = 0
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
        rows = [
            (*row, kind.counts[text], name, kind.n_tasks, kind.first)
            for (_, name), kind in self._kinds.items()
            for text, rows in kind.rows.items()
            for row in rows
        ]
        return sorted(rows, key=itemgetter(2))

    def clear(self) -> None:
        """Let all errors go."""
        self._kinds.clear()
        self._n_texts = 0

    def _add(self, erred: ErredTask, prefix: str) -> None:
        if not (erred.exception_text or erred.erred_on):
            return
        text = cut(_plain(erred.exception_text or KILLED), MAX_EXCEPTION)
        traceback = _plain(erred.traceback_text or "")
        time = float(erred.timestamp)
        name = prefix, error_kind(text, traceback)
        kind = self._kinds[name] = self._kinds.pop(name) if name in self._kinds else _Kind(time)
        kind.n_tasks += 1
        self._n_texts += text not in kind.rows
        kind.counts[text] = kind.counts.get(text, 0) + 1
        rows = kind.rows[text] = kind.rows.pop(text, deque(maxlen=MAX_TASKS))
        workers = tuple(sorted(map(str, erred.erred_on))[:MAX_WORKERS])
        key = key_text(erred.key)
        rows.append((key, key_text(prefix), time, workers, text, _tail(traceback)))
        if self._n_texts > self._limit:
            # Of the kind that has most, which may be one a task: another has one, perhaps. Of
            # kinds that have as many, that is the one that came last the longest ago.
            name, kind = max(self._kinds.items(), key=lambda item: len(item[1].rows))
            text = next(iter(kind.rows))
            del kind.rows[text], kind.counts[text]
            self._n_texts -= 1
            if not kind.rows:
                self.n_dropped += self._kinds.pop(name).n_tasks


def _plain(text: object) -> str:
    """Return text that can be encoded whatever a user's exception says."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _tail(text: str) -> str:
    if len(text) <= MAX_TRACEBACK:
        return text
    return f"… ({len(text)} characters)\n{text[-MAX_TRACEBACK:]}"
