"""Points of a line over time: aligned with others, and merged where there are too many.

Pure NumPy; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Points:
    """Mean, lowest and highest of something at times, of equal lengths; NaN where not known."""

    times: Floats
    mean: Floats
    low: Floats
    high: Floats


def common_times(times: Sequence[Floats]) -> Floats:
    """Return all times that any of several ascending ones has, ascending."""
    if not times:
        return np.empty(0)
    if all(np.array_equal(times[0], other) for other in times[1:]):
        return times[0]
    return np.unique(np.concatenate(times))


def points_at(data: Points, times: Floats) -> Points:
    """Return the points at ``times``, NaN where there are none."""
    first = int(np.searchsorted(data.times, times[0])) if len(times) else 0
    if np.array_equal(data.times[first : first + len(times)], times):
        cut = slice(first, first + len(times))
        return Points(times, data.mean[cut], data.low[cut], data.high[cut])
    found = np.minimum(np.searchsorted(data.times, times), max(len(data.times) - 1, 0))
    is_known = data.times[found] == times if len(data.times) else np.zeros(len(times), dtype=bool)
    values = [
        np.where(is_known, column[found], np.nan) if len(column) else np.full(len(times), np.nan)
        for column in (data.mean, data.low, data.high)
    ]
    return Points(times, *values)


def merged_points(data: Points, groups: npt.NDArray[np.int64]) -> Points:
    """Return one point for each group of neighbours that begins at ``groups``."""
    if len(groups) == len(data.times):
        return data
    is_known = np.isfinite(data.mean)
    counts = np.add.reduceat(is_known.astype(np.float64), groups)
    sums = np.add.reduceat(np.where(is_known, data.mean, 0.0), groups)
    mean = np.divide(sums, counts, out=np.full(len(groups), np.nan), where=counts > 0)
    low, high = np.fmin.reduceat(data.low, groups), np.fmax.reduceat(data.high, groups)
    return Points(data.times[groups], mean, low, high)
