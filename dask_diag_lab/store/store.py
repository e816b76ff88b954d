"""The store: everything the collector told, ready to be drawn. Batches are the only way in.

Must not import distributed, tornado or bokeh. No locks: other threads only answer a `WindowQuery`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from dask_diag_lab.jobs import Job, Jobs
from dask_diag_lab.schema import EXTRA_NAMES, Batch, Change, Kind, SchedulerInfo
from dask_diag_lab.store.actions import MAX_ROWS, ActionLog
from dask_diag_lab.store.arrays import Columns
from dask_diag_lab.store.busy import BusyTimes
from dask_diag_lab.store.events import EventLog, failures
from dask_diag_lab.store.extras import Extras
from dask_diag_lab.store.graph import TaskGraph
from dask_diag_lab.store.keys import KeyTable
from dask_diag_lab.store.prefixes import Durations, GroupTable, PrefixTable
from dask_diag_lab.store.presence import Departures, SeenWorkers, ThreadHistory
from dask_diag_lab.store.queries import Queries, Query
from dask_diag_lab.store.running import RunningTable
from dask_diag_lab.store.series import SeriesTable
from dask_diag_lab.store.slots import SlotTable
from dask_diag_lab.store.strings import BEFORE, Epoch, Palette, StringTable
from dask_diag_lab.store.workers import WorkerTable

State = Literal["connecting", "live", "degraded", "lost", "closed"]

_COMPUTE = int(Kind.COMPUTE)
MAX_GAPS = 100


@dataclass(frozen=True, slots=True)
class FeedStateView:
    """Whether new data comes, why not, and since when (seconds since the epoch)."""

    state: State
    reason: str
    since: float


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
        self.cost_s = 0.0
        self.gaps: deque[tuple[float, float]] = deque(maxlen=MAX_GAPS)
        self.left_out: Mapping[str, int] = {}
        self.strings = StringTable()
        self.palette = Palette(self.strings)
        self.slots = SlotTable(self.strings)
        self._keys = KeyTable()
        self.actions = ActionLog(self.slots, self._keys, max_actions)
        self.busy = BusyTimes()
        self.running = RunningTable(self.slots)
        self.groups = GroupTable()
        self.ended_groups = GroupTable()
        self.prefixes = PrefixTable(self.groups)
        self.durations = Durations(self.strings)
        self.workers = WorkerTable(self.slots)
        self.seen_workers = SeenWorkers()
        self._departures = Departures()
        self.graph = TaskGraph(self.strings, self.palette)
        self.nthreads = ThreadHistory()
        self.series = SeriesTable()
        self.events = EventLog()
        self.extras = Extras()
        self.queries = Queries()
        self.jobs = Jobs()
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

    @property
    def degraded(self) -> str:
        """Why there is no data though the scheduler is there, '' when all is well."""
        return self.feed_state.reason if self.feed_state.state == "degraded" else ""

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
        n_strings = 1 if is_new else self._epoch.n_strings
        if not 0 <= batch.strings_from <= n_strings:
            raise ValueError(f"strings begin at {batch.strings_from}, {n_strings} are known")
        before = self._versions()
        if is_new:
            self._begin(batch)
        self._set_facts(batch)
        self._epoch.learn(batch.strings_from, batch.strings, self.strings)
        self._keys.extend(self._epoch.first_task + batch.keys_from, batch.keys)
        self._join(batch)
        self._append(batch)
        self._update_workers(batch)
        self._update_tables(batch)
        if before != self._versions():
            self.version += 1
        for hear in tuple(self.on_apply):
            hear(self)

    def answer(self, query: Query, answer: object) -> None:
        """Take the cluster's answer to a question."""
        self.queries.answered(query, answer, self.time)
        self.version += 1

    def fail(self, query: Query, error: str) -> None:
        """Note in words for the user why a question was not answered."""
        self.queries.failed(query, error)
        self.version += 1

    def job_done(self, job: Job[Any]) -> None:  # results of any type
        """Note that a piece of work on answers is done."""
        self.jobs.ended(job)
        self.version += 1

    def _versions(self) -> tuple[object, ...]:
        tables = (
            *(self.palette, self.slots, self.actions, self.running, self.groups, self.prefixes),
            *(self.workers, self.seen_workers, self.graph, self.nthreads, self.series, self.events),
            *(self.ended_groups, self.durations),
        )
        return (
            *(table.version for table in tables),
            *(self.extras.version, self.scheduler, self.left_out),
        )

    def _begin(self, batch: Batch) -> None:
        """Void what belongs to the collector that was: its numbers and what was live."""
        is_same = self.scheduler is not None and self.scheduler.id == batch.scheduler.id
        if self.scheduler is not None and not is_same:
            self.queries.clear()
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
        self.left_out = self._epoch.left_out(batch.left_out)
        self.cost_s = batch.cost_s
        self._batch_time = batch.time
        self._batch_clock = self._clock()
        if self._stopped_clock is not None:
            self._stopped_clock = self._batch_clock

    def _join(self, batch: Batch, among: set[str] | None = None) -> None:
        """Give slots to the workers of a batch, to all or to some of them."""
        change = batch.tables.get("workers")
        if change is not None:
            names = (change.columns[name].tolist() for name in ("address", "name", "nthreads"))
            workers = zip(*names, strict=True)
            self.slots.join((w for w in workers if among is None or w[0] in among), batch.time)

    def _append(self, batch: Batch) -> None:
        """Log the actions of a batch that are not here yet, and count those that are lost."""
        change = batch.tables.get("actions")
        given = None if change is None else change.columns
        n = 0 if given is None else len(given["start"])
        dropped = 0 if change is None else change.dropped
        known, lost = self._epoch.overlap(batch.actions_to, n, dropped)
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
        if n and "running" not in batch.tables:
            self.running.settle()

    def _log(self, batch: Batch, rows: Columns) -> list[tuple[int, str, float]]:
        """Log actions, in the store's numbers; return the tasks shown as running that ended."""
        for name in ("worker", "prefix", "source"):
            rows[name] = self._epoch.strings(rows[name])
        rows["task"] = rows["task"] + self._epoch.first_task
        self._next_task = max(self._next_task, int(rows["task"].max()) + 1)
        is_task = rows["kind"] == _COMPUTE
        running = batch.tables.get("running")
        sought = self.running.keys | set(running.columns["key"] if running is not None else ())
        first_new = self._epoch.first_task + batch.keys_from
        keys = self._keys.among(rows["task"], sought, first_new, batch.keys)
        seats, ended = self.running.among(rows, keys)
        slot = self.slots.resolve(
            rows["worker"], rows["thread"], rows["start"], rows["stop"], is_task, seats
        )
        self.palette.see(rows["prefix"])
        self.durations.add(rows)
        self.events.extend(failures(rows, self.strings))
        self.busy.add(rows["start"], rows["stop"])
        self.actions.append(rows | {"slot": slot})
        return ended

    def _update_workers(self, batch: Batch) -> None:
        change = batch.tables.get("workers")
        told = set() if change is None else set(change.columns["address"].tolist())
        self.seen_workers.learn(batch)
        removed = set() if change is None else set(change.removed)
        if change is not None and change.is_full:
            removed |= set(self.workers.address) - told
        for address, at in self._departures.of(batch, self.workers, removed).items():
            self.slots.leave(address, at)
        # One that left and came back between two batches is among both.
        self._join(batch, removed & told)
        if change is not None and self._epoch.is_confirmed:
            self.events.compare(self.workers.row, change.columns, removed)
        self.workers.update(change)
        is_told = change is not None or batch.scheduler.n_workers == 0
        if is_told and not self._epoch.is_confirmed:
            self._epoch.is_confirmed = True
            if self._epoch.is_first:
                self.events.begin(batch)
            self.slots.leave_all_but(told, batch.time)
        if change is not None:
            self.series.record(batch.time, self.workers)

    def _update_tables(self, batch: Batch) -> None:
        tables = batch.tables
        if "running" in tables:
            columns = tables["running"].columns
            worker, prefix = (self._epoch.strings(columns[name]) for name in ("worker", "prefix"))
            self.palette.see(prefix)
            rows = (columns["key"], worker, prefix, columns["start"])
            self.running.replace(zip(*(column.tolist() for column in rows), strict=True))
        self.prefixes.update(tables.get("prefixes"), batch.time)
        if "prefixes" in tables:
            self._name(tables["prefixes"].columns["name"])
        if "groups" in tables:
            self._update_groups(tables["groups"])
        if batch.graph is not None:
            self.graph.update(batch.graph)
        self.nthreads.extend(batch.rows("nthreads"))
        self.events.hear(batch)
        extras = {name: change for name, change in tables.items() if name in EXTRA_NAMES}
        self.extras.update(extras, batch.time)

    def _update_groups(self, change: Change) -> None:
        """Take over groups, apart from each other those that are there and those that are gone."""
        is_ended = change.columns["is_ended"]
        names = change.columns["name"]
        for table, is_its in ((self.groups, ~is_ended), (self.ended_groups, is_ended)):
            columns = {name: column[is_its] for name, column in change.columns.items()}
            removed = [*change.removed, *names[~is_its]]
            table.update(Change(columns, 0, removed, change.is_full))
        self._name(change.columns["prefix"])

    def _name(self, prefixes: Iterable[str]) -> None:
        ids = [self.strings.intern(name) for name in prefixes]
        self.palette.see(np.array(ids, dtype=np.int64))
