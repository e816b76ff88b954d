"""Which workers a row of a bar plot stands for: one each, a host's, or sorted groups of them.

Pure NumPy; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

ROW_PX: Final = 7
"""Height below which a row of its own is no longer readable."""
MAX_ROWS: Final = 100
"""Rows of one picture; keeps an update within a few milliseconds and some 30 kB."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of workers, from the top.

    Attributes
    ----------
    order : ndarray of int64
        Indices of workers, row after row.
    starts : ndarray of int64
        Where in ``order`` each row begins.
    """

    order: Ints
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def is_grouped(self) -> bool:
        return len(self.starts) < len(self.order)

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts, append=len(self.order))

    def window(self, first: int, number: int) -> Rows:
        """Return ``number`` rows from ``first`` on."""
        starts = self.starts[first : first + number]
        if not len(starts):
            return Rows(self.order[:0], self.starts[:0])
        last = first + len(starts) - 1
        stop = self.starts[last] + self.sizes[last]
        return Rows(self.order[starts[0] : stop], starts - starts[0])

    def members(self, row: int) -> Ints:
        """Return the indices of the workers of one row."""
        is_last = row == len(self.starts) - 1
        stop = len(self.order) if is_last else self.starts[row + 1]
        return self.order[self.starts[row] : stop]

    def mean(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the mean over each row of one number per worker."""
        if not len(self):
            return np.empty(0)
        sums = np.add.reduceat(values[self.order].astype(np.float64), self.starts)
        means: npt.NDArray[np.float64] = sums / self.sizes
        return means

    def largest(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the maximum over each row of one number per worker."""
        if not len(self):
            return values[:0]
        result: npt.NDArray[Any] = np.maximum.reduceat(values[self.order], self.starts)
        return result

    def commonest(self, values: npt.NDArray[np.uint8], kinds: int) -> npt.NDArray[np.uint8]:
        """Return the most frequent of ``values`` (below ``kinds``) of each row."""
        if not len(self):
            return values[:0]
        hits = values[self.order][None, :] == np.arange(kinds)[:, None]
        counts = np.add.reduceat(hits.astype(np.int64), self.starts, axis=1)
        found: npt.NDArray[np.uint8] = np.argmax(counts, axis=0).astype(np.uint8)
        return found


def each(n: int) -> Rows:
    """Return one row a worker, in their own order."""
    return Rows(np.arange(n), np.arange(n))


def ranked(order_by: npt.NDArray[Any]) -> Rows:
    """Return one row a worker, the largest first."""
    return Rows(np.argsort(-order_by, kind="stable"), np.arange(len(order_by)))


def grouped(order_by: npt.NDArray[Any], most: int) -> Rows:
    """Return at most ``most`` groups of workers that are neighbours when sorted, largest first.

    All groups have the same size but for the last.
    """
    n = len(order_by)
    size = max(-(-n // most), 1)
    return Rows(np.argsort(-order_by, kind="stable"), np.arange(0, n, size))


def by_host(order_by: npt.NDArray[Any], hosts: Ints) -> Rows:
    """Return one row a host, the largest mean first; ``hosts`` has the host of each worker."""
    sums = np.bincount(hosts, weights=order_by.astype(np.float64))
    rank = np.empty(len(sums), dtype=np.int64)
    rank[np.argsort(-sums / np.bincount(hosts), kind="stable")] = np.arange(len(sums))
    order = np.argsort(rank[hosts], kind="stable")
    return Rows(order, np.flatnonzero(np.diff(rank[hosts][order], prepend=-1)))


def capacity(rows_px: int) -> int:
    """Return how many rows are readable in a height of ``rows_px``."""
    return min(max(rows_px // ROW_PX, 4), MAX_ROWS)
