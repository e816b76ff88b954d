"""One row of a picture for each thread of each worker, in an order that does not jump.

A slot has an id, which actions refer to and which is never reused, and a row, which is where
it is shown: slots of one worker are adjacent and workers are sorted by host and name, so rows
below move down when one comes or gets a slot more. Everything public speaks of rows, except where
it says id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf, nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import Bools, Floats, GrowingArray, Ints, frozen
from dask_diag_lab.store.presence import LeftAt
from dask_diag_lab.store.strings import StringTable

MAX_EXTRA_SLOTS = 64
"""A worker whose tasks all secede shows new threads without end; then slots are used again."""
CLOCK_SLACK_S = 0.05
"""Starts of running tasks come from heartbeats and are this inexact."""
Natural = list[tuple[int, int, str]]
Place = tuple[Natural, Natural, int]
"""What workers are sorted by: host, name, and when they were first seen."""


@dataclass(slots=True)
class SlotWorker:
    """A worker, its slots, and which of its threads is in which."""

    string: int
    address: str
    name: str
    nthreads: int = 0
    slots: list[int] = field(default_factory=list)
    threads: dict[int, int] = field(default_factory=dict)  # identifier to slot id
    is_alive: bool = True
    joined: float = inf
    ended: float = nan
    place: Place = field(init=False)

    def __post_init__(self) -> None:
        self.call(self.name)

    def call(self, name: str) -> None:
        """Give it a name, and with that its place among the workers."""
        self.name = name
        self.place = (natural_order(host_of(self.address)), natural_order(name), self.string)

    def unbound(self, wanted: int | None) -> int | None:
        """Return a slot without a thread, ``wanted`` if it is one; None when all have one."""
        taken = set(self.threads.values())
        if wanted is not None and wanted not in taken:
            return wanted
        return next((slot for slot in self.slots if slot not in taken), None)

    def end(self, time: float) -> None:
        self.is_alive, self.ended = False, time
        self.threads.clear()

    def revive(self) -> None:
        self.is_alive, self.ended = True, nan
        self.threads.clear()

    def release(self, slot: int) -> None:
        """Take a slot from the threads that have it."""
        self.threads = {thread: used for thread, used in self.threads.items() if used != slot}

    def is_held(self, rows: Ints) -> bool:
        """Tell whether the log has actions in a slot, from its count for each slot id."""
        return bool(rows[self.slots].any())


class SlotRows:
    """The slots in the order in which they are shown."""

    def __init__(
        self,
        workers: Mapping[int, SlotWorker],
        worker: npt.NDArray[np.uint32],
        thread_index: npt.NDArray[np.int32],
    ) -> None:
        shown = sorted(workers.values(), key=lambda worker: worker.place)
        self.addresses = [w.address for w in shown]
        sizes = [len(w.slots) for w in shown]
        self.ids = np.array([slot for w in shown for slot in w.slots], dtype=np.int64)
        self.position = np.full(len(worker), -1, dtype=np.int64)
        self.position[self.ids] = np.arange(len(self.ids))
        self.worker = frozen(worker[self.ids].astype(np.int64))
        self.thread_index = frozen(thread_index[self.ids].astype(np.int64))
        self.is_alive = frozen(np.repeat(np.array([w.is_alive for w in shown], bool), sizes))
        self.joined = frozen(np.repeat(np.array([w.joined for w in shown], float), sizes))
        self.ended = frozen(np.repeat(np.array([w.ended for w in shown], float), sizes))
        self.label = [
            w.name if len(w.slots) == 1 else f"{w.name} · {i + 1}"
            for w in shown
            for i in range(len(w.slots))
        ]


def host_of(address: str) -> str:
    """Return the host in an address: ``10.0.0.1`` of ``tcp://10.0.0.1:4000``."""
    place = (address.partition("://")[2] or address).partition("/")[0]
    return place.rpartition(":")[0] or place


