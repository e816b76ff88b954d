"""Tasks that died with their worker, which leave no timings of their own.

Must be told of a removal before the engine hands the worker's tasks on.
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
)
"""Beginnings of the engine's stimulus ids that mean a worker did not leave by itself."""


class Deaths:
    """Follows workers from their coming to their end.

    Attributes
    ----------
    workers : dict of str to WorkerState
        Those present; one that the scheduler has just dropped is still here with its last
        heartbeat.
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

    def arrived(self, address: str) -> None:
        self.workers[address] = ws = self._scheduler.workers[address]
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

    def status_changed(self, address: str, message: Mapping[str, Any]) -> None:  # of the engine
        """Record that a worker paused, went on, or is about to close, and remember the last."""
        if address not in self.workers:
            return
        status = message.get("status")
        if status == "paused":
            self._events.add(self._clock(), "worker-paused", worker=address)
        elif status == "running" and message.get("prev-status") == "paused":
            self._events.add(self._clock(), "worker-resumed", worker=address)
        if status in {"closing", "closing_gracefully"}:
            if address not in self._closing:
                self._events.add(self._clock(), "worker-closing", worker=address)
            self._closing.add(address)
        else:
            self._closing.discard(address)

    def gave_up(self, ts: TaskState, address: str) -> None:
        """Record a task that the engine marked erred because its worker died once too often.

        It has no timings. Where the last heartbeat did not name it, it began after that, if a
        thread was free for it, and otherwise most likely never: then it gets a row of no length.
        """
        now = self._clock()
        ws = self.workers.get(address)
        start = now
        if ws is not None:
            elapsed_s = ws.executing.get(ts)
            if elapsed_s is not None:
                start = ws.last_seen - elapsed_s
            elif len(ws.processing) + self._n_killed < ws.nthreads:
                start = ws.last_seen
        self._n_killed += 1
        self._add(ts, address, start, now)

    def removed(self, message: Mapping[str, Any]) -> None:  # the engine's event, as it comes
        """Record what ran on a worker that has just been dropped, and why it was.

        ``message`` is the engine's ``remove-worker`` event: it comes after `gave_up` of the tasks
        that it names, and before the others are handed on.
        """
        address = message["worker"]
        now = self._clock()
        self._restarting.intersection_update(self.workers)
        ws = self.workers.pop(address, None)
        n_lost = self._n_killed
        self._n_killed = 0
        if ws is not None:
            for ts, elapsed_s in ws.executing.items():
                if ts.processing_on is ws:
                    self._add(ts, address, ws.last_seen - elapsed_s, now)
                    n_lost += 1
        kind, cause = self._cause(address, message)
        self._events.add(now, kind, worker=address, cause=cause, lost_tasks=n_lost)

    def _add(self, ts: TaskState, address: str, start: float, stop: float) -> None:
        action = {"action": "compute", "start": min(start, stop), "stop": stop}
        self._log.add(ts.key, ts.group.prefix.name, address, 0, -1, KILLED, (action,))

    def _cause(self, address: str, message: Mapping[str, Any]) -> tuple[str, str]:
        stimulus = str(message.get("stimulus_id", ""))
        notes = (self._over_memory, self._restarting, self._closing)
        over_memory, restarting, closing = (address in note for note in notes)
        for note in notes:
            note.discard(address)
        if over_memory:
            return "worker-killed", "its memory went over the terminate threshold"
        if restarting:
            return "worker-removed", "the cluster was restarted"
        if message.get("expected"):
            return "worker-removed", "it was retired"
        if closing:
            return "worker-removed", "it closed"
        for beginning, cause in CAUSES:
            if stimulus.startswith(beginning):
                return "worker-killed", cause
        return "worker-removed", "it was closed"
