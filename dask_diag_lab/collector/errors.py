"""What failed tasks raised, kept beyond `distributed`'s own list, which a restart empties.

Must not visit single tasks: `distributed`'s list has the error of the one that has just erred.
"""

from __future__ import annotations

import re
from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from dask.utils import key_split

from dask_diag_lab.collector.strings import MAX_TEXT, cut, key_text

if TYPE_CHECKING:
    from distributed.scheduler import ErredTask, Scheduler

MAX_ERRORS: Final = 100
"""Different texts, so many for `distributed`'s own list has 100 tasks."""
MAX_TASKS: Final = 10
"""Tasks of one text that are listed; of more the last ones, and how many there were."""

MAX_EXCEPTION: Final = 2_000
MAX_TRACEBACK: Final = 8_000
"""Characters; the end of a traceback says most."""

MAX_WORKERS: Final = 100
"""Workers named of one failed task."""

KILLED: Final = "KilledWorker: the worker died while it ran the task, once too often"
"""`distributed` gives this one no text."""

Row = tuple[Any, ...]  # the first six columns: types differ

_FRAME: Final = '\n  File "'
"""A line of a traceback begins so where it tells of a frame; lines of code are indented more."""

_QUOTED_OR_NUMBER: Final = re.compile(r"""(?<![\w(])(?:'[^']*'|"[^"]*")(?!\w)|\d+""")
"""A quote after a bracket begins the whole text of the exception, as its ``repr`` has it."""


def error_kind(text: str, traceback: str) -> str:
    """Return the same for errors that differ in no more than what they say of one case."""
    begin = f"\n{traceback}".rfind(_FRAME)
    if begin < 0:
        return _QUOTED_OR_NUMBER.sub("…", text)[:MAX_TEXT]
    frame = traceback[begin:].partition("\n")[0].strip()
    kind = text.partition("(")[0]
    # An exception may have a ``repr`` of its own, which need not begin with the type.
    return (f"{kind}, {frame}" if kind.isidentifier() else frame)[:MAX_TEXT]


class _Kind:
    """Errors of one prefix that are alike but for their texts, which may be one a task."""

    __slots__ = ("attempts", "counts", "first", "n_tasks", "rows")

    def __init__(self, first: float) -> None:
        self.first = first
        self.n_tasks = 0
        self.counts: dict[str, int] = {}
        self.attempts: dict[str, int] = {}  # of the counts, those of tasks that were run again
        self.rows: dict[str, deque[Row]] = {}  # by text; the one that came last is the last


class Errors:
    """Errors since the start, and before that those that `distributed` still lists.

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

    def note(self, key: Any, prefix: str) -> None:  # keys are any hashable
        """Take over what `distributed` has just listed of a task that erred."""
        newest = self._scheduler.erred_tasks
        if newest and newest[0].key == key:  # its list may have been set to length 0
            self._add(newest[0], prefix)

    def note_attempt(
        self, key: Any, prefix: str, time: float, worker: str, text: str, traceback: str
    ) -> None:
        """Take over what a task raised that is to be run again; `distributed` does not list it."""
        self._keep(key, prefix, time, [worker], text, traceback, is_attempt=True)

    def rows(self) -> list[Row]:
        """Return rows of the extra ``errors``, newest last."""
        rows = [
            (*row, kind.counts[text], name, kind.n_tasks, kind.first, kind.attempts[text])
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
        if erred.exception_text or erred.erred_on:
            self._keep(
                erred.key,
                prefix,
                float(erred.timestamp),
                sorted(map(str, erred.erred_on)),
                erred.exception_text or KILLED,
                erred.traceback_text or "",
            )

    def _keep(
        self,
        key: Any,
        prefix: str,
        time: float,
        workers: list[str],
        text: str,
        traceback: str,
        *,
        is_attempt: bool = False,
    ) -> None:
        text, traceback = cut(_plain(text), MAX_EXCEPTION), _plain(traceback)
        name = prefix, error_kind(text, traceback)
        kind = self._kinds[name] = self._kinds.pop(name) if name in self._kinds else _Kind(time)
        kind.n_tasks += 1
        self._n_texts += text not in kind.rows
        kind.counts[text] = kind.counts.get(text, 0) + 1
        kind.attempts[text] = kind.attempts.get(text, 0) + is_attempt
        rows = kind.rows[text] = kind.rows.pop(text, deque(maxlen=MAX_TASKS))
        named = tuple(workers[:MAX_WORKERS])
        rows.append((key_text(key), key_text(prefix), time, named, text, _tail(traceback)))
        if self._n_texts > self._limit:
            # Of the kind that has most, which may be one a task: another has one, perhaps. Of
            # kinds that have as many, that is the one that came last the longest ago.
            name, kind = max(self._kinds.items(), key=lambda item: len(item[1].rows))
            text = next(iter(kind.rows))
            del kind.rows[text], kind.counts[text], kind.attempts[text]
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
