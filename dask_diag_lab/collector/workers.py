"""What the scheduler knows of each worker from heartbeats, and what was lost when one ended.

Must not visit tasks that no heartbeat named, but those of a worker that ends.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from distributed.metrics import time as wall_clock
from distributed.scheduler import MemoryState

from dask_diag_lab.collector.actions import KILLED, ActionRecorder, Clocks
from dask_diag_lab.collector.events import EventRecorder
from dask_diag_lab.collector.wire import (
    NamedRows,
    Row,
    Strings,
    cut,
    encodable,
    error_text,
    key_text,
)
from dask_diag_lab.schema.tables import WORKERS

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState, WorkerState

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
            text = key_text(name) if part is None else cut(encodable(f"{name}.{part}"))
            if type(item) is str:
                pairs.append((text, key_text(item)))
            elif type(item) in (float, bool) or (type(item) is int and abs(item) < 2**63):
                pairs.append((text, item))
    return tuple(pairs[:MAX_METRICS])


def process_of(ws: WorkerState) -> str:
    """Return what workers in one process have in common, the address where each has its own.

    Their address says so within a process, else host and number of the process do. A nanny starts
    a process for each worker. Number 1 is that of the first process of any container, many of which
    may have one host.
    """
    if ws.address.startswith("inproc://"):
        return cut(ws.address.rpartition("/")[0])
    pid = getattr(ws, "pid", 0)
    return f"{key_text(ws.host)}/{pid}" if pid > 1 and not ws.nanny else ws.address


class WorkerReader(NamedRows):
    """All workers of one scheduler, by address; one that cannot be read stays as it was.

    A heartbeat tells CPU, memory and files of the whole process: of each worker that shares one
    there is an equal part, so that sums are right.

    Attributes
    ----------
    failed : dict of str to str
        As of `OnDemandTables`: why the last one that could not be read could not.
    """

    def __init__(self, scheduler: Scheduler, clocks: Clocks) -> None:
        super().__init__(WORKERS)
        self._scheduler = scheduler
        self._clocks = clocks
        self.failed: dict[str, str] = {}

    def refresh(self) -> None:
        self.failed = {}
        workers = self._scheduler.workers
        for address in self._rows.keys() - workers.keys():
            self._clocks.forget(address)
            self.remove(address)
        processes: defaultdict[str, list[WorkerState]] = defaultdict(list)
        for ws in workers.values():
            self._clocks.observe(ws.address, ws.time_delay)
            try:
                processes[process_of(ws)].append(ws)
            except AttributeError as error:  # of another version
                self.failed = {"workers": error_text(error)}
        for process, its in processes.items():
            for ws in its:
                try:
                    self._put(ws, process, its)
                except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
                    self.failed = {"workers": error_text(error)}

    def _put(self, ws: WorkerState, process: str, its: Sequence[WorkerState]) -> None:
        """Set the row of a worker, one of those of a process."""
        metrics, memory, n = ws.metrics, ws.memory, len(its)
        if n > 1:
            if "num_fds" in metrics:
                metrics = {**metrics, "num_fds": metrics["num_fds"] / n}
            # A worker takes what the others of its process manage for unmanaged.
            managed = sum(one.memory.managed for one in its)
            old = max(memory.process - managed - memory.unmanaged_recent, 0)
            memory = MemoryState(
                process=memory.process // n,
                managed=managed // n,
                unmanaged_old=old // n,
                spilled=memory.spilled,
            )
        transfer = metrics.get("transfer", {})
        facts = SimpleNamespace(
            state=ws,
            process=process if n > 1 else "",
            cpu=metrics.get("cpu", 0.0) / n,
            memory=memory,
            memory_limit=(ws.memory_limit or 0) / n,
            spilled_memory=metrics.get("spilled_bytes", {}).get("memory", 0),
            n_processing=len(ws.processing),
            n_executing=len(ws.executing),
            n_in_memory=len(ws.has_what),
            occupancy=_occupancy(ws),
            is_idle=ws.address in self._scheduler.idle,
            is_saturated=ws in self._scheduler.saturated,
            incoming_bytes=transfer.get("incoming_bytes", 0),
            outgoing_bytes=transfer.get("outgoing_bytes", 0),
            metrics=flatten(metrics),
        )
        self.put(ws.address, facts)


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
    """The rows of `schema.tables.RUNNING` of one scheduler.

    The start of a task is worked out once, when a heartbeat names it first: later ones would
    make it jitter by their travel time.
    """

    def __init__(self, scheduler: Scheduler, strings: Strings, log: ActionRecorder) -> None:
        self._scheduler = scheduler
        self._strings = strings
        self._log = log
        self._starts: dict[int | None, float] = {}
        self._heartbeats: dict[str, object] = {}

    def rows(self) -> Iterator[Row]:
        """Yield what heartbeats named and has not ended since."""
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
                prefix = self._strings.add(ts.group.prefix.name)
                graph = self._log.moments.get(ts.key, self._log.before)[2]
                yield key_text(ts.key), worker, prefix, start, graph
        self._starts = starts
        self._heartbeats = {a: ws.executing for a, ws in self._scheduler.workers.items()}


LOST: Final = "the connection was lost"
CAUSES: Final = {
    "handle-worker-cleanup": LOST,
    "worker-send-comm-fail": LOST,
    "send-all-comm-fail": LOST,
    "check-worker-ttl": "no heartbeat for too long",
    "nanny-close": "its process ended",  # seen by the nanny before the connection's end was
}
"""Beginnings of `distributed`'s stimulus ids that mean a worker did not leave by itself."""

