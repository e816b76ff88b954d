"""Which tasks run right now, as the workers' last heartbeats told.

Must not visit tasks that no heartbeat named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dask_diag_lab.collector.strings import Strings, key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskState, WorkerState

MAX_RUNNING: Final = 20_000

Entry = tuple[str, int, int, float]
"""A row of `records.RUNNING`: key, worker, prefix, start."""


def is_running(ts: TaskState, ws: WorkerState) -> bool:
    """Tell whether a task that a heartbeat named has not been reported ended since."""
    return ts.processing_on is ws and ts.state == "processing"


class RunningTable:
    """`records.RUNNING` of one scheduler; `version` moves when a task comes or goes.

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

    def since(self, version: int) -> tuple[Entry, ...] | None:
        """Return all running tasks, or None where ``version`` is the present one."""
        if version == self.version:
            return None
        return tuple(entry for _, _, entry in self._entries.values())

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
