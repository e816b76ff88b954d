"""What happened to the cluster, in order, bounded; many small graphs or moves are one event.

What happened before there was a collector is taken from `distributed`'s own log, as far as that
goes back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.strings import key_text
from dask_diag_lab.collector.wire import Answer, sent
from dask_diag_lab.schema.tables import EVENTS

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

MAX_CLIENTS: Final = 100

Event = tuple[float, str, tuple[tuple[str, Any], ...]]  # the details' values are msgpack scalars


class EventLog:
    """Events by cursor."""

    def __init__(self, limit: int = EVENTS.max_rows) -> None:
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

    def since(self, cursor: int) -> Answer:
        """Return the events after ``cursor``.

        Where some were lost to the bound, an event ``events-dropped`` says how many.
        """
        self._flush()
        if cursor == self.total:
            return None, cursor
        first = self.total - len(self._events)
        events = tuple(self._events)[max(0, cursor - first) :]
        if first > cursor:
            lost: Event = (events[0][0], "events-dropped", (("count", first - cursor),))
            events = (lost, *events)
        return sent(EVENTS, events), self.total

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


RECALLED: Final = 2000
"""Newest entries of `distributed`'s log that are looked through: so many about the cluster, and so
many of all clients together."""

MAX_GRAPHS: Final = 500
"""With the coming of 1000 workers they stay well within the rows of `EVENTS`."""


Recalled = tuple[float, str, dict[str, object]]  # time, kind and details of an event
Entry = tuple[
    float, str, Mapping[str, Any]
]  # when, under which topic and what `distributed` logged

CLIENT_KINDS: Final = {"add-client": "client-added", "remove-client": "client-removed"}

NO_CLIENT: Final = "fire-and-forget"
"""`distributed` keeps tasks that nobody holds on to under this name among its clients."""


def recall(scheduler: Scheduler, events: EventLog) -> None:
    """Record who is there since when, which clients came and went, and what they submitted."""
    log = _newest(scheduler, ["all"])[::-1]
    clients = _clients(log)
    # Those that are there, and the last ones that have left.
    known = dict.fromkeys([*scheduler.clients, *(str(e[2]["client"]) for e in clients[::-1])])
    known.pop(NO_CLIENT, None)
    graphs = _graphs(_newest(scheduler, list(known)[:MAX_CLIENTS]))
    found = [*_workers(scheduler, log), *clients, *graphs]
    for time, kind, detail in sorted(found, key=lambda event: event[0]):
        events.add(time, kind, **detail)


def _newest(scheduler: Scheduler, topics: Iterable[str]) -> list[Entry]:
    """Return what `distributed` logged about actions, the newest first.

    Messages of others may be anything.
    """
    entries = merge(
        *(_backwards(scheduler, topic) for topic in topics), key=lambda entry: -entry[0]
    )
    return [
        (time, topic, message)
        for time, topic, message in islice(entries, RECALLED)
        if isinstance(message, dict) and type(message.get("action")) is str
    ]


def _backwards(scheduler: Scheduler, topic: str) -> Iterator[tuple[float, str, Any]]:  # as `Entry`
    """Yield the entries of a topic, without a copy; none where there is no such topic.

    `distributed` has no call for that, so there are none either where it keeps them otherwise.
    """
    topics = getattr(getattr(scheduler, "_broker", None), "_topics", None)
    found = topics.get(topic) if isinstance(topics, dict) else None
    entries = getattr(found, "events", None)
    if isinstance(entries, deque):
        for time, message in reversed(entries):
            yield time, topic, message


def _workers(scheduler: Scheduler, log: Iterable[Entry]) -> list[Recalled]:
    """Return when the workers that are there came."""
    came: dict[str, float] = {}  # an address that is used again is that of the last one
    for time, _, message in log:
        if message["action"] == "add-worker":
            came[str(message.get("worker"))] = time
    return [
        (time, "worker-added", {"worker": address, "name": ws.name, "nthreads": ws.nthreads})
        for address, time in came.items()
        if (ws := scheduler.workers.get(address)) is not None
    ]


def _clients(log: Iterable[Entry]) -> list[Recalled]:
    """Return when clients came and left; `distributed` logs that one left once more at its end."""
    found: list[Recalled] = []
    last: dict[str, str] = {}
    for time, _, message in log:
        client, kind = str(message.get("client")), CLIENT_KINDS.get(message["action"])
        if kind is not None and last.get(client) != kind:
            last[client] = kind
            found.append((time, kind, {"client": client}))
    return found


def _graphs(log: Iterable[Entry]) -> list[Recalled]:
    """Return the newest graphs; each client has a topic of `distributed`'s log."""
    graphs = (
        (time, "update-graph", {"client": client, "graphs": 1, "tasks": n_tasks})
        for time, client, message in log
        if message["action"] == "update-graph" and (n_tasks := new_tasks(message)) is not None
    )
    return list(islice(graphs, MAX_GRAPHS))


def new_tasks(message: Mapping[str, Any]) -> int | None:
    """Return how many tasks a graph brought; None of one that was cancelled or could not be read.

    Those that the scheduler had already, such as results that the graph needs, are not counted.
    """
    metrics = message.get("metrics")
    n_tasks = metrics.get("new_tasks") if isinstance(metrics, dict) else None
    return n_tasks if type(n_tasks) is int else None
