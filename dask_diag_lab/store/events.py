"""What happened to the cluster, newest last: a bounded list in which bursts are one event.

Must not look at tables: it is told what was and what is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Batch, Outcome
from dask_diag_lab.store.arrays import Columns, Row
from dask_diag_lab.store.presence import DEPARTURES
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

# The detail of an event is whatever `distributed` logged: its types are not ours to know.
Event = tuple[float, str, Mapping[str, Any]]

_MOMENT_S: Final = 1.0

MIN_BYTES: Final = 2**20
MIN_SHARE: Final = 0.01
"""Growth within `QUIET_S` that is a spill: so much, and so much of what was there already.

What trickles to disk in an idle hour is none, nor what goes to and fro beside gigabytes."""
QUIET_S: Final = 10.0
"""A spill is over when nothing grew for so long. Heartbeats of 1000 workers are 6 s apart."""


class Spilling:
    """The bytes on one worker's disk.

    Parameters
    ----------
    time, nbytes : float, int
        Of the first row that is known of it: what is on disk then is no event.
    """

    def __init__(self, time: float, nbytes: int) -> None:
        self._nbytes = self._base = nbytes
        self._base_at = self._grew_at = time
        self._peak = 0  # of the spill that goes on; 0 for none
        self._is_told = nbytes >= MIN_BYTES

    def see(self, time: float, nbytes: int) -> str:
        """Return the kind of event that the next heartbeat is: 'spill-began', 'spill-ended' or ''.

        A spill ends unsaid, so that the next growth is another one, once nothing grew for a while
        or half of what it brought has gone. What is said is that nothing is left.
        """
        before, self._nbytes = self._nbytes, nbytes
        if self._peak and self._is_over(time, nbytes):
            self._peak, self._base, self._base_at = 0, min(before, nbytes), time
        if self._peak:
            if nbytes > before:
                self._grew_at, self._peak = time, max(self._peak, nbytes)
        elif nbytes - self._base >= max(MIN_BYTES, MIN_SHARE * self._base):
            self._grew_at, self._peak, self._is_told = time, nbytes, True
            return "spill-began"
        elif nbytes < self._base or time - self._base_at > QUIET_S:
            self._base, self._base_at = nbytes, time
        if before and not nbytes and self._is_told:
            self._is_told = False
            return "spill-ended"
        return ""

    def _is_over(self, time: float, nbytes: int) -> bool:
        return time - self._grew_at > QUIET_S or nbytes - self._base < (self._peak - self._base) / 2


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
        events: list[Event] = [(t, kind, detail) for t, kind, detail in batch.rows("events")]
        if batch.epoch != self._epoch:
            self._spilling.clear()
            events = [event for event in events if event[0] > self._told_until]
        known = self.total
        self.extend(events)
        self._epoch = batch.epoch
        if self._recorded != batch.scheduler.id:
            self._recorded = batch.scheduler.id
            self.extend([(batch.time, "recording-began", {"recalled": self.total - known})])
        self._told_until = batch.time

    def begin(self, batch: Batch) -> None:
        """Count the workers of a scheduler's first batch that has no event of their coming."""
        self._came_at.clear()
        came = {d.get("worker") for _, kind, d in batch.rows("events") if kind == "worker-added"}
        workers = batch.tables.get("workers")
        there = () if workers is None else workers.columns["address"]
        number = sum(address not in came for address in there)
        self.version += number != self.n_undated
        self.n_undated = number

    def compare(
        self,
        known: Callable[[str], Row | None],
        workers: Mapping[str, npt.NDArray[Any]],
        removed: Iterable[str],
    ) -> None:
        """Note which workers began or ceased to spill, compared with rows ``known`` by address."""
        names = ("address", "last_seen", "spilled_memory")
        rows = zip(*(workers[name].tolist() for name in names), strict=True)
        events: list[Event] = []
        for address, at, nbytes in rows:
            if address not in self._spilling:
                before = known(address) or {"last_seen": at, "spilled_memory": nbytes}
                self._spilling[address] = Spilling(before["last_seen"], before["spilled_memory"])
            kind = self._spilling[address].see(at, nbytes)
            if kind:
                size = {"nbytes": nbytes} if kind == "spill-began" else {}
                events.append((at, kind, {"worker": address, **size}))
        for address in removed:
            self._spilling.pop(address, None)
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

    def _is_news(self, time: float, kind: str, detail: Mapping[str, Any]) -> bool:
        worker = str(detail.get("worker", ""))
        if kind in DEPARTURES:
            self._came_at.pop(worker, None)
        elif kind == "worker-added":
            # `distributed`'s own log and the collector write down one coming a moment apart.
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
