"""What happened to the cluster, newest last: a bounded list in which bursts are one event.

Must not look at tables: it is told what was and what is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Final

import numpy as np

from dask_diag_lab.records import Batch, Outcome
from dask_diag_lab.store.arrays import Columns, Row
from dask_diag_lab.store.departures import DEPARTURES
from dask_diag_lab.store.spilling import Spilling
from dask_diag_lab.store.strings import StringTable

MAX_EVENTS: Final = 10_000
MERGE_GAP_S: Final = 2.0
MERGE_MAX_S: Final = 10.0
"""Events of a burst are no further apart, and a burst is no longer: then the next one begins."""

MERGED: Final[Mapping[str, tuple[str, ...]]] = {
    "task-erred": ("prefix",),
    "steal-burst": (),
    "update-graph": ("client",),
}
"""Kinds whose events become one, and the details in which they have to agree."""

ADDED: Final = ("count", "graphs", "tasks")
"""Details that add up when events become one."""

KINDS: Final[Mapping[str, str]] = {
    "worker-added": "worker, name, nthreads",
    "worker-removed": "worker, cause, lost_tasks: it left, was retired, or the cluster restarted",
    "worker-killed": "worker, cause, lost_tasks: it died or was stopped for its memory",
    "worker-paused": "worker: its memory is over the pause threshold",
    "worker-resumed": "worker",
    "worker-closing": "worker: it was told to close when its data has been moved",
    "workers-retired": "count: workers that left on the wish of a user or of an adaptive cluster",
    "spill-began": "worker, nbytes: the data on its disk grew, which it had not for a while",
    "spill-ended": "worker: no data on its disk any more, after such an event",
    "task-erred": "prefix, count, until, worker: of the last one",
    "steal-burst": "count, until: tasks that the scheduler moved to another worker",
    "restart": "",
    "update-graph": "client, graphs, tasks, until",
    "client-added": "client",
    "client-removed": "client",
    "recording-began": "recalled: events of the time before it that the scheduler told",
    "not-recorded": "until: nobody recorded what was done",
    "scheduler-lost": "reason",
    "scheduler-back": "lost_s: how long nothing was heard of it",
    "events-dropped": "count: events lost on the scheduler",
}
"""All kinds, and what their details are; worker: an address; until: end, scheduler's clock."""

# The detail of an event is whatever the engine logged: its types are not ours to know.
Event = tuple[float, str, Mapping[str, Any]]

_MOMENT_S: Final = 1.0

UNKNOWN_CAUSE: Final = "not known without a collector"