def natural_order(name: str) -> Natural:
    """Return a sort key by which worker-9 comes before worker-10."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p]


class SlotSnapshot(NamedTuple):
    """Where slots were at one moment: row and string id of the worker, by slot id."""

    position: Ints
    worker: npt.NDArray[np.uint32]

    def workers_of(self, ids: Ints) -> npt.NDArray[np.uint32]:
        """Return the string id of the worker of each slot id."""
        return self.worker[ids]


class SlotTable:
    """The slots of all workers that are alive or have actions in the log.

    Attributes
    ----------
    version : int
        Moves when a slot came, went, moved, ended or was renamed.
    """

    def __init__(self, strings: StringTable) -> None:
        self.version = 0
        self._strings = strings
        self._workers: dict[int, SlotWorker] = {}
        self._departed = LeftAt()
        self._worker: GrowingArray[np.uint32] = GrowingArray(np.uint32)
        self._thread_index: GrowingArray[np.int32] = GrowingArray(np.int32)
        self._last_stop: GrowingArray[np.float64] = GrowingArray(np.float64, -inf)
        self._held: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._rows = SlotRows(self._workers, self._worker.values, self._thread_index.values)
        self._rows_version = 0

    @property
    def count(self) -> int:
        """Slots there are."""
        return len(self._shown.ids)

    @property
    def worker(self) -> Ints:
        """String id of each slot's worker address."""
        return self._shown.worker

    @property
    def thread_index(self) -> Ints:
        """Number of each slot within its worker, from 0."""
        return self._shown.thread_index

    @property
    def label(self) -> list[str]:
        """Name of each slot: the worker's name, and the thread's number where it has several."""
        return self._shown.label

    @property
    def is_alive(self) -> Bools:
        """Whether each slot's worker is still there."""
        return self._shown.is_alive

    @property
    def joined(self) -> Floats:
        """Since when each slot's worker is known to be there: told of, or at work."""
        return self._shown.joined

    @property
    def ended(self) -> Floats:
        """When each slot's worker left; NaN while it is there."""
        return self._shown.ended

    @property
    def addresses(self) -> list[str]:
        """Address of each worker that has slots, in the order of the slots."""
        return self._shown.addresses

    @property
    def position(self) -> Ints:
        """Row of each slot id; -1 where it is gone."""
        return self._shown.position

    @property
    def last_stop(self) -> Floats:
        """Latest end of a task in each slot, by slot id."""
        return self._last_stop.values

    def positions(self, rows: npt.NDArray[np.integer] | None) -> tuple[Ints, float]:
        """Return the row of each slot id, -1 for those not among ``rows``, and their share."""
        position = self._shown.position
        if rows is None:
            return position, 1.0
        rows = np.asarray(rows, dtype=np.int64)
        if rows.size and (rows.min() < 0 or rows.max() >= self.count):
            raise ValueError(
                f"slots {rows.min()} … {rows.max()} were asked for, there are {self.count}"
            )
        wanted = np.full(len(position), -1, dtype=np.int64)
        ids = self._shown.ids[rows]
        wanted[ids] = position[ids]
        return wanted, len(rows) / max(self.count, 1)

    def snapshot(self) -> SlotSnapshot:
        """Return where the slots are now, for any thread."""
        return SlotSnapshot(self.position, self._worker.values)

    def workers_of(self, ids: Ints) -> npt.NDArray[np.uint32]:
        """Return the string id of the worker of each slot id."""
        return self._worker.values[ids]

    def join(self, workers: Iterable[tuple[str, str, int]], time: float) -> None:
        """Take up (address, name, threads) of workers that are there at this time.

        They are shown by host and name, so that any plot at any time has them in the same order.
        """
        for address, name, nthreads in workers:
            self._departed.forget(address)
            worker = self._of(self._strings.intern(address))
            if not worker.is_alive:
                worker.revive()
                self.version += 1
            if (worker.name, worker.nthreads) != (name, nthreads):
                worker.call(name)
                worker.nthreads = nthreads
                worker.joined = min(worker.joined, time)
                self.version += 1
            while len(worker.slots) < nthreads:
                self._add(worker)

    def leave(self, address: str, time: float) -> None:
        """Note that a worker left; its slots stay while the log has actions in them."""
        self._departed.note(address, time)
        worker = self._workers.get(self._strings.find(address) or 0)
        if worker is not None and worker.is_alive:
            worker.end(time)
            self.version += 1
            self.forget_unused()

    def leave_all_but(self, addresses: set[str], time: float) -> None:
        """Note that of all workers only these are left."""
        for worker in list(self._workers.values()):
            if not worker.is_alive or worker.address in addresses:
                continue
            # Known from history only: it left before anybody looked, after its last task.
            seen = float(self.last_stop[worker.slots].max(initial=-inf))
            self.leave(worker.address, time if worker.nthreads or seen == -inf else seen)

    def resolve(
        self,
        worker: npt.NDArray[np.uint32],
        thread: npt.NDArray[np.uint64],
        start: Floats,
        stop: Floats,
        is_task: Bools,
        wanted: Mapping[int, int],
    ) -> npt.NDArray[np.uint32]:
        """Return the slot id of each action, making slots for threads not seen before.

        Parameters
        ----------
        worker : ndarray of uint32
            String ids.
        thread : ndarray of uint64
            0 where unknown: such a task gets the slot that was free for the shortest time.
        start, stop : ndarray of float64
        is_task : ndarray of bool
            Whether the action filled the thread, as transfers do not.
        wanted : mapping of int to int
            Slot id in which the task of an action was shown as running, by index of the action.
        """
        _, thread_code = np.unique(thread, return_inverse=True)
        pair = worker.astype(np.int64) * (int(thread_code.max(initial=0)) + 1) + thread_code
        _, first, inverse = np.unique(pair, return_index=True, return_inverse=True)
        slot_of_pair = np.empty(len(first), dtype=np.uint32)
        begin = np.full(len(first), inf)
        np.minimum.at(begin, inverse, start)
        for index in np.argsort(first, kind="stable"):
            row = int(first[index])
            known = self._of(int(worker[row]))
            if begin[index] < known.joined:
                known.joined = float(begin[index])
                self.version += 1
            ident = int(thread[row])
            slot_of_pair[index] = self._bound(known, ident, wanted.get(row)) if ident else 0
        slot = slot_of_pair[inverse]
        tasks = is_task & (thread != 0)
        np.maximum.at(self._last_stop.values, slot[tasks], stop[tasks])
        self._place(np.flatnonzero(thread == 0), slot, worker, start, stop, is_task, wanted)
        return slot

    def _place(
        self,
        unknown: Ints,
        slot: npt.NDArray[np.uint32],
        worker: npt.NDArray[np.uint32],
        start: Floats,
        stop: Floats,
        is_task: Bools,
        wanted: Mapping[int, int],
    ) -> None:
        """Set the slots of actions whose thread is not known."""
        stops: list[float] = self.last_stop.tolist() if unknown.size else []
        for row in unknown[np.argsort(start[unknown], kind="stable")].tolist():
            placed = wanted.get(row)
            if placed is None:
                placed = self._free(self._of(int(worker[row])), float(start[row]), set(), stops)
            slot[row] = placed
            if is_task[row]:
                stops[placed] = self.last_stop[placed] = max(stops[placed], float(stop[row]))

    def free_slots(self, tasks: Iterable[tuple[int, float]], taken: set[int]) -> list[int]:
        """Return for each task (string id of the worker, start) the slot id it may have begun in.

        Of the slots not in ``taken``, which grows by what is returned: the one that was free for
        the shortest time; else the one that ended first; where all are taken, a new one.
        """
        stops: list[float] = self.last_stop.tolist()
        slots = []
        for worker, start in tasks:
            slots.append(self._free(self._of(worker), start, taken, stops))
            taken.add(slots[-1])
        return slots

    def _free(self, known: SlotWorker, start: float, taken: set[int], stops: list[float]) -> int:
        free = [slot for slot in known.slots if slot not in taken]
        if not free:
            stops.append(-inf)
            return self._add(known)
        ended = [slot for slot in free if stops[slot] <= start + CLOCK_SLACK_S]
        if ended:
            return min(ended, key=lambda slot: (abs(start - stops[slot]), slot))
        return min(free, key=lambda slot: (stops[slot], slot))

    def _bound(self, worker: SlotWorker, ident: int, wanted_slot: int | None) -> int:
        """Return the slot id of a thread, which keeps it for good."""
        slot = worker.threads.get(ident)
        if slot is not None:
            return slot
        slot = worker.unbound(wanted_slot)
        if slot is None and len(worker.slots) >= worker.nthreads + MAX_EXTRA_SLOTS:
            slot = min(worker.slots, key=lambda slot: float(self.last_stop[slot]))
            worker.release(slot)
        if slot is None:
            slot = self._add(worker)
        worker.threads[ident] = slot
        return slot

    def _of(self, string: int) -> SlotWorker:
        known = self._workers.get(string)
        if known is None:
            address = self._strings[string]
            known = self._workers[string] = SlotWorker(string, address, address)
            if (left := self._departed.get(address)) is not None:
                known.is_alive, known.ended = False, left
            self.version += 1
        return known

    def _add(self, worker: SlotWorker) -> int:
        slot = len(self._worker)
        self._worker.extend([worker.string])
        self._thread_index.extend([len(worker.slots)])
        self._last_stop.extend_to(slot + 1)
        self._held.extend_to(slot + 1)
        worker.slots.append(slot)
        self.version += 1
        return slot

    def hold(self, ids: npt.NDArray[np.integer]) -> None:
        """Note that the log got an action in each of these slots."""
        counts = np.bincount(ids, minlength=len(self._held))
        self._held.values[:] += counts

    def release(self, ids: Ints, counts: Ints) -> None:
        """Note that the log gave up ``counts`` actions of these slots."""
        self._held.values[ids] -= counts

    def forget_unused(self) -> None:
        """Forget workers that left and have no actions in the log."""
        held = self._held.values
        gone = [s for s, w in self._workers.items() if not w.is_alive and not w.is_held(held)]
        for string in gone:
            del self._workers[string]
            self.version += 1

    @property
    def _shown(self) -> SlotRows:
        if self._rows_version != self.version:
            self._rows = SlotRows(self._workers, self._worker.values, self._thread_index.values)
            self._rows_version = self.version
        return self._rows
