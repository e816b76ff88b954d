"""What the scheduler knows of each worker from its heartbeats, and which tasks these named.

Must not visit tasks that no heartbeat named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dask_diag_lab.collector.actions import Clocks
from dask_diag_lab.collector.strings import Strings, cut, key_text
from dask_diag_lab.collector.wire import Answer, NamedRows, row_maker, sent
from dask_diag_lab.schema.tables import RUNNING, WORKERS

if TYPE_CHECKING:
    from distributed.scheduler import MemoryState, Scheduler, TaskState, WorkerState

MAX_METRICS: Final = 100
"""Metrics of one worker that are passed on; custom ones come last."""

OMITTED: Final = frozenset({"digests_total_since_heartbeat", "bandwidth"})
"""Grow with the number of activities or peers, and are differences, not states."""


def refresh_interval(n_workers: int) -> float:
    """Return the shortest time between two refreshes, in seconds."""
    if n_workers >= 1000:
        return 2.0
    if n_workers >= 200:
        return 1.0
    return 0.5 if n_workers >= 50 else 0.2


def flatten(metrics: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return numbers and text of a heartbeat as pairs, ``transfer.incoming_count`` and the like.

    Custom metrics may be anything: what is neither number, text nor a mapping of such is left out.
    """
    pairs: list[tuple[str, Any]] = []
    for name, value in metrics.items():
        if name in OMITTED:
            continue
        inner = value.items() if isinstance(value, dict) else ((None, value),)
        for part, item in inner:
            if type(item) is str:
                item = key_text(item)  # noqa: PLW2901 - the same metric, fit to be sent
            elif type(item) is int:
                if not -(2**63) <= item < 2**63:
                    continue
            elif type(item) is not float and type(item) is not bool:
                continue
            pairs.append((key_text(name) if part is None else cut(f"{name}.{part}"), item))
            if len(pairs) == MAX_METRICS:
                return tuple(pairs)
    return tuple(pairs)


def process_of(address: str, host: str, pid: int, nanny: str | None) -> str:
    """Return what workers in one process have in common, '' where each has its own.

    Their address says so within a process, else host and number of the process do. A nanny starts
    a process for each worker, and in containers all of these may have the same number. Without a
    nanny the first process of each container has the number 1, and many containers may have one
    host: that of their network or of what forwards to them. So number 1 tells nothing.

    What stays wrong: containers of one such host in which an init starts a worker without a nanny.
    Where their workers get equal numbers they are taken for one process, and count once.
    """
    if address.startswith("inproc://"):
        return cut(address.rpartition("/")[0])
    return f"{key_text(host)}/{pid}" if pid > 1 and not nanny else ""


class WorkerFacts(NamedTuple):
    """What the columns of `WORKERS` are filled from."""

    state: WorkerState
    scheduler: Scheduler
    memory: MemoryState
    metrics: tuple[tuple[str, Any], ...]
    process: str

    @property
    def occupancy(self) -> float:
        """The expected seconds of its work: a sum over prefixes, not over tasks."""
        try:
            occupancy = float(self.state.occupancy)
        except KeyError:  # between `distributed` dropping its prefixes and its workers at a restart
            return 0.0
        return occupancy if math.isfinite(occupancy) else 0.0