class EventLog:
    """The newest events: ``rows`` of (time, kind, detail); ``dropped`` counts older ones.

    Rows are in order of arrival, which is nearly that of their times. The last ones of a burst
    change: its ``until`` and counts grow with every event that is added to it.

    Attributes
    ----------
    n_undated : int
        Workers that the first batch of the scheduler had, and of which nobody knows when they came.
    """

    def __init__(self, limit: int = MAX_EVENTS) -> None:
        self.version = 0
        self.total = 0
        self.n_undated = 0
        self.rows: deque[Event] = deque(maxlen=limit)
        self._limit = limit
        self._bursts: dict[tuple[object, ...], tuple[float, dict[str, Any]]] = {}
        self._came_at: dict[str, float] = {}
        self._spilling: dict[str, Spilling] = {}
        self._lost_at: float | None = None
        self._scheduler = self._epoch = self._recorded = ""
        self._told_until = -inf

    @property
    def dropped(self) -> int:
        """Events that were forgotten for want of room."""
        return self.total - len(self.rows)

    def extend(self, events: Sequence[Event]) -> None:
        """Append events in order of arrival, but not again the coming of a worker that is there.

        A collector that starts anew on a known scheduler tells who came before it did.
        """
        for time, kind, detail in events:
            same = MERGED.get(kind)
            if same is None:
                if self._is_news(time, kind, detail):
                    self._append((time, kind, detail))
            else:
                self._merge(time, kind, detail, (kind, *(detail.get(name) for name in same)))
        self.version += bool(events)

    def hear(self, batch: Batch) -> None:
        """Append the events of a batch that no batch before has brought.

        The first batch of an epoch has what the collector recalls of the time before it, or all
        that one has told already. An event of a later batch is new whatever a clock did. Behind
        what the first collector of a scheduler recalls stands that the recording began.
        """
        if batch.scheduler.id != self._scheduler:
            self._scheduler, self._told_until = batch.scheduler.id, -inf
        events = batch.events
        if batch.epoch != self._epoch:
            self._spilling.clear()
            events = [event for event in events if event[0] > self._told_until]
        known = self.total
        self.extend(events)
        self._epoch = batch.epoch
        if batch.degraded:  # nobody records, no event was told, and the time is of another clock
            return
        if self._recorded != batch.scheduler.id:
            self._recorded = batch.scheduler.id
            self.extend([(batch.time, "recording-began", {"recalled": self.total - known})])
        self._told_until = batch.time

    def begin(self, batch: Batch) -> None:
        """Count the workers of a scheduler's first batch that has no event of their coming."""
        self._came_at.clear()
        came = {d.get("worker") for _, kind, d in batch.events if kind == "worker-added"}
        number = sum(row["address"] not in came for row in batch.workers or ())
        self.version += number != self.n_undated
        self.n_undated = number

    def compare(self, known: Callable[[str], Row | None], batch: Batch) -> None:
        """Note what the worker rows of a batch say, compared with those ``known`` by address."""
        is_plain = bool(batch.degraded)  # no collector, which tells of more itself
        events: list[Event] = []
        for row in batch.workers or ():
            before = known(row["address"])
            events += self._spilled(before, row)
            if is_plain:
                events += changes(before, row)
        for address in batch.removed_workers:
            self._spilling.pop(address, None)
            if is_plain:
                detail = {"worker": address, "cause": UNKNOWN_CAUSE, "lost_tasks": 0}
                events.append((batch.time, "worker-removed", detail))
        self.extend(events)

    def feed_changed(self, time: float, state: str, reason: str) -> None:
        """Note that the scheduler cannot be heard any more, or again."""
        if state == "lost" and self._lost_at is None:
            self._lost_at = time
            self.extend([(time, "scheduler-lost", {"reason": reason})])
        elif state in {"live", "degraded"} and self._lost_at is not None:
            lost_s = max(time - self._lost_at, 0.0)
            self._lost_at = None
            self.extend([(time, "scheduler-back", {"lost_s": lost_s})])

    def _spilled(self, before: Row | None, row: Row) -> list[Event]:
        """Return what happened on a worker's disk; its first row tells nothing of that."""
        address = row["address"]
        if address not in self._spilling:
            first = before or row
            self._spilling[address] = Spilling(first["last_seen"], first["spilled"])
        kind = self._spilling[address].see(row["last_seen"], row["spilled"])
        nbytes = {"nbytes": row["spilled"]} if kind == "spill-began" else {}
        return [(row["last_seen"], kind, {"worker": address, **nbytes})] if kind else []

    def _is_news(self, time: float, kind: str, detail: Mapping[str, Any]) -> bool:
        worker = str(detail.get("worker", ""))
        if kind in DEPARTURES:
            self._came_at.pop(worker, None)
        elif kind == "worker-added":
            # The engine's own log and the collector write down one coming a moment apart.
            if time <= self._came_at.get(worker, -inf) + _MOMENT_S:
                return False
            self._came_at[worker] = time
        return True

    def _append(self, event: Event) -> None:
        self.rows.append(event)
        self.total += 1

    def _merge(
        self, time: float, kind: str, detail: Mapping[str, Any], name: tuple[object, ...]
    ) -> None:
        until = max(time, detail.get("until", time))
        burst = self._bursts.get(name)
        if burst is not None:
            begin, known = burst
            if known["until"] + MERGE_GAP_S >= time and until - begin <= MERGE_MAX_S:
                sums = {part: known[part] + detail[part] for part in ADDED if part in detail}
                known |= {**detail, **sums, "until": max(known["until"], until)}
                return
        new = {**detail, "until": until}
        if len(self._bursts) >= self._limit:
            self._bursts.clear()
        self._bursts[name] = (time, new)
        self._append((time, kind, new))


def changes(before: Row | None, row: Row) -> list[Event]:
    """Return what a row of `WORKERS` and the one before say of coming and pausing.

    A collector tells of these itself.

    Parameters
    ----------
    before : row or None
        A worker that was not there is new and has no past.
    row : row
    """
    at, detail = row["last_seen"], {"worker": row["address"]}
    if before is None:
        arrival = {**detail, "name": row["name"], "nthreads": row["nthreads"]}
        return [(at, "worker-added", arrival)]
    if before["status"] != row["status"]:
        return [(at, kind, detail) for kind in _status(before["status"], row["status"])]
    return []


def _status(before: str, after: str) -> list[str]:
    if after == "paused":
        return ["worker-paused"]
    if after == "closing_gracefully":
        return ["worker-closing"]
    return ["worker-resumed"] if (before, after) == ("paused", "running") else []


def failures(rows: Columns, strings: StringTable) -> list[Event]:
    """Return one event for each prefix among actions that ended with an error.

    Parameters
    ----------
    rows : dict of str to ndarray
        Columns of `ACTIONS`.
    strings : StringTable
        The texts behind the numbers in them.
    """
    is_erred = rows["outcome"] == Outcome.ERRED
    if not is_erred.any():
        return []
    # A task may have several actions, and all of them are marked.
    _, first = np.unique(rows["task"][is_erred], return_index=True)
    erred = np.flatnonzero(is_erred)[first]
    erred = erred[np.argsort(rows["stop"][erred], kind="stable")]
    by_prefix: dict[int, list[int]] = {}
    for index, prefix in zip(erred.tolist(), rows["prefix"][erred].tolist(), strict=True):
        by_prefix.setdefault(prefix, []).append(index)
    return [
        (
            float(rows["stop"][indices[0]]),
            "task-erred",
            {
                "prefix": strings[prefix],
                "count": len(indices),
                "until": float(rows["stop"][indices[-1]]),
                "worker": strings[int(rows["worker"][indices[-1]])],
            },
        )
        for prefix, indices in by_prefix.items()
    ]
