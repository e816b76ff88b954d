"""What happened to the cluster, in order, bounded; many small graphs or moves are one event.

When the workers and clients of now came is taken from `distributed`'s own log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.strings import key_text
from dask_diag_lab.collector.wire import Answer, log_since, whole
from dask_diag_lab.schema.tables import EVENTS

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

MAX_MERGED: Final = 1_000
"""Clients, or prefixes and workers, whose graphs and failures are counted between two pulls."""

Event = tuple[float, str, tuple[tuple[str, Any], ...]]  # the details' values are msgpack scalars


class EventLog:
    """Events by cursor."""

    def __init__(self, limit: int = EVENTS.max_rows) -> None:
        self._total = 0
        self._events: deque[Event] = deque(maxlen=limit)
        self._merged: dict[tuple[object, ...], tuple[float, str, dict[str, Any]]] = {}

    def add(self, time: float, kind: str, **detail: object) -> None:
        """Record an event; details are numbers, None, or made text."""
        self._flush()
        self._append(time, kind, detail)

    def add_graph(self, time: float, client: str, n_tasks: int) -> None:
        """Count a graph: a loop of ``client.submit`` sends thousands of them a second."""
        detail = self._merge(time, "update-graph", client=client)
        detail["graphs"] = detail.get("graphs", 0) + 1
        detail["tasks"] = detail.get("tasks", 0) + n_tasks

    def add_move(self, time: float) -> None:
        """Count a task that was moved to another worker: stealing does that in bursts."""
        self._count(time, self._merge(time, "steal-burst"))

    def add_failure(self, time: float, prefix: str, worker: str) -> None:
        """Count a task that was given up with its worker, which may have held thousands."""
        self._count(time, self._merge(time, "task-erred", prefix=prefix, worker=worker))

    def since(self, cursor: int) -> Answer:
        """Return the events after ``cursor``."""
        self._flush()
        return log_since(EVENTS, self._total, self._events, cursor)

    def _merge(self, time: float, kind: str, **detail: Any) -> dict[str, Any]:
        """Return the details of the event of now that is of this kind and about the same."""
        name = kind, *detail.values()
        if name not in self._merged and len(self._merged) >= MAX_MERGED:
            self._flush()
        return self._merged.setdefault(name, (time, kind, detail))[2]

    @staticmethod
    def _count(time: float, detail: dict[str, Any]) -> None:
        detail["count"] = detail.get("count", 0) + 1
        detail["until"] = time

    def _flush(self) -> None:
        merged, self._merged = self._merged, {}
        for event in merged.values():
            self._append(*event)

    def _append(self, time: float, kind: str, detail: Mapping[str, object]) -> None:
        plain = tuple((name, _scalar(value)) for name, value in detail.items())
        self._events.append((time, kind, plain))
        self._total += 1


def _scalar(value: object) -> object:
    if value is None or isinstance(value, (float, bool)):
        return value
    return whole(value) if isinstance(value, int) else key_text(value)


def recall(scheduler: Scheduler, events: EventLog) -> None:
    """Record when the workers and clients came that are there."""
    came: dict[str, tuple[float, str, dict[str, object]]] = {}
    for time, message in scheduler.get_events("all"):  # the last one counts
        action = message.get("action") if isinstance(message, dict) else None
        if action == "add-worker" and (ws := scheduler.workers.get(str(message.get("worker")))):
            detail = {"worker": ws.address, "name": ws.name, "nthreads": ws.nthreads}
            came[ws.address] = time, "worker-added", detail
        elif action == "add-client" and (client := str(message.get("client"))) in scheduler.clients:
            came[client] = time, "client-added", {"client": client}
    for time, kind, detail in sorted(came.values(), key=lambda event: event[0]):
        events.add(time, kind, **detail)
