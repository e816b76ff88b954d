"""One row of a picture for each thread of each worker, and the tasks that run in them now.

A slot has an id, which actions refer to and which is never reused, and a row, which is where
it is shown: slots of one worker are adjacent and workers are sorted by host and name, so rows
below move down when one comes or gets a slot more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, isnan, nan
from typing import Any, Final, TypedDict

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Kind
from dask_diag_lab.schema.columns import empty
from dask_diag_lab.schema.tables import RUNNING
from dask_diag_lab.store.arrays import Bools, Columns, Floats, GrowingArray, Ints, Objects
from dask_diag_lab.store.strings import StringTable

MAX_EXTRA_SLOTS: Final = 64
"""A worker whose tasks all secede shows new threads without end; then slots are used again."""
MAX_THREADS: Final = 1_024
"""A worker says how many it has; those beyond this get a slot when they have done something."""
CLOCK_SLACK_S: Final = 0.05
"""Starts of running tasks come from heartbeats and are this inexact."""
JUMP_S: Final = 3.0
"""A heartbeat that a busy machine held up moves a worker's clock by as much: once, not again and
again."""
OFTEN: Final = 3
"""So many tasks in a row that begin before another one of their thread has ended are no jumps."""
MAX_UNUSED: Final = 100
"""Workers that left without having done anything that keep their slots."""
Natural = tuple[tuple[int, int, str], ...]


@dataclass(slots=True)
class SlotWorker:
    """A worker, its slots, and which of its threads is in which; ``ended`` is NaN while alive."""

    string: int
    address: str
    name: str
    nthreads: int = 0
    joined: float = inf
    ended: float = nan
    slots: list[int] = field(default_factory=list)
    threads: dict[int, int] = field(default_factory=dict)  # identifier to slot id
    stops: dict[int, float] = field(default_factory=dict)  # by identifier: its last task's
    overlaps: dict[int, int] = field(default_factory=dict)  # by identifier: tasks in a row
    shared: set[int] = field(default_factory=set)  # identifiers under which tasks overlap


@dataclass(frozen=True, slots=True)
class SlotRows:
    """The slots in the order in which they are shown. Any thread may read it.

    Attributes
    ----------
    version : int
        Moves when a slot came, went, moved, ended or was renamed.
    worker : ndarray of int64
        String id of each slot's worker address.
    thread_index : ndarray of int64
        Number of each slot within its worker, from 0.
    threads : ndarray of int64
        Threads of each slot's worker; its slots where it never said.
    label : list of str
        Name of each slot: the worker's name, and the thread's number where it has several.
    joined, ended : ndarray of float64
        Since when each slot's worker is known to be there, reported or at work, and when it left;
        NaN while it is there.
    addresses : list of str
        Address of each worker that has slots, in the order of the slots.
    names : dict of str to str
        Name of each worker that is there, or was, by its address.
    ids : ndarray of int64
        Id of each slot.
    position : ndarray of int64
        By slot id: its row; -1 where it is gone.
    worker_of_id : ndarray of uint32
        By slot id: string id of the worker.
    last_stop : ndarray of float64
        By slot id: latest end of a task. It moves while the version does not.
    """

    version: int
    worker: Ints
    thread_index: Ints
    threads: Ints
    label: list[str]
    joined: Floats
    ended: Floats
    addresses: list[str]
    names: dict[str, str]
    ids: Ints
    position: Ints
    worker_of_id: npt.NDArray[np.uint32]
    last_stop: Floats

    @property
    def count(self) -> int:
        """Slots there are."""
        return len(self.ids)

    @property
    def is_alive(self) -> Bools:
        """Whether each slot's worker is still there."""
        return np.isnan(self.ended)

    def positions(self, rows: npt.NDArray[np.integer] | None) -> tuple[Ints, float]:
        """Return the row of each slot id, -1 for those not among ``rows``, and their share."""
        if rows is None:
            return self.position, 1.0
        wanted = np.full(len(self.position), -1, dtype=np.int64)
        wanted[self.ids[rows]] = rows
        return wanted, len(rows) / max(self.count, 1)


def host_of(address: str) -> str:
    """Return the host in an address: ``10.0.0.1`` of ``tcp://10.0.0.1:4000``."""
    place = (address.partition("://")[2] or address).partition("/")[0]
    return place.rpartition(":")[0] or place


def natural_order(name: str) -> Natural:
    """Return a sort key by which worker-9 comes before worker-10."""
    parts = re.split(r"([0-9]+)", name)
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p)


@lru_cache(maxsize=65_536)  # sorting 1000 workers takes 1 ms instead of 50
def _place(address: str, name: str) -> tuple[Natural, Natural]:
    """Return what workers are sorted by: host, and name."""
    return natural_order(host_of(address)), natural_order(name)


