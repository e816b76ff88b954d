"""How far each prefix is: counts, order, segments and an honest estimate, without a picture.

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
_COLUMN_MIN_PX: Final = 240
_COLUMN_MAX_PX: Final = 1500
_MAX_COLUMNS: Final = 4
MAX_BARS: Final = 40


def counts(states: Ints, state: str) -> Ints:
    """Return the tasks in one state; one row of ``states`` is a prefix."""
    return states[:, _INDEX[state]]


def done(states: Ints) -> Ints:
    """Return the tasks of each prefix that are done: also those forgotten since."""
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


def estimate_s(states: Ints, duration: Floats, nthreads: int) -> float:
    """Return for how long the remaining tasks keep all threads busy; NaN where that is a guess.

    Parameters
    ----------
    states : ndarray of int64, one row a prefix
    duration : ndarray of float64
        Mean seconds of each prefix; NaN while unknown.
    nthreads : int

    Returns
    -------
    float
        Remaining tasks times mean duration over threads. NaN when nothing remains, when a
        prefix that remains has no duration yet, when tasks have no worker that may run them,
        and without threads.
    """
    left = remaining(states)
    is_left = left > 0
    if nthreads <= 0 or not is_left.any() or counts(states, "no-worker").any():
        return math.nan
    return float((left[is_left] * duration[is_left]).sum()) / nthreads


@dataclass(frozen=True, slots=True)
class Grid:
    """Where bars go: ``columns`` of at most ``rows``, filled from the top left downwards."""

    columns: int
    rows: int
    row_px: float
    column_px: float

    def places(self, number: int) -> tuple[Floats, Floats]:
        """Return x and y in pixels of the top left corner of each of ``number`` cells."""
        index = np.arange(number, dtype=np.float64)
        return index // self.rows * self.column_px, index % self.rows * self.row_px


def fit_grid(number: int, width: float, height: float) -> tuple[Grid, int]:
    """Return a grid for ``number`` bars in a space of pixels, and how many of them fit."""
    most_rows = max(int(height // ROW_MIN_PX), 1)
    most_columns = min(max(int(width // _COLUMN_MIN_PX), 1), _MAX_COLUMNS)
    shown = min(number, most_rows * most_columns, MAX_BARS)
    wide = min(math.ceil(width / _COLUMN_MAX_PX), most_columns, shown)
    columns = max(math.ceil(shown / most_rows), wide, 1)
    rows = max(math.ceil(shown / columns), 1)
    row_px = min(max(height / rows, ROW_MIN_PX), ROW_MAX_PX)
    return Grid(columns, rows, row_px, width / columns), shown
