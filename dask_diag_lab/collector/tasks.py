"""Counts of tasks by prefix and by group, and single tasks while these are few and wanted.

Counts are brought up to date from what transitions touched: a refresh costs what changed, not what
the cluster holds. Single tasks are visited at the start, and for the exact graph: must not follow
those of a big graph, which the group table describes, or for nobody.

`distributed` drops a group with its last task, and does not tell how many of the forgotten ones had
been done. So the transition hook counts: forgotten tasks that had a result are done, those that
were erred until then have failed. Both are counted by name since the collector started, for as long
as there is a row of that name; what was forgotten before counts where its group is still there.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dask_diag_lab.collector.wire import NamedRows, key_text
from dask_diag_lab.schema.tables import GROUPS, NODE_STATES, NODES, OTHER, PREFIXES, STATES

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup, TaskPrefix, TaskState

LIVE: Final[tuple[Any, ...]] = STATES[:-2]
"""States of tasks that are neither erred nor forgotten."""
MAX_DEPENDENCIES: Final = 1_000


class Work(NamedTuple):
    """Seconds of compute of groups of one name, first start and last stop, 0 where none has run."""

    seconds: float = 0.0
    start: float = 0.0
    stop: float = 0.0

    def plus(self, group: TaskGroup) -> Work:
        """Return the sum with what another group did."""
        start = min(filter(None, (self.start, group.start)), default=0.0)
        return Work(self.seconds + group.duration, start, max(self.stop, group.stop))


class TaskTables:
    """`schema.tables.PREFIXES` and `schema.tables.GROUPS` of one scheduler.

    `distributed`'s ``TaskGroup.nbytes_total`` grows with each result, scattered ones included, and
    does not shrink when one is released. A task computed once more adds only what its result is
    larger than the one before: it counts as in memory meanwhile. So what is in memory is
    ``nbytes_total`` less `released_bytes`.

    Attributes
    ----------
    touched : set of TaskGroup
        Groups that changed; the transition hook adds to it.
    released_bytes : defaultdict
        Bytes of each group that are in ``nbytes_total`` and not in memory; the hook adds to it.
    last_erred : tuple, optional
        Key and stimulus of the task that was erred until the last time one ceased to be.
        `distributed` forgets an erred task by way of released, in one stimulus.
    failed_of_span : Counter of str
        Tasks that were erred when they were forgotten, by id of their span.
    n_forgotten : int
        Tasks forgotten since the start.
    n_erred : int
        Tasks that are erred now, as of the last refresh.
    n_dropped : int
        Groups that ended and have no row any more: of too many those that ended first.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        max_prefixes: int = PREFIXES.max_rows,
        max_groups: int = GROUPS.max_rows,
    ) -> None:
        self._scheduler = scheduler
        self._max_prefixes, self._max_groups = max_prefixes, max_groups
        self.prefixes, self.groups = NamedRows(PREFIXES), NamedRows(GROUPS)
        self.touched: set[TaskGroup] = set(scheduler.task_groups.values())
        self.released_bytes: defaultdict[TaskGroup, int] = defaultdict(int)
        self.last_erred: tuple[Any, str] | None = None  # keys are of any type
        self.n_forgotten = self.n_erred = self.n_dropped = 0
        self.failed_of_span: Counter[str] = Counter()
        self._done: Counter[str] = Counter()  # by group's name, as all of these
        self._failed: Counter[str] = Counter()
        self._work: dict[str, Work] = {}  # of earlier groups of a name
        self._ended: dict[str, None] = {}
        self._sizes: dict[TaskGroup, int] = {}  # of those that are there
        self._done_of_prefix: Counter[str] = Counter()
        self._failed_of_prefix: Counter[str] = Counter()
        self._n_created = 0
        for group in scheduler.task_groups.values():
            n = group.states["forgotten"]
            self._done[group.name] += n
            self._done_of_prefix[group.prefix.name] += n
            # What had been released before is not known: as if its results were of one size.
            n_held = group.states["memory"]
            n += n_held + group.states["released"]
            self.released_bytes[group] = round(group.nbytes_total * (1 - n_held / max(n, 1)))

    def in_memory(self, group: TaskGroup) -> int:
        """Return the bytes of a group that are in memory, replicas not counted."""
        if not group.states["memory"]:
            return 0
        return max(0, group.nbytes_total - self.released_bytes.get(group, 0))

    def forgotten(self, ts: TaskState, stimulus: str) -> None:
        """Count a task that is forgotten; the transition hook tells it."""
        self.n_forgotten += 1
        group, prefix = ts.group, ts.group.prefix.name
        if self.last_erred is not None and (ts.key, stimulus) == self.last_erred:
            self.last_erred = None
            self._failed[group.name] += 1
            self._failed_of_prefix[prefix] += 1
            self.failed_of_span[group.span_id or ""] += 1
        elif ts.nbytes >= 0:
            self._done[group.name] += 1
            self._done_of_prefix[prefix] += 1

    def refresh(self) -> None:
        """Bring both tables up to date.

        Tasks that appear without a transition (scattered data, a new graph) are noticed by their
        number; then the size of every group is looked at.
        """
        present = self._scheduler.task_groups
        created = len(self._scheduler.tasks) + self.n_forgotten
        if created != self._n_created:
            self._n_created = created
            changed = (g for g in present.values() if len(g) != self._sizes.get(g))
            self.touched.update(changed)
        touched = set(self.touched)
        self.touched.clear()
        for group in touched:  # first: the row of a new group of that name goes on from theirs
            if present.get(group.name) is not group:
                self._put_group(group, is_ended=True)
        for name in {group.name for group in touched} & present.keys():
            self._put_group(present[name], is_ended=False)
        # After a restart of `distributed` there may be a new prefix of that name already.
        for prefix in {group.prefix.name: group.prefix for group in touched}.values():
            self._put_prefix(self._scheduler.task_prefixes.get(prefix.name, prefix))
        self.n_erred = sum(group.states["erred"] for group in present.values())
        self._sum_other_prefixes()

    def restart(self) -> None:
        """Take the last counts of all that `distributed` has just dropped; what was done stays."""
        self.touched.update(self._sizes)
        self.refresh()

    def _put_prefix(self, prefix: TaskPrefix) -> None:
        name = prefix.name
        if name not in self.prefixes and len(self.prefixes) >= self._max_prefixes:
            return
        average = prefix.duration_average
        states, nbytes = self._of_prefix(prefix)
        duration = average if average >= 0 else math.nan
        facts = SimpleNamespace(name=name, states=states, nbytes=nbytes, duration=duration)
        self.prefixes.put(name, facts)

    def _of_prefix(self, prefix: TaskPrefix) -> tuple[list[int], int]:
        """Return tasks by state, and bytes in memory."""
        name, counts = prefix.name, prefix.states
        failed, done = self._failed_of_prefix[name], self._done_of_prefix[name]
        return _states(counts, failed, done), sum(map(self.in_memory, prefix.groups))

    def _sum_other_prefixes(self) -> None:
        """Put the prefixes that are over the limit into one row."""
        prefixes = self._scheduler.task_prefixes
        if len(prefixes) <= self._max_prefixes:
            return
        others = [self._of_prefix(p) for n, p in prefixes.items() if n not in self.prefixes]
        states = [sum(counts) for counts in zip(*(states for states, _ in others), strict=True)]
        nbytes = sum(nbytes for _, nbytes in others)
        facts = SimpleNamespace(name=OTHER, states=states, nbytes=nbytes, duration=math.nan)
        self.prefixes.put(OTHER, facts)

    def _put_group(self, group: TaskGroup, *, is_ended: bool) -> None:
        """Set a group's row. That of an ended one has the work of all groups of this name."""
        name, counts, nbytes = group.name, dict[Any, int](group.states), self.in_memory(group)
        work = self._work.get(name, Work()).plus(group)
        if is_ended:
            self._sizes.pop(group, None)
            self.released_bytes.pop(group, None)
            if not (self._done[name] or self._failed[name]):
                self._forget(name)
                return
            self._work[name], counts, nbytes = work, {}, 0
        else:
            self._sizes[group] = len(group)
            if not (counts["memory"] or counts["processing"]):  # computed again
                self.released_bytes[group] = group.nbytes_total
        if name not in self.groups and len(self.groups) >= self._max_groups:
            self.n_dropped += is_ended or bool(self._ended)
            if is_ended:
                self._forget(name)
            if is_ended or not self._ended:
                return
            self._forget(next(iter(self._ended)))
        self._ended.pop(name, None)
        if is_ended:
            self._ended[name] = None
        needed = [key_text(g.name) for g in group.dependencies if g is not group]
        facts = SimpleNamespace(
            name=name,
            prefix=group.prefix.name,
            states=_states(counts, self._failed[name], self._done[name]),
            nbytes=nbytes,
            duration=work.seconds,
            start=work.start or math.nan,
            stop=work.stop or math.nan,
            dependencies=sorted(needed[:MAX_DEPENDENCIES]),
            is_ended=is_ended,
        )
        self.groups.put(name, facts)

    def _forget(self, name: str) -> None:
        """Forget a group that is gone."""
        self.groups.remove(name)
        for counted in (self._ended, self._done, self._failed, self._work):
            counted.pop(name, None)


