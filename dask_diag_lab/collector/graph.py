"""The exact task graph while it is small and wanted: nodes, edges and states as changes.

Must not follow single tasks of a big graph, which the group table describes, or for nobody.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.wire import NamedRows, key_text
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
        self._known: dict[Any, tuple[TaskState, str]] = {}  # task and its state, by key

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
