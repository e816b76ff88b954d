"""Counts of tasks by prefix and by group, brought up to date from what transitions touched.

Must not visit single tasks: a refresh costs what changed, not what the cluster holds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.bounded_table import BoundedTable
from dask_diag_lab.collector.changes import Changes, Row
from dask_diag_lab.collector.earlier_groups import EarlierGroups, Work
from dask_diag_lab.collector.ended_groups import EndedGroups, has_begun, most_done
from dask_diag_lab.collector.failed import Failed
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
"""The states counted for each prefix and group; forgotten comes last, counted apart.

A task that was erred when it was forgotten stays counted as erred."""

MAX_PREFIXES: Final = 1_000
MAX_GROUPS: Final = 5_000
MAX_ENDED_GROUPS: Final = 1_000
"""Rows of groups that are gone; of more the one that ended first is forgotten, and counted."""
MAX_DEPENDENCIES: Final = 1_000


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


def forgotten_before(prefix: TaskPrefix) -> int:
    """Return how many of these belong to groups that are gone: those that are there count whole."""
    there = sum(most_done(group) for group in prefix.groups)
    return max(forgotten_when_done(prefix) - there, 0)


class TaskTables:
    """`records.PREFIXES` and `records.GROUPS` of one scheduler.

    Attributes
    ----------
    touched : set of TaskGroup
        Groups that changed; the transition hook adds to it.
    held : Held
        What is in memory; the transition hook tells it what comes and goes.
    failed : Failed
        What was erred when it was forgotten.
    n_forgotten : int
        Tasks forgotten since the start.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        max_prefixes: int = MAX_PREFIXES,
        max_groups: int = MAX_GROUPS,
        max_ended_groups: int = MAX_ENDED_GROUPS,
    ) -> None:
        self._scheduler = scheduler
        n_states = len(STATES) + 1
        self._prefixes = BoundedTable(max_prefixes, n_states, (OTHER,), (math.nan,))
        tail = (0.0, math.nan, math.nan, (), False)
        self._groups = BoundedTable(max_groups, n_states, (OTHER, OTHER), tail, max_ended_groups)
        self.failed = Failed()
        self._ended = EndedGroups(self.failed)
        self._earlier = EarlierGroups()
        self.touched: set[TaskGroup] = set()
        self.held = Held(scheduler)
        self.n_forgotten = 0
        self._n_created = 0
        self._sizes: dict[str, int] = {}
        self._erred: dict[str, int] = {}  # of groups that are there, those that have any
        self._counted: dict[str, tuple[TaskPrefix, int]] = {}
        for prefix in scheduler.task_prefixes.values():
            self._counted[prefix.name] = (prefix, -forgotten_before(prefix))
            if any(prefix.states.values()):
                self._put_prefix(prefix)

    @property
    def prefixes(self) -> Changes:
        return self._prefixes.changes

    @property
    def groups(self) -> Changes:
        return self._groups.changes

    @property
    def n_forgotten_groups(self) -> int:
        """Groups that were done and have no row any more."""
        return self._groups.n_forgotten

    @property
    def n_erred(self) -> int:
        """Tasks that are erred now."""
        return sum(self._erred.values())

    def left(
        self,
        key: Any,  # any hashable
        group: TaskGroup,
        start: str,
        finish: str,
        stimulus: str,
    ) -> None:
        """Note a task that is erred no more, or forgotten; the transition hook tells it."""
        if start == "erred":
            self.failed.last = key, stimulus
        if finish == "forgotten":
            self.n_forgotten += 1
            if self.failed.last is not None:
                self.failed.forgotten(key, stimulus, group)

    def count_prefix(self, prefix: TaskPrefix) -> int:
        """Return how many of its tasks were done, not failed, and then forgotten since the start.

        Of groups that were there at the start all count, as in the rows of these.

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
        forgotten = offset + forgotten_when_done(prefix)
        return max(forgotten - self.failed.of_prefix[prefix.name], 0)

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
        prefixes, there, gone = {}, {}, []
        for group in self.touched:
            prefix = group.prefix
            # After a restart of the engine there may be a new one of that name already.
            prefixes[prefix.name] = self._scheduler.task_prefixes.get(prefix.name, prefix)
            now = self._scheduler.task_groups.get(group.name)
            if now is not group:
                self.held.drop(group)
                gone.append(group)
            if now is not None:
                there[now.name] = now
        self.touched.clear()
        for group in there.values():
            self._ended.note(group)
            self.held.put(group)
        counted = {name: self._put_prefix(prefix) for name, prefix in prefixes.items()}
        # These first: the row of one that is there goes on from that of one that was.
        for group, done in self._ended.end(gone, counted).items():
            self._end_group(group, done)
        for group in there.values():
            self._put_group(group)
        self._prefixes.settle()
        self._groups.settle()

    def restart(self) -> None:
        """Take the last counts of all that the engine has just dropped; what was done stays."""
        self.refresh()
        self._ended.keep(self._scheduler.task_groups.values())
        self.failed.keep(self._scheduler.task_groups.values())
        for name in tuple(self._sizes):
            if name not in self._scheduler.task_groups:
                self._remove_group(name)
        self._groups.settle()

    def _remove_group(self, name: str) -> None:
        self._sizes.pop(name, None)
        self._erred.pop(name, None)
        self._earlier.take(name, None)
        self._groups.remove(name)

    def _put_prefix(self, prefix: TaskPrefix) -> int:
        """Put its row; return how many of its tasks were done and then forgotten."""
        forgotten = self.count_prefix(prefix)
        *others, erred = (prefix.states[state] for state in STATES)
        states = (*others, erred + self.failed.of_prefix[prefix.name], forgotten)
        average = prefix.duration_average
        duration = average if average >= 0 else math.nan
        nbytes = self.held.of_prefix(prefix.name)
        row = (key_text(prefix.name), states, nbytes, duration)
        self._prefixes.put(prefix.name, row, states, nbytes, is_live=bool(any(others) or erred))
        return forgotten

    def _put_group(self, group: TaskGroup) -> None:
        name, counts = group.name, group.states
        earlier = self._earlier.of(name, self._groups.row(name))
        self._sizes[name] = len(group)
        nbytes = self.held.of_group(group)
        failed = self.failed.of_group[group]
        work = earlier.plus(
            counts["forgotten"] - failed, failed, group.duration, group.start, group.stop
        )
        *others, erred = (counts[state] for state in STATES)
        if erred:
            self._erred[name] = erred
        else:
            self._erred.pop(name, None)
        states = (*others, erred + work.failed, work.done)
        row = self._group_row(group, states, nbytes, work, is_ended=False)
        self._groups.put(name, row, states, nbytes, is_live=bool(any(others) or erred))

    def _end_group(self, group: TaskGroup, done: int) -> None:
        """Keep a group that is gone with what it and those before it did, if they did anything."""
        name = group.name
        self._sizes.pop(name, None)
        self._erred.pop(name, None)
        earlier = self._earlier.take(name, self._groups.row(name))
        failed = self.failed.of_group.pop(group, 0)
        work = earlier.plus(done, failed, group.duration, group.start, group.stop)
        states = (*(0 for _ in STATES[:-1]), work.failed, work.done)
        if work.done or work.failed:
            row = self._group_row(group, states, 0, work, is_ended=True)
            self._groups.put(name, row, states, 0, is_live=False)
        elif has_begun(group):  # ran, but how much of it cannot be told
            self._groups.forget(name)
        else:
            self._groups.remove(name)

    def _group_row(
        self,
        group: TaskGroup,
        states: tuple[int, ...],
        nbytes: int,
        work: Work,
        *,
        is_ended: bool,
    ) -> Row:
        return (
            key_text(group.name),
            key_text(group.prefix.name),
            states,
            nbytes,
            work.seconds,
            work.start or math.nan,
            work.stop or math.nan,
            self._dependencies(group),
            is_ended,
        )

    def _dependencies(self, group: TaskGroup) -> tuple[str, ...]:
        names = []
        for other in group.dependencies:
            if other is not group:
                names.append(key_text(other.name))
                if len(names) == MAX_DEPENDENCIES:
                    break
        return tuple(sorted(names))
