"""Means over the cluster in the course of time, recorded since the store was made."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import Floats
from dask_diag_lab.store.workers import WorkerTable

NAMES: Final = (
    "cpu",
    "memory",
    "managed",
    "unmanaged_old",
    "unmanaged_recent",
    "spilled",
    "processing",
    "executing",
    "occupancy",
    "incoming_bytes",
    "outgoing_bytes",
)
"""What is recorded: columns of `WORKERS`, each the mean over all workers."""
MAX_POINTS = 3600


class SeriesTable:
    """One bucket a second at first; when there are too many, two become one.

    Parameters
    ----------
    limit : int
        Buckets kept at most; even.

    Attributes
    ----------
    resolution_s : float
        Length of a bucket.
    """

    def __init__(self, limit: int = MAX_POINTS) -> None:
        if limit < 2 or limit % 2:
            raise ValueError(f"the number of points must be even and above 0, not {limit}")
        self.version = 0
        self.resolution_s = 1.0
        self._limit = limit
        self._size = 0
        self._times = np.empty(limit)
        self._counts = np.empty(limit, dtype=np.int64)
        shape = (limit, len(NAMES))
        self._sum, self._min, self._max = np.empty(shape), np.empty(shape), np.empty(shape)

    def __len__(self) -> int:
        return self._size

    @property
    def times(self) -> Floats:
        """Begin of each bucket that has a sample, ascending; there may be gaps."""
        return self._times[: self._size].copy()

    def mean(self, name: str) -> Floats:
        """Return the mean of a series in each bucket; KeyError when it is not recorded."""
        column = self._sum[: self._size, self._column(name)]
        mean: Floats = column / self._counts[: self._size]
        return mean

    def minimum(self, name: str) -> Floats:
        """Return the smallest sample of each bucket."""
        return self._min[: self._size, self._column(name)].copy()

    def maximum(self, name: str) -> Floats:
        """Return the largest sample of each bucket."""
        return self._max[: self._size, self._column(name)].copy()

    def record(self, time: float, workers: WorkerTable) -> None:
        """Take a sample; a cluster without workers has none."""
        if not len(workers):
            return
        totals = workers.totals()
        self._add(time, np.array([getattr(totals, name) for name in NAMES]) / totals.workers)

    def _add(self, time: float, values: npt.NDArray[np.float64]) -> None:
        self.version += 1
        bucket = np.floor(time / self.resolution_s) * self.resolution_s
        last = self._size - 1
        # A clock that was set back adds to the newest bucket: times must ascend.
        if last >= 0 and bucket <= self._times[last]:
            self._counts[last] += 1
            self._sum[last] += values
            self._min[last] = np.minimum(self._min[last], values)
            self._max[last] = np.maximum(self._max[last], values)
            return
        if self._size == self._limit:
            self._halve()
            self._add(time, values)
            return
        self._times[self._size], self._counts[self._size] = bucket, 1
        for column in (self._sum, self._min, self._max):
            column[self._size] = values
        self._size += 1

    def _halve(self) -> None:
        """Double the resolution until a quarter of the room is free again."""
        while self._size > self._limit * 3 // 4:
            self.resolution_s *= 2
            times = np.floor(self._times[: self._size] / self.resolution_s) * self.resolution_s
            first = np.flatnonzero(np.diff(times, prepend=-np.inf))
            size, n = len(first), self._size
            self._counts[:size] = np.add.reduceat(self._counts[:n], first)
            self._sum[:size] = np.add.reduceat(self._sum[:n], first)
            self._min[:size] = np.minimum.reduceat(self._min[:n], first)
            self._max[:size] = np.maximum.reduceat(self._max[:n], first)
            self._times[:size] = times[first]
            self._size = size

    def _column(self, name: str) -> int:
        if name not in NAMES:
            raise KeyError(f"no series {name!r}; there are {', '.join(NAMES)}")
        return NAMES.index(name)
