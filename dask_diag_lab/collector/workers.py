"""Rows of `records.WORKERS`: what the scheduler knows of each worker from its heartbeats.

Must not visit a worker's tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.changes import Changes, Row
from dask_diag_lab.collector.clocks import Clocks
from dask_diag_lab.collector.strings import cut, key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, WorkerState

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


class WorkerTable:
    """All workers of one scheduler, as `Changes` by address."""

    def __init__(self, scheduler: Scheduler, clocks: Clocks | None = None) -> None:
        self._scheduler = scheduler
        self._clocks = clocks or Clocks()
        self.changes = Changes()
        self._metrics: dict[str, tuple[Any, tuple[tuple[str, Any], ...]]] = {}

    def refresh(self) -> None:
        workers = self._scheduler.workers
        for address in self.changes.names():
            if address not in workers:
                self._metrics.pop(address, None)
                self._clocks.forget(address)
                self.changes.remove(address)
        for address, ws in workers.items():
            self._clocks.heard(address, ws.time_delay)
            self.changes.put(address, self._row(ws))

    def _row(self, ws: WorkerState) -> Row:
        memory = ws.memory
        transfer = ws.metrics.get("transfer", {})
        return (
            ws.address,
            key_text(ws.name),
            ws.host,
            process_of(ws.address, ws.host, getattr(ws, "pid", 0), ws.nanny),
            ws.nthreads,
            ws.memory_limit or 0,
            ws.status.name,
            ws.last_seen,
            float(ws.metrics.get("cpu", 0.0)),
            memory.process,
            memory.managed,
            memory.unmanaged_old,
            memory.unmanaged_recent,
            memory.spilled,
            len(ws.processing),
            len(ws.executing),
            self._occupancy(ws),
            ws.address in self._scheduler.idle,
            ws in self._scheduler.saturated,
            transfer.get("incoming_bytes", 0),
            transfer.get("outgoing_bytes", 0),
            self._flat(ws),
        )

    def _flat(self, ws: WorkerState) -> tuple[tuple[str, Any], ...]:
        """Return the metrics, flattened once a heartbeat: each brings a new mapping."""
        known = self._metrics.get(ws.address)
        if known is None or known[0] is not ws.metrics:
            known = self._metrics[ws.address] = (ws.metrics, flatten(ws.metrics))
        return known[1]

    def _occupancy(self, ws: WorkerState) -> float:
        """Return the expected seconds of work: a sum over prefixes, not over tasks."""
        try:
            occupancy = float(ws.occupancy)
        except KeyError:  # between the engine dropping its prefixes and its workers at a restart
            return 0.0
        return occupancy if math.isfinite(occupancy) else 0.0
