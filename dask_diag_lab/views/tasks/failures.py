"""Which tasks failed and why: errors of one kind as one, and those that are not kept any more.

Reads the store; knows no Bokeh.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from math import inf, nan
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.schema import Kind, Outcome

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.extras import ExtraTable

COLUMNS: Final = ("kind", "outcome", "task", "prefix", "stop")
ON_THE_WAY: Final = "No details yet: they are on their way"
OLDER: Final = "No details: older than the errors that are kept"
OLDER_TEXTS: Final = "No details: older than the texts that are kept of this kind"
UNRECORDED: Final = "No details: from before this recording, or from a gap in it"

ON_THE_WAY_S: Final = 5.0
"""Errors come after the actions: the collector works them out twice a second at most."""


@dataclass(slots=True)
class _Row:
    """A row of the extra ``errors``: one task."""

    key: str
    prefix: str
    time: float
    workers: tuple[str, ...]
    exception: str
    traceback: str
    count: int
    kind: str
    kind_count: int
    kind_first: float
    attempts: int


@dataclass(slots=True)
class Failure:
    """Tasks of one prefix that failed with the same exception, text and place.

    Attributes
    ----------
    prefix, exception, traceback : str
        The traceback is that of the last task.
    time : float
        When the last task failed, seconds since the epoch; NaN while unknown.
    keys : dict of str to None
        The tasks, as far as they are known, oldest first.
    n_tasks : int
        How many there are; one that failed again, after a restart or when it was run again,
        counts again.
    n_attempts : int
        How many of them were attempts: the task was run again.
    workers : dict of str to None
        Addresses of the workers that the known tasks failed on.
    is_kept : bool
        False when only the number is known.
    """

    prefix: str
    exception: str
    traceback: str = ""
    time: float = nan
    keys: dict[str, None] = field(default_factory=dict)
    n_tasks: int = 0
    n_attempts: int = 0
    workers: dict[str, None] = field(default_factory=dict)
    is_kept: bool = True

    @property
    def last_key(self) -> str:
        """The task that failed last; '' when not known."""
        return next(reversed(self.keys), "")

    def add(self, row: _Row) -> None:
        """Take over one task."""
        self.keys.pop(row.key, None)
        self.keys[row.key] = None
        self.workers.update(dict.fromkeys(row.workers))
        if not row.time < self.time:
            self.time, self.traceback = row.time, row.traceback or self.traceback
        self.n_tasks, self.n_attempts = row.count, row.attempts


@dataclass(slots=True)
class FailureKind:
    """Failures of one prefix that differ in no more than the text of each case.

    Attributes
    ----------
    name : str
        As the column of extra ``errors``; '' where it is not known what was raised.
    failures : list of Failure
        One for each text that is kept, the last one first; never empty.
    n_tasks : int
        Of all its texts.
    first : float
        When the first one failed, seconds since the epoch; NaN while unknown.
    """

    name: str
    failures: list[Failure]
    n_tasks: int
    first: float = nan

    @property
    def last(self) -> Failure:
        return self.failures[0]

    @property
    def n_attempts(self) -> int:
        """How many of its tasks, of those with a text that is kept, were run again."""
        return sum(failure.n_attempts for failure in self.failures)

    @property
    def n_not_kept(self) -> int:
        """Tasks whose text is not kept any more."""
        return self.n_tasks - sum(failure.n_tasks for failure in self.failures)

    @property
    def n_other_texts(self) -> int:
        """Texts beside the last one; where some are not kept, the most there may have been."""
        return len(self.failures) - 1 + self.n_not_kept

    @property
    def workers(self) -> list[str]:
        """Addresses of the workers that the known tasks failed on."""
        return list(dict.fromkeys(a for f in reversed(self.failures) for a in f.workers))

    @property
    def knows_all_workers(self) -> bool:
        """Whether all of its tasks are known one by one."""
        return sum(len(failure.keys) for failure in self.failures) >= self.n_tasks


class FailureCounts:
    """Failed and lost runs of each prefix, counted from the action log as it grows.

    Attributes
    ----------
    erred : dict of int to int
        By string id of the prefix.
    killed : int
    last : float
        When the last one failed, seconds since the epoch.
    """

    def __init__(self) -> None:
        self.erred: dict[int, int] = {}
        self.last = -inf
        self.killed = 0
        self._cursor = 0

    def read(self, store: Store) -> None:
        """Count the actions that are new."""
        self._cursor, rows = store.actions.failed_since(self._cursor, COLUMNS)
        is_task = rows["kind"] == Kind.COMPUTE
        self.killed += int((is_task & (rows["outcome"] == Outcome.KILLED)).sum())
        failed = np.flatnonzero(rows["outcome"] == Outcome.ERRED)
        self.last = max([self.last, *rows["stop"][failed].tolist()])
        # A task may have several actions, and all of them are marked.
        _, first = np.unique(rows["task"][failed], return_index=True)
        erred = rows["prefix"][failed[first]]
        for prefix, number in zip(*np.unique(erred, return_counts=True), strict=True):
            self.erred[int(prefix)] = self.erred.get(int(prefix), 0) + int(number)

    def are_settled(self, store: Store) -> bool:
        """Tell whether what was raised would be known by now."""
        return store.extras["errors"].is_known and store.time - self.last > ON_THE_WAY_S


def kinds_of(store: Store, counts: FailureCounts) -> list[FailureKind]:
    """Return the kinds, that of the last failure first; those that are not kept come after."""
    found: dict[tuple[str, str], FailureKind] = {}
    texts: dict[tuple[str, str, str], Failure] = {}
    for row in _rows(store.extras["errors"]):
        failure = texts.get((row.prefix, row.kind, row.exception))
        if failure is None:
            failure = Failure(row.prefix, row.exception)
            texts[row.prefix, row.kind, row.exception] = failure
            kind = found.get((row.prefix, row.kind))
            if kind is None:
                kind = FailureKind(row.kind, [], row.kind_count, row.kind_first)
                found[row.prefix, row.kind] = kind
            kind.failures.append(failure)
        failure.add(row)
    for kind in found.values():
        kind.failures.sort(key=lambda failure: -failure.time)
    kept = sorted(found.values(), key=lambda kind: -kind.last.time)
    return kept + _not_kept(store, counts, kept)


def _rows(table: ExtraTable) -> Iterator[_Row]:
    columns = [table[column.name].tolist() for column in fields(_Row)]
    return map(_Row, *columns)


def _not_kept(
    store: Store, counts: FailureCounts, kept: Sequence[FailureKind]
) -> list[FailureKind]:
    listed: dict[str, int] = {}
    for kind in kept:
        prefix = kind.last.prefix
        listed[prefix] = listed.get(prefix, 0) + kind.n_tasks
    rest = []
    for number, n_erred in counts.erred.items():
        prefix = store.strings[number]
        missing = n_erred - listed.get(prefix, 0)
        if missing > 0:
            failure = Failure(prefix, _why(store, counts), n_tasks=missing, is_kept=False)
            rest.append(FailureKind("", [failure], missing))
    return sorted(rest, key=lambda kind: -kind.n_tasks)


def _why(store: Store, counts: FailureCounts) -> str:
    """Return why it is not known what was raised."""
    if not counts.are_settled(store):
        return ON_THE_WAY
    return OLDER if store.left_out.get("errors") else UNRECORDED
