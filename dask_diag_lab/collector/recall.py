"""What happened before there was a collector, as far as the engine's own log goes back.

Must not take over more than its bounds: the log belongs to the scheduler and may be set long. Must
not change it either: the engine's ``get_events`` makes each topic that it is asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.events import MAX_CLIENTS, EventLog

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

RECALLED: Final = 2000
"""Newest entries of the engine's log that are looked through: so many about the cluster, and so
many of all clients together."""

MAX_GRAPHS: Final = 500
"""With the coming of 1000 workers they stay well within `events.MAX_EVENTS`."""

Recalled = tuple[float, str, dict[str, object]]  # time, kind and details of an event
Entry = tuple[float, str, Mapping[str, Any]]  # when, under which topic and what the engine logged

CLIENT_KINDS: Final = {"add-client": "client-added", "remove-client": "client-removed"}

NO_CLIENT: Final = "fire-and-forget"
"""The engine keeps tasks that nobody holds on to under this name among its clients."""


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
    """Return what the engine logged about actions, the newest first.

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

    The engine has no call for that, so there are none either where it keeps them otherwise.
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
    """Return when clients came and left; the engine logs that one left once more at its end."""
    found: list[Recalled] = []
    last: dict[str, str] = {}
    for time, _, message in log:
        client, kind = str(message.get("client")), CLIENT_KINDS.get(message["action"])
        if kind is not None and last.get(client) != kind:
            last[client] = kind
            found.append((time, kind, {"client": client}))
    return found


def _graphs(log: Iterable[Entry]) -> list[Recalled]:
    """Return the newest graphs; each client has a topic of the engine's log."""
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
