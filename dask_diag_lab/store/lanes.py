"""One row of a picture for each thread of each worker, in an order that does not jump.

A lane has an id, which actions refer to and which is never reused, and a row, which is where
it is shown: lanes of one worker are adjacent and workers are sorted by host and name, so rows
below move down when one comes or gets a lane more. Everything public speaks of rows, except where
it says id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import Bools, Floats, GrowingArray, Ints
from dask_diag_lab.store.lane_rows import LaneRows, LaneWorker
from dask_diag_lab.store.left_at import LeftAt
from dask_diag_lab.store.strings import StringTable

MAX_EXTRA_LANES = 64
"""A worker whose tasks all secede shows new threads without end; then lanes are used again."""
CLOCK_SLACK_S = 0.05
"""Starts of running tasks come from heartbeats and are this inexact."""


class LaneTable:
    """The lanes of all workers that are alive or have actions in the log.

    Attributes
    ----------
    version : int
        Moves when a lane came, went, moved, ended or was renamed.
    """

    def __init__(self, strings: StringTable) -> None:
        self.version = 0
        self._strings = strings
        self._workers: dict[int, LaneWorker] = {}
        self._departed = LeftAt()
        self._worker: GrowingArray[np.uint32] = GrowingArray(np.uint32)
        self._slot: GrowingArray[np.int32] = GrowingArray(np.int32)
        self._last_stop: GrowingArray[np.float64] = GrowingArray(np.float64, -inf)
        self._held: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._rows = LaneRows(self._workers, self._worker.values, self._slot.values)
        self._rows_version = 0

    @property
    def count(self) -> int:
        """Lanes there are."""
        return len(self._shown.ids)

    @property
    def worker(self) -> Ints:
        """String id of each lane's worker address."""
        return self._shown.worker

    @property
    def slot(self) -> Ints:
        """Number of each lane within its worker, from 0."""
        return self._shown.slot

    @property
    def label(self) -> list[str]:
        """Name of each lane: the worker's name, and the slot's number where it has several."""
        return self._shown.label

    @property
    def is_alive(self) -> Bools:
        """Whether each lane's worker is still there."""
        return self._shown.is_alive

    @property
    def joined(self) -> Floats:
        """Since when each lane's worker is known to be there: told of, or at work."""
        return self._shown.joined

    @property
    def ended(self) -> Floats:
        """When each lane's worker left; NaN while it is there."""
        return self._shown.ended

    @property
    def addresses(self) -> list[str]:
        """Address of each worker that has lanes, in the order of the lanes."""
        return self._shown.addresses

    @property
    def position(self) -> Ints:
        """Row of each lane id; -1 where it is gone."""
        return self._shown.position

    @property
    def last_stop(self) -> Floats:
        """Latest end of a task in each lane, by lane id."""
        return self._last_stop.values

    def positions(self, rows: npt.NDArray[np.integer] | None) -> tuple[Ints, float]:
        """Return the row of each lane id, -1 for those not among ``rows``, and their share."""
        position = self._shown.position
        if rows is None:
            return position, 1.0
        rows = np.asarray(rows, dtype=np.int64)
        if rows.size and (rows.min() < 0 or rows.max() >= self.count):
            raise ValueError(
                f"lanes {rows.min()} … {rows.max()} were asked for, there are {self.count}"
            )
        wanted = np.full(len(position), -1, dtype=np.int64)
        ids = self._shown.ids[rows]
        wanted[ids] = position[ids]
        return wanted, len(rows) / max(self.count, 1)

    def workers_of(self, ids: Ints) -> npt.NDArray[np.uint32]:
        """Return the string id of the worker of each lane id."""
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
            while len(worker.lanes) < nthreads:
                self._add(worker)

    def leave(self, address: str, time: float) -> None:
        """Note that a worker left; its lanes stay while the log has actions in them."""
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
            seen = float(self.last_stop[worker.lanes].max(initial=-inf))
            self.leave(worker.address, time if worker.nthreads or seen == -inf else seen)

    def resolve(
        self,
        worker: npt.NDArray[np.uint32],
        thread: npt.NDArray[np.uint64],
        start: Floats,
        stop: Floats,
        is_task: Bools,
        seats: Mapping[int, int],
    ) -> npt.NDArray[np.uint32]:
        """Return the lane id of each action, making lanes for threads not seen before.

        Parameters
        ----------
        worker : ndarray of uint32
            String ids.
        thread : ndarray of uint64
            0 where unknown: such a task gets the lane that was free for the shortest time.
        start, stop : ndarray of float64
        is_task : ndarray of bool
            Whether the action filled the thread, as transfers do not.
        seats : mapping of int to int
            Lane id in which the task of an action was shown as running, by index of the action.
        """
        _, thread_code = np.unique(thread, return_inverse=True)
        pair = worker.astype(np.int64) * (int(thread_code.max(initial=0)) + 1) + thread_code
        _, first, inverse = np.unique(pair, return_index=True, return_inverse=True)
        lane_of_pair = np.empty(len(first), dtype=np.uint32)
        begin = np.full(len(first), inf)
        np.minimum.at(begin, inverse, start)
        for index in np.argsort(first, kind="stable"):
            row = int(first[index])
            known = self._of(int(worker[row]))
            if begin[index] < known.joined:
                known.joined = float(begin[index])
                self.version += 1
            ident = int(thread[row])
            lane_of_pair[index] = self._bound(known, ident, seats.get(row)) if ident else 0
        lane = lane_of_pair[inverse]
        tasks = is_task & (thread != 0)
        np.maximum.at(self._last_stop.values, lane[tasks], stop[tasks])
        self._place(np.flatnonzero(thread == 0), lane, worker, start, stop, is_task, seats)
        return lane

    def _place(
        self,
        unknown: Ints,
        lane: npt.NDArray[np.uint32],
        worker: npt.NDArray[np.uint32],
        start: Floats,
        stop: Floats,
        is_task: Bools,
        seats: Mapping[int, int],
    ) -> None:
        """Set the lanes of actions whose thread is not known."""
        stops: list[float] = self.last_stop.tolist() if unknown.size else []
        for row in unknown[np.argsort(start[unknown], kind="stable")].tolist():
            seat = seats.get(row)
            if seat is None:
                seat = self._free(self._of(int(worker[row])), float(start[row]), set(), stops)
            lane[row] = seat
            if is_task[row]:
                stops[seat] = self.last_stop[seat] = max(stops[seat], float(stop[row]))

    def free_lanes(self, tasks: Iterable[tuple[int, float]], taken: set[int]) -> list[int]:
        """Return for each task (string id of the worker, start) the lane id it may have begun in.

        Of the lanes not in ``taken``, which grows by what is returned: the one that was free for
        the shortest time; else the one that ended first; where all are taken, a new one.
        """
        stops: list[float] = self.last_stop.tolist()
        lanes = []
        for worker, start in tasks:
            lanes.append(self._free(self._of(worker), start, taken, stops))
            taken.add(lanes[-1])
        return lanes

    def _free(self, known: LaneWorker, start: float, taken: set[int], stops: list[float]) -> int:
        free = [lane for lane in known.lanes if lane not in taken]
        if not free:
            stops.append(-inf)
            return self._add(known)
        ended = [lane for lane in free if stops[lane] <= start + CLOCK_SLACK_S]
        if ended:
            return min(ended, key=lambda lane: (abs(start - stops[lane]), lane))
        return min(free, key=lambda lane: (stops[lane], lane))

    def _bound(self, worker: LaneWorker, ident: int, seat: int | None) -> int:
        """Return the lane id of a thread, which keeps it for good."""
        lane = worker.threads.get(ident)
        if lane is not None:
            return lane
        lane = worker.unbound(seat)
        if lane is None and len(worker.lanes) >= worker.nthreads + MAX_EXTRA_LANES:
            lane = min(worker.lanes, key=lambda lane: float(self.last_stop[lane]))
            worker.release(lane)
        if lane is None:
            lane = self._add(worker)
        worker.threads[ident] = lane
        return lane

    def _of(self, string: int) -> LaneWorker:
        known = self._workers.get(string)
        if known is None:
            address = self._strings[string]
            known = self._workers[string] = LaneWorker(string, address, address)
            if (left := self._departed.get(address)) is not None:
                known.is_alive, known.ended = False, left
            self.version += 1
        return known

    def _add(self, worker: LaneWorker) -> int:
        lane = len(self._worker)
        self._worker.extend([worker.string])
        self._slot.extend([len(worker.lanes)])
        self._last_stop.extend_to(lane + 1)
        self._held.extend_to(lane + 1)
        worker.lanes.append(lane)
        self.version += 1
        return lane

    def hold(self, ids: npt.NDArray[np.integer]) -> None:
        """Note that the log got an action in each of these lanes."""
        counts = np.bincount(ids, minlength=len(self._held))
        self._held.values[:] += counts

    def release(self, ids: Ints, counts: Ints) -> None:
        """Note that the log gave up ``counts`` actions of these lanes."""
        self._held.values[ids] -= counts

    def forget_unused(self) -> None:
        """Forget workers that left and have no actions in the log."""
        held = self._held.values
        gone = [s for s, w in self._workers.items() if not w.is_alive and not w.is_held(held)]
        for string in gone:
            del self._workers[string]
            self.version += 1

    @property
    def _shown(self) -> LaneRows:
        if self._rows_version != self.version:
            self._rows = LaneRows(self._workers, self._worker.values, self._slot.values)
            self._rows_version = self.version
        return self._rows