def _overlapping(thread: Ints, start: Floats, stop: Floats, n: int) -> Ints:
    """Return how many tasks of each of ``n`` threads began before its last one had ended."""
    order = np.lexsort((start, thread))
    before, after = order[:-1], order[1:]
    common_s = np.where(thread[before] == thread[after], stop[before] - start[after], -inf)
    counts = np.where(common_s > JUMP_S, OFTEN, common_s > CLOCK_SLACK_S)
    return np.bincount(thread[after], counts, n).astype(np.int64)


def _note_overlaps(worker: SlotWorker, ident: int, span: tuple[float, float], n: int) -> None:
    """Note how many of the next tasks of a thread overlap, which begin and end at these times."""
    common_s = worker.stops.get(ident, -inf) - span[0]
    worker.stops[ident] = max(worker.stops.get(ident, -inf), span[1])
    n += OFTEN if common_s > JUMP_S else int(common_s > CLOCK_SLACK_S)
    worker.overlaps[ident] = worker.overlaps.get(ident, 0) + n if n else 0
    if worker.overlaps[ident] >= OFTEN:
        worker.shared.add(ident)


class SlotTable:
    """The slots of all workers that are alive or have actions in the log."""

    SAVED = ("_workers", "_worker", "_last_stop")

    def restored(self) -> None:
        """Arrange the rows again."""
        self.version += 1

    def __init__(self, strings: StringTable) -> None:
        self.version = 0
        self._strings = strings
        self._workers: dict[int, SlotWorker] = {}
        # By slot id.
        self._worker: GrowingArray[np.uint32] = GrowingArray(np.uint32)
        self._last_stop: GrowingArray[np.float64] = GrowingArray(np.float64, -inf)
        self._rows = self._arrange()

    @property
    def rows(self) -> SlotRows:
        """The slots as they are now: the same object until `version` moves."""
        if self._rows.version != self.version:
            self._rows = self._arrange()
        return self._rows

    @property
    def last_stop(self) -> Floats:
        """Latest end of a task in each slot, by slot id."""
        return self._last_stop.values

    def _arrange(self) -> SlotRows:
        shown = sorted(self._workers.values(), key=lambda w: (_place(w.address, w.name), w.string))
        sizes = [len(w.slots) for w in shown]
        numbered = [(w, i) for w in shown for i in range(len(w.slots))]
        ids = np.array([slot for w in shown for slot in w.slots], dtype=np.int64)
        position = np.full(len(self._worker), -1, dtype=np.int64)
        position[ids] = np.arange(len(ids))
        return SlotRows(
            version=self.version,
            worker=self._worker.values[ids].astype(np.int64),
            thread_index=np.array([i for _, i in numbered], dtype=np.int64),
            threads=np.repeat(np.array([w.nthreads or len(w.slots) for w in shown], int), sizes),
            label=[w.name if len(w.slots) == 1 else f"{w.name} · {i + 1}" for w, i in numbered],
            joined=np.repeat(np.array([w.joined for w in shown], float), sizes),
            ended=np.repeat(np.array([w.ended for w in shown], float), sizes),
            addresses=[w.address for w in shown],
            names={w.address: w.name for w in self._workers.values() if w.nthreads},
            ids=ids,
            position=position,
            worker_of_id=self._worker.values,
            last_stop=self.last_stop,
        )

    def join(self, workers: Iterable[tuple[str, str, int]], time: float) -> None:
        """Take up (address, name, threads) of workers that are there at this time.

        They are shown by host and name, so that any plot at any time has them in the same order.
        """
        for address, name, nthreads in workers:
            worker = self._of(self._strings.intern(address))
            if not isnan(worker.ended):
                worker.ended = nan
                worker.threads.clear()
                self.version += 1
            if (worker.name, worker.nthreads) != (name, nthreads):
                worker.name, worker.nthreads = name, nthreads
                worker.joined = min(worker.joined, time)
                self.version += 1
            while len(worker.slots) < min(nthreads, MAX_THREADS):
                self._add(worker)

    def remove_worker(self, address: str, time: float) -> None:
        """Note that a worker left; of two reports the first counts. Its slots stay.

        Of those that did nothing only the last ones stay: an adaptive cluster may have thousands.
        """
        worker = self._workers.get(self._strings.find(address) or 0)
        if worker is None or not isnan(worker.ended):
            return
        worker.ended = time
        self.version += 1
        if self._last_stop_of(worker) == -inf:
            gone = [one for one in self._workers.values() if not isnan(one.ended)]
            unused = [one for one in gone if self._last_stop_of(one) == -inf]
            for one in sorted(unused, key=lambda one: one.ended)[:-MAX_UNUSED]:
                del self._workers[one.string]

    def keep_workers(self, addresses: set[str], time: float) -> None:
        """Note that of all workers only these are left."""
        for worker in list(self._workers.values()):
            if isnan(worker.ended) and worker.address not in addresses:
                # Known from history only: it left before anybody looked, after its last task.
                last = self._last_stop_of(worker)
                self.remove_worker(
                    worker.address, time if worker.nthreads or last == -inf else last
                )

    def forget_before(self, time: float) -> None:
        """Forget workers that left and did nothing that the log still has."""
        for worker in list(self._workers.values()):
            if max(worker.ended, self._last_stop_of(worker)) < time:  # never of NaN
                del self._workers[worker.string]
                self.version += 1

    def resolve(
        self, rows: Columns, slot_of_task: Callable[[int], int | None]
    ) -> npt.NDArray[np.uint32]:
        """Return the slot id of each action, making slots for threads not seen before.

        A task of a thread that is not known gets the slot that was free for the shortest time. So
        does one whose thread does several at once: processes of a pool may call theirs alike, and
        coroutines share one.

        Parameters
        ----------
        rows : dict of str to ndarray
            Columns of `ACTIONS`, with the history's string ids.
        slot_of_task : callable
            Returns the slot id in which the task of an action, given by its index, was shown as
            running, or None.
        """
        worker, thread, start, stop = (rows[n] for n in ("worker", "thread", "start", "stop"))
        is_task = rows["kind"] == Kind.COMPUTE
        _, code = np.unique(thread, return_inverse=True)
        pair = worker.astype(np.int64) * (int(code.max()) + 1) + code
        _, first, inverse = np.unique(pair, return_index=True, return_inverse=True)
        begin = np.full(len(first), inf)
        np.minimum.at(begin, inverse, start)
        slot_of_pair = np.zeros(len(first), dtype=np.uint32)
        is_own = np.zeros(len(first), dtype=np.bool_)
        overlaps = _overlapping(inverse[is_task], start[is_task], stop[is_task], len(first))
        task_begin, task_end = np.full(len(first), inf), np.full(len(first), -inf)
        np.minimum.at(task_begin, inverse[is_task], start[is_task])
        np.maximum.at(task_end, inverse[is_task], stop[is_task])
        for index in np.argsort(first, kind="stable").tolist():
            row = int(first[index])
            known = self._of(int(worker[row]))
            if begin[index] < known.joined:
                known.joined = float(begin[index])
                self.version += 1
            ident = int(thread[row])
            if task_begin[index] < inf:
                span = float(task_begin[index]), float(task_end[index])
                _note_overlaps(known, ident, span, int(overlaps[index]))
            if ident and ident not in known.shared:
                is_own[index] = True
                slot_of_pair[index] = self._bound(known, ident, row, slot_of_task)
        slot = slot_of_pair[inverse]
        filled = is_task & is_own[inverse]
        np.maximum.at(self.last_stop, slot[filled], stop[filled])
        unknown = np.flatnonzero(~is_own[inverse])
        for row in unknown[np.argsort(start[unknown], kind="stable")].tolist():
            assigned = slot_of_task(row)
            if assigned is None:
                (assigned,) = self.free_slots([(int(worker[row]), float(start[row]))], set())
            slot[row] = assigned
            if is_task[row]:
                self.last_stop[assigned] = max(self.last_stop[assigned], stop[row])
        return slot

    def free_slots(self, tasks: Iterable[tuple[int, float]], taken: set[int]) -> list[int]:
        """Return for each task (string id of the worker, start) the slot id it may have begun in.

        Of the slots not in ``taken``, which grows by what is returned: the one that was free for
        the shortest time; else the one that ended first; where all are taken, a new one.
        """
        stops, slots = self.last_stop, []
        for string, start in tasks:
            worker = self._of(string)
            free = [slot for slot in worker.slots if slot not in taken]
            ended = [slot for slot in free if stops[slot] <= start + CLOCK_SLACK_S]
            if ended:
                slot = max(ended, key=lambda slot: (stops[slot] <= start, stops[slot], -slot))
            elif free:
                slot = min(free, key=lambda slot: (stops[slot], slot))
            else:
                slot = self._add(worker)
            slots.append(slot)
            taken.add(slot)
        return slots

    def _bound(
        self, worker: SlotWorker, ident: int, row: int, slot_of_task: Callable[[int], int | None]
    ) -> int:
        """Return the slot id of a thread, which keeps it for good."""
        known = worker.threads.get(ident)
        if known is not None:
            return known
        bound = set(worker.threads.values())
        unbound = [slot for slot in worker.slots if slot not in bound]
        assigned = slot_of_task(row)
        if assigned in unbound:
            slot = assigned
        elif unbound:
            slot = unbound[0]
        elif len(worker.slots) < worker.nthreads + MAX_EXTRA_SLOTS:
            slot = self._add(worker)
        else:
            slot = min(worker.slots, key=lambda slot: float(self.last_stop[slot]))
            worker.threads = {t: used for t, used in worker.threads.items() if used != slot}
        worker.threads[ident] = slot
        return slot

    def _last_stop_of(self, worker: SlotWorker) -> float:
        return float(self.last_stop[worker.slots].max(initial=-inf))

    def _of(self, string: int) -> SlotWorker:
        known = self._workers.get(string)
        if known is None:
            address = self._strings[string]
            known = self._workers[string] = SlotWorker(string, address, address)
            self.version += 1
        return known

    def _add(self, worker: SlotWorker) -> int:
        slot = len(self._worker)
        self._worker.extend([worker.string])
        self._last_stop.extend_to(slot + 1)
        worker.slots.append(slot)
        self.version += 1
        return slot


