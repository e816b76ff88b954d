"""What a task stream is to show: which time, which rows, how fine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.stream.rects import FLANK_RECTS, MAX_RECTS

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.lod import Query
    from dask_diag_lab.views.stream.shown_rows import ShownRows
    from dask_diag_lab.views.stream.window import TimeWindow


@dataclass(frozen=True, slots=True)
class Sight:
    """What is to be drawn.

    Attributes
    ----------
    start, end, zero : float
        The window, and the moment that its axis calls 0, seconds since the epoch.
    rows : ShownRows
        Which lanes have a row.
    lanes : ndarray of int64 or None
        Rows of the lane table that are near enough to be seen; None for all.
    width_px : int
        How wide the window is on the page.
    basis : object
        What else decides how it looks.
    """

    start: float
    end: float
    zero: float
    rows: ShownRows
    lanes: npt.NDArray[np.int64] | None
    width_px: int
    basis: object

    def queries(self, store: Store) -> tuple[Query, Query, Query]:
        """Return what is asked of the window, and of a window's width on each side, coarser."""
        width, flank_px = self.end - self.start, max(self.width_px // 2, 1)
        ask, lanes = store.actions.query, self.lanes
        return (
            ask(self.start, self.end, lanes, self.width_px, MAX_RECTS),
            ask(self.start - width, self.start, lanes, flank_px, FLANK_RECTS),
            ask(self.end, self.end + width, lanes, flank_px, FLANK_RECTS),
        )

    def is_of(self, window: TimeWindow) -> bool:
        """Return whether this is the window."""
        return (self.start, self.end) == (window.start, window.end)

    def covers(self, window: TimeWindow) -> bool:
        """Return whether its blocks will do for a window, at about its level of detail."""
        width = self.end - self.start
        is_inside = self.start - width <= window.start and window.end <= self.end + width
        return is_inside and 0.5 * width < window.width < 1.5 * width

    def fits(self, window: TimeWindow, rows: ShownRows) -> bool:
        """Return whether its blocks are where axes with this 0 and these rows say."""
        return self.zero == window.zero and self.rows is rows
