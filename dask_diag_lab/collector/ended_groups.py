"""How much of the groups that are gone was done: the engine drops a group with its last task.

Must not visit single tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed.scheduler import TaskGroup

    from dask_diag_lab.collector.failed import Failed


class EndedGroups:
    """Shares out the tasks that a prefix forgot when they were done among its groups.

    The engine counts for a group how many tasks were forgotten, and for a prefix alone how many of
    these had been done. A group whose tasks were cancelled in part is told at least what it did.

    Parameters
    ----------
    failed : Failed
        Knows of each group how many were erred when they were forgotten: these were not done.
    """

    def __init__(self, failed: Failed) -> None:
        self._failed = failed
        self._forgotten: dict[TaskGroup, int] = {}
        self._of_prefix: Counter[str] = Counter()

    def note(self, group: TaskGroup) -> None:
        """Note how many tasks of a group that is there were forgotten, all done if any was."""
        self._set(group, most_done(group, self._failed.of_group[group]))

    def end(self, groups: Iterable[TaskGroup], counted: dict[str, int]) -> dict[TaskGroup, int]:
        """Return how many tasks of each group that is gone had been done.

        Parameters
        ----------
        groups : iterable of TaskGroup
        counted : dict of str to int
            Tasks of each of their prefixes that were done and then forgotten, as
            `TaskTables.count_prefix` counts them.
        """
        done: dict[TaskGroup, int] = {}
        # What never ran and gave no result was cancelled: it takes what is left.
        for group in sorted(groups, key=lambda group: not has_begun(group)):
            prefix = group.prefix.name
            self._set(group, 0)
            left = counted[prefix] - self._of_prefix[prefix]
            most = group.states["forgotten"] - self._failed.of_group[group]
            done[group] = max(min(most, left), 0)
            self._of_prefix[prefix] += done[group]
            del self._forgotten[group]
        return done

    def keep(self, there: Collection[TaskGroup]) -> None:
        """Forget all groups but those: the engine has dropped them without a word."""
        kept = set(there)
        self._forgotten = {g: number for g, number in self._forgotten.items() if g in kept}

    def _set(self, group: TaskGroup, forgotten: int) -> None:
        self._of_prefix[group.prefix.name] += forgotten - self._forgotten.get(group, 0)
        self._forgotten[group] = forgotten


def has_begun(group: TaskGroup) -> bool:
    """Whether any of its tasks came to an end, or gave a result."""
    return bool(group.start or group.types)


def most_done(group: TaskGroup, n_failed: int = 0) -> int:
    """Return how many of its forgotten tasks may have been done: none where none ever was."""
    return int(group.states["forgotten"]) - n_failed if has_begun(group) else 0