class WorkerTable(NamedRows):
    """All workers of one scheduler, by address; one that cannot be read stays as it was."""

    def __init__(self, scheduler: Scheduler, clocks: Clocks) -> None:
        super().__init__(WORKERS)
        self._scheduler = scheduler
        self._clocks = clocks
        self._make_row = row_maker(WORKERS)
        self._metrics: dict[str, tuple[Any, tuple[tuple[str, Any], ...]]] = {}

    def refresh(self) -> None:
        workers = self._scheduler.workers
        for address in self.names():
            if address not in workers:
                self._metrics.pop(address, None)
                self._clocks.forget(address)
                self.remove(address)
        for address, ws in workers.items():
            self._clocks.heard(address, ws.time_delay)
            try:
                self.put(address, self._make_row(self._facts(ws)))
            except (AttributeError, KeyError, TypeError, ValueError):
                continue

    def _facts(self, ws: WorkerState) -> WorkerFacts:
        process = process_of(ws.address, ws.host, getattr(ws, "pid", 0), ws.nanny)
        return WorkerFacts(ws, self._scheduler, ws.memory, self._flat(ws), process)

    def _flat(self, ws: WorkerState) -> tuple[tuple[str, Any], ...]:
        """Return the metrics, flattened once a heartbeat: each brings a new mapping."""
        known = self._metrics.get(ws.address)
        if known is None or known[0] is not ws.metrics:
            known = self._metrics[ws.address] = (ws.metrics, flatten(ws.metrics))
        return known[1]


MAX_RUNNING: Final = 20_000

Entry = tuple[str, int, int, float]
"""A row of `schema.RUNNING`: key, worker, prefix, start."""


def is_running(ts: TaskState, ws: WorkerState) -> bool:
    """Tell whether a task that a heartbeat named has not been reported ended since."""
    return ts.processing_on is ws and ts.state == "processing"


class RunningTable:
    """`schema.RUNNING` of one scheduler; `version` moves when a task comes or goes.

    The start of a task is worked out once, when a heartbeat names it first: later ones would
    make it jitter by their travel time.

    Attributes
    ----------
    left_out : int
        Tasks that ran at the last refresh beyond the ``limit`` of rows.
    """

    def __init__(self, scheduler: Scheduler, strings: Strings, limit: int = MAX_RUNNING) -> None:
        self._scheduler = scheduler
        self._strings = strings
        self._limit = limit
        self.left_out = 0
        self._entries: dict[tuple[str, int | None], tuple[TaskState, WorkerState, Entry]] = {}
        self._heartbeats: dict[str, dict[TaskState, float]] = {}
        self.version = 1

    def refresh(self) -> None:
        """Take over the last heartbeats and drop what has ended."""
        before = self._entries
        entries: dict[tuple[str, int | None], tuple[TaskState, WorkerState, Entry]] = {}
        self._entries = entries
        self.left_out = 0
        for address, ws in self._scheduler.workers.items():
            for ts, elapsed_s in ws.executing.items():
                if len(entries) == self._limit:
                    self.left_out += is_running(ts, ws)
                    continue
                name = (address, ts.run_id)
                if name in before:
                    if is_running(ts, ws):
                        entries[name] = before[name]
                elif is_running(ts, ws) and not self._is_stale(ws):
                    entries[name] = (ts, ws, self._entry(ts, ws, elapsed_s))
        self._heartbeats = {a: w.executing for a, w in self._scheduler.workers.items()}
        if entries.keys() != before.keys():
            self.version += 1

    def prune(self) -> None:
        """Drop what has ended since the last refresh."""
        ended = [
            name
            for name, (ts, ws, _) in self._entries.items()
            if ts.run_id != name[1] or not is_running(ts, ws)
        ]
        for name in ended:
            del self._entries[name]
        if ended:
            self.version += 1

    def since(self, version: int) -> Answer:
        """Return all running tasks, unless ``version`` is the present one."""
        if version == self.version:
            return None, version
        return sent(RUNNING, [entry for _, _, entry in self._entries.values()]), self.version

    def _is_stale(self, ws: WorkerState) -> bool:
        """Tell whether this heartbeat was read before: a run new to us began after it.

        A task that ends and is run again between two heartbeats has a new run id, and the old
        heartbeat still names it.
        """
        return self._heartbeats.get(ws.address) is ws.executing

    def _entry(self, ts: TaskState, ws: WorkerState, elapsed_s: float) -> Entry:
        start = ws.last_seen - elapsed_s
        return (
            key_text(ts.key),
            self._strings.add_address(ws.address),
            self._strings.add(ts.group.prefix.name),
            start,
        )