def _states(counts: Mapping[Any, int], failed: int, done: int) -> list[int]:
    """Return tasks in each of `STATES`: erred and forgotten ones as they ended."""
    return [*(counts.get(s, 0) for s in LIVE), counts.get("erred", 0) + failed, done]


# --- the exact graph

MAX_TASKS: Final = 5_000
"""Default of ``distributed.dashboard.graph-max-items``."""

KEPT_S: Final = 30.0
"""The graph is followed so long after the last pull that wanted it: somebody may look again."""

STATE_INDEX: Final = {state: index for index, state in enumerate(STATES)}


class GraphLog:
    """The tasks of one scheduler, at most ``limit``, until nobody asked for `KEPT_S`.

    Attributes
    ----------
    is_exact : bool
        Somebody wants it, and there are few enough tasks to follow single ones.
    nodes, states : NamedRows
    """

    def __init__(self, scheduler: Scheduler, limit: int) -> None:
        self._scheduler = scheduler
        self._limit = limit
        self._wanted_until = 0.0
        self.is_exact = False
        self.nodes = NamedRows(NODES)
        self.states = NamedRows(NODE_STATES)
        self._known: dict[Any, tuple[TaskState, str]] = {}  # task and its state, by key

    def keep_for_viewers(self) -> None:
        """Follow it from now on; at the first time there is a snapshot for everybody."""
        is_new = not self._is_wanted()
        self._wanted_until = time.monotonic() + KEPT_S
        if is_new:
            self.refresh()

    def describe(self) -> dict[str, Any]:
        """Return how many tasks there are, and whether each is followed."""
        total = len(self._scheduler.tasks)
        return {"total": total, "limit": self._limit, "is_exact": self.is_exact}

    def refresh(self) -> None:
        """Work in what has changed, or forget all where that is not wanted or too much.

        Looking at 5,000 tasks takes 0.5 ms, and there is none for the hook of transitions to do.
        """
        tasks = self._scheduler.tasks
        if not self._is_wanted() or len(tasks) > self._limit:
            self.clear()
            return
        self.is_exact = True
        for key in self._known.keys() - tasks.keys():
            del self._known[key]
            self.nodes.remove(key)
            self.states.remove(key)
        for key, task in tasks.items():
            before, state = self._known.get(key, (None, None))
            if before is not task:  # new, or another one has its key now
                needed = [key_text(one.key) for one in task.dependencies]
                self.nodes.put(key, SimpleNamespace(task=task, dependencies=sorted(needed)))
            if before is not task or state != task.state:
                self._known[key] = task, task.state
                index = STATE_INDEX[task.state]
                self.states.put(key, SimpleNamespace(task=task, state=index))

    def clear(self) -> None:
        """Keep nothing."""
        self.is_exact = False
        if self._known:
            self._known.clear()
            self.nodes.clear()
            self.states.clear()

    def _is_wanted(self) -> bool:
        return time.monotonic() < self._wanted_until
