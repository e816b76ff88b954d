"""Some consecutive actions, sorted for drawing; must not change once made.

Rows are sorted by (class, slot, start), so the rows of one bucket of time are adjacent at every
resolution and merging needs no further sort.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Kind
from dask_diag_lab.store.arrays import Floats, Ints, Recent, narrow
from dask_diag_lab.store.keys import PAGE_BITS

FINEST = -20
"""Buckets of time are ``2**level`` seconds long, from this level on (1 µs)."""
N_FAMILIES = 3
# What is painted later lies on top: short red transfers over long tasks.
_FAMILY_OF_KIND = np.array(
    [{Kind.COMPUTE: 0, Kind.TRANSFER: 2}.get(kind, 1) for kind in Kind], dtype=np.uint8
)
MAX_LEVELS = 3
LEAST_PACKED = 16_384
"""Blocks of no more rows keep eight bytes for each row's thread: they are soon made anew."""
LEAST_MERGE = 4
"""A level is kept only if it has this many times fewer rects than the block has rows."""

# The columns of a block have different dtypes.
Rows = Mapping[str, npt.NDArray[Any]]


def longest(duration_s: Floats, first: Ints) -> Ints:
    """Return the index of the longest row in each run of rows; the earlier one of equals.

    Parameters
    ----------
    duration_s : ndarray of float64
        Not negative.
    first : ndarray of int
        Begin of each run, ascending from 0.
    """
    # Non-negative floats sort like their bits; the low bits make room for the row, so one
    # reduction gives both (durations that differ by less than 1e-9 of themselves are equal).
    mask = (1 << len(duration_s).bit_length()) - 1
    packed = duration_s.view(np.int64) & ~mask
    packed |= mask - np.arange(len(duration_s))
    return mask - (np.maximum.reduceat(packed, first) & mask)


def _by_time(start: Floats) -> Ints:
    """Return the stable order of some times: in a quarter of NumPy's time where few are equal."""
    order = np.argsort(start)
    ordered = start[order]
    is_equal = np.concatenate(([False], ordered[1:] == ordered[:-1]))
    if is_equal.any():
        is_tied = is_equal.copy()
        is_tied[:-1] |= is_equal[1:]
        tied = order[is_tied]
        order[is_tied] = tied[np.lexsort((tied, np.cumsum(~is_equal[is_tied])))]
    return order


def _packed(
    thread: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.unsignedinteger] | None]:
    """Return the distinct threads and the index of each row's, or all of few rows and None."""
    if len(thread) <= LEAST_PACKED:
        return thread, None
    threads, index = np.unique(thread, return_inverse=True)
    return threads, narrow(index.astype(np.uint64))


@dataclass(slots=True)
class Level:
    """A block merged into buckets of one length: the runs of rows and what they have in common."""

    first: npt.NDArray[np.int32]
    best: npt.NDArray[np.int32]
    stop: Floats
    busy_s: npt.NDArray[np.float32]


