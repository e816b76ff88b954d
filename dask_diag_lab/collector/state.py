"""All that one collector knows of one scheduler, and the answer to a pull made from it.

Must stay plain data on the way out: an in-process comm passes answers by reference.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import dask.config
from dask.utils import key_split
from distributed.metrics import time as wall_clock

from dask_diag_lab.collector.actions import ERRED, OK, ActionLog
from dask_diag_lab.collector.deaths import Deaths
from dask_diag_lab.collector.events import EventLog
from dask_diag_lab.collector.graph import MAX_TASKS, GraphLog
from dask_diag_lab.collector.running import RunningTable
from dask_diag_lab.collector.strings import Strings
from dask_diag_lab.collector.tasks import TaskTables
from dask_diag_lab.collector.workers import WorkerTable, refresh_interval

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState

THRESHOLDS: Final = ("target", "spill", "pause", "terminate")
SEED_TASKS: Final = 500
"""Tasks taken over from the stock plugin at a time: about a millisecond."""

MAX_DUTY: Final = 50
"""A refresh is not repeated before so many times its own duration has passed: at most 2 %."""

MAX_NTHREADS: Final = 10_000


def thresholds() -> dict[str, float | None]:
    """Return the memory thresholds as this process is configured; None where switched off."""
    shares = {name: dask.config.get(f"distributed.worker.memory.{name}") for name in THRESHOLDS}
    return {name: float(share) if share else None for name, share in shares.items()}


class _Throttle:
    """Says when a refresh is due, by an interval and by what the last one cost."""

    def __init__(self) -> None:
        self._next = 0.0

    def is_due(self) -> bool:
        return time.perf_counter() >= self._next

    def done(self, began: float, interval_s: float) -> float:
        """Return the seconds since ``began``, and wait accordingly."""
        now = time.perf_counter()
        self._next = now + max(interval_s, MAX_DUTY * (now - began))
        return now - began


class State:
    """Tables of one scheduler, shared by all subscribers.

    Attributes
    ----------
    cost_s : float
        Seconds of the scheduler's time used since the start; those of hooks are sampled.
    began : float
        Since when ended tasks are in the log: the start, or before where there is history.
    """

    def __init__(self, scheduler: Scheduler, max_actions: int) -> None:
        self._scheduler = scheduler
        self.now = wall_clock
        self.cost_s = 0.0
        self.strings = Strings()
        self.log = ActionLog(self.strings, max_actions)
        self.events = EventLog()
        limit = dask.config.get("distributed.dashboard.graph-max-items", MAX_TASKS)
        self.graph = GraphLog(scheduler, min(int(limit or 0), MAX_TASKS))
        self.tables = TaskTables(scheduler)
        self.deaths = Deaths(scheduler, self.log, self.events, wall_clock)
        self._workers = WorkerTable(scheduler)
        self._running = RunningTable(scheduler, self.strings)
        self._thresholds = thresholds()
        self._task_throttle = _Throttle()
        self._worker_throttle = _Throttle()
        self._transitions = -1
        self._created = -1
        stock = scheduler.plugins.get("task-stream")
        self._stock: deque[Any] = deque(  # the stock plugin's records are plain dicts
            itertools.islice(reversed(getattr(stock, "buffer", ())), max_actions // 4)
        )
        self.began = self._history_from()

    def answer(self, cursors: Mapping[str, int]) -> dict[str, Any]:
        """Return what is new after the cursors of each table; an absent cursor is 0."""
        began = time.perf_counter()
        self.refresh()
        self._running.prune()
        at = cursors.get
        actions = self.log.since(at("actions", 0), at("keys", 0))
        nthreads = self._scheduler.total_nthreads_history
        nthreads_from = max(at("nthreads", 0), len(nthreads) - MAX_NTHREADS)
        events_to, events = self.events.since(at("events", 0))
        answer = {
            "time": self.now(),
            "began": self.began,
            "scheduler": self._describe(),
            "actions": tuple(actions),
            "running": self._running.since(at("running", 0)),
            "prefixes": self.tables.prefixes.since(at("prefixes", 0)),
            "groups": self.tables.groups.since(at("groups", 0)),
            "workers": self._workers.changes.since(at("workers", 0)),
            "graph": self.graph.since(at("graph", 0)),
            "nthreads": tuple(nthreads[nthreads_from:]),
            "events": events,
            "left_out": {
                "names": self.log.unnamed,
                "addresses": self.log.unplaced,
                "running": self._running.left_out,
            },
            "strings_from": at("strings", 0),
            "strings": self.strings.since(at("strings", 0)),
            "cursors": {
                "actions": actions.cursor,
                "keys": actions.keys_from + len(actions.keys),
                "running": self._running.version,
                "prefixes": self.tables.prefixes.version,
                "groups": self.tables.groups.version,
                "workers": self._workers.changes.version,
                "graph": self.graph.version,
                "nthreads": len(nthreads),
                "events": events_to,
                "strings": len(self.strings.texts),
            },
        }
        self.cost_s += time.perf_counter() - began
        answer["cost_s"] = self.cost_s
        return answer

    def refresh(self) -> None:
        """Bring the tables up to the scheduler's state, each no more often than its throttle."""
        began = time.perf_counter()
        created = len(self._scheduler.tasks) + self.tables.n_forgotten
        counter = self._scheduler.transition_counter
        if self._task_throttle.is_due() and (counter, created) != (
            self._transitions,
            self._created,
        ):
            self._transitions, self._created = counter, created
            self.tables.refresh()
            self.graph.refresh()
            self._task_throttle.done(began, 0.2)
        if self._worker_throttle.is_due():
            began = time.perf_counter()
            self._workers.refresh()
            self._running.refresh()
            self._worker_throttle.done(began, refresh_interval(len(self._scheduler.workers)))

    def restart(self) -> None:
        """Take the last counts of the tasks that the engine has just dropped."""
        self.events.add(self.now(), "restart")
        self.deaths.restart()
        self.tables.restart()

    def erred(self, ts: TaskState, message: Mapping[str, Any]) -> None:  # of the engine
        """Record a task that erred while it ran, before that, or with its worker.

        Tasks that are erred because of another one have no worker, and leave no row.
        """
        worker = message.get("worker")
        if not worker:
            return
        actions = message.get("startstops") or ()
        if not actions and worker not in self._scheduler.workers:
            self.deaths.gave_up(ts, worker)
            return
        if not actions:
            now = self.now()
            actions = ({"action": "compute", "start": now, "stop": now},)
        thread = message.get("thread") or 0
        self.log.add(ts.key, ts.group.prefix.name, worker, thread, -1, ERRED, actions)

    def seed(self) -> bool:
        """Take over some of the stock task stream's history; tell whether there is more."""
        for _ in range(min(SEED_TASKS, len(self._stock))):
            record = self._stock.pop()
            self.log.add(
                record["key"],
                key_split(record["key"]),
                record.get("worker") or "",
                record.get("thread") or 0,
                record.get("nbytes", -1),
                OK if record.get("status") == "OK" else ERRED,
                record.get("startstops") or (),
            )
        return bool(self._stock)

    def _history_from(self) -> float:
        """Return the end of the oldest task that the stock task stream still has, or now."""
        actions = (self._stock[-1].get("startstops") or ()) if self._stock else ()
        return min([self.now(), *(float(action["stop"]) for action in actions)])

    def clear(self) -> None:
        """Let all data go."""
        self._stock.clear()
        self.log.clear()

    def _describe(self) -> dict[str, Any]:
        scheduler = self._scheduler
        return {
            "id": str(scheduler.id),
            "address": scheduler.address,
            "started": scheduler.time_started,
            "n_workers": len(scheduler.workers),
            "nthreads": scheduler.total_nthreads,
            "memory_limit": scheduler.total_memory,
            "thresholds": dict(self._thresholds),
        }
