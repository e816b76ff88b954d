"""The store: everything the collector told, ready to be drawn. Batches are the only way in.

Must not import distributed, tornado or bokeh. No locks: other threads only answer a `Query`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from dask_diag_lab.records import Batch, Kind, SchedulerInfo
from dask_diag_lab.store.actions import MAX_ROWS, ActionLog
from dask_diag_lab.store.arrays import Columns, Row
from dask_diag_lab.store.departures import Departures
from dask_diag_lab.store.epoch import BEFORE, Epoch
from dask_diag_lab.store.events import EventLog, failures
from dask_diag_lab.store.extras import Extras
from dask_diag_lab.store.feed_state import FeedStateView, State
from dask_diag_lab.store.graph import TaskGraph
from dask_diag_lab.store.groups import GroupTable
from dask_diag_lab.store.inquiries import Inquiries, Inquiry
from dask_diag_lab.store.keys import KeyTable
from dask_diag_lab.store.lanes import LaneTable
from dask_diag_lab.store.nthreads import ThreadHistory
from dask_diag_lab.store.palette import Palette
from dask_diag_lab.store.prefixes import PrefixTable
from dask_diag_lab.store.running import RunningTable
from dask_diag_lab.store.seen_workers import SeenWorkers
from dask_diag_lab.store.series import SeriesTable
from dask_diag_lab.store.strings import StringTable
from dask_diag_lab.store.validation import check_batch
from dask_diag_lab.store.workers import WorkerTable
from dask_diag_lab.store.workings import Working, Workings

_COMPUTE = int(Kind.COMPUTE)
MAX_GAPS = 100


class Store:
    """All tables of one scheduler.

    Parameters
    ----------
    max_actions : int
        Actions kept; older ones are given up and counted.
    clock : callable
        Monotonic seconds.

    Attributes
    ----------
    version : int
        Moves with every change of any table.
    gaps : deque of (float, float)
        Stretches of the scheduler's clock in which nobody recorded what was done, newest last.
    left_out : mapping of str to int
        `Batch.left_out` of the last batch; ``before`` as the first one of the scheduler told.
    groups, ended_groups : GroupTable
        Those that the scheduler has, and those that it dropped when all their tasks were done.
    on_apply : list of callable
        Called with the store after each batch; they may not raise.
    """

    def __init__(
        self, max_actions: int = MAX_ROWS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.version = 0
        self.feed_state = FeedStateView("connecting", "", 0.0)
        self.scheduler: SchedulerInfo | None = None
        self.degraded = ""
        self.cost_s = 0.0
        self.gaps: deque[tuple[float, float]] = deque(maxlen=MAX_GAPS)
        self.left_out: Mapping[str, int] = {}
        self.strings = StringTable()
        self.palette = Palette(self.strings)
        self.lanes = LaneTable(self.strings)
        self._keys = KeyTable()
        self.actions = ActionLog(self.lanes, self._keys, max_actions)
        self.running = RunningTable(self.lanes)
        self.groups = GroupTable()
        self.ended_groups = GroupTable()
        self.prefixes = PrefixTable(self.groups)
        self.workers = WorkerTable(self.lanes)
        self.seen_workers = SeenWorkers()
        self._departures = Departures()
        self.graph = TaskGraph(self.strings, self.palette)
        self.nthreads = ThreadHistory()
        self.series = SeriesTable()
        self.events = EventLog()
        self.extras = Extras()
        self.inquiries = Inquiries()
        self.workings = Workings()
        self.on_apply: list[Callable[[Store], None]] = []
        self._clock = clock
        self._epoch = Epoch("", 0, 0.0)
        self._next_task = 0
        self._batch_time = self._batch_clock = 0.0
        self._stopped_clock: float | None = None

    @property
    def time(self) -> float:
        """Estimate of the scheduler's clock now, 0 before the first batch.

        It stands still while the feed is lost or closed: what ran then must not seem to go on.
        """
        if not self._epoch.name:
            return 0.0
        clock = self._clock() if self._stopped_clock is None else self._stopped_clock
        return self._batch_time + max(clock - self._batch_clock, 0.0)

    def set_feed_state(self, state: State, reason: str, since: float) -> None:
        """Note whether new data comes."""
        new = FeedStateView(state, reason, since)
        if new == self.feed_state:
            return
        if self._epoch.name:
            self.events.feed_changed(self.time, state, reason)
        self.feed_state = new
        self.version += 1
        if state not in ("lost", "closed"):
            self._stopped_clock = None
        elif self._stopped_clock is None:
            self._stopped_clock = self._clock()

    def apply(self, batch: Batch) -> None:
        """Take over a batch.

        Raises
        ------
        ValueError
            When the batch contradicts itself or what came before; nothing was changed then.
        """
        is_new = batch.epoch != self._epoch.name
        rows = check_batch(batch, 1 if is_new else self._epoch.n_strings)
        before = self._versions()
        if is_new:
            self._begin(batch)
        self._set_facts(batch)
        self._epoch.learn(batch.strings_from, batch.strings, self.strings)
        self._keys.extend(self._epoch.first_task + batch.keys_from, batch.keys)
        workers = batch.workers or ()
        self.lanes.join(((r["address"], r["name"], r["nthreads"]) for r in workers), batch.time)
        self._append(batch, rows)
        self._update_workers(batch)
        self._update_tables(batch)
        if before != self._versions():
            self.version += 1
        for hear in tuple(self.on_apply):
            hear(self)

    def answer(self, inquiry: Inquiry, answer: object) -> None:
        """Take the cluster's answer to a question."""
        self.inquiries.answered(inquiry, answer, self.time)
        self.version += 1

    def fail(self, inquiry: Inquiry, error: str) -> None:
        """Note in words for the user why a question was not answered."""
        self.inquiries.failed(inquiry, error)
        self.version += 1

    def worked_out(self, working: Working[Any]) -> None:  # results of any type
        """Note that a piece of work on answers is done."""
        self.workings.ended(working)
        self.version += 1

    def _versions(self) -> tuple[object, ...]:
        tables = (
            *(self.palette, self.lanes, self.actions, self.running, self.groups, self.prefixes),
            *(self.workers, self.seen_workers, self.graph, self.nthreads, self.series, self.events),
            self.ended_groups,
        )
        return (
            *(table.version for table in tables),
            *(self.extras.version, self.scheduler, self.degraded, self.left_out),
        )

    def _begin(self, batch: Batch) -> None:
        """Void what belongs to the collector that was: its numbers and what was live."""
        is_same = self.scheduler is not None and self.scheduler.id == batch.scheduler.id
        if self.scheduler is not None and not is_same:
            self.inquiries.clear()
        if is_same and batch.began > self._batch_time:
            self.gaps.append((self._batch_time, batch.began))
            self.events.extend([(self._batch_time, "not-recorded", {"until": batch.began})])
        self._next_task = max(self._next_task, self._keys.stop)
        known_until = self._batch_time if is_same else -inf
        n_before = self._epoch.n_before if is_same else batch.left_out.get(BEFORE, 0)
        self._epoch = Epoch(batch.epoch, self._next_task, known_until, n_before)
        self.running.clear()
        self.workers.clear()
        self.prefixes.clear()
        self.groups.clear()
        self.ended_groups.clear()
        self.graph.clear()
        self.extras.clear()

    def _set_facts(self, batch: Batch) -> None:
        self.scheduler = batch.scheduler
        self.degraded = batch.degraded
        self.left_out = self._epoch.left_out(batch.left_out)
        self.cost_s = batch.cost_s
        self._batch_time = batch.time
        self._batch_clock = self._clock()
        if self._stopped_clock is not None:
            self._stopped_clock = self._batch_clock

    def _append(self, batch: Batch, given: Columns | None) -> None:
        """Log the actions of a batch that are not here yet, and count those that are lost."""
        n = 0 if given is None else len(given["start"])
        known, lost = self._epoch.overlap(batch.actions_to, n, batch.actions_dropped)
        ended: list[tuple[int, str, float]] = []
        if given is not None and known < n:
            # A collector that starts anew on a known scheduler sends history that is here already.
            is_new = (given["stop"] > self._epoch.known_until) & (np.arange(n) >= known)
            if is_new.any():
                ended = self._log(batch, {name: column[is_new] for name, column in given.items()})
        # From here on a batch that fails will not bring these rows again.
        self._epoch.actions_to = max(self._epoch.actions_to, batch.actions_to)
        self.actions.drop(lost)
        self.running.finish(ended)
        if n and batch.running is None:
            self.running.settle()

    def _log(self, batch: Batch, rows: Columns) -> list[tuple[int, str, float]]:
        """Log actions, in the store's numbers; return the tasks shown as running that ended."""
        for name in ("worker", "prefix", "source"):
            rows[name] = self._epoch.strings(rows[name])
        rows["task"] = rows["task"] + self._epoch.first_task
        self._next_task = max(self._next_task, int(rows["task"].max()) + 1)
        is_task = rows["kind"] == _COMPUTE
        sought = self.running.keys | {row[0] for row in batch.running or ()}
        first_new = self._epoch.first_task + batch.keys_from
        keys = self._keys.among(rows["task"], sought, first_new, batch.keys)
        seats, ended = self.running.among(rows, keys)
        lane = self.lanes.resolve(
            rows["worker"], rows["thread"], rows["start"], rows["stop"], is_task, seats
        )
        self.palette.see(rows["prefix"])
        self.events.extend(failures(rows, self.strings))
        self.actions.append(rows | {"lane": lane})
        return ended

    def _update_workers(self, batch: Batch) -> None:
        rows = batch.workers or ()
        self.seen_workers.learn(batch)
        for address, at in self._departures.of(batch, self.workers).items():
            self.lanes.leave(address, at)
        # One that left and came back between two batches is among both.
        removed = set(batch.removed_workers)
        back = [row for row in rows if row["address"] in removed]
        self.lanes.join(((r["address"], r["name"], r["nthreads"]) for r in back), batch.time)
        if self._epoch.is_confirmed:
            self.events.compare(self.workers.row, batch)
        self.workers.update(rows, batch.removed_workers)
        is_told = batch.workers is not None or batch.scheduler.n_workers == 0
        if is_told and not self._epoch.is_confirmed:
            self._epoch.is_confirmed = True
            if self._epoch.is_first:
                self.events.begin(batch)
            self.lanes.leave_all_but({row["address"] for row in rows}, batch.time)
        if batch.workers is not None:
            self.series.record(batch.time, self.workers)

    def _update_tables(self, batch: Batch) -> None:
        if batch.running is not None:
            ids = np.array([(row[1], row[2]) for row in batch.running], dtype=np.int64)
            worker, prefix = self._epoch.strings(ids.reshape(-1, 2).T)
            self.palette.see(prefix)
            self.running.replace(
                (row[0], w, p, row[3])
                for row, w, p in zip(batch.running, worker.tolist(), prefix.tolist(), strict=True)
            )
        self.prefixes.update(batch.prefixes or (), batch.removed_prefixes, batch.time)
        if batch.prefixes is not None:
            self._name(row["name"] for row in batch.prefixes)
        if batch.groups is not None or batch.removed_groups:
            self._update_groups(batch.groups or (), batch.removed_groups)
        if batch.graph is not None:
            self.graph.update(batch.graph)
        self.nthreads.extend(batch.nthreads)
        self.events.hear(batch)
        self.extras.update(batch.extras, batch.time)

    def _update_groups(self, rows: Iterable[Row], removed: Sequence[str]) -> None:
        """Take over groups, apart from each other those that are there and those that are gone."""
        ended: list[Row] = []
        live: list[Row] = []
        for row in rows:
            (ended if row["is_ended"] else live).append(row)
        self.groups.update(live, [*removed, *(row["name"] for row in ended)])
        self.ended_groups.update(ended, [*removed, *(row["name"] for row in live)])
        self._name(row["prefix"] for row in (*live, *ended))

    def _name(self, prefixes: Iterable[str]) -> None:
        ids = [self.strings.intern(name) for name in prefixes]
        self.palette.see(np.array(ids, dtype=np.int64))
