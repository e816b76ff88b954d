"""Counts of tasks by prefix and by group, brought up to date from what transitions touched.

Must not visit single tasks: a refresh costs what changed, not what the cluster holds.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final, NamedTuple

from dask_diag_lab.collector.changes import Changes, Row
from dask_diag_lab.collector.held import Held
from dask_diag_lab.collector.strings import OTHER, key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup, TaskPrefix

STATES: Final = (
    "released",
    "waiting",
    "no-worker",
    "queued",
    "processing",
    "memory",
    "erred",
)
"""The states counted for each prefix and group; forgotten comes last, counted apart."""

MAX_PREFIXES: Final = 1_000
MAX_GROUPS: Final = 5_000
MAX_DEPENDENCIES: Final = 1_000


class _Counted(NamedTuple):
    """A row of a table, and what it adds to the row of the others where it has none."""

    row: Row
    states: tuple[int, ...]
    nbytes: int

    @property
    def is_live(self) -> bool:
        """Some of its tasks are not forgotten; these come last."""
        return any(self.states[:-1])


def forgotten_when_done(prefix: TaskPrefix) -> int:
    """Return how many forgotten tasks of ``prefix`` had been in memory or erred before.

    Those that were cancelled before they ran are left out: they are not work that was done. The
    engine does not tell the two apart, but it counts how often a task came into a state
    (``TaskPrefix.state_counts``); what came into memory or erred and is in neither nor released
    now has been forgotten. Tasks computed twice make that an upper bound, hence the ``min``.
    """
    ever, now = prefix.state_counts, prefix.states
    done = ever.get("memory", 0) + ever.get("erred", 0)
    kept = now["memory"] + now["erred"] + now["released"]
    return min(max(done - kept, 0), ever.get("forgotten", 0))


class _Bounded:
    """A table whose rows past a limit are summed up in one row called `OTHER`.

    What has no live task gives its row up to what has, the one that ended first before others.
    """

    def __init__(self, limit: int, head: Row, tail: Row) -> None:
        self.changes = Changes()
        self._limit = limit
        self._head = head
        self._tail = tail
        self._shown: dict[str, _Counted] = {}
        self._ended: dict[str, None] = {}  # those of the shown that may give up their row
        self._others: dict[str, _Counted] = {}
        self._waiting: dict[str, None] = {}  # those of the others that should have one
        self._states = [0] * (len(STATES) + 1)
        self._nbytes = 0

    def put(self, name: str, row: Row, states: tuple[int, ...], nbytes: int) -> None:
        counted = _Counted(row, states, nbytes)
        if name in self._shown:
            self._show(name, counted)
        else:
            self._drop_other(name)
            self._add_other(name, counted)

    def remove(self, name: str) -> None:
        self._drop_other(name)
        self._shown.pop(name, None)
        self._ended.pop(name, None)
        self.changes.remove(name)

    def settle(self) -> None:
        """Share out the rows and write that of the others, once after all puts and removes."""
        while self._waiting and (len(self._shown) < self._limit or self._ended):
            if len(self._shown) == self._limit:
                self._fold(next(iter(self._ended)))
            self._raise(next(iter(self._waiting)))
        room = self._limit - len(self._shown)
        for name in [n for n in itertools.islice(self._others, room + 1) if n != OTHER][:room]:
            self._raise(name)
        if self._others or OTHER in self.changes:
            self.changes.put(OTHER, (*self._head, tuple(self._states), self._nbytes, *self._tail))

    def _raise(self, name: str) -> None:
        counted = self._drop_other(name)
        if counted is not None:
            self._show(name, counted)

    def _fold(self, name: str) -> None:
        del self._ended[name]
        self.changes.remove(name)
        self._add_other(name, self._shown.pop(name))

    def _show(self, name: str, counted: _Counted) -> None:
        self._shown[name] = counted
        self.changes.put(name, counted.row)
        if counted.is_live:
            self._ended.pop(name, None)
        else:
            self._ended[name] = None

    def _add_other(self, name: str, counted: _Counted) -> None:
        self._others[name] = counted
        self._count(counted, 1)
        if counted.is_live and name != OTHER:  # a name that the row of the others has already
            self._waiting[name] = None

    def _drop_other(self, name: str) -> _Counted | None:
        counted = self._others.pop(name, None)
        if counted is not None:
            self._waiting.pop(name, None)
            self._count(counted, -1)
        return counted

    def _count(self, other: _Counted, sign: int) -> None:
        self._states = [a + sign * b for a, b in zip(self._states, other.states, strict=True)]
        self._nbytes += sign * other.nbytes


class TaskTables:
    """`records.PREFIXES` and `records.GROUPS` of one scheduler.

    Attributes
    ----------
    touched : set of TaskGroup
        Groups that changed; the transition hook adds to it.
    held : Held
        What is in memory; the transition hook tells it what comes and goes.
    n_forgotten : int
        Tasks forgotten since the start; the transition hook counts it.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        max_prefixes: int = MAX_PREFIXES,
        max_groups: int = MAX_GROUPS,
    ) -> None:
        self._scheduler = scheduler
        self._prefixes = _Bounded(max_prefixes, (OTHER,), (math.nan,))
        self._groups = _Bounded(max_groups, (OTHER, OTHER), (0.0, math.nan, math.nan, ()))
        self.touched: set[TaskGroup] = set()
        self.held = Held(scheduler)
        self.n_forgotten = 0
        self._n_created = 0
        self._sizes: dict[str, int] = {}
        self._counted: dict[str, tuple[TaskPrefix, int]] = {}
        for prefix in scheduler.task_prefixes.values():
            self._counted[prefix.name] = (prefix, -forgotten_when_done(prefix))
            if any(prefix.states.values()):
                self._put_prefix(prefix)

    @property
    def prefixes(self) -> Changes:
        return self._prefixes.changes

    @property
    def groups(self) -> Changes:
        return self._groups.changes

    def count_prefix(self, prefix: TaskPrefix) -> int:
        """Return how many of its tasks were done and then forgotten since the start.

        The engine drops prefixes when it restarts and begins new ones of the same names, and it
        drops counts of forgotten tasks with their group. `TaskPrefix.state_counts` only grows, so
        what an earlier prefix counted is carried over.
        """
        known = self._counted.get(prefix.name)
        offset = 0
        if known is not None:
            before, offset = known
            if before is not prefix:
                offset += forgotten_when_done(before)
        if known is None or known[0] is not prefix:
            self._counted[prefix.name] = (prefix, offset)
        return offset + forgotten_when_done(prefix)

    def refresh(self) -> None:
        """Bring both tables up to date.

        Tasks that appear without a transition (scattered data, a new graph) are noticed by their
        number; then the size of every group is looked at.
        """
        created = len(self._scheduler.tasks) + self.n_forgotten
        if created != self._n_created:
            self._n_created = created
            for name, group in self._scheduler.task_groups.items():
                if len(group) != self._sizes.get(name):
                    self.touched.add(group)
        prefixes = {}
        for group in self.touched:
            prefix = group.prefix
            # After a restart of the engine there may be a new one of that name already.
            prefixes[prefix.name] = self._scheduler.task_prefixes.get(prefix.name, prefix)
            self._put_group(group)
        self.touched.clear()
        for prefix in prefixes.values():
            self._put_prefix(prefix)
        self._prefixes.settle()
        self._groups.settle()

    def restart(self) -> None:
        """Take the last counts of all that the engine has just dropped."""
        self.refresh()
        for name in tuple(self._sizes):
            if name not in self._scheduler.task_groups:
                self._remove_group(name)
        self._groups.settle()

    def _remove_group(self, name: str) -> None:
        self._sizes.pop(name, None)
        self._groups.remove(name)

    def _put_prefix(self, prefix: TaskPrefix) -> None:
        forgotten = self.count_prefix(prefix)
        counts = prefix.states
        states = (*(counts[state] for state in STATES), forgotten)
        average = prefix.duration_average
        duration = average if average >= 0 else math.nan
        nbytes = self.held.of_prefix(prefix.name)
        row = (key_text(prefix.name), states, nbytes, duration)
        self._prefixes.put(prefix.name, row, states, nbytes)

    def _put_group(self, group: TaskGroup) -> None:
        known = self._scheduler.task_groups.get(group.name)
        if known is not group:
            self.held.drop(group)
            if known is None:
                self._remove_group(group.name)
                return
            group = known
        nbytes = self.held.put(group)
        self._sizes[group.name] = len(group)
        counts = group.states
        states = (*(counts[state] for state in STATES), counts["forgotten"])
        row = (
            key_text(group.name),
            key_text(group.prefix.name),
            states,
            nbytes,
            group.duration,
            group.start or math.nan,
            group.stop or math.nan,
            self._dependencies(group),
        )
        self._groups.put(group.name, row, states, nbytes)

    def _dependencies(self, group: TaskGroup) -> tuple[str, ...]:
        names = []
        for other in group.dependencies:
            if other is not group:
                names.append(key_text(other.name))
                if len(names) == MAX_DEPENDENCIES:
                    break
        return tuple(sorted(names))