Place = tuple[int, str]
"""Worker (string id) and key of a task."""


class RunningRows(TypedDict):
    """Running tasks as columns: key (text), prefix (string id), slot (row), start (s), graph."""

    key: Objects
    prefix: Ints
    slot: Ints
    start: Floats
    graph: npt.NDArray[np.uint32]


class RunningTable:
    """The tasks of the last heartbeats. A task keeps its slot until it ends.

    Parameters
    ----------
    slots : SlotTable
    """

    SAVED = ("_places", "_slot_at", "_key", "_prefix", "_start", "_graph", "_slot")

    def __init__(self, slots: SlotTable) -> None:
        self.version = 0
        self._slots = slots
        self._places: list[Place] = []
        self._slot_at: dict[Place, int] = {}  # slot ids
        self._key: Objects = np.empty(0, dtype=object)
        self._prefix: Ints = np.empty(0, dtype=np.int64)
        self._start: Floats = np.empty(0)
        self._graph = np.empty(0, dtype=np.uint32)
        self._slot: Ints = np.empty(0, dtype=np.int64)

    @property
    def count(self) -> int:
        """Running tasks."""
        return len(self._places)

    def slot_of(self, worker: int, key: str) -> int | None:
        """Return the slot id of a task on a worker (by string id), None where it does not run."""
        return self._slot_at.get((worker, key))

    def of_key(self, key: str) -> list[tuple[int, float]]:
        """Return worker (string id) and start of each run of a task, in general of one."""
        runs = np.flatnonzero(self._key == key).tolist()
        return [(self._places[run][0], float(self._start[run])) for run in runs]

    def replace(self, rows: Mapping[str, Any]) -> None:
        """Take over all running tasks: columns of `RUNNING`, in the history's numbers."""
        self._key, self._start, self._graph = rows["key"], rows["start"], rows["graph"]
        self._prefix = rows["prefix"].astype(np.int64)
        self._places = list(zip(rows["worker"].tolist(), self._key.tolist(), strict=True))
        self._slot = np.array([self._slot_at.get(place, -1) for place in self._places], np.int64)
        self._slot_at = dict(zip(self._places, self._slot.tolist(), strict=True))
        self.version += 1
        self.reassign_slots()

    def reassign_slots(self) -> None:
        """Give slots to tasks that have none, and others to those in whose slots others ended."""
        last_stop = np.append(self._slots.last_stop, np.inf)  # of those that have none
        moved = np.flatnonzero(last_stop[self._slot] > self._start + CLOCK_SLACK_S)
        if not moved.size:
            return
        moved = moved[np.argsort(self._start[moved], kind="stable")]
        tasks = [(self._places[run][0], float(self._start[run])) for run in moved.tolist()]
        slot = self._slot.copy()
        slot[moved] = self._slots.free_slots(tasks, set(np.delete(slot, moved).tolist()))
        self.version += not np.array_equal(slot, self._slot)
        self._slot = slot
        self._slot_at = dict(zip(self._places, slot.tolist(), strict=True))

    def clear(self) -> None:
        """Forget all tasks."""
        if self._places:
            self.replace(empty(RUNNING))

    def rows(self, now: float) -> RunningRows:
        """Return what runs at a time; a start that lies after it is moved back to it."""
        slot, start = self.places(now)
        return RunningRows(
            key=self._key, prefix=self._prefix, slot=slot, start=start, graph=self._graph
        )

    def places(self, now: float) -> tuple[Ints, Floats]:
        """Return slot and start of `rows` alone."""
        return self._slots.rows.position[self._slot], np.minimum(self._start, now)
