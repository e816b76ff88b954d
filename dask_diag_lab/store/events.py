"""What happened to the cluster, newest last: a bounded list in which bursts are one event.

Must not look at tables: callers pass what was and what is. All kinds of events, which
`views.names` has words for, and their details (worker: an address; until: end, on the
scheduler's clock):

- worker-added: worker, name, nthreads
- worker-removed: worker, cause, lost_tasks: it left, was retired, or the cluster restarted
- worker-killed: worker, cause, lost_tasks: it died or was stopped for its memory
- worker-paused: worker: its memory is over the pause threshold; resumed: when it went on
- worker-resumed: worker
- spill-began: worker, nbytes: there is data on its disk now
- spill-ended: worker: no data on its disk any more
- task-erred: prefix, count, until, worker: of the last one
- task-retried: the same of attempts that failed; their tasks were run again
- steal-burst: count, until: tasks that the scheduler moved to another worker
- restart
- update-graph: client, graphs, tasks, until
- recording-began
- not-recorded: until: nobody recorded what was done
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Outcome
from dask_diag_lab.store.arrays import Columns
from dask_diag_lab.store.strings import StringTable

MAX_EVENTS: Final = 10_000
MERGE_GAP_S: Final = 2.0
MERGE_MAX_S: Final = 10.0
"""Events of a burst are no further apart, and a burst is no longer: then the next one begins."""

MERGED: Final[Mapping[str, tuple[str, ...]]] = {
    "task-erred": ("prefix",),
    "task-retried": ("prefix",),
    "steal-burst": (),
    "update-graph": ("client",),
}
"""Kinds whose events become one, and the details in which they have to agree."""

ADDED: Final = ("count", "graphs", "tasks")
"""Details that add up when events become one."""

# The detail of an event is whatever `distributed` logged: its types are not ours to know.
Event = tuple[float, str, Mapping[str, Any]]

DEPARTURES: Final = frozenset({"worker-removed", "worker-killed"})
"""Kinds of events at a worker's end."""

PAUSES: Final = {"paused": ("worker-paused", True), "running": ("worker-resumed", False)}
"""By status of a worker: the event with which it came, and whether it pauses."""
PAUSE_ENDS: Final = DEPARTURES | {"worker-resumed"}

LEAST_SPILL: Final = 2**20
"""Less data on disk is no spill."""


