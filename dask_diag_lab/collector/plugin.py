"""The scheduler plugin: hooks fill the tables, two RPC handlers give them out, leases end it.

Must never raise into the scheduler: after an internal error it turns itself off and says so once.
"""

# ruff: noqa: ARG002 - the hooks have the engine's signatures
from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from distributed.diagnostics.plugin import SchedulerPlugin

from dask_diag_lab.collector.actions import MAX_ACTIONS, OK
from dask_diag_lab.collector.leases import Leases
from dask_diag_lab.collector.recall import new_tasks
from dask_diag_lab.collector.state import State
from dask_diag_lab.collector.task_story import task_handler

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState

logger = logging.getLogger(__name__)

PROTOCOL: Final = 6
"""Version of the wire format, as in `records.PROTOCOL`.

It is part of every name below: a client meets a collector that speaks another version as if none
were there, and brings its own; both stay as long as somebody asks them."""

NAME: Final = f"dask-diag-lab-{PROTOCOL}"
PULL: Final = f"dask_diag_lab_pull_{PROTOCOL}"
LEAVE: Final = f"dask_diag_lab_leave_{PROTOCOL}"
TASK: Final = f"dask_diag_lab_task_{PROTOCOL}"

LEASE_S: Final = 600.0
"""A laptop that slept, or a kernel held up for minutes, finds its rows: the log is bounded."""
STEALING: Final = "stealing"
CONFIRM: Final = "confirm"
"""First part of the engine's message that a task has been moved, and the topic of that."""