class Block:
    """Actions of all slots, immutable: any thread may read them.

    Parameters
    ----------
    rows : mapping of str to ndarray
        Columns start, stop, kind, outcome, slot, thread, source, prefix, task, nbytes in order
        of arrival.
    serial : int
        Tells blocks apart.
    """

    def __init__(self, rows: Rows, serial: int) -> None:
        self.serial = serial
        self.n = len(rows["start"])
        order = self._sort(rows)
        self.arrival = order.astype(np.uint16 if self.n <= 1 << 16 else np.uint32)
        self.start: Floats = rows["start"][order]
        self.stop: Floats = rows["stop"][order]
        self.kind = rows["kind"][order]
        self.outcome = rows["outcome"][order]
        self.slot = narrow(rows["slot"][order])
        self.source = narrow(rows["source"][order])
        self.prefix = narrow(rows["prefix"][order])
        self._task_base = int(rows["task"].min())
        self._task = narrow((rows["task"][order] - self._task_base).astype(np.uint64))
        # -1, no size, is stored as 0.
        self._nbytes = narrow((rows["nbytes"][order] + 1).astype(np.uint64))
        self._threads, self._thread = _packed(rows["thread"][order])
        self.min_start, self.max_start = float(self.start.min()), float(self.start.max())
        self.max_stop = float(self.stop.max())
        self._levels: Recent[int, Level] = Recent(MAX_LEVELS)
        self._split()

    @staticmethod
    def _sort(rows: Rows) -> Ints:
        order = _by_time(rows["start"])
        track = rows["outcome"].astype(np.uint64) * N_FAMILIES + _FAMILY_OF_KIND[rows["kind"]]
        track *= np.uint64(int(rows["slot"].max()) + 1)
        track += rows["slot"]
        # 16-bit keys are sorted by radix: 10 times faster than a comparison.
        return order[np.argsort(narrow(track)[order], kind="stable")]

    def _split(self) -> None:
        """Find for each row up to which level it is in another bucket than the row before."""
        family = self.classes(slice(None))
        is_track = np.empty(self.n, dtype=np.bool_)
        is_track[0] = True
        is_track[1:] = (family[1:] != family[:-1]) | (self.slot[1:] != self.slot[:-1])
        bucket = np.floor(self.start * 2.0**-FINEST).astype(np.int64)
        bits = np.zeros(self.n, dtype=np.uint8)
        # Two buckets are one from the level on that is above their highest different bit.
        bits[1:] = np.frexp((bucket[1:] ^ bucket[:-1]).astype(np.float64))[1]
        bits[is_track] = 255
        self._bits = bits
        sizes = np.bincount(bits, minlength=256)
        self._sizes: Ints = self.n - np.cumsum(sizes)

    @property
    def nbytes(self) -> int:
        """Bytes of the columns and the levels kept."""
        columns: tuple[npt.NDArray[Any], ...] = (  # of several dtypes
            *(self.start, self.stop, self.kind, self.outcome, self.slot, self.source, self.prefix),
            *(self._task, self._nbytes, self._threads, self.arrival, self._bits),
            *(() if self._thread is None else (self._thread,)),
        )
        levels = sum(
            a.nbytes
            for level in self._levels.values()
            for a in (level.first, level.best, level.stop, level.busy_s)
        )
        return levels + sum(column.nbytes for column in columns)

    def classes(self, rows: npt.NDArray[np.integer] | slice) -> Ints:
        """Return what is merged only with its like: outcome first, then the family of kinds."""
        family: Ints = _FAMILY_OF_KIND[self.kind[rows]].astype(np.int64)
        family += N_FAMILIES * self.outcome[rows].astype(np.int64)
        return family

    def task(self, rows: Ints | slice) -> Ints:
        """Return the task ordinals of some rows."""
        return self._task[rows].astype(np.int64) + self._task_base

    def nbytes_of(self, rows: Ints | slice) -> Ints:
        """Return the result sizes of some rows; -1 where there is none."""
        return self._nbytes[rows].astype(np.int64) - 1

    def thread(self, rows: Ints | slice) -> npt.NDArray[np.uint64]:
        """Return the thread identifiers of some rows."""
        index = rows if self._thread is None else self._thread[rows]
        threads: npt.NDArray[np.uint64] = self._threads[index]
        return threads

    def size(self, level: int) -> int:
        """Return how many rects the block has when merged to ``2**level`` seconds."""
        return int(self._sizes[min(level - FINEST, 254)])

    def sizes(self, finest: int, coarsest: int) -> Floats:
        """Return `size` at each level from ``finest`` to ``coarsest``."""
        sizes = self._sizes[finest - FINEST : coarsest - FINEST + 1]
        return np.array(sizes, dtype=np.float64)

    def touches(self, begin: float, end: float) -> bool:
        """Tell whether an action may lie between two times, the latter included."""
        return self.min_start <= end and (self.max_stop > begin or self.max_start >= begin)

    def between(self, begin: float, end: float) -> Ints:
        """Return the rows that are between two times at least partly, as a window has them."""
        is_in = self.start <= end
        is_in &= (self.start >= begin) | (self.stop > begin)
        return np.flatnonzero(is_in)

    def of_tasks(self, tasks: Ints) -> Ints:
        """Return the rows of some tasks, by their ordinals."""
        stored = tasks - self._task_base
        possible = stored[(stored >= 0) & (stored <= np.iinfo(self._task.dtype).max)]
        return np.flatnonzero(np.isin(self._task, possible.astype(self._task.dtype)))

    def level(self, level: int) -> Level:
        """Return the block merged to buckets of ``2**level`` seconds."""
        known = self._levels.get(level)
        if known is None:
            known = self._merge(level)
            if LEAST_MERGE * len(known.first) <= self.n:
                self._levels.keep(level, known)
        return known

    def _merge(self, level: int) -> Level:
        first = np.flatnonzero(self._bits > min(level - FINEST, 254))
        duration = self.stop - self.start
        return Level(
            first.astype(np.int32),
            longest(duration, first).astype(np.int32),
            np.maximum.reduceat(self.stop, first),
            np.add.reduceat(duration, first).astype(np.float32),
        )

    def in_arrival_order(self, skip: int = 0, limit: int | None = None) -> Ints:
        """Return the rows in order of arrival, without the first ``skip``, at most ``limit``."""
        rows = np.empty(self.n, dtype=np.int64)
        rows[self.arrival] = np.arange(self.n)
        return rows[skip : None if limit is None else skip + limit]

    def slots(self) -> tuple[Ints, Ints]:
        """Return the distinct slots and how many rows each has."""
        counts = np.bincount(self.slot)
        slots = np.flatnonzero(counts)
        return slots, counts[slots]

    def key_pages(self) -> Ints:
        """Return the distinct pages of the key table that the tasks are in."""
        return np.unique(self.task(slice(None)) >> PAGE_BITS)
