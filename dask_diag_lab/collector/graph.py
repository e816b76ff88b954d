"""The exact task graph while it is small and wanted: nodes, edges and states as changes.

Must not follow single tasks of a big graph, which the group table describes, or for nobody.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Hashable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.wire import NamedRows
from dask_diag_lab.schema.tables import NODE_STATES, NODES, STATES

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState

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
        self._tasks: dict[Any, TaskState] = {}  # by key, as the next
        self._states: dict[Any, str] = {}
        self._numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)

    def want(self) -> None:
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
        known, states = self._tasks.get, self._states.get
        changed = {
            key for key, ts in tasks.items() if known(key) is not ts or states(key) != ts.state
        }
        self._work_in(changed | (self._tasks.keys() - tasks.keys()))

    def clear(self) -> None:
        """Keep nothing."""
        self.is_exact = False
        if self._tasks:
            self._tasks.clear()
            self._states.clear()
            self._numbers.clear()
            self.nodes.clear()
            self.states.clear()

    def _is_wanted(self) -> bool:
        return time.monotonic() < self._wanted_until

    def _work_in(self, keys: set[Hashable]) -> None:
        tasks: dict[Any, TaskState] = self._scheduler.tasks  # keys are any hashables
        for key in keys:
            if key in self._tasks and self._tasks[key] is not tasks.get(key):
                # It is gone, or another one has its key now.
                del self._tasks[key], self._states[key]
                number = self._numbers.pop(key)
                self.nodes.remove(number)
                self.states.remove(number)
        for key in keys & tasks.keys():
            if key not in self._tasks:
                self._add(key, tasks[key])
            number, state = self._numbers[key], tasks[key].state
            self._states[key] = state
            self.states.put(number, SimpleNamespace(node=number, state=STATE_INDEX[state]))

    def _add(self, key: Hashable, task: TaskState) -> None:
        needed = sorted(self._numbers[dependency.key] for dependency in task.dependencies)
        self._tasks[key] = task
        number = self._numbers[key]
        self.nodes.put(number, SimpleNamespace(node=number, task=task, dependencies=needed))