SAMPLED: Final = 128
"""One transition in so many is timed, for `State.cost_s`."""


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
        self._seen = 0

    async def start(self, scheduler: Scheduler) -> None:
        """Begin; does not wait, so that two registrations at once cannot both begin."""
        self._scheduler = scheduler
        self._epoch = uuid.uuid4().hex
        self._leases = Leases(self._lease_s, time.monotonic)
        self._state = State(scheduler, self._max_actions)
        self._tasks = scheduler.tasks
        self._add = self._state.log.add
        self._graph = self._state.graph
        self._counts = self._state.tables
        self._touch = self._counts.touched.add
        self._held = self._counts.held
        self._left, self._again = self._held.left, self._held.again
        self._touch_task = self._graph.touched.add
        # Kept to be recognized at the end: unpickling the same class once more, as every further
        # registration does, gives it new functions, and then ``self.pull`` is another one.
        self._handlers: dict[str, Callable[..., Any]] = {
            PULL: self.pull,
            LEAVE: self.leave,
            TASK: task_handler(scheduler, self._state.log),
        }
        scheduler.handlers.update(self._handlers)
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(min(5.0, self._lease_s / 4), self._tick)
        self._loop.call_soon(self._seed)

    async def close(self) -> None:
        self._detach()

    # Hooks. The engine logs what they raise, each time: they stop at the first error instead.

    def transition(  # type: ignore[override]  # positional-only, as the engine calls it
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
        self._seen = seen = self._seen + 1
        began = 0.0 if seen % SAMPLED else time.perf_counter()
        try:
            ts = self._tasks[key]
            group = ts.group
            self._touch(group)
            if self._graph.is_touched:
                self._touch_task(key)
            if start == "processing":
                if finish == "memory":
                    self._add(
                        key,
                        group.prefix.name,
                        message["worker"],
                        message.get("thread") or 0,
                        message["nbytes"],
                        OK,
                        message["startstops"],
                    )
                if self._again or finish != "memory":
                    self._ran(ts, finish, message)
            elif finish == "processing" and ts.nbytes >= 0:  # had a result: computed once more
                self._again[key] = ts.nbytes
            else:
                if start == "memory" != finish:  # a lost actor stays first, and errs then
                    self._left[group] += ts.nbytes
                if start == "erred" or finish in {"erred", "forgotten"}:
                    self._erred_or_gone(ts, start, finish, message["stimulus_id"])
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            self._switch_off(error)
        if began:
            self._state.cost_s += SAMPLED * (time.perf_counter() - began)

    def log_event(self, topic: str, msg: Any) -> None:  # the engine's events are of any type
        try:
            if topic == STEALING:
                if isinstance(msg, tuple) and msg[:1] == (CONFIRM,):
                    self._state.events.add_move(self._state.now())
                return
            if not isinstance(msg, dict):
                return
            action = msg.get("action")
            if topic == "worker-restart-memory":
                self._state.deaths.over_memory(str(msg.get("worker")))
            elif action == "remove-worker" and topic == "all":
                self._state.deaths.removed(msg)
            elif action == "retire-workers" and topic == "all":
                self._state.events.add(
                    self._state.now(), "workers-retired", count=len(msg.get("retired") or ())
                )
            elif action == "worker-status-change":
                self._state.deaths.status_changed(topic, msg)
            elif action == "update-graph" and topic in self._scheduler.clients:
                self._graph_came(topic, new_tasks(msg))
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            self._switch_off(error)

    def restart(self, scheduler: Scheduler) -> None:
        try:
            self._state.restart()
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            self._switch_off(error)

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        try:
            self._state.deaths.arrived(worker)
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            self._switch_off(error)

    def add_client(self, scheduler: Scheduler, client: str) -> None:
        self._note("client-added", client)

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        self._note("client-removed", client)

    # Handlers of the scheduler's server

    def pull(
        self, subscriber: str, epoch: str, cursors: dict[str, int], wanted: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Answer what is new after ``cursors``, which count for nothing in another ``epoch``.

        ``wanted`` names the tables that are only worked out for who wants them.
        """
        if not self._error:
            self._leases.renew(subscriber)
            try:
                answer = self._state.answer(
                    subscriber, cursors if epoch == self._epoch else {}, wanted
                )
            except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
                self._switch_off(error)
            else:
                return {"epoch": self._epoch, **answer}
        return {"error": self._error}

    def leave(self, subscriber: str) -> None:
        self._leases.end(subscriber)
        if not self._leases.is_any():
            self._detach()

    # Off the hot path, beginning and end

    def _erred_or_gone(self, ts: TaskState, start: str, finish: str, stimulus: str) -> None:
        """Note what a task raised that was not given to a worker, or that it is erred no more."""
        if finish == "erred":
            self._state.errors.note(ts.key, ts.group.prefix.name)
        else:
            self._counts.left(ts.key, ts.group, start, finish, stimulus)

    def _graph_came(self, client: str, n_tasks: int | None) -> None:
        if n_tasks is not None:
            self._state.events.add_graph(self._state.now(), client, n_tasks)

    def _ran(self, ts: TaskState, finish: str, message: Mapping[str, Any]) -> None:  # of the engine
        """Note how a task ended that erred, was taken back or was computed once more."""
        if finish == "erred":
            self._state.errors.note(ts.key, ts.group.prefix.name)
            self._state.erred(ts, message)
        self._held.ran(ts.key, ts.group, finish)

    def _note(self, kind: str, client: str) -> None:
        try:
            self._state.events.add(self._state.now(), kind, client=client)
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            self._switch_off(error)

    def _seed(self) -> None:
        """Take over a part of the stock task stream, and come again for the next."""
        try:
            if not self._error and self._state.seed():
                self._loop.call_later(0.01, self._seed)
        except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
            self._switch_off(error)

    def _tick(self) -> None:
        """End when nobody asks any more; else keep what waits for a pull small."""
        if self._scheduler.plugins.get(NAME) is not self or not self._leases.is_any():
            self._detach()
            return
        self._timer = self._loop.call_later(min(5.0, self._lease_s / 4), self._tick)
        if not self._error:
            try:
                self._state.refresh()
            except Exception as error:  # noqa: BLE001 - diagnostics must not hurt the computation
                self._switch_off(error)

    def _switch_off(self, error: Exception) -> None:
        """Make every hook do nothing, let the data go, and say so once."""
        self._error = f"{type(error).__name__}: {error}"[:1000]
        for hook in (
            "transition", "log_event", "restart", "add_worker", "add_client", "remove_client",
        ):  # fmt: skip
            setattr(self, hook, _nothing)
        self._state.clear()
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
        if self._scheduler.plugins.get(NAME) is self:
            self._scheduler.remove_plugin(NAME)
        self._error = self._error or "The collector has ended."
        self._state.clear()


def _nothing(*args: object, **kwargs: object) -> None:
    """Stand in for a hook that is switched off."""
