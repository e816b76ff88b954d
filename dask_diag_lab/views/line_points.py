"""The points of several lines over time: what is in view of them, as columns and in words.

Pure NumPy; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.point_words import PointWords, words_of
from dask_diag_lab.views.series_unit import WRITE, Unit
from dask_diag_lab.views.time_points import Floats, Points, common_times, merged_points, points_at

if TYPE_CHECKING:
    from dask_diag_lab.views.tail_source import Values

MAX_POINTS: Final = 500
"""Points of a line in view; more are merged by mean, lowest and highest."""

_KINDS: Final = ("mean", "low", "high", "text")


class LinePoints:
    """The points of lines that are drawn over the same times.

    Parameters
    ----------
    titles : mapping of str to str
        The words of each line, by its name.
    unit : str
        See `Unit`.
    band : bool
        Whether the lowest and highest are drawn too, and not only the mean.

    Attributes
    ----------
    times : ndarray of float64
        All times that any line has, ascending, as of the last `align`.
    """

    def __init__(self, titles: Mapping[str, str], unit: Unit, *, band: bool) -> None:
        self.times: Floats = np.empty(0)
        self._has_band = band
        self._data: dict[str, Points] = {}
        self._texts = {name: words_of(title, WRITE[unit]) for name, title in titles.items()}
        self._moments = PointWords(lambda time, *_: fmt.clock(time))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: ``x``, ``top``, ``when``, and ``mean0`` and the like of a line."""
        of_lines = (f"{kind}{at}" for at in range(len(self._texts)) for kind in _KINDS)
        return ("x", "top", "when", *of_lines)

    @property
    def is_known(self) -> bool:
        """Whether there is a value of any line."""
        return any(np.isfinite(data.mean).any() for data in self._data.values())

    def set(self, name: str, points: Points) -> None:
        """Give a line its points."""
        self._data[name] = points

    def align(self) -> None:
        """Bring `times` up to the points of all lines."""
        self.times = common_times([data.times for data in self._data.values()])

    def between(self, start: float, end: float) -> tuple[dict[str, Values], float]:
        """Return the columns of what is in view, and the highest value among them.

        Parameters
        ----------
        start, end : float
            Seconds from the first of `times`, of which there has to be one.
        """
        zero, span = self.times[0], end - start
        # From a quarter of the width on, so that the beginning stays while the end moves.
        begin = max(np.floor(start / span * 4) - 1, 0) * span / 4 + zero
        first = int(np.searchsorted(self.times, begin))
        stop = int(np.searchsorted(self.times, zero + end, side="right")) + 1
        times = self.times[first:stop]
        groups = _groups(first, len(times))
        columns: dict[str, Values] = {"x": times[groups] - zero}
        columns["when"] = self._moments.of(Points(*(times[groups],) * 4))
        top: Floats = np.zeros(len(groups))
        for at, (name, text) in enumerate(self._texts.items()):
            merged = merged_points(points_at(self._data[name], times), groups)
            columns |= {f"mean{at}": merged.mean, f"low{at}": merged.low, f"high{at}": merged.high}
            columns[f"text{at}"] = text.of(merged)
            top = np.fmax(top, merged.high if self._has_band else merged.mean)
        columns["top"] = top
        return columns, float(top.max(initial=0.0))


def _groups(first: int, n: int) -> npt.NDArray[np.int64]:
    """Return where the groups begin of ``n`` neighbours, of which the first is number ``first``.

    By their numbers, so that the same ones are merged when the picture moves on.
    """
    factor = 1
    while n > MAX_POINTS * factor:
        factor *= 2
    return np.flatnonzero(np.diff((first + np.arange(n)) // factor, prepend=-1))
