"""Seconds that threads computed, by prefix and by stretch of time, added up as actions come.

Pure NumPy; knows neither Bokeh nor the store. Adding costs what is new, not what is known.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MAX_BINS: Final = 240
"""When there would be more, neighbours are merged in pairs: between half as many and this."""
FINEST_S: Final = 2.0**-4
"""Width of a bin at the beginning; powers of two keep edges where they were when merged."""


class ThreadBins:
    """A matrix of seconds: one row a prefix in order of appearance, one column a bin.

    Bins are aligned to the epoch: bin ``first + i`` begins at ``(first + i) * width_s``.

    Attributes
    ----------
    width_s : float
    first : int
        Number of the first bin.
    prefixes : list of int
        String id of each row.
    last_stop : float
        Seconds since the epoch; the latest end that was added.
    """

    def __init__(self) -> None:
        self.width_s = FINEST_S
        self.first = 0
        self.prefixes: list[int] = []
        self.last_stop = -math.inf
        self._row: dict[int, int] = {}
        self._seconds: Floats = np.zeros((0, 0))

    @property
    def seconds(self) -> Floats:
        """The matrix, shape (prefixes, bins)."""
        return self._seconds

    @property
    def edges(self) -> Floats:
        """Begin of each bin and end of the last, seconds since the epoch."""
        bins = self.first + np.arange(self._seconds.shape[1] + 1, dtype=np.float64)
        return bins * self.width_s

    def add(self, prefix: Ints, start: Floats, stop: Floats) -> None:
        """Add actions.

        Parameters
        ----------
        prefix : ndarray of int64
            String ids.
        start, stop : ndarray of float64
            Seconds since the epoch.
        """
        if not len(start):
            return
        stop = np.maximum(stop, start)
        self.last_stop = max(self.last_stop, float(stop.max()))
        self.cover(float(start.min()), float(stop.max()))
        distinct, inverse = np.unique(prefix, return_inverse=True)
        rows = np.array([self._row_of(int(p)) for p in distinct.tolist()], dtype=np.int64)
        self._grow_rows()
        added = self._spread(inverse.reshape(-1), len(distinct), start, stop)
        self._seconds[rows] += added

    def with_running(self, prefix: Ints, start: Floats, now: float) -> Floats:
        """Return the matrix with tasks that run now added as far as they have come."""
        if not len(start):
            return self._seconds
        stop = np.maximum(now, start)
        self.cover(float(start.min()), now)
        # Of thousands of tasks that run there are a few prefixes.
        distinct, inverse = np.unique(prefix, return_inverse=True)
        rows = np.array([self._row_of(int(p)) for p in distinct.tolist()], dtype=np.int64)
        self._grow_rows()
        spread = self._spread(inverse.reshape(-1), len(distinct), start, stop)
        seconds = self._seconds.copy()
        seconds[rows] += spread
        return seconds

    def cover(self, begin: float, end: float) -> None:
        """Make the bins reach from ``begin`` to ``end``, merging them where there are too many."""
        n = self._seconds.shape[1]
        if n:
            begin = min(begin, self.first * self.width_s)
            # Half a bin off the edge, where rounding cannot make it one more.
            end = max(end, (self.first + n - 0.5) * self.width_s)
        while self._count(begin, end) > MAX_BINS:
            self._merge()
        n = self._seconds.shape[1]
        first = math.floor(begin / self.width_s)
        before = self.first - first if n else 0
        after = self._count(begin, end) - before - n
        if before or after:
            self._seconds = np.pad(self._seconds, ((0, 0), (before, after)))
        self.first = first

    def _count(self, begin: float, end: float) -> int:
        return math.floor(end / self.width_s) - math.floor(begin / self.width_s) + 1

    def _merge(self) -> None:
        """Make one bin of each two that share a bin of twice the width."""
        is_odd = self.first % 2
        padded = np.pad(self._seconds, ((0, 0), (is_odd, (self._seconds.shape[1] + is_odd) % 2)))
        self._seconds = padded[:, ::2] + padded[:, 1::2]
        self.first //= 2
        self.width_s *= 2

    def _row_of(self, prefix: int) -> int:
        row = self._row.setdefault(prefix, len(self.prefixes))
        if row == len(self.prefixes):
            self.prefixes.append(prefix)
        return row

    def _grow_rows(self) -> None:
        missing = len(self.prefixes) - len(self._seconds)
        if missing:
            self._seconds = np.pad(self._seconds, ((0, missing), (0, 0)))

    def _spread(self, row: Ints, n_rows: int, start: Floats, stop: Floats) -> Floats:
        """Return the seconds of intervals by row and bin, shape (n_rows, bins).

        Each interval is the difference of two ramps, and a ramp that begins in a bin fills the
        rest of that one and all that follow: two sums by bin and one running sum do.
        """
        n = self._seconds.shape[1]
        size = n_rows * n
        total = np.zeros(size)
        whole = np.zeros(size)
        for time, sign in ((start, 1.0), (stop, -1.0)):
            place = time / self.width_s - self.first
            cell = np.clip(np.floor(place).astype(np.int64), 0, n - 1)
            index = row * n + cell
            total += sign * np.bincount(index, weights=cell + 1 - place, minlength=size)
            whole += sign * np.bincount(index, minlength=size)
        ramps = np.cumsum(whole.reshape(n_rows, n), axis=1)
        spread: Floats = total.reshape(n_rows, n)
        spread[:, 1:] += ramps[:, :-1]
        return np.maximum(spread, 0.0) * self.width_s
