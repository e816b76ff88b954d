"""Words about the points of a line over time, written once for each point.

An hour of points is some 500 of them, of which one or two change at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dask_diag_lab.views.time_points import Points

Write = Callable[[float, float, float, float], str]
"""Takes time, mean, lowest and highest."""

_NOTHING = Points(*(np.empty(0),) * 4)


class PointWords:
    """Remembers the words of the points that it was last asked for.

    Parameters
    ----------
    write : callable
        Returns the words of a point; of equal points it has to say the same.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._points = _NOTHING
        self._words: list[str] = []

    def of(self, points: Points) -> list[str]:
        """Return the words of each point, whose times ascend."""
        last, n = self._points, len(points.times)
        at = np.searchsorted(last.times, points.times)
        is_known = at < len(last.times)
        at = at[is_known]
        for name in ("times", "mean", "low", "high"):
            old, new = getattr(last, name)[at], getattr(points, name)[is_known]
            is_equal = (old == new) | (np.isnan(old) & np.isnan(new))
            at, is_known[np.flatnonzero(is_known)[~is_equal]] = at[is_equal], False
        words = [""] * n
        for index, before in zip(np.flatnonzero(is_known).tolist(), at.tolist(), strict=True):
            words[index] = self._words[before]
        for index in np.flatnonzero(~is_known).tolist():
            words[index] = self._write(
                float(points.times[index]),
                float(points.mean[index]),
                float(points.low[index]),
                float(points.high[index]),
            )
        self._points, self._words = points, words
        return words


def words_of(title: str, write: Callable[[float], str]) -> PointWords:
    """Return words of what a line is, its mean and, where there is one, its band."""

    def words(_: float, mean: float, low: float, high: float) -> str:
        band = f" ({write(low)} to {write(high)})" if low < high else ""
        return f"{title} {write(mean)}{band}"

    return PointWords(words)
