"""Tasks that died with their worker, which leave no timings of their own.

Must be told of a removal before `distributed` hands the worker's tasks on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dask_diag_lab.collector.actions import KILLED, ActionLog
from dask_diag_lab.collector.events import EventLog

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState, WorkerState

CAUSES = (
    ("handle-worker-cleanup", "the connection was lost"),
    ("worker-send-comm-fail", "the connection was lost"),
    ("send-all-comm-fail", "the connection was lost"),
    ("check-worker-ttl", "no heartbeat for too long"),
    ("nanny-close", "its process ended"),  # seen by the nanny before the connection's end was
)
"""Beginnings of `distributed`'s stimulus ids that mean a worker did not leave by itself."""


class Deaths:
    """Follows workers from their coming to their end.

    Attributes
    ----------
    workers : dict of str to WorkerState
        Those present; one that the scheduler has just dropped is still here with its last
        heartbeat.
    n_lost_runs : int
        Runs that ended with their worker and have no row, at most: of more tasks than threads
        nobody knows which ran, but for those that the last heartbeat named.
    """

    def __init__(
        self, scheduler: Scheduler, log: ActionLog, events: EventLog, clock: Callable[[], float]
    ) -> None:
        self._scheduler = scheduler
        self._log = log
        self._events = events
        self._clock = clock
        self.workers: dict[str, WorkerState] = dict(scheduler.workers)
        self._restarting: set[str] = set()
        self._over_memory: set[str] = set()
        self._closing: set[str] = set()
        self._n_killed = 0
        self.n_lost_runs = 0

    def arrived(self, address: str) -> None:
        """Follow a worker that the scheduler has just taken in, and record its coming."""
        ws = self.workers[address] = self._scheduler.workers[address]
        self._events.add(
            self._clock(), "worker-added", worker=address, name=ws.name, nthreads=ws.nthreads
        )

    def restart(self) -> None:
        """All workers of now are about to be stopped on the user's wish."""
        self._restarting = set(self.workers)

    def over_memory(self, address: str) -> None:
        """The nanny has told that it stops this worker because of its memory."""
        if address in self.workers:
            self._over_memory.add(address)

    def status_changed(self, address: str, message: Mapping[str, Any]) -> None:  # of `distributed`
        """Record that a worker paused, went on, or is about to close, and remember the last."""
        if address not in self.workers:
            return
        status = message.get("status")
        if status == "paused":
            self._events.add(self._clock(), "worker-paused", worker=address)
        elif status == "running" and message.get("prev-status") == "paused":
            self._events.add(self._clock(), "worker-resumed", worker=address)
        if status in {"closing", "closing_gracefully"}:
            # Any other worker that closes is gone within a moment, and that is told then.
            if status == "closing_gracefully" and address not in self._closing:
                self._events.add(self._clock(), "worker-closing", worker=address)
            self._closing.add(address)
        else:
            self._closing.discard(address)

    def gave_up(self, ts: TaskState, address: str, stimulus: str) -> None:
        """Record a task that `distributed` marked erred because its worker died once too often.

        It has no timings; one that most likely never began gets a row of no length.
        ``stimulus`` is `distributed`'s id of what ended the worker.
        """
        now = self._clock()
        ws = self.workers.get(address)
        self._n_killed += 1
        is_killed = self._cause(address, stimulus, is_expected=False)[0] == "worker-killed"
        start = None
        if ws is not None:
            may_infer = is_killed and self._has_threads(ws)
            # What the worker held `distributed` takes away only later.
            is_given = may_infer and all(ws in (d.who_has or ()) for d in ts.dependencies)
            start = self._began(ws, ts, is_given=is_given)
        self._add(ts, address, now if start is None else start, now)
        self._events.add_failure(now, ts.prefix.name, address)

    def removed(self, message: Mapping[str, Any]) -> None:  # `distributed`'s event, as it comes
        """Record what ran on a worker that has just been dropped, and why it was.

        ``message`` is `distributed`'s ``remove-worker`` event: it comes after `gave_up` of the
        tasks that it names, and before the others are handed on.
        """
        address = message["worker"]
        now = self._clock()
        self._restarting.intersection_update(self.workers)
        ws = self.workers.pop(address, None)
        kind, cause = self._cause(
            address, str(message.get("stimulus_id", "")), is_expected=bool(message.get("expected"))
        )
        for note in (self._over_memory, self._restarting, self._closing):
            note.discard(address)
        running = [] if ws is None else self._running(ws, is_killed=kind == "worker-killed")
        n_lost = self._n_killed + len(running)
        if ws is not None and kind == "worker-killed":
            n_given = min(ws.nthreads, len(ws.processing) + self._n_killed)
            self.n_lost_runs += max(n_given - n_lost, 0)
        self._n_killed = 0
        for ts, start in running:
            self._add(ts, address, start, now)
        self._events.add(now, kind, worker=address, cause=cause, lost_tasks=n_lost)

    def _running(self, ws: WorkerState, *, is_killed: bool) -> list[tuple[TaskState, float]]:
        """Return what ran on a worker that is gone, and since when."""
        may_infer = is_killed and self._has_threads(ws)
        # `distributed` has taken away by now what the worker held, but not what it had to fetch.
        lacked = ws.needs_what.keys()
        begun = [
            (ts, self._began(ws, ts, is_given=may_infer and lacked.isdisjoint(ts.dependencies)))
            for ts in ws.processing
            if ts.processing_on is ws
        ]
        return [(ts, start) for ts, start in begun if start is not None]

    @staticmethod
    def _began(ws: WorkerState, ts: TaskState, *, is_given: bool) -> float | None:
        """Return when a task began on its worker, as far as the scheduler can tell.

        Where the last heartbeat did not name it, it began after that if it ``is_given``: the
        worker ended in the midst of its work, with a thread and all that the task needs for it.
        """
        elapsed_s = ws.executing.get(ts)
        if elapsed_s is not None:
            return ws.last_seen - elapsed_s
        return ws.last_seen if is_given else None

    def _has_threads(self, ws: WorkerState) -> bool:
        """Tell whether all that a worker was given had a thread each.

        Of more than these nobody knows which were still waiting.
        """
        return len(ws.processing) + self._n_killed <= ws.nthreads

    def _add(self, ts: TaskState, address: str, start: float, stop: float) -> None:
        action = {"action": "compute", "start": min(start, stop), "stop": stop}
        self._log.add(ts.key, ts.group.prefix.name, address, 0, -1, KILLED, (action,))

    def _cause(self, address: str, stimulus: str, *, is_expected: bool) -> tuple[str, str]:
        """Return the kind of event that a worker's end is, and why it ended."""
        if address in self._over_memory:
            return "worker-killed", "its memory went over the terminate threshold"
        if address in self._restarting:
            return "worker-removed", "the cluster was restarted"
        if is_expected:
            return "worker-removed", "it was retired"
        if address in self._closing:
            return "worker-removed", "it closed"
        for beginning, cause in CAUSES:
            if stimulus.startswith(beginning):
                return "worker-killed", cause
        return "worker-removed", "it was closed"
