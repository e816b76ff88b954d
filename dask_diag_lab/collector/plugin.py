"""The scheduler plugin: hooks fill the tables, RPC handlers give them out, leases end it.

Must never raise into the scheduler: after an internal error it turns itself off and says so once.
Answers are plain data: an in-process comm passes them by reference.
"""

# ruff: noqa: ARG002 - the hooks have `distributed`'s signatures
from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial, wraps
from math import nan
from typing import TYPE_CHECKING, Any, Final

import dask.config
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.metrics import time as wall_clock

from dask_diag_lab.collector.actions import (
    ERRED,
    MAX_ACTIONS,
    MAX_PENDING,
    NEVER,
    OK,
    RETRIED,
    ActionRecorder,
    Clocks,
)
from dask_diag_lab.collector.asking import ask_handler, task_handler
from dask_diag_lab.collector.events import Errors, EventRecorder, SubmittedGraphs, carried, recall
from dask_diag_lab.collector.on_demand import OnDemandTables, Shuffles, Throttle
from dask_diag_lab.collector.tasks import MAX_TASKS, GraphLog, TaskTables
from dask_diag_lab.collector.wire import (
    LARGEST,
    Answer,
    Strings,
    WholeTable,
    error_text,
    key_text,
    log_since,
    whole,
)
from dask_diag_lab.collector.workers import RunningTasks, WorkerLossTracker, WorkerReader
from dask_diag_lab.schema.tables import (
    EXTRA_NAMES,
    GRAPH,
    NTHREADS,
    PROTOCOL,
    RUNNING,
    THRESHOLDS,
)

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState

logger = logging.getLogger(__name__)

# The version is part of every name: a client meets a collector that speaks another one as if none
# were there, and brings its own; both stay as long as somebody asks them.
NAME: Final = f"dask-diag-lab-{PROTOCOL}"
PULL: Final = f"dask_diag_lab_pull_{PROTOCOL}"
UNSUBSCRIBE: Final = f"dask_diag_lab_unsubscribe_{PROTOCOL}"
TASK: Final = f"dask_diag_lab_task_{PROTOCOL}"
ASK: Final = f"dask_diag_lab_ask_{PROTOCOL}"

LEASE_S: Final = 600.0
"""A laptop that slept, or a kernel held up for minutes, finds its rows: the log is bounded."""

REFRESH_S: Final = 0.2
"""Shortest time between two looks at tasks and workers."""

TASK_ERRED: Final = "task-erred"
"""The workers' message of a task that failed. Where the task has retries left, the scheduler passes
nothing of it on to plugins, so the handler is wrapped."""

WANTED: Final = EXTRA_NAMES | {GRAPH}
"""What is only worked out for who wants it."""

MAX_SUBSCRIBERS: Final = 1_000
MAX_NAME: Final = 100
"""Characters of what a subscriber calls itself."""

READY: Final = frozenset({"queued", "no-worker", "processing"})
"""States of tasks that wait for no other one; those in the last are assigned to a worker."""
UNFINISHED: Final = READY | {"waiting"}

UPDATE_GRAPH: Final = "update-graph-"
"""Begin of `distributed`'s id of a graph's arrival, whose time follows."""


def _safely(hook: Callable[..., None]) -> Callable[..., None]:  # hooks of any signature
    """Switch the collector off where a hook raises: `distributed` would log it each time."""

    @wraps(hook)
    def safe(self: Collector, *args: object, **kwargs: object) -> None:
        if not self._error:
            try:
                hook(self, *args, **kwargs)
            except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
                self._switch_off(error)

    return safe