class EventLog:
    """The newest events: ``rows`` of (time, kind, detail); ``dropped`` counts older ones.

    Rows are in order of arrival, which is nearly that of their times. The last ones of a burst
    change: its ``until`` and counts grow with every event that is added to it. ``paused`` has the
    details of the events of workers that are paused now, by address.
    """

    SAVED = ("total", "rows")

    def __init__(self) -> None:
        self.version = 0
        self.total = 0
        self.rows: deque[Event] = deque(maxlen=MAX_EVENTS)
        self.paused: dict[str, dict[str, Any]] = {}
        self._bursts: dict[tuple[object, ...], tuple[float, dict[str, Any]]] = {}
        self._spilled: dict[str, bool] = {}  # by address

    @property
    def dropped(self) -> int:
        """Events that were forgotten because the list is full."""
        return self.total - len(self.rows)

    def extend(self, events: Sequence[Event]) -> None:
        """Append events in order of arrival."""
        for time, kind, detail in events:
            same = MERGED.get(kind)
            if same is None:
                self._append((time, kind, detail))
            else:
                self._merge(time, kind, detail, (kind, *(detail.get(name) for name in same)))
        self.version += bool(events)

    def observe(
        self,
        events: Sequence[Event],
        graphs: Iterable[tuple[Any, ...]],
        now: float,
        known_until: float | None,
    ) -> None:
        """Append the events of a batch that no batch before has brought.

        The first batch of an epoch has what the collector recalls of the time before it, or all
        that one has sent already. An event of a later batch is new whatever a clock did. Behind
        what the first collector of a scheduler recalls stands that the recording began.

        Parameters
        ----------
        events, graphs : sequences of tuple
            Rows of `EVENTS` and `GRAPHS`.
        now : float
            The batch's.
        known_until : float or None
            Of the first batch of an epoch: until when the scheduler's events are known, -inf of a
            new scheduler. None of later ones.
        """
        events = list(events)
        for _, time, until, client, count, tasks, *_ in graphs:
            detail = {"client": client, "graphs": count, "tasks": tasks, "until": until}
            events.append((time, "update-graph", detail))
        if known_until is not None:
            self._spilled.clear()
            events = [event for event in events if event[0] > known_until]
        self.extend(events)
        if known_until == -inf:
            self.extend([(now, "recording-began", {})])

    def compare(self, workers: Mapping[str, npt.NDArray[Any]], removed: Iterable[str]) -> None:
        """Note which workers began or ceased to spill, from rows of `WORKERS`.

        What is on the disk of a worker when it is first heard of is no event; a pause is, which
        began before there was somebody to hear of it. Later ones are told as events, of which rows
        are up to 0.2 s behind.
        """
        events: list[Event] = []
        names = ("address", "last_seen", "spilled_memory", "status")
        rows = zip(*(workers[n].tolist() for n in names), strict=True)
        for address, time, nbytes, status in rows:
            is_new = address not in self._spilled
            if is_new and status in PAUSES and PAUSES[status][1] != (address in self.paused):
                events.append((time, PAUSES[status][0], {"worker": address}))
            had_spilled = self._spilled.get(address)
            has_spilled = nbytes >= LEAST_SPILL or (bool(had_spilled) and nbytes > 0)
            if has_spilled and had_spilled is False:
                events.append((time, "spill-began", {"worker": address, "nbytes": nbytes}))
            elif had_spilled and not has_spilled:
                events.append((time, "spill-ended", {"worker": address}))
            self._spilled[address] = has_spilled
        for address in removed:
            self._spilled.pop(address, None)
            self.paused.pop(address, None)
        self.extend(events)

    def _append(self, event: Event) -> None:
        time, kind, detail = event
        worker = str(detail.get("worker"))
        if kind == "worker-paused":
            self.paused[worker] = detail = dict(detail)
        elif kind in PAUSE_ENDS and worker in self.paused:
            self.paused.pop(worker)["resumed"] = time
        self.rows.append((time, kind, detail))
        self.total += 1

    def _merge(
        self, time: float, kind: str, detail: Mapping[str, Any], name: tuple[object, ...]
    ) -> None:
        until = max(time, detail.get("until", time))
        begin, burst = self._bursts.get(name, (time, {"until": -inf}))
        if burst["until"] + MERGE_GAP_S >= time and until - begin <= MERGE_MAX_S:
            sums = {part: burst[part] + detail[part] for part in ADDED if part in detail}
            burst |= {**detail, **sums, "until": max(burst["until"], until)}
            return
        if len(self._bursts) >= MAX_EVENTS:
            self._bursts.clear()
        self._bursts[name] = (time, {**detail, "until": until})
        self._append((time, kind, self._bursts[name][1]))


def failures(rows: Columns, strings: StringTable) -> list[Event]:
    """Return one event for each prefix among actions that ended with an error, and among attempts.

    Parameters
    ----------
    rows : dict of str to ndarray
        Columns of `ACTIONS`.
    strings : StringTable
        The texts behind the numbers in them.
    """
    of_tasks = _failures(rows, strings, "task-erred", Outcome.ERRED)
    return of_tasks + _failures(rows, strings, "task-retried", Outcome.RETRIED)


def _failures(rows: Columns, strings: StringTable, kind: str, outcome: Outcome) -> list[Event]:
    erred = np.flatnonzero(rows["outcome"] == outcome)
    # One may have several actions, and all of them are marked with its end.
    ends = np.stack([rows["task"][erred], rows["stop"][erred].view(np.int64)])
    if outcome == Outcome.ERRED:
        ends = ends[:1]
    erred = erred[np.unique(ends, axis=1, return_index=True)[1]]
    by_prefix: dict[int, list[int]] = {}
    for row in erred[np.argsort(rows["stop"][erred], kind="stable")].tolist():
        by_prefix.setdefault(int(rows["prefix"][row]), []).append(row)
    events: list[Event] = []
    for prefix, of_prefix in by_prefix.items():
        first, last = of_prefix[0], of_prefix[-1]
        detail = {
            "prefix": strings[prefix],
            "count": len(of_prefix),
            "until": float(rows["stop"][last]),
            "worker": strings[int(rows["worker"][last])],
        }
        events.append((float(rows["stop"][first]), kind, detail))
    return events
