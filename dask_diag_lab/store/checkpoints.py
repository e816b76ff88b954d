"""A table of sums that only grow, at many moments: what a window gained is a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dask_diag_lab.store.arrays import Floats
from dask_diag_lab.store.sums import ALL, Window

Name = tuple[Any, ...]
"""What one sum is of: the other columns of its row."""

LEAST_S: Final = 1.0
"""Between two checkpoints; heartbeats bring what is new about as often."""
MAX_VALUES: Final = 500_000
"""Kept of one table, 8 bytes each: when there are more, every other one of the older half goes."""


class Checkpoints:
    """The values of a table's rows at moments, newest last.

    Between two checkpoints a sum is taken to have grown evenly.
    """

    SAVED = ("_index", "_times", "_values", "_base")

    def __init__(self) -> None:
        self.version = 0
        self._index: dict[Name, int] = {}
        self._times: list[float] = []
        self._values: list[Floats] = []
        self._base: Floats = np.empty(0)

    def note(self, time: float, values: Mapping[Name, float]) -> None:
        """Take over the sums of a moment, if any has changed."""
        for name in values:
            self._index.setdefault(name, len(self._index))
        row = _padded(self._base, len(self._index))
        for name, value in values.items():
            row[self._index[name]] += value
        if self._values and np.array_equal(_padded(self._values[-1], len(row)), row):
            return
        self.version += 1
        # The newest is always there, and the moment before it began to grow.
        if len(self._times) > 1 and time - self._times[-2] < LEAST_S:
            self._times.pop()
            self._values.pop()
        self._times.append(time)
        self._values.append(row)
        if len(self._index) * len(self._times) > MAX_VALUES:
            half = len(self._times) // 4 * 2
            self._times[:half] = self._times[:half:2]
            self._values[:half] = self._values[:half:2]

    def begin_anew(self) -> None:
        """Have sums that begin at 0 again go on from what they were."""
        if self._values:
            self._base = self._values[-1]

    def gained(self, window: Window = ALL) -> dict[Name, float]:
        """Return by how much each sum has grown in a window, where it has."""
        before, after = (self._at(moment) for moment in window)
        gained = (after - before).tolist()
        return {name: gain for name, gain in zip(self._index, gained, strict=True) if gain}

    def _at(self, moment: float) -> Floats:
        n = len(self._index)
        at = int(np.searchsorted(self._times, moment, side="right"))
        if at == 0 or not self._times:
            return np.zeros(n)
        before = _padded(self._values[at - 1], n)
        if at == len(self._times):
            return before
        after, begin = _padded(self._values[at], n), self._times[at - 1]
        share = (moment - begin) / (self._times[at] - begin)
        between: Floats = before + share * (after - before)
        return between


def _padded(values: Floats, n: int) -> Floats:
    """Return values with 0 for what was not there yet."""
    return np.append(values, np.zeros(n - len(values)))


def sums_by_name(columns: Sequence[Sequence[Any]], values: Floats) -> dict[Name, float]:
    """Return the values of a table's rows by what they are of; those of equal names added up."""
    sums: dict[Name, float] = {}
    for name, value in zip(zip(*columns, strict=True), values.tolist(), strict=True):
        sums[name] = sums.get(name, 0.0) + value
    return sums
