"""Bytes of results that are in memory now, by group and by prefix of tasks.

Must not visit tasks, but once at the start: the transition hook tells what leaves memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup

EXACT_TASKS: Final = 20_000
"""So many tasks are looked at one by one at the start: some milliseconds."""


class Held:
    """Adds up what is in memory, replicas not counted.

    The engine's ``TaskGroup.nbytes_total`` grows with each result, scattered ones included, and
    does not shrink when one is released. A task computed once more adds only what its result is
    larger than the one before. So what is in memory is ``nbytes_total`` less what left memory
    (`left`), to which results that came back have been given back.

    What had been released before the start is not known any more. Up to ``exact_tasks`` tasks on
    the scheduler, those in memory are summed up then, and the numbers are exact from the first on.
    With more, a group starts from the share of its tasks that are in memory, among those that had
    a result: as exact as these are of one size, and exact as soon as none was in memory for once.

    Data scattered under the key of a result that was released is the one thing not seen.

    Attributes
    ----------
    left : defaultdict
        Bytes of each group that are in ``nbytes_total`` and not in memory; the hook adds to it.
    again : dict
        For each task being computed once more the size of its last result; the hook fills it.
    """

    def __init__(self, scheduler: Scheduler, exact_tasks: int = EXACT_TASKS) -> None:
        self.left: defaultdict[TaskGroup, int] = defaultdict(int)
        self.again: dict[Any, int] = {}  # keys are of any type
        self._groups: dict[TaskGroup, int] = {}
        self._prefixes: defaultdict[str, int] = defaultdict(int)
        is_exact = len(scheduler.tasks) <= exact_tasks
        in_memory = self._look_at(scheduler.tasks) if is_exact else None
        for group in scheduler.task_groups.values():
            held = _share(group) if in_memory is None else in_memory.get(group, 0)
            self.left[group] = group.nbytes_total - held
            self.put(group)

    def of_group(self, group: TaskGroup) -> int:
        """Return what is in memory of a group, whether or not the engine still knows it."""
        if not group.states["memory"]:
            return 0
        return max(0, group.nbytes_total - self.left.get(group, 0))

    def of_prefix(self, name: str) -> int:
        """Return the sum of its groups, each as it was when it was put."""
        return self._prefixes.get(name, 0)

    def ran(self, key: Any, group: TaskGroup, finish: str) -> None:
        """Note how a task went on that may have been computed once more."""
        if finish != "processing":
            before = self.again.pop(key, 0)
            if finish == "memory":
                self.left[group] -= before

    def put(self, group: TaskGroup) -> int:
        """Bring a group and its prefix up to date, and return what is in memory of it."""
        held = self.of_group(group)
        if not group.states["memory"]:
            self.left[group] = group.nbytes_total
        self._prefixes[group.prefix.name] += held - self._groups.get(group, 0)
        self._groups[group] = held
        return held

    def drop(self, group: TaskGroup) -> None:
        """Forget a group that the engine has dropped."""
        self._prefixes[group.prefix.name] -= self._groups.pop(group, 0)
        self.left.pop(group, None)

    def _look_at(self, tasks: Mapping[Any, Any]) -> Mapping[TaskGroup, int]:
        """Return the bytes in memory of each group, task by task."""
        sums: defaultdict[TaskGroup, int] = defaultdict(int)
        for ts in tasks.values():
            if ts.state == "memory":
                sums[ts.group] += max(0, ts.nbytes)
            elif ts.state == "processing" and ts.nbytes >= 0:
                self.again[ts.key] = ts.nbytes
        return sums


def _share(group: TaskGroup) -> int:
    """Return the share of its bytes that goes with the share of its tasks in memory."""
    states = group.states
    had_result = states["memory"] + states["released"] + states["forgotten"]
    return round(group.nbytes_total * states["memory"] / max(had_result, 1))
