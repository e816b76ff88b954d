"""How far each bar is: counts and segments, and where bars go, without a picture.

Pure NumPy; knows neither Bokeh nor colours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.records import STATES

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SEGMENTS: Final = ("released", "memory", "erred", "processing", "queued", "no-worker")
"""The parts of a bar from the left; what is left of it waits."""

_INDEX: Final = {state: index for index, state in enumerate(STATES)}
_REMAINING: Final = [_INDEX[s] for s in ("waiting", "no-worker", "queued", "processing")]
_DONE: Final = [_INDEX[s] for s in ("released", "forgotten", "memory")]

ROW_MIN_PX: Final = 30
ROW_MAX_PX: Final = 46
COMPACT_ROW_PX: Final = 21
"""Of a pane without room for `_WANTED` bars: names close above thin bars."""
_WANTED: Final = 24
_COLUMN_MIN_PX: Final = 240
_COMPACT_COLUMN_PX: Final = 140
_COLUMN_MAX_PX: Final = 1500
_MAX_COLUMNS: Final = 4


def counts(states: Ints, state: str) -> Ints:
    """Return the tasks in one state; one row of ``states`` is a prefix."""
    return states[:, _INDEX[state]]


def done(states: Ints) -> Ints:
    """Return the tasks of each prefix that are done: also those forgotten since, if not erred."""
    result: Ints = states[:, _DONE].sum(axis=1)
    return result


def remaining(states: Ints) -> Ints:
    """Return the tasks of each prefix that have not ended."""
    result: Ints = states[:, _REMAINING].sum(axis=1)
    return result


def segment_counts(states: Ints) -> Ints:
    """Return the tasks in each of `SEGMENTS`; forgotten ones count as released."""
    columns = [counts(states, name) for name in SEGMENTS]
    columns[0] = columns[0] + counts(states, "forgotten")
    return np.stack(columns, axis=1)


def segment_edges(states: Ints, smallest: float) -> Floats:
    """Return where each of `SEGMENTS` ends, as shares of the bar.

    Erred tasks are never narrower than ``smallest`` (a share): one of a million must be seen.
    """
    totals = np.maximum(states.sum(axis=1), 1)
    edges: Floats = np.cumsum(segment_counts(states), axis=1) / totals[:, None]
    erred = SEGMENTS.index("erred")
    is_hidden = (counts(states, "erred") > 0) & (edges[:, erred] - edges[:, erred - 1] < smallest)
    left = np.minimum(edges[is_hidden, erred - 1], 1 - smallest)
    edges[is_hidden, :erred] = np.minimum(edges[is_hidden, :erred], left[:, None])
    edges[is_hidden, erred:] = np.maximum(edges[is_hidden, erred:], left[:, None] + smallest)
    return edges


@dataclass(frozen=True, slots=True)
class Grid:
    """Where bars go: columns of rows, in pixels from the top left.

    Bars fill a column after the other while all of them fit, and row after row when they are
    scrolled: then ``rows`` is more than can be seen at once.
    """

    columns: int
    rows: int
    row_px: float
    column_px: float
    is_scrolled: bool = False
    is_compact: bool = False

    @property
    def height(self) -> float:
        """Pixels of all rows."""
        return self.rows * self.row_px

    def places(self, number: int, first: int = 0) -> tuple[Floats, Floats]:
        """Return x and y of the top left corner of ``number`` cells from cell ``first`` on."""
        index = np.arange(first, first + number, dtype=np.float64)
        if self.is_scrolled:
            return index % self.columns * self.column_px, index // self.columns * self.row_px
        return index // self.rows * self.column_px, index % self.rows * self.row_px


def wanted_in(height: float) -> int:
    """Return how many bars a pane of a height should show, be they closer together for that."""
    return max(_WANTED, int(height / ROW_MIN_PX))


def fit_grid(
    number: int, width: float, height: float, wanted: int = _WANTED, most: float = math.inf
) -> tuple[Grid, int]:
    """Return a grid for ``number`` bars in a space of pixels, and how many can be seen at once.

    Never fewer in a larger space: below ``wanted`` bars are close together, of more they are not.

    Parameters
    ----------
    number : int
    width, height : float
    wanted : int
    most : float
        Bars that may be seen at once.
    """
    row_min_px = ROW_MIN_PX
    most_columns, most_rows = _room(width / _COLUMN_MIN_PX, height / row_min_px)
    room = most_rows * most_columns
    if room < min(number, wanted):
        row_min_px = COMPACT_ROW_PX
        most_columns, most_rows = _room(width / _COMPACT_COLUMN_PX, height / row_min_px)
        room = min(most_rows * most_columns, wanted)
    shown = int(min(number, room, most))
    wide = min(math.ceil(width / _COLUMN_MAX_PX), most_columns, shown)
    columns = max(math.ceil(shown / most_rows), wide, 1)
    seen = max(math.ceil(shown / columns), 1)
    row_px = min(max(height / seen, row_min_px), ROW_MAX_PX)
    is_scrolled = shown < number
    rows = math.ceil(number / columns) if is_scrolled else seen
    is_compact = row_px < ROW_MIN_PX
    return Grid(columns, rows, row_px, width / columns, is_scrolled, is_compact), shown


def _room(columns: float, rows: float) -> tuple[int, int]:
    """Return how many whole columns and rows there may be."""
    return min(max(int(columns), 1), _MAX_COLUMNS), max(int(rows), 1)
