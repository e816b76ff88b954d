"""The history of one scheduler: everything the collector sent. Batches are the only way in.

What is only of now, such as the state of the feed, is in `live`. No locks: other threads only
answer a `WindowQuery`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, Final

import numpy as np

from dask_diag_lab.schema import Batch, Change, Kind, SchedulerInfo
from dask_diag_lab.schema.tables import EXTRAS, GROUPS
from dask_diag_lab.store.actions import MAX_ROWS, ActionLog, KeyTable
from dask_diag_lab.store.arrays import Columns
from dask_diag_lab.store.events import DEPARTURES, EventLog, failures
from dask_diag_lab.store.runs import MAX_MISSED, RunTable
from dask_diag_lab.store.series import SeriesTable
from dask_diag_lab.store.slots import RunningTable, SlotRows, SlotTable
from dask_diag_lab.store.strings import PrefixIndex, StringTable, WireIds
from dask_diag_lab.store.sums import BusyTimes, Checkpoints, ThreadHistory, sums_by_name
from dask_diag_lab.store.tables import UNFINISHED, ExtraTable, GraphTable, PrefixTable, TaskGraph
from dask_diag_lab.store.workers import WorkerTable

MAX_GAPS = 100
BEFORE: Final = "before"
"""Name of that count in `Batch.left_out`: it is what the first collector of a scheduler counted."""


class History:
    """All tables of one scheduler: what is saved and loaded, see `recording`.

    Parameters
    ----------
    max_actions : int
        Actions kept; older ones are given up and counted.

    Attributes
    ----------
    until : float
        The scheduler's clock at the last batch, 0 before the first.
    gaps : deque of (float, float)
        Stretches of the scheduler's clock in which nobody recorded what was done, newest last.
    left_out : mapping of str to int
        `Batch.left_out` of the last batch; ``before`` as the first one of the scheduler counted it.
    failed : mapping of str to str
        `Batch.failed` of the last batch.
    extras : dict of str to ExtraTable
        The tables of `schema.tables.EXTRAS`, by name.
    groups, ended_groups : GraphTable
        Those that the scheduler has, and those that it dropped when all their tasks were done.
    activities : Checkpoints
        Those of the extra table of this name.
    """

    SAVED = (
        *("until", "scheduler", "gaps", "left_out", "failed", "strings", "prefix_index", "_slots"),
        *("_keys", "actions", "busy", "running", "groups", "ended_groups", "prefixes", "workers"),
        *("graph", "nthreads", "series", "events", "runs", "extras", "activities"),
        *("_n_before", "_next_task"),
    )

    def __init__(self, max_actions: int = MAX_ROWS) -> None:
        self.until = 0.0
        self.scheduler: SchedulerInfo | None = None
        self.gaps: deque[tuple[float, float]] = deque(maxlen=MAX_GAPS)
        self.left_out: Mapping[str, int] = {}
        self.failed: Mapping[str, str] = {}
        self.strings = StringTable()
        self.prefix_index = PrefixIndex(self.strings)
        self._slots = SlotTable(self.strings)
        self._keys = KeyTable()
        self.actions = ActionLog(self._slots, self._keys, max_actions)
        self.busy = BusyTimes()
        self.running = RunningTable(self._slots)
        self.groups = GraphTable(GROUPS)
        self.ended_groups = GraphTable(GROUPS)
        self.prefixes = PrefixTable()
        self.workers = WorkerTable(self._slots)
        self.graph = TaskGraph()
        self.nthreads = ThreadHistory()
        self.series = SeriesTable()
        self.events = EventLog()
        self.runs = RunTable()
        self.extras = {table.name: ExtraTable(table) for table in EXTRAS}
        self.activities = Checkpoints()
        # Those that are of one collector only.
        self._of_collector: tuple[Any, ...] = (  # several classes: each has `version` and `clear`
            *(self.running, self.workers, self.prefixes, self.groups, self.ended_groups),
            *(self.graph, *self.extras.values()),
        )
        self._lasting: tuple[Any, ...] = (  # each has `version`
            *(self.prefix_index, self._slots, self.actions),
            *(self.nthreads, self.series, self.events, self.runs, self.activities),
        )
        self._n_changes = 0
        self._wire_ids = WireIds("", 0, 0, 0.0)
        self._n_before = 0
        self._next_task = 0

    @property
    def version(self) -> int:
        """Moves with every change of any table."""
        tables = (*self._of_collector, *self._lasting)
        return self._n_changes + sum(int(table.version) for table in tables)

    @property
    def n_unfinished(self) -> int:
        """Tasks that wait, are queued or on a worker."""
        return int(self.prefixes.states[:, UNFINISHED].sum())

    @property
    def slots(self) -> SlotRows:
        """The rows of a task stream, as they are now."""
        return self._slots.rows

    def apply(self, batch: Batch) -> None:
        """Take over a batch.

        Raises
        ------
        ValueError
            When the batch contradicts itself or what came before; nothing was changed then.
        """
        is_new = batch.epoch != self._wire_ids.name
        n_strings = 1 if is_new else self._wire_ids.n_strings
        if not 0 <= batch.strings_from <= n_strings:
            raise ValueError(f"strings begin at {batch.strings_from}, {n_strings} are known")
        graphs, n_graphs = batch.tables.get("graphs"), self.runs.n_graphs
        if graphs is not None:
            first_graph = n_graphs if is_new else self._wire_ids.first_graph
            last = first_graph + int(graphs.columns["number"].max(initial=0))
            if last > n_graphs + MAX_MISSED:
                raise ValueError(f"graph {last} comes after graph {n_graphs}")
        if is_new:
            self._begin(batch)
        self._set_facts(batch)
        self._wire_ids.learn(batch.strings_from, batch.strings, self.strings)
        first_task = self._wire_ids.first_task
        self._keys.extend(first_task + batch.keys_from, batch.keys)
        self.actions.details.update((first_task + task, packed) for task, packed in batch.details)
        self._join(batch)
        if graphs is not None:
            self.runs.submitted(graphs.columns, self._wire_ids.first_graph)
        self._append(batch)
        self._observe(batch)
        self._note_workers(batch)
        if (workers := batch.tables.get("workers")) is not None:
            self.workers.update(workers)
            self.series.record(batch.time, self.workers)
        self._update_tables(batch)
        self.runs.mark_idle(batch.time, is_idle=not self.n_unfinished)

    def _observe(self, batch: Batch) -> None:
        """Take over events, and what they say of runs."""
        ids, events = self._wire_ids, batch.rows("events")
        for at, kind, detail in events:
            if kind == "task-erred" and at > ids.known_until:
                self.runs.gave_up(at, int(detail.get("count", 0)))
        first_until = None if ids.has_observed else ids.known_until
        self.events.observe(events, batch.rows("graphs"), batch.time, first_until)
        ids.has_observed = True

    def _begin(self, batch: Batch) -> None:
        """Void what belongs to the collector that was: its numbers and what was live."""
        is_same = self.scheduler is not None and self.scheduler.id == batch.scheduler.id
        if not is_same:
            self._n_before = batch.left_out.get(BEFORE, 0)
        elif batch.began > self.until:
            self.gaps.append((self.until, batch.began))
            self.events.extend([(self.until, "not-recorded", {"until": batch.began})])
        self._next_task = max(self._next_task, self._keys.stop)
        known_until = self.until if is_same else -inf
        self._wire_ids = WireIds(batch.epoch, self._next_task, self.runs.n_graphs, known_until)
        for table in self._of_collector:
            table.clear()
        self.activities.begin_anew()

    def _set_facts(self, batch: Batch) -> None:
        # To a collector that starts anew, all that has ended there ended before it.
        left_out = {**batch.left_out, BEFORE: self._n_before}
        new = batch.scheduler, left_out, batch.failed
        self._n_changes += new != (self.scheduler, self.left_out, self.failed)
        self.scheduler, self.left_out, self.failed = new
        for name in self.failed.keys() & self.extras.keys():
            self.extras[name].clear()
        self.until = batch.time

    def _join(self, batch: Batch) -> None:
        """Give slots to the workers of a batch."""
        if "workers" in batch.tables:
            columns = batch.tables["workers"].columns
            names = (columns[name].tolist() for name in ("address", "name", "nthreads"))
            self._slots.join(zip(*names, strict=True), batch.time)

    def _append(self, batch: Batch) -> None:
        """Log the actions of a batch that are not here yet, and count those that are lost."""
        change = batch.tables.get("actions")
        if change is None:
            return
        # A collector that starts anew on a known scheduler sends history that is here already.
        is_new = change.columns["stop"] > self._wire_ids.known_until
        # A batch that failed in the middle is sent again.
        first = max(batch.actions_to - len(is_new), 0)
        n_lost = max(first - self._wire_ids.actions_to, 0)
        self.actions.drop(n_lost)
        before = float(self.actions.last_stop)  # NaN before the first
        if n_lost and (after := change.columns["stop"].min(initial=inf)) > before and after < inf:
            self.gaps.append((before, float(after)))
        is_new[: max(self._wire_ids.actions_to - first, 0)] = False
        if is_new.any():
            self._log({name: column[is_new] for name, column in change.columns.items()})
        self._wire_ids.actions_to = batch.actions_to

    def _log(self, rows: Columns) -> None:
        """Log actions, in the history's numbers."""
        for name in ("worker", "prefix", "source", "type"):
            rows[name] = self._wire_ids.strings(rows[name])
        rows["task"] = rows["task"] + self._wire_ids.first_task
        rows["graph"] = self._wire_ids.graphs(rows["graph"])
        self._next_task = max(self._next_task, int(rows["task"].max()) + 1)

        def slot_of_task(row: int) -> int | None:
            key = self._keys[int(rows["task"][row])]
            return self.running.slot_of(int(rows["worker"][row]), key)

        slot = self._slots.resolve(rows, slot_of_task)
        self.prefix_index.see(rows["prefix"])
        self.events.extend(failures(rows, self.strings))
        self.busy.add(rows["start"], rows["stop"], rows["kind"] == Kind.COMPUTE)
        self.runs.took(rows)
        self.actions.append(rows | {"slot": slot})

    def _note_workers(self, batch: Batch) -> None:
        """Note who came, left or changed, while the table of workers is still that of before.

        Events tell it first, and when: a worker's row is missed later, or was never sent.
        """
        for at, kind, detail in batch.rows("events"):
            address = str(detail.get("worker"))
            if kind == "worker-added":
                name, nthreads = str(detail.get("name", address)), detail.get("nthreads")
                if isinstance(nthreads, int) and 0 < nthreads < 2**31:  # any scheduler may send it
                    self._slots.join([(address, name, nthreads)], at)
            elif kind in DEPARTURES:
                self._slots.remove_worker(address, at)
        change = batch.tables.get("workers")
        listed = set() if change is None else set(change.columns["address"].tolist())
        if change is not None:
            gone = set(self.workers.names) - listed if change.is_full else set(change.removed)
            for address in gone:
                self._slots.remove_worker(address, batch.time)
            self.events.compare(change.columns, gone)
        if not self._wire_ids.has_workers and (change is not None or not batch.scheduler.n_workers):
            self._wire_ids.has_workers = True
            self._slots.keep_workers(listed, batch.time)

    def _update_tables(self, batch: Batch) -> None:
        tables = batch.tables
        if "running" in tables:
            rows = dict(tables["running"].columns)
            rows |= {name: self._wire_ids.strings(rows[name]) for name in ("worker", "prefix")}
            self.prefix_index.see(rows["prefix"])
            self.running.replace(rows | {"graph": self._wire_ids.graphs(rows["graph"])})
        elif "actions" in tables:
            self.running.reassign_slots()
        if "prefixes" in tables:
            self.prefixes.update(tables["prefixes"])
            self._name(tables["prefixes"].columns["name"])
        if "groups" in tables:
            self._update_groups(tables["groups"])
        if batch.graph is not None:
            self.graph.update(batch.graph)
        if "nthreads" in tables:
            self.nthreads.extend(tables["nthreads"].columns)
        for name in tables.keys() & self.extras.keys():
            self.extras[name].apply(tables[name], batch.time)
        if "activities" in tables:
            table = self.extras["activities"]
            names = [table[name].tolist() for name in ("context", "label", "activity", "unit")]
            self.activities.note(batch.time, sums_by_name(names, table["value"]))

    def _update_groups(self, change: Change) -> None:
        """Take over groups, apart from each other those that are there and those that are gone."""
        is_ended = change.columns["is_ended"]
        names = change.columns["name"]
        for table, is_its in ((self.groups, ~is_ended), (self.ended_groups, is_ended)):
            columns = {name: column[is_its] for name, column in change.columns.items()}
            table.update(Change(columns, 0, [*change.removed, *names[~is_its]], change.is_full))
        self._name(change.columns["prefix"])

    def _name(self, prefixes: Iterable[str]) -> None:
        ids = [self.strings.intern(name) for name in prefixes]
        self.prefix_index.see(np.array(ids, dtype=np.int64))
