"""What is drawn of a window, gathered off the loop where it is much.

Knows the store's log and which columns a picture has; draws nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.workings import Working, done_here
from dask_diag_lab.views.stream.rects import (
    FLANK_RECTS,
    MAX_RECTS,
    Columns,
    Rects,
    gather,
    to_columns,
    to_rects,
)

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.lod import LevelOfDetail, Query
    from dask_diag_lab.views.stream.shown_rows import ShownRows
    from dask_diag_lab.views.stream.slots import Change, SlotSource

AT_ONCE: Final = 2000
"""Windows that hold no more actions are gathered at once: that takes less than to wait."""


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


@dataclass(frozen=True, slots=True)
class Frame:
    """What is drawn.

    Attributes
    ----------
    sight : Sight
    centre : LevelOfDetail
        What the window shows.
    columns : dict of str to ndarray
        All rectangles, as `to_columns` returns them.
    changes : mapping of str to Change or None
        What it takes to draw them, by the class of `Rects`.
    cost_s : float
        Seconds that it took to gather.
    """

    sight: Sight
    centre: LevelOfDetail
    columns: Columns
    changes: Mapping[str, Change | None]
    cost_s: float


class Frames:
    """The frames of one picture, one after the other.

    Parameters
    ----------
    store : Store
    sources : mapping of str to SlotSource
        What draws each class of `Rects`. Must be changed by nothing but frames that were taken.
    """

    def __init__(self, store: Store, sources: Mapping[str, SlotSource]) -> None:
        self._store = store
        self._sources = sources
        self._is_hurried = True  # a page opens with its picture
        self.forget()

    def forget(self) -> None:
        """Forget what is under way and what was drawn: the next sight is gathered anew."""
        self._asked: object = None
        self._under_way: Working[Frame] | None = None

    def refuse(self) -> None:
        """Note that what was taken does not fit any more: the next one is made while it does."""
        self.forget()
        self._is_hurried = True

    def ask(self, sight: Sight) -> bool:
        """Begin to gather a frame, if it is not the same again; False while one is under way."""
        if self._under_way is not None:
            return False
        queries = sight.queries(self._store)
        asked = (*(query.question for query in queries), sight.zero, sight.rows, sight.basis)
        if asked == self._asked:
            return True
        self._asked = asked
        colors = self._store.palette.indices(np.arange(len(self._store.strings)))
        make = partial(_frame, sight, queries, colors, self._sources)
        if self._is_hurried or sum(query.n_rows for query in queries) <= AT_ONCE:
            self._is_hurried = False
            self._under_way = done_here(make)
        else:
            self._under_way = self._store.workings.start(make)
        return True

    def take(self) -> Frame | None:
        """Return the frame that was under way, once it is made; None at any other time."""
        working = self._under_way
        if working is None or not working.is_done:
            return None
        self._under_way = None
        try:
            return working.result()
        except Exception:
            self.forget()
            raise


def _frame(
    sight: Sight,
    queries: tuple[Query, Query, Query],
    colors: npt.NDArray[np.int64],
    sources: Mapping[str, SlotSource],
) -> Frame:
    began = time.monotonic()
    cut = (sight.start, sight.end)
    parts = gather(*queries)
    columns = to_columns(parts, cut, sight.rows.row_of, colors)
    width = sight.end - sight.start
    reach_s = max(abs(end - sight.zero) for end in cut) + width
    rects: Rects = to_rects(columns, sight.zero, reach_s, width / sight.width_px)
    changes = {name: source.change_to(getattr(rects, name)) for name, source in sources.items()}
    return Frame(sight, parts[0], columns, changes, time.monotonic() - began)
