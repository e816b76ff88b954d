"""All that one collector knows of one scheduler, and the answer to a pull made from it.

Must stay plain data on the way out: an in-process comm passes answers by reference.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

import dask.config
from dask.utils import key_split
from distributed.metrics import time as wall_clock

from dask_diag_lab.collector.actions import ERRED, OK, ActionLog
from dask_diag_lab.collector.clocks import Clocks
from dask_diag_lab.collector.deaths import Deaths
from dask_diag_lab.collector.ended_before import n_ended
from dask_diag_lab.collector.errors import Errors
from dask_diag_lab.collector.events import EventLog
from dask_diag_lab.collector.extras import Extras, sources
from dask_diag_lab.collector.graph import MAX_TASKS, GraphLog
from dask_diag_lab.collector.leases import Leases
from dask_diag_lab.collector.recall import recall
from dask_diag_lab.collector.running import RunningTable
from dask_diag_lab.collector.shuffles import Shuffles
from dask_diag_lab.collector.strings import Strings
from dask_diag_lab.collector.tasks import TaskTables
from dask_diag_lab.collector.throttle import Throttle
from dask_diag_lab.collector.workers import WorkerTable, refresh_interval

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState

THRESHOLDS: Final = ("target", "spill", "pause", "terminate")
SEED_TASKS: Final = 500
"""Tasks taken over from the stock plugin at a time: about a millisecond."""

MAX_NTHREADS: Final = 10_000

GRAPH: Final = "graph"
"""Name under which the exact task graph is wanted, as in `records.GRAPH`."""

GRAPH_LEASE_S: Final = 30.0
"""The graph is followed so long after the last pull that wanted it: somebody may look again."""


def thresholds() -> dict[str, float | None]:
    """Return the memory thresholds as this process is configured; None where switched off."""
    shares = {name: dask.config.get(f"distributed.worker.memory.{name}") for name in THRESHOLDS}
    return {name: float(share) if share else None for name, share in shares.items()}


class State:
    """Tables of one scheduler, shared by all subscribers.

    Attributes
    ----------
    cost_s : float
        Seconds of the scheduler's time used since the start; those of hooks are sampled.
    began : float
        Since when ended tasks are in the log: the start, or before where there is history.
    """

    def __init__(
        self, scheduler: Scheduler, max_actions: int, graph_lease_s: float = GRAPH_LEASE_S
    ) -> None:
        self._scheduler = scheduler
        self.now = wall_clock
        self.cost_s = 0.0
        self.strings = Strings()
        clocks = Clocks()
        self.log = ActionLog(self.strings, max_actions, clocks)
        self.events = EventLog()
        recall(scheduler, self.events)
        limit = dask.config.get("distributed.dashboard.graph-max-items", MAX_TASKS)
        self.graph = GraphLog(scheduler, min(int(limit or 0), MAX_TASKS))
        self._graph_leases = Leases(graph_lease_s, time.monotonic, is_given=False)
        self.tables = TaskTables(scheduler)
        self._shuffles = Shuffles()
        held, failed = self.tables.held.of_group, self.tables.failed.of_span
        self.errors = Errors(scheduler)
        self._extras = Extras(scheduler, sources(held, failed, self._shuffles, self.errors.rows))
        self.deaths = Deaths(scheduler, self.log, self.events, wall_clock)
        self._workers = WorkerTable(scheduler, clocks)
        self._running = RunningTable(scheduler, self.strings)
        self._thresholds = thresholds()
        self._task_throttle = Throttle()
        self._worker_throttle = Throttle()
        self._transitions = -1
        self._created = -1
        stock = scheduler.plugins.get("task-stream")
        self._stock: deque[Any] = deque(  # the stock plugin's records are plain dicts
            itertools.islice(reversed(getattr(stock, "buffer", ())), max_actions // 4)
        )
        self.began = self._history_from()
        self._n_before = max(0, n_ended(scheduler) - len(self._stock))

    def answer(
        self, subscriber: str, cursors: Mapping[str, int], wanted: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return what is new after the cursors of each table; an absent cursor is 0.

        ``wanted`` names extras, and `GRAPH`: of these nothing is worked out otherwise.
        """
        began = time.perf_counter()
        self.refresh()
        self._running.prune()
        answer, to = self._tables(cursors)
        answer["graph"], to["graph"] = self._graph_since(
            subscriber, cursors.get("graph", 0), is_wanted=GRAPH in wanted
        )
        extras = self._extras.answer(wanted, cursors)
        to.update((name, change[-1]) for name, change in extras.items())
        answer["extras"] = {name: change[:-1] for name, change in extras.items()}
        answer["cursors"] = to
        self.cost_s += time.perf_counter() - began
        answer["cost_s"] = self.cost_s
        return answer

    def _tables(self, cursors: Mapping[str, int]) -> tuple[dict[str, Any], dict[str, int]]:
        """Return what everybody gets, and the next cursors."""
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
            "nthreads": tuple(nthreads[nthreads_from:]),
            "events": events,
            "left_out": {
                "names": self.log.unnamed,
                "addresses": self.log.unplaced,
                "running": self._running.left_out,
                "groups": self.tables.n_forgotten_groups,
                "before": self._n_before,
                "errors": self.errors.n_dropped,
            },
            "strings_from": at("strings", 0),
            "strings": self.strings.since(at("strings", 0)),
        }
        return answer, {
            "actions": actions.cursor,
            "keys": actions.keys_from + len(actions.keys),
            "running": self._running.version,
            "prefixes": self.tables.prefixes.version,
            "groups": self.tables.groups.version,
            "workers": self._workers.changes.version,
            "nthreads": len(nthreads),
            "events": events_to,
            "strings": len(self.strings.texts),
        }

    def _graph_since(
        self, subscriber: str, cursor: int, *, is_wanted: bool
    ) -> tuple[tuple[Any, ...] | None, int]:
        """Return what changed in the graph, and the next cursor.

        Who looks away for a moment gets nothing meanwhile and goes on after. Who has looked away
        for the length of a lease is told that what they know is void, once.
        """
        if is_wanted:
            self._graph_leases.renew(subscriber)
            self.graph.follow()
            return self.graph.since(cursor), self.graph.version
        if cursor and not self._graph_leases.has(subscriber):
            return self.graph.unknown(), 0
        return None, cursor

    def refresh(self) -> None:
        """Bring the tables up to the scheduler's state, each no more often than its throttle."""
        if self.graph.is_followed and not self._graph_leases.is_any():
            self.graph.give_up()
        self._extras.forget_unwanted()
        created = len(self._scheduler.tasks) + self.tables.n_forgotten
        counter = self._scheduler.transition_counter
        if self._task_throttle.is_due() and (counter, created) != (
            self._transitions,
            self._created,
        ):
            self._task_throttle.begin()
            self._transitions, self._created = counter, created
            self.tables.refresh()
            if self.graph.is_followed:
                self.graph.refresh()
            self._task_throttle.done(0.2)
        if self._worker_throttle.is_due():
            self._worker_throttle.begin()
            self._workers.refresh()
            self._running.refresh()
            self._shuffles.note(self._scheduler)
            self._worker_throttle.done(refresh_interval(len(self._scheduler.workers)))

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
            self.deaths.gave_up(ts, worker, str(message.get("stimulus_id", "")))
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
        self._extras.clear()
        self.errors.clear()
        self.graph.give_up()

    def _describe(self) -> dict[str, Any]:
        scheduler = self._scheduler
        return {
            "id": str(scheduler.id),
            "address": scheduler.address,
            "started": scheduler.time_started,
            "n_workers": len(scheduler.workers),
            "nthreads": scheduler.total_nthreads,
            "memory_limit": scheduler.total_memory,
            "n_erred": self.tables.n_erred,
            "thresholds": dict(self._thresholds),
        }
