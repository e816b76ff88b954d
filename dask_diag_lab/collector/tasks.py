"""Counts of tasks by prefix and by group, brought up to date from what transitions touched.

Must not visit single tasks, but once at the start: a refresh costs what changed, not what the
cluster holds.

`distributed` drops a group with its last task, and does not tell how many of the forgotten ones had
been done. So the transition hook counts: forgotten tasks that had a result are done, those that
were erred until then have failed. Both are counted by name since the collector started, for as long
as there is a row of that name; what was forgotten before counts where its group is still there.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dask_diag_lab.collector.strings import OTHER, key_text
from dask_diag_lab.collector.wire import NamedRows, Row, row_maker
from dask_diag_lab.schema.tables import GROUPS, PREFIXES, STATES, Table

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup, TaskPrefix, TaskState

LIVE: Final[tuple[Any, ...]] = STATES[:-2]
"""States of tasks that are neither erred nor forgotten."""
MAX_PREFIXES: Final = 1_000
MAX_GROUPS: Final = 5_000
MAX_ENDED_GROUPS: Final = 1_000
"""Rows of groups that are gone; of more the one that ended first is forgotten, and counted."""
MAX_DEPENDENCIES: Final = 1_000
MAX_SPANS: Final = 10_000
"""Spans with failed tasks that are remembered; `distributed` itself never drops one."""
EXACT_TASKS: Final = 20_000
"""So many tasks are looked at one by one at the start, for what is in memory: some milliseconds."""


class Work(NamedTuple):
    """Seconds of compute of groups of one name, first start and last stop, 0 where none has run."""

    seconds: float = 0.0
    start: float = 0.0
    stop: float = 0.0

    def plus(self, group: TaskGroup) -> Work:
        """Return the sum with what another group did."""
        start = min(filter(None, (self.start, group.start)), default=0.0)
        return Work(self.seconds + group.duration, start, max(self.stop, group.stop))


class PrefixFacts(NamedTuple):
    """What the columns of `PREFIXES` are filled from."""

    prefix: TaskPrefix
    name: str
    states: tuple[int, ...]
    nbytes: int


class GroupFacts(NamedTuple):
    """What the columns of `GROUPS` are filled from."""

    name: str
    prefix: str
    states: tuple[int, ...]
    nbytes: int
    work: Work
    dependencies: tuple[str, ...]
    is_ended: bool


class BoundedRows(NamedRows):
    """At most ``limit`` rows with names of their own; the others are one row called `OTHER`.

    What has no live task gives its row up to what has, the one that ended first before others.

    Parameters
    ----------
    table : Table
    limit : int
    max_ended : int, optional
        Rows without a live task. More of them are forgotten and counted, not summed up.

    Attributes
    ----------
    n_forgotten : int
        Since the start.
    """

    def __init__(self, table: Table, limit: int, max_ended: int | None = None) -> None:
        super().__init__(table)
        self.n_forgotten = 0
        self._limit = limit
        self._max_ended = max_ended
        self._ended: dict[str, None] = {}
        self._others: dict[str, Row] = {}
        names = [column.name for column in table.columns]
        self._states, self._nbytes = names.index("states"), names.index("nbytes")

    def set(self, name: str, row: Row, *, is_live: bool) -> str:
        """Set a row; return the name of a row that was forgotten for it, or ''."""
        gone = ""
        if name not in self:
            if len(self) >= self._limit and is_live and self._ended:
                gone = self._give_up()
            if len(self) >= self._limit:
                self._others[name] = row
                return gone
            self._others.pop(name, None)
        self.put(name, row)
        self._ended.pop(name, None)
        if not is_live:
            self._ended[name] = None
            if self._max_ended is not None and len(self._ended) > self._max_ended:
                gone = self._give_up()
        return gone

    def drop(self, name: str) -> None:
        """Take a row away."""
        self._others.pop(name, None)
        self._ended.pop(name, None)
        self.remove(name)

    def settle(self) -> None:
        """Write the row of the others, once after all changes."""
        if not self._others:
            self.remove(OTHER)
            return
        row = list(next(iter(self._others.values())))
        rows = self._others.values()
        states = [row[self._states] for row in rows]
        row[self._states] = tuple(map(sum, zip(*states, strict=True)))
        row[self._nbytes] = sum(row[self._nbytes] for row in rows)
        for index, column in enumerate(self.table.columns):
            if column.name in ("name", "prefix"):
                row[index] = OTHER
            elif column.name in ("duration", "start", "stop"):
                row[index] = math.nan
            elif column.name == "dependencies":
                row[index] = ()
        self.put(OTHER, tuple(row))

    def _give_up(self) -> str:
        """Take the row of the one that ended first; keep its numbers, or count it."""
        name = next(iter(self._ended))
        del self._ended[name]
        if self._max_ended is None:
            self._others[name] = self.rows()[name]
        else:
            self.n_forgotten += 1
        self.remove(name)
        return name


class TaskTables:
    """`schema.PREFIXES` and `schema.GROUPS` of one scheduler.

    `distributed`'s ``TaskGroup.nbytes_total`` grows with each result, scattered ones included, and
    does not shrink when one is released. A task computed once more adds only what its result is
    larger than the one before. So what is in memory is ``nbytes_total`` less what `left` memory.

    Attributes
    ----------
    touched : set of TaskGroup
        Groups that changed; the transition hook adds to it.
    left : defaultdict
        Bytes of each group that are in ``nbytes_total`` and not in memory; the hook adds to it.
    last_erred : tuple, optional
        Key and stimulus of the task that was erred until the last time one ceased to be.
        `distributed` forgets an erred task by way of released, in one stimulus.
    failed_of_span : Counter of str
        Tasks that were erred when they were forgotten, by id of their span.
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
        self.prefixes = BoundedRows(PREFIXES, max_prefixes)
        self.groups = BoundedRows(GROUPS, max_groups, max_ended_groups)
        self._prefix_row, self._group_row = row_maker(PREFIXES), row_maker(GROUPS)
        self.touched: set[TaskGroup] = set(scheduler.task_groups.values())
        self.left: defaultdict[TaskGroup, int] = defaultdict(int)
        self.last_erred: tuple[Any, str] | None = None  # keys are of any type
        self.failed_of_span: Counter[str] = Counter()
        self.n_forgotten = 0
        self._done: Counter[str] = Counter()  # by group, as all of these
        self._failed: Counter[str] = Counter()
        self._work: dict[str, Work] = {}  # of earlier groups of a name
        self._sizes: dict[TaskGroup, int] = {}  # of those that are there
        self._held: dict[TaskGroup, int] = {}
        self._erred: Counter[TaskGroup] = Counter()
        self._done_of_prefix: Counter[str] = Counter()
        self._failed_of_prefix: Counter[str] = Counter()
        self._held_of_prefix: Counter[str] = Counter()
        self._n_created = 0
        for group in scheduler.task_groups.values():
            n = group.states["forgotten"]
            self._done[group.name] += n
            self._done_of_prefix[group.prefix.name] += n
        self._seed_left()

    @property
    def n_erred(self) -> int:
        """Tasks that are erred now, as of the last refresh."""
        return self._erred.total()

    def in_memory(self, group: TaskGroup) -> int:
        """Return the bytes of a group that are in memory, replicas not counted."""
        if not group.states["memory"]:
            return 0
        return max(0, group.nbytes_total - self.left.get(group, 0))

    def computed_again(self, ts: TaskState, start: str, finish: str) -> None:
        """Note that a task which had a result goes to a worker, or comes back without one.

        Meanwhile its last result counts as in memory.
        """
        if start == "processing":
            self.left[ts.group] += ts.nbytes
        elif finish == "processing":
            self.left[ts.group] -= ts.nbytes

    def forgotten(self, ts: TaskState, stimulus: str) -> None:
        """Count a task that is forgotten; the transition hook tells it."""
        self.n_forgotten += 1
        group = ts.group
        if self.last_erred is not None and (ts.key, stimulus) == self.last_erred:
            self._failed_for_good(group)
        elif ts.nbytes >= 0:
            self._done[group.name] += 1
            self._done_of_prefix[group.prefix.name] += 1

    def _failed_for_good(self, group: TaskGroup) -> None:
        self.last_erred = None
        self._failed[group.name] += 1
        self._failed_of_prefix[group.prefix.name] += 1
        if group.span_id:
            self.failed_of_span[group.span_id] += 1
            if len(self.failed_of_span) > MAX_SPANS:
                del self.failed_of_span[next(iter(self.failed_of_span))]

    def refresh(self) -> None:
        """Bring both tables up to date.

        Tasks that appear without a transition (scattered data, a new graph) are noticed by their
        number; then the size of every group is looked at.
        """
        scheduler = self._scheduler
        created = len(scheduler.tasks) + self.n_forgotten
        if created != self._n_created:
            self._n_created = created
            for group in scheduler.task_groups.values():
                if len(group) != self._sizes.get(group):
                    self.touched.add(group)
        touched = set(self.touched)
        self.touched.clear()
        gone = [g for g in touched if scheduler.task_groups.get(g.name) is not g]
        for group in gone:  # first: the row of a new group of that name goes on from theirs
            self._end(group)
        there = {group.name: scheduler.task_groups.get(group.name) for group in touched}
        for now in there.values():
            if now is not None:
                self._put_group(now)
        # After a restart of `distributed` there may be a new prefix of that name already.
        prefixes = {group.prefix.name: group.prefix for group in touched}
        for name, prefix in prefixes.items():
            self._put_prefix(scheduler.task_prefixes.get(name, prefix))
        self.prefixes.settle()
        self.groups.settle()

    def restart(self) -> None:
        """Take the last counts of all that `distributed` has just dropped; what was done stays."""
        self.touched.update(self._sizes)
        self.refresh()

    def _put_prefix(self, prefix: TaskPrefix) -> None:
        name = prefix.name
        live = [prefix.states[state] for state in LIVE]
        erred = prefix.states["erred"]
        states = (*live, erred + self._failed_of_prefix[name], self._done_of_prefix[name])
        facts = PrefixFacts(prefix, name, states, self._held_of_prefix[name])
        self.prefixes.set(name, self._prefix_row(facts), is_live=bool(any(live) or erred))

    def _put_group(self, group: TaskGroup) -> None:
        name = group.name
        held = self.in_memory(group)
        if not group.states["memory"]:
            self.left[group] = group.nbytes_total
        self._held_of_prefix[group.prefix.name] += held - self._held.get(group, 0)
        self._held[group] = held
        self._sizes[group] = len(group)
        live = [group.states[state] for state in LIVE]
        erred = group.states["erred"]
        self._erred[group] = erred
        work = self._work.get(name, Work()).plus(group)
        row = self._row(group, live, erred, held, work, is_ended=False)
        self._forget(self.groups.set(name, row, is_live=bool(any(live) or erred)))

    def _end(self, group: TaskGroup) -> None:
        """Keep a group that is gone with what it and those before it did, if they did anything."""
        name = group.name
        self._held_of_prefix[group.prefix.name] -= self._held.pop(group, 0)
        for known in (self._sizes, self._erred, self.left):
            known.pop(group, None)
        if not (self._done[name] or self._failed[name]):
            self.groups.drop(name)
            self._forget(name)
            return
        work = self._work[name] = self._work.get(name, Work()).plus(group)
        row = self._row(group, [0] * len(LIVE), 0, 0, work, is_ended=True)
        self._forget(self.groups.set(name, row, is_live=False))

    def _row(
        self, group: TaskGroup, live: list[int], erred: int, nbytes: int, work: Work, is_ended: bool
    ) -> Row:
        name = group.name
        states = (*live, erred + self._failed[name], self._done[name])
        needed = [key_text(g.name) for g in group.dependencies if g is not group]
        dependencies = tuple(sorted(needed[:MAX_DEPENDENCIES]))
        facts = GroupFacts(name, group.prefix.name, states, nbytes, work, dependencies, is_ended)
        return self._group_row(facts)

    def _forget(self, name: str) -> None:
        """Forget what was counted for a group that has no row any more."""
        for counted in (self._done, self._failed, self._work):
            counted.pop(name, None)

    def _seed_left(self) -> None:
        """Find out what had been released before the start.

        Of many tasks a group starts from the share of its tasks that are in memory, among those
        that had a result: as exact as these are of one size, and exact as soon as none was in
        memory for once.
        """
        held: Counter[TaskGroup] = Counter()
        tasks = self._scheduler.tasks
        is_exact = len(tasks) <= EXACT_TASKS
        if is_exact:
            for ts in tasks.values():
                if ts.state in ("memory", "processing"):  # as the hook has it, see there
                    held[ts.group] += max(0, ts.nbytes)
        for group in self._scheduler.task_groups.values():
            states = group.states
            n = states["memory"] + states["released"] + states["forgotten"]
            share = round(group.nbytes_total * states["memory"] / max(n, 1))
            self.left[group] = group.nbytes_total - (held[group] if is_exact else share)


def n_ended(scheduler: Scheduler) -> int:
    """Return how often a task has ended, since `distributed` last restarted.

    ``TaskPrefix.state_counts`` tells how often there was a result, and so also of those that were
    released and forgotten; data that was scattered, which nobody computed, is not counted. What
    failed is what `distributed` lists: its counts have tasks that erred for another one as well.
    """
    results = sum(
        prefix.state_counts.get("memory", 0)
        for prefix in scheduler.task_prefixes.values()
        # `distributed` forgets the average while one takes much longer than those before it.
        if prefix.duration_average >= 0 or prefix.max_exec_time >= 0
    )
    return results + sum(bool(e.exception_text or e.erred_on) for e in scheduler.erred_tasks)
