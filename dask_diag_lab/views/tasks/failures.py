"""Which tasks failed and why: equal errors as one, and those whose error is not kept any more.

Reads the store; knows no Bokeh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dask_diag_lab.records import Kind, Outcome

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

COLUMNS: Final = ("kind", "outcome", "task", "prefix", "stop")
ON_THE_WAY: Final = "No details yet: they are on their way"
OLDER: Final = "No details: older than the errors that are kept"
UNRECORDED: Final = "No details: from before this recording, or from a gap in it"
NO_COLLECTOR: Final = "No details: nobody records them on this scheduler"

ON_THE_WAY_S: Final = 5.0
"""Errors come after the actions: the collector works them out twice a second at most."""


@dataclass(slots=True)
class Failure:
    """Tasks of one prefix that failed with the same exception.

    Attributes
    ----------
    prefix, exception, traceback : str
        The traceback is that of the last task.
    time : float
        When the last task failed, seconds since the epoch; NaN while unknown.
    keys : dict of str to None
        The tasks, as far as they are known, oldest first.
    n_tasks : int
        How many there are; one that failed again after a restart counts again.
    workers : dict of str to None
        Addresses of the workers they failed on.
    is_kept : bool
        False when only the number is known.
    """

    prefix: str
    exception: str
    traceback: str = ""
    time: float = float("nan")
    keys: dict[str, None] = field(default_factory=dict)
    n_tasks: int = 0
    workers: dict[str, None] = field(default_factory=dict)
    is_kept: bool = True

    @property
    def last_key(self) -> str:
        """The task that failed last; '' when not known."""
        return next(reversed(self.keys), "")


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


def failures_of(store: Store, counts: FailureCounts) -> list[Failure]:
    """Return the failures, the last one first; those that are not kept come after."""
    errors = store.extras["errors"]
    names = ("key", "prefix", "time", "workers", "exception", "traceback", "count")
    columns: list[list[Any]] = [errors[name].tolist() for name in names]  # columns differ in type
    found: dict[tuple[str, str], Failure] = {}
    for key, prefix, time, workers, exception, traceback, count in zip(*columns, strict=True):
        failure = found.setdefault((prefix, exception), Failure(prefix, exception))
        failure.keys.pop(key, None)
        failure.keys[key] = None
        failure.workers.update(dict.fromkeys(workers))
        if not time < failure.time:
            failure.time, failure.traceback = time, traceback or failure.traceback
        failure.n_tasks = count
    kept = sorted(found.values(), key=lambda failure: -failure.time)
    return kept + _not_kept(store, counts, kept)


def _not_kept(store: Store, counts: FailureCounts, kept: Sequence[Failure]) -> list[Failure]:
    listed: dict[str, int] = {}
    for failure in kept:
        listed[failure.prefix] = listed.get(failure.prefix, 0) + failure.n_tasks
    rest = []
    for number, n_erred in counts.erred.items():
        prefix = store.strings[number]
        missing = n_erred - listed.get(prefix, 0)
        if missing > 0:
            rest.append(Failure(prefix, _why(store, counts), n_tasks=missing, is_kept=False))
    return sorted(rest, key=lambda failure: -failure.n_tasks)


def _why(store: Store, counts: FailureCounts) -> str:
    """Return why it is not known what was raised."""
    if store.degraded:
        return NO_COLLECTOR
    if not counts.are_settled(store):
        return ON_THE_WAY
    return OLDER if store.left_out.get("errors") else UNRECORDED
