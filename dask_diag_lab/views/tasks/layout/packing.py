"""Where the parts of a graph go that no edge connects: beside each other, in the shape of a pane.

Pure; knows neither nodes nor Bokeh. Each part goes as far up as it can, then as far left.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Corner = tuple[int, float]
"""Column and row of the upper left cell."""

_WIDER: Final = 1.2
"""From one width that is tried to the next."""
_WIDEST: Final = 1.6
"""The widest that is tried, in sizes of the width that would do if parts left no gap."""
_MANY: Final = 300
"""Parts for which only that width is tried: they leave few gaps, and a try costs 3 µs a part."""
_SLACK: Final = 0.25
"""What it counts that the pane is larger than needed in one direction, beside the other one."""
_STEPS: Final = 2
"""Steps of `rounded_shape` to a factor of two."""


def rounded_shape(columns: float, rows: float) -> float:
    """Return how many columns there are to a row, in coarse steps: not each pixel moves things."""
    return float(2.0 ** (round(_STEPS * math.log2(columns / rows)) / _STEPS))


def stretch(columns: float, rows: float, shape: float) -> float:
    """Return how many rows a pane of that shape has to have to hold so many columns and rows."""
    return max(columns / shape, rows)


def packed(
    sizes: Sequence[tuple[int, float]], shape: float, taken: Sequence[float] = ()
) -> list[Corner]:
    """Return the corner of each part.

    Parameters
    ----------
    sizes : sequence of (int, float)
        Columns and rows of each part, with the gap to the next one.
    shape : float
        Columns to a row of the pane.
    taken : sequence of float
        Rows that are taken already in each of the first columns.

    Returns
    -------
    list of (int, float)
        In the order of `sizes`. Higher parts are placed first, and of equal ones the first.
    """
    if not sizes:
        return []
    order = np.argsort([-rows for _, rows in sizes], kind="stable").tolist()
    ordered = [sizes[at] for at in order]
    tries = (_in_width(ordered, width, taken) for width in _widths(sizes, shape, taken))
    best = min(tries, key=lambda found: _cost(found[1], found[2], shape))
    corners = dict(zip(order, best[0], strict=True))
    return [corners[at] for at in range(len(sizes))]


def _cost(columns: float, rows: float, shape: float) -> float:
    return stretch(columns, rows, shape) + _SLACK * (columns / shape + rows)


def _widths(sizes: Sequence[tuple[int, float]], shape: float, taken: Sequence[float]) -> list[int]:
    """Return widths to try, ascending: of equal ones the narrowest is taken."""
    area = sum(columns * rows for columns, rows in sizes) + sum(taken)
    widest = max(columns for columns, _ in sizes)
    least = max(widest, len(taken))
    gapless = math.sqrt(area * shape)
    if len(sizes) > _MANY:
        # No wider than it takes to fill the height that there is in any case.
        highest = max(*(rows for _, rows in sizes), *taken)
        return [max(math.ceil(min(gapless, _WIDER * area / highest)), least)]
    widths, width = {least, len(taken) + widest}, float(least)
    while width <= _WIDEST * gapless:
        widths.add(math.ceil(width))
        width *= _WIDER
    return sorted(widths)


def _in_width(
    sizes: Sequence[tuple[int, float]], width: int, taken: Sequence[float]
) -> tuple[list[Corner], float, float]:
    """Return corners in so many columns, and the columns and rows that are taken then."""
    heights = np.zeros(width)
    heights[: len(taken)] = taken
    corners: list[Corner] = []
    for (columns, rows), alike in groupby(sizes):
        n = len(corners) + sum(1 for _ in alike)
        while len(corners) < n:
            highest = _highest(heights, columns)
            row = float(highest.min())
            found = _apart(np.flatnonzero(highest == row), columns, n - len(corners))
            heights[np.add.outer(found, np.arange(columns))] = row + rows
            corners += [(column, row) for column in found]
    used = np.flatnonzero(heights)
    return corners, float(used[-1] + 1), float(heights.max())


def _apart(columns: npt.NDArray[np.intp], distance: int, most: int) -> list[int]:
    """Return the first of ascending ``columns`` that are at least so far apart."""
    among: list[int] = columns.tolist()
    if distance == 1:
        return among[:most]
    apart: list[int] = []
    at = 0
    while at < len(among) and len(apart) < most:
        apart.append(among[at])
        at = bisect_left(among, among[at] + distance, at + 1)
    return apart


def _highest(heights: Floats, columns: int) -> Floats:
    """Return the largest of each run of so many values."""
    highest, n = heights, 1
    while n < columns:
        step = min(n, columns - n)
        highest = np.maximum(highest[:-step], highest[step:])
        n += step
    return highest