class Collector(SchedulerPlugin):
    """Collects for any number of subscribers, and leaves when the last one is gone.

    Parameters
    ----------
    max_actions : int
        Rows kept; older ones are dropped and counted.
    lease_s : float
        Seconds that a subscriber counts after its last pull.
    """

    name = NAME
    idempotent = True

    def __init__(self, *, max_actions: int = MAX_ACTIONS, lease_s: float = LEASE_S) -> None:
        self._max_actions = max_actions
        self._lease_s = lease_s
        self._error = ""

    async def start(self, scheduler: Scheduler) -> None:
        """Begin; does not wait, so that two registrations at once cannot both begin."""
        self._scheduler = scheduler
        self._epoch = uuid.uuid4().hex
        # Whoever registered the collector has as long to pull.
        self._leases = {"": time.monotonic() + self._lease_s}
        self._make_tables(scheduler)
        recall(scheduler, self._events)
        self._submitted.recall(scheduler)
        self._before_us = self._log.before = nan, nan, self._submitted.number
        self._began = wall_clock()
        # Results so far, also those that are forgotten; data that was scattered took no time.
        self._n_before = sum(
            prefix.state_counts.get("memory", 0)
            for prefix in scheduler.task_prefixes.values()
            if prefix.duration_average >= 0
        )
        # Kept to be recognized at the end: unpickling the same class once more, as every further
        # registration does, gives it new functions, and then ``self.pull`` is another one.
        self._handlers: dict[str, Callable[..., Any]] = {
            PULL: self.pull,
            UNSUBSCRIBE: self.unsubscribe,
            TASK: task_handler(scheduler),
            ASK: ask_handler(scheduler),
        }
        scheduler.handlers.update(self._handlers)
        self._before: Callable[..., Any] = scheduler.stream_handlers[TASK_ERRED]
        self._wrapper = scheduler.stream_handlers[TASK_ERRED] = self.task_erred
        self._tick_soon()

    def _make_tables(self, scheduler: Scheduler) -> None:
        self._strings = Strings()
        clocks = Clocks()
        self._log = ActionRecorder(self._strings, self._max_actions, clocks)
        self._events = EventRecorder()
        self._submitted = SubmittedGraphs()
        limit = dask.config.get("distributed.dashboard.graph-max-items", MAX_TASKS)
        self._graph = GraphLog(scheduler, min(int(limit or 0), MAX_TASKS))
        self._counts = counts = TaskTables(scheduler)
        self._shuffles = Shuffles(scheduler)
        self._errors = Errors(scheduler)
        self._on_demand = OnDemandTables(scheduler, counts, self._shuffles, self._errors.rows)
        self._losses = WorkerLossTracker(scheduler, self._log, self._events)
        self._workers = WorkerReader(scheduler, clocks)
        self._running = WholeTable(RUNNING, RunningTasks(scheduler, self._strings, self._log).rows)
        self._tables: dict[str, Callable[[int], Answer]] = {
            "running": self._running.since,
            "graphs": self._submitted.since,
            "prefixes": counts.prefixes.since,
            "groups": counts.groups.since,
            "workers": self._workers.since,
            "events": self._events.since,
            "nthreads": self._nthreads_since,
        }
        shares = {name: dask.config.get(f"distributed.worker.memory.{name}") for name in THRESHOLDS}
        self._thresholds = {n: float(share) if share else None for n, share in shares.items()}
        self._task_throttle, self._worker_throttle = Throttle(REFRESH_S), Throttle(REFRESH_S)
        self._graph_throttle = Throttle(REFRESH_S)
        # What `transition` needs within reach:
        self._tasks = scheduler.tasks
        self._pending, self._moments = self._log.pending, self._log.moments
        self._touch = self._counts.touched.add
        self._graph_id, self._graph_at, self._arriving = "", nan, NEVER

    async def close(self) -> None:
        self._detach()

    # Hooks

    def transition(  # type: ignore[override]  # positional-only, as `distributed` calls it
        self,
        key: Any,  # any hashable
        start: str,
        finish: str,
        /,
        **message: Any,  # the fields of the worker's message: startstops and more
    ) -> None:
        """Note one change of a task's state. The hot path: keep it O(1) and small.

        The parameters are positional-only, and ``message``, the worker's, is not unpacked in the
        signature: comparing each keyword with each parameter's name took the interpreter 0.5 µs.
        """
        if start == finish:  # it was decided against
            return
        try:
            if len(self._pending) >= MAX_PENDING:
                self._log.flush()
            ts = self._tasks[key]
            group = ts.group
            self._touch(group)
            if finish in READY:
                now = wall_clock()
                ready, _, graph = self._moments.get(key, self._before_us)
                if start == "waiting":
                    ready = self._graph_at if message["stimulus_id"] == self._graph_id else now
                is_assigned = finish == "processing"
                self._moments[key] = ready, now if is_assigned else nan, graph
                if is_assigned and ts.nbytes >= 0:  # computed again: see `TaskTables`
                    self._counts.released_bytes[group] -= ts.nbytes
            elif finish == "memory" and start == "processing":
                moments = self._moments.pop(key, self._before_us)
                ended = key, group.prefix.name, message["worker"], OK, message, moments
                self._pending.append(ended)
            elif start != "released" or finish != "waiting":
                self._changed(ts, start, finish, message)
            elif message["stimulus_id"] == self._graph_id:
                self._moments[key] = self._arriving
                self._submitted.add_task()
            else:  # tried or computed again
                self._moments.setdefault(key, NEVER)
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            self._skip(key, error)

    def _changed(self, ts: TaskState, start: str, finish: str, message: Mapping[str, Any]) -> None:
        """Note a change by which a task is neither ready nor done."""
        if start == "memory" or (start == "processing" and ts.nbytes >= 0):
            self._counts.released_bytes[ts.group] += ts.nbytes
        if finish == "forgotten":
            self._counts.forgotten(ts, message["stimulus_id"])
        elif finish == "erred":
            self._erred(ts, message if start == "processing" else {})
        elif start == "erred":
            self._counts.last_erred = ts.key, message["stimulus_id"]
        if start in UNFINISHED or finish == "forgotten":
            _, _, graph = self._moments.pop(ts.key, self._before_us)
            if graph and finish == "released":  # it may be tried again
                self._moments[ts.key] = nan, nan, graph

    def _skip(self, key: Any, error: Exception) -> None:  # any hashable
        """Leave out a transition that is not understood; the first is logged, all are counted."""
        if not self._log.skipped:
            logger.warning("dask_diag_lab does not understand a change of %r", key, exc_info=error)
        self._log.skipped += 1

    def task_erred(self, key: Any, stimulus_id: str, **message: Any) -> None:  # as `distributed`'s
        """Note an attempt that failed, then let the scheduler handle the message."""
        self._note_attempt(key, message)
        self._before(key=key, stimulus_id=stimulus_id, **message)

    @_safely
    def _note_attempt(self, key: Any, message: Mapping[str, Any]) -> None:
        ts = self._tasks.get(key)
        if ts is None or ts.run_id != message.get("run_id"):
            return
        if ts.state != "processing" or not ts.retries:
            return
        worker, prefix = str(message.get("worker", "")), ts.group.prefix.name
        self._log.add(key, prefix, worker, RETRIED, message)
        texts = message.get("exception_text"), message.get("traceback_text")
        self._errors.add(key, prefix, wall_clock(), [worker], *texts, is_attempt=True)

    @_safely
    def log_event(self, topic: str, msg: Any) -> None:  # `distributed`'s events are of any type
        # Any client may log what it likes under any name.
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            self._on_event(topic, msg)

    def _on_event(self, topic: str, msg: Any) -> None:  # as `log_event`
        if topic == "stealing":
            if isinstance(msg, tuple) and msg[:1] == ("confirm",):  # a task has been moved
                self._events.count(wall_clock(), "steal-burst")
            return
        if not isinstance(msg, dict):
            return
        action = msg.get("action")
        if topic == "worker-restart-memory":
            self._losses.over_memory(str(msg.get("worker")))
        elif action == "remove-worker" and topic == "all":
            self._losses.removed(msg)
        elif action == "worker-status-change":
            self._losses.status_changed(topic, msg)

    @_safely
    def update_graph(
        self, scheduler: Scheduler, *, client: str = "", stimulus_id: str = "", **graph: Any
    ) -> None:
        """Note when a graph came, and of whom, whose tasks are about to be ready."""
        self._graph_id, self._graph_at = stimulus_id, wall_clock()
        with suppress(ValueError):  # before its tasks were unpacked and put in order
            self._graph_at = float(stimulus_id.removeprefix(UPDATE_GRAPH))
        keys = graph.get("tasks") or ()
        self._submitted.add(self._graph_at, key_text(client), lambda: carried(scheduler, keys))
        self._arriving = nan, nan, self._submitted.number

    @_safely
    def restart(self, scheduler: Scheduler) -> None:
        """Take the last counts of the tasks that `distributed` has just dropped."""
        self._events.add(wall_clock(), "restart")
        self._losses.restart()
        self._counts.restart()
        self._moments.clear()

    @_safely
    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        self._losses.arrived(worker)

    # Handlers of the scheduler's server

    def pull(
        self, subscriber: str, epoch: str, cursors: dict[str, int], wanted: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Answer what is new after ``cursors``, which count for nothing in another ``epoch``.

        ``wanted`` names the tables that are only worked out for who wants them. Where there is no
        answer, ``error`` says why; what was asked wrongly is nobody's affair but the asker's.
        """
        try:
            name, known = str(subscriber)[:MAX_NAME], WANTED.intersection(wanted)
            asked = {table: max(min(int(at), LARGEST), 0) for table, at in cursors.items()}
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            return {"error": error_text(error)}
        refusal = self._error
        if len(self._leases) >= MAX_SUBSCRIBERS and name not in self._leases:
            refusal = refusal or f"it has {MAX_SUBSCRIBERS} subscribers already"
        if refusal:
            return {"error": refusal}
        self._leases.pop("", None)
        self._leases[name] = time.monotonic() + self._lease_s
        at = (asked if epoch == self._epoch else {}).get
        to: dict[str, int] = {}
        try:
            self._refresh()
            actions, to["actions"] = self._log.since(at("actions", 0), at("keys", 0))
            to["keys"] = actions["keys_from"] + len(actions["keys"])
            tables = {}
            for name, since in self._tables_for(known).items():
                change, to[name] = since(at(name, 0))
                if change is not None:
                    tables[name] = change
            # Last: what is above may have given numbers to new strings.
            strings_from, to["strings"] = at("strings", 0), len(self._strings.texts)
            facts = self._describe(has_graph=GRAPH in known)
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            self._switch_off(error)
            return {"error": self._error}
        return {
            **actions,
            **facts,
            "tables": tables,
            "strings_from": strings_from,
            "strings": self._strings.texts[strings_from:],
            "cursors": to,
            "failed": self._on_demand.failed | self._workers.failed,
        }

    def unsubscribe(self, subscriber: str) -> None:
        if subscriber and isinstance(subscriber, str):
            self._leases.pop(subscriber, None)
        if not self._leases:
            self._detach()

    # What a pull brings

    def _tables_for(self, wanted: Collection[str]) -> dict[str, Callable[[int], Answer]]:
        """Return what answers for each table, those that somebody wants among them."""
        tables = dict(self._tables)
        tables.update((name, partial(self._on_demand.since, name)) for name in wanted)
        if GRAPH in wanted:
            self._graph.keep_for_viewers()
            tables |= {"nodes": self._graph.nodes.since, "node-states": self._graph.states.since}
        return tables

    def _nthreads_since(self, cursor: int) -> Answer:
        history = self._scheduler.total_nthreads_history
        return log_since(NTHREADS, len(history), history, cursor)

    def _describe(self, *, has_graph: bool) -> dict[str, Any]:
        """Return what every answer repeats."""
        scheduler = self._scheduler
        return {
            "epoch": self._epoch,
            "time": wall_clock(),
            "began": self._began,
            "scheduler": {
                "id": str(scheduler.id),
                "address": scheduler.address,
                "n_workers": len(scheduler.workers),
                "nthreads": whole(scheduler.total_nthreads),
                "n_erred": self._counts.n_erred,
                "thresholds": dict(self._thresholds),
            },
            "graph": self._graph.describe() if has_graph else None,
            "left_out": {
                "names": self._log.unnamed,
                "running": self._running.n_left_out,
                "groups": self._counts.n_dropped,
                "before": self._n_before,
                "errors": self._errors.n_dropped,
                "lost_runs": self._losses.n_lost_runs,
                "skipped": self._log.skipped,
            },
        }

    def _refresh(self) -> None:
        """Bring the tables up to the scheduler's state, each no more often than its throttle."""
        self._task_throttle.call(self._counts.refresh)
        self._graph_throttle.call(self._graph.refresh)
        self._worker_throttle.call(self._refresh_workers)
        self._running.refresh()  # always: what has ended is in the log of this answer

    def _refresh_workers(self) -> None:
        self._workers.refresh()
        self._shuffles.note()

    # Off the hot path, beginning and end

    def _erred(self, ts: TaskState, message: Mapping[str, Any]) -> None:
        """Record what a task raised while it ran or before that, or that it died with its worker.

        Tasks that are erred because of another one have no worker, and leave no row.
        """
        prefix, worker = ts.group.prefix.name, message.get("worker")
        actions = message.get("startstops") or ()
        if worker and not actions and worker not in self._scheduler.workers:
            why = self._losses.gave_up(ts, worker, str(message.get("stimulus_id", "")))
            died = f"workers died while they ran the task ({ts.suspicious}), the last"
            self._errors.note(ts.key, prefix, f"KilledWorker: {died}: {why}")
            return
        self._errors.note(ts.key, prefix)
        if not worker:
            return
        if not any(action.get("action") == "compute" for action in actions):
            now = wall_clock()
            instant = {"action": "compute", "start": now, "stop": now}
            message = {**message, "startstops": (*actions, instant)}
        self._log.add(ts.key, prefix, worker, ERRED, message)

    def _tick_soon(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(min(5.0, self._lease_s / 4), self._tick)

    @_safely
    def _keep_small(self) -> None:
        self._refresh()

    def _tick(self) -> None:
        """End when nobody asks any more; else keep what waits for a pull small."""
        now = time.monotonic()
        self._leases = {name: until for name, until in self._leases.items() if until > now}
        if self._scheduler.plugins.get(NAME) is not self or not self._leases:
            self._detach()
            return
        self._tick_soon()
        self._keep_small()

    def _switch_off(self, error: Exception) -> None:
        """Make every hook do nothing, let the data go, and say so once."""
        self._error = (
            f"it switched itself off after an error of its own: {type(error).__name__}: {error}"
        )[:1000]
        self.transition = _nothing  # type: ignore[method-assign]  # the other hooks look first
        self._clear()
        logger.error(
            "dask_diag_lab switched its collector off after an error of its own; computations "
            "are not affected",
            exc_info=error,
        )

    def _detach(self) -> None:
        """Leave no trace on the scheduler; harmless when done before."""
        self._timer.cancel()
        for name, handler in self._handlers.items():
            if self._scheduler.handlers.get(name) is handler:
                del self._scheduler.handlers[name]
        handlers = self._scheduler.stream_handlers
        if handlers.get(TASK_ERRED) is self._wrapper:
            handlers[TASK_ERRED] = self._before
        if self._scheduler.plugins.get(NAME) is self:
            self._scheduler.remove_plugin(NAME)
        self._error = self._error or "it has ended"
        self._clear()

    def _clear(self) -> None:
        """Let all data go."""
        self._log.clear()
        self._graph.clear()


def _nothing(*args: object, **kwargs: object) -> None:
    """Stand in for the hook of transitions when it is switched off."""
