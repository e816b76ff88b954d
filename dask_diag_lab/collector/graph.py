"""The exact task graph while it is small and wanted: nodes, edges and states as changes.

Must not follow single tasks of a big graph, which the group table describes, or for nobody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.strings import key_text
from dask_diag_lab.collector.wire import pack
from dask_diag_lab.schema.tables import NODE_STATES, NODES, STATES

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState

MAX_TASKS: Final = 5_000
"""Default of ``distributed.dashboard.graph-max-items``."""

BACK_SHARE: Final = 0.8
"""A graph that was too big is followed again below this share of the limit, not at it."""

MAX_REMOVALS: Final = 20_000

STATE_INDEX: Final = {state: index for index, state in enumerate(STATES)}

Node = tuple[int, str, str, str, tuple[int, ...]]


def _change(  # the fields of `schema.GraphChange`
    total: int,
    limit: int,
    *,
    added: Collection[Node] = (),
    states: Collection[tuple[int, int]] = (),
    removed: Collection[int] = (),
    is_snapshot: bool = True,
    is_exact: bool = True,
    is_followed: bool = True,
) -> dict[str, Any]:
    return {
        "total": total,
        "limit": limit,
        "added": pack(NODES, tuple(added)),
        "states": pack(NODE_STATES, tuple(states)),
        "removed": tuple(removed),
        "is_snapshot": is_snapshot,
        "is_exact": is_exact,
        "is_followed": is_followed,
    }


class _Entry:
    """A task that is followed, and when it came and changed last."""

    __slots__ = ("born", "node", "state", "task", "version")

    def __init__(self, task: TaskState, node: Node, version: int) -> None:
        self.task = task
        self.node = node
        self.state = STATE_INDEX[task.state]
        self.born = self.version = version


class GraphLog:
    """The tasks of one scheduler while there are at most ``limit``.

    Attributes
    ----------
    touched : set
        Keys that changed state; the transition hook adds to it while `is_touched`.
    is_followed : bool
        Somebody wants it.
    is_exact : bool
        There are few enough tasks to follow single ones.
    is_touched : bool
        Both: the transition hook has to tell.
    version : int
        Cursor of those who know all up to now.
    """

    def __init__(self, scheduler: Scheduler, limit: int = MAX_TASKS) -> None:
        self._scheduler = scheduler
        self.limit = limit
        self.touched: set[Hashable] = set()
        self.is_followed = False
        self.is_exact = True
        self.is_touched = False
        self.version = 1
        self._snapshot_before = 1
        self._next_node = 0
        self._total = -1
        self._entries: dict[Any, _Entry] = {}  # by key, the latest change last
        self._removed: deque[tuple[int, int]] = deque()

    def follow(self) -> None:
        """Begin to follow, unless that was begun before; there is a snapshot for everybody."""
        if not self.is_followed:
            self.is_followed = self.is_exact = self.is_touched = True
            self._total = -1
            self._begin_anew()
            self.refresh()

    def give_up(self) -> None:
        """Nobody wants it any more: follow nothing and keep nothing."""
        self.is_followed = self.is_touched = False
        self._forget()

    def unknown(self) -> dict[str, Any]:
        """Return what voids all that somebody knows: it is not followed for them any more."""
        total = len(self._scheduler.tasks)
        return _change(total, self.limit, is_followed=False)

    def refresh(self) -> None:
        """Work in what was touched."""
        tasks = self._scheduler.tasks
        total = len(tasks)
        if total > self.limit or (not self.is_exact and total > BACK_SHARE * self.limit):
            self._count_only(total)
            return
        if not self.is_exact:
            self.is_exact = self.is_touched = True
            self._begin_anew()
        is_changed = bool(self.touched) or total != self._total
        self.version += is_changed
        self._total = total
        self._work_in(self.touched)
        self.touched.clear()
        if len(self._entries) != total:
            # Scattered data comes without a transition, and so do the tasks of before the start.
            self.version += not is_changed
            self._work_in(tasks)

    def _work_in(self, keys: Collection[Any]) -> None:  # any hashables
        for key in keys:
            self._drop_stale(key)
        for key in keys:
            self._update(key)

    def since(self, cursor: int) -> dict[str, Any] | None:
        """Return what changed after ``cursor``, None where nothing did."""
        if cursor == self.version:
            return None
        total = len(self._scheduler.tasks)
        if not self.is_exact:
            return _change(total, self.limit, is_exact=False)
        is_snapshot = not self._snapshot_before <= cursor < self.version
        if is_snapshot:
            cursor = 0
        added, states, removed = [], [], []
        for entry in reversed(self._entries.values()):
            if entry.version <= cursor:
                break
            states.append((entry.node[0], entry.state))
            if entry.born > cursor:
                added.append(entry.node)
        if not is_snapshot:
            for version, node in reversed(self._removed):
                if version <= cursor:
                    break
                removed.append(node)
        added.sort()
        return _change(
            total,
            self.limit,
            added=added,
            states=states,
            removed=removed,
            is_snapshot=is_snapshot,
        )

    def _count_only(self, total: int) -> None:
        """Stop following single tasks; the number of all is still told, rounded."""
        if self.is_exact or abs(total - self._total) > 0.01 * self._total:
            self.version += 1
            self._total = total
        self.is_exact = self.is_touched = False
        self._forget()

    def _begin_anew(self) -> None:
        self.version += 1
        self._snapshot_before = self.version
        self._forget()

    def _forget(self) -> None:
        self._entries.clear()
        self._removed.clear()
        self.touched.clear()

    def _drop_stale(self, key: Any) -> None:  # any hashable
        """Drop a task that is gone, or another one that now has its key."""
        entry = self._entries.get(key)
        if entry is not None and entry.task is not self._scheduler.tasks.get(key):
            self._remove(key, entry)

    def _update(self, key: Any) -> None:  # any hashable
        task = self._scheduler.tasks.get(key)
        entry = self._entries.get(key)
        if task is None:
            return
        if entry is None:
            self._add(task)
            return
        state = STATE_INDEX[task.state]
        if state != entry.state:
            entry.state = state
            entry.version = self.version
            del self._entries[key]
            self._entries[key] = entry

    def _add(self, task: TaskState) -> None:
        """Add a task after all that it depends on."""
        stack = [task]
        while stack:
            task = stack[-1]
            if task.key in self._entries:
                stack.pop()
                continue
            missing = [dep for dep in task.dependencies if dep.key not in self._entries]
            if missing:
                stack += missing
                continue
            stack.pop()
            nodes = tuple(sorted(self._entries[dep.key].node[0] for dep in task.dependencies))
            group = task.group
            node = (
                self._next_node,
                key_text(task.key),
                key_text(group.prefix.name),
                key_text(group.name),
                nodes,
            )
            self._next_node += 1
            self._entries[task.key] = _Entry(task, node, self.version)

    def _remove(self, key: Any, entry: _Entry) -> None:  # any hashable
        del self._entries[key]
        if entry.born < self.version:
            self._removed.append((self.version, entry.node[0]))
        if len(self._removed) > MAX_REMOVALS:
            self._snapshot_before = max(self._snapshot_before, self._removed.popleft()[0])