OVER_MEMORY: Final = "its memory went over the terminate threshold"
CLOSED: Final = "it closed"


class WorkerLossTracker:
    """Follows workers from their coming to their end, and records tasks that died with them.

    Must be told of a removal before `distributed` hands the worker's tasks on.

    Attributes
    ----------
    n_lost_runs : int
        Runs that ended with their worker and have no row, at most: of more tasks than threads
        nobody knows which ran, but for those that the last heartbeat named.
    """

    def __init__(self, scheduler: Scheduler, log: ActionRecorder, events: EventRecorder) -> None:
        self._scheduler = scheduler
        self._log = log
        self._events = events
        # One that the scheduler has just dropped is still here with its last heartbeat.
        self._workers: dict[str, WorkerState] = dict(scheduler.workers)
        self._foreseen: dict[str, str] = {}  # why some are about to end
        self._n_killed = 0
        self.n_lost_runs = 0

    def arrived(self, address: str) -> None:
        """Follow a worker that the scheduler has just taken in, and record its coming."""
        ws = self._workers[address] = self._scheduler.workers[address]
        self._events.add(
            wall_clock(), "worker-added", worker=address, name=ws.name, nthreads=ws.nthreads
        )

    def restart(self) -> None:
        """All workers of now are about to be stopped at the user's request."""
        self._foreseen = dict.fromkeys(self._workers, "the cluster was restarted")

    def over_memory(self, address: str) -> None:
        """The nanny has reported that it stops this worker because of its memory."""
        if address in self._workers:
            self._foreseen[address] = OVER_MEMORY

    def status_changed(self, address: str, message: Mapping[str, Any]) -> None:  # of `distributed`
        """Record that a worker paused or went on, and remember that it is about to close."""
        if address not in self._workers:
            return
        status = message.get("status")
        if status == "paused":
            self._events.add(wall_clock(), "worker-paused", worker=address)
        elif status == "running" and message.get("prev-status") == "closing_gracefully":
            self._foreseen.pop(address, None)  # a retirement that was given up
        elif status == "running" and message.get("prev-status") == "paused":
            self._events.add(wall_clock(), "worker-resumed", worker=address)
        elif status in {"closing", "closing_gracefully"}:
            self._foreseen.setdefault(address, CLOSED)

    def gave_up(self, ts: TaskState, address: str, stimulus: str) -> str:
        """Record a task that `distributed` marked erred because its worker died once too often.

        It has no timings; one that most likely never began gets a row of no length.
        ``stimulus`` is `distributed`'s id of what ended the worker; returns why it did.
        """
        now = wall_clock()
        ws = self._workers.get(address)
        self._n_killed += 1
        is_killed, cause = self._cause(address, stimulus, is_expected=False)
        start = None if ws is None else self._began(ws, ts, is_killed=is_killed)
        self._add(ts, address, now if start is None else start, now)
        self._events.count(now, "task-erred", prefix=ts.prefix.name, worker=address)
        return cause

    def removed(self, message: Mapping[str, Any]) -> None:  # `distributed`'s event, as it comes
        """Record what ran on a worker that has just been dropped, and why it was.

        ``message`` is `distributed`'s ``remove-worker`` event: it comes after `gave_up` of the
        tasks that it names, and before the others are handed on.
        """
        now, address = wall_clock(), message["worker"]
        if address in self._scheduler.workers or address not in self._workers:
            return  # an event of somebody's own: any client may log one
        stimulus, is_expected = str(message.get("stimulus_id", "")), bool(message.get("expected"))
        is_killed, cause = self._cause(address, stimulus, is_expected=is_expected)
        self._foreseen.pop(address, None)
        ws = self._workers.pop(address)
        n_lost = self._n_killed
        n_given = min(ws.nthreads, len(ws.processing) + self._n_killed)
        for ts in ws.processing:
            start = self._began(ws, ts, is_killed=is_killed)
            if start is not None and ts.processing_on is ws:
                self._add(ts, address, start, now)
                n_lost += 1
        self.n_lost_runs += max(n_given - n_lost, 0) if is_killed else 0
        self._n_killed = 0
        kind = "worker-killed" if is_killed else "worker-removed"
        self._events.add(now, kind, worker=address, cause=cause, lost_tasks=n_lost)

    def _began(self, ws: WorkerState, ts: TaskState, *, is_killed: bool) -> float | None:
        """Return when a task began on its worker, as far as the scheduler can tell.

        Where the last heartbeat did not name it, it began after that, if the worker was killed and
        had a thread for each task: of more tasks nobody knows which were still waiting.
        """
        elapsed_s = ws.executing.get(ts)
        if elapsed_s is not None:
            return ws.last_seen - number(elapsed_s)
        has_threads = len(ws.processing) + self._n_killed <= ws.nthreads
        return ws.last_seen if is_killed and has_threads else None

    def _add(self, ts: TaskState, address: str, start: float, stop: float) -> None:
        action = {"action": "compute", "start": min(start, stop), "stop": stop}
        self._log.add(ts.key, ts.group.prefix.name, address, KILLED, {"startstops": (action,)})

    def _cause(self, address: str, stimulus: str, *, is_expected: bool) -> tuple[bool, str]:
        """Return whether a worker that ended was killed, and why it ended."""
        foreseen = self._foreseen.get(address, "")
        if is_expected and foreseen in ("", CLOSED):
            return False, "it was retired"
        if foreseen:
            return foreseen == OVER_MEMORY, foreseen
        for beginning, cause in CAUSES.items():
            if stimulus.startswith(beginning):
                return True, cause
        return False, "it was closed"
