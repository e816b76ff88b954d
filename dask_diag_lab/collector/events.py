"""What happened to the cluster, in order, bounded; many small graphs or moves are one event.

Must not look at the scheduler.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from dask_diag_lab.collector.strings import key_text

MAX_EVENTS: Final = 2_000
MAX_CLIENTS: Final = 100

Event = tuple[float, str, tuple[tuple[str, Any], ...]]  # the details' values are msgpack scalars


class EventLog:
    """Events by cursor."""

    def __init__(self, limit: int = MAX_EVENTS) -> None:
        self.total = 0
        self._events: deque[Event] = deque(maxlen=limit)
        self._graphs: dict[str, tuple[float, int, int]] = {}
        self._moves: tuple[float, float, int] | None = None
        self._failures: dict[tuple[str, str], tuple[float, float, int]] = {}

    def add(self, time: float, kind: str, **detail: object) -> None:
        """Record an event; details are numbers, None, or made text."""
        self._flush()
        self._append(time, kind, detail)

    def add_graph(self, time: float, client: str, n_tasks: int) -> None:
        """Count a graph: a loop of ``client.submit`` sends thousands of them a second."""
        if client not in self._graphs and len(self._graphs) == MAX_CLIENTS:
            self._flush()
        first, graphs, tasks = self._graphs.get(client, (time, 0, 0))
        self._graphs[client] = (first, graphs + 1, tasks + n_tasks)

    def add_move(self, time: float) -> None:
        """Count a task that was moved to another worker: stealing does that in bursts."""
        first, _, n = self._moves or (time, time, 0)
        self._moves = (first, time, n + 1)

    def add_failure(self, time: float, prefix: str, worker: str) -> None:
        """Count a task that was given up with its worker, which may have held thousands."""
        first, _, n = self._failures.get((prefix, worker), (time, time, 0))
        self._failures[prefix, worker] = (first, time, n + 1)

    def since(self, cursor: int) -> tuple[int, tuple[Event, ...]]:
        """Return the next cursor and the events after ``cursor``.

        Where some were lost to the bound, an event ``events-dropped`` says how many.
        """
        self._flush()
        first = self.total - len(self._events)
        events = tuple(self._events)[max(0, cursor - first) :]
        if first > cursor:
            lost: Event = (events[0][0], "events-dropped", (("count", first - cursor),))
            events = (lost, *events)
        return self.total, events

    def _flush(self) -> None:
        graphs, self._graphs = self._graphs, {}
        for client, (time, n_graphs, n_tasks) in graphs.items():
            detail = {"client": client, "graphs": n_graphs, "tasks": n_tasks}
            self._append(time, "update-graph", detail)
        moves, self._moves = self._moves, None
        if moves is not None:
            self._append(moves[0], "steal-burst", {"count": moves[2], "until": moves[1]})
        failures, self._failures = self._failures, {}
        for (prefix, worker), (time, until, n) in failures.items():
            detail = {"prefix": prefix, "count": n, "until": until, "worker": worker}
            self._append(time, "task-erred", detail)

    def _append(self, time: float, kind: str, detail: dict[str, object]) -> None:
        plain = tuple(
            (name, value if value is None or isinstance(value, (int, float)) else key_text(value))
            for name, value in detail.items()
        )
        self._events.append((time, kind, plain))
        self.total += 1
