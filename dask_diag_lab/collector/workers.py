"""What the scheduler knows of each worker from its heartbeats, and which tasks these named.

Must not visit tasks that no heartbeat named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.actions import Clocks
from dask_diag_lab.collector.strings import Strings, cut, error_text, key_text, plain
from dask_diag_lab.collector.wire import NamedRows, Row
from dask_diag_lab.schema.tables import WORKERS

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, WorkerState

MAX_METRICS: Final = 100
"""Metrics of one worker that are passed on; custom ones come last."""

OMITTED: Final = frozenset({"digests_total_since_heartbeat", "bandwidth"})
"""Grow with the number of activities or peers, and are differences, not states."""


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
            text = key_text(name) if part is None else cut(plain(f"{name}.{part}"))
            if type(item) is str:
                pairs.append((text, key_text(item)))
            elif type(item) in (float, bool) or (type(item) is int and abs(item) < 2**63):
                pairs.append((text, item))
    return tuple(pairs[:MAX_METRICS])


def process_of(address: str, host: str, pid: int, nanny: str | None) -> str:
    """Return what workers in one process have in common, '' where each has its own.

    Their address says so within a process, else host and number of the process do. A nanny starts
    a process for each worker. Number 1 is that of the first process of any container, many of which
    may have one host.
    """
    if address.startswith("inproc://"):
        return cut(address.rpartition("/")[0])
    return f"{key_text(host)}/{pid}" if pid > 1 and not nanny else ""


class WorkerTable(NamedRows):
    """All workers of one scheduler, by address; one that cannot be read stays as it was.

    Attributes
    ----------
    failure : str
        Why the last one that could not be read could not, '' where all could.
    """

    def __init__(self, scheduler: Scheduler, clocks: Clocks) -> None:
        super().__init__(WORKERS)
        self._scheduler = scheduler
        self._clocks = clocks
        self.failure = ""

    def refresh(self) -> None:
        self.failure = ""
        workers = self._scheduler.workers
        for address in self._rows.keys() - workers.keys():
            self._clocks.forget(address)
            self.remove(address)
        for address, ws in workers.items():
            self._clocks.heard(address, ws.time_delay)
            metrics = ws.metrics
            try:
                transfer = metrics.get("transfer", {})
                facts = SimpleNamespace(
                    state=ws,
                    process=process_of(address, ws.host, getattr(ws, "pid", 0), ws.nanny),
                    cpu=metrics.get("cpu", 0.0),
                    memory=ws.memory,
                    spilled_memory=metrics.get("spilled_bytes", {}).get("memory", 0),
                    n_processing=len(ws.processing),
                    n_executing=len(ws.executing),
                    n_in_memory=len(ws.has_what),
                    occupancy=_occupancy(ws),
                    is_idle=address in self._scheduler.idle,
                    is_saturated=ws in self._scheduler.saturated,
                    incoming_bytes=transfer.get("incoming_bytes", 0),
                    outgoing_bytes=transfer.get("outgoing_bytes", 0),
                    metrics=flatten(metrics),
                )
                self.put(address, facts)
            except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
                self.failure = error_text(error)


def number(value: object) -> float:
    """Return what a worker sent as a number, 0 where it is none."""
    return float(value) if isinstance(value, (int, float)) else 0.0


def _occupancy(ws: WorkerState) -> float:
    """Return the expected seconds of its work: a sum over prefixes, not over tasks."""
    try:
        return float(ws.occupancy) if math.isfinite(ws.occupancy) else 0.0
    except KeyError:  # between `distributed` dropping its prefixes and its workers at a restart
        return 0.0


class RunningTasks:
    """The rows of `schema.RUNNING` of one scheduler.

    The start of a task is worked out once, when a heartbeat names it first: later ones would
    make it jitter by their travel time.
    """

    def __init__(self, scheduler: Scheduler, strings: Strings) -> None:
        self._scheduler = scheduler
        self._strings = strings
        self._starts: dict[int | None, float] = {}
        self._heartbeats: dict[str, object] = {}

    def rows(self) -> Iterator[Row]:
        """Yield key, worker, prefix and start of what heartbeats named and has not ended since."""
        starts = {}
        for address, ws in self._scheduler.workers.items():
            # A run that is new to us began after a heartbeat that was read before: that names the
            # one before of the same task.
            is_read = self._heartbeats.get(address) is ws.executing
            for ts, elapsed_s in ws.executing.items():
                start = self._starts.get(ts.run_id)
                if ts.processing_on is not ws or (start is None and is_read):
                    continue
                if start is None:
                    start = ws.last_seen - number(elapsed_s)
                starts[ts.run_id] = start
                worker = self._strings.add_address(address)
                yield key_text(ts.key), worker, self._strings.add(ts.group.prefix.name), start
        self._starts = starts
        self._heartbeats = {a: ws.executing for a, ws in self._scheduler.workers.items()}
