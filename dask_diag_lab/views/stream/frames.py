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
    Columns,
    Rects,
    gather,
    to_columns,
    to_rects,
)

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.lod import LevelOfDetail, Query
    from dask_diag_lab.views.stream.sight import Sight
    from dask_diag_lab.views.stream.slots import Change, SlotSource

AT_ONCE: Final = 2000
"""Windows that hold no more actions are gathered at once: that takes less than to wait."""


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

    A frame is what differs from the one before: it is good once, and for the picture that it was
    made for. So each is taken, and not looked up again and again as in `Latest`.

    Parameters
    ----------
    store : Store
    sources : mapping of str to SlotSource
        What draws each class of `Rects`. Must be changed by nothing but frames that were taken.
    """

    def __init__(self, store: Store, sources: Mapping[str, SlotSource]) -> None:
        self._store = store
        self._sources = sources
        self._asked: object = None
        self._under_way: Working[Frame] | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether a frame was asked for that nobody has taken."""
        return self._under_way is not None

    def ask(self, sight: Sight, *, at_once: bool = False) -> None:
        """Begin to gather a frame, unless it would be the same again.

        Only while none is under way, but `at_once`: that one is done without then.
        """
        if self._under_way is not None:
            self._under_way.give_up()
            self._forget()
        queries = sight.queries(self._store)
        asked = (*(query.question for query in queries), sight.zero, sight.rows, sight.basis)
        if asked == self._asked:
            return
        self._asked = asked
        colors = self._store.palette.indices(np.arange(len(self._store.strings)))
        make = partial(_frame, sight, queries, colors, self._sources)
        if at_once or sum(query.n_rows for query in queries) <= AT_ONCE:
            self._under_way = done_here(make)
        else:
            self._under_way = self._store.workings.start(make, is_brief=True)

    def take(self) -> Frame | None:
        """Return the frame that was under way, once it is made; None at any other time."""
        working = self._under_way
        if working is None or not working.is_done:
            return None
        self._under_way = None
        try:
            return working.result()
        except Exception:
            self._forget()
            raise

    def refuse(self) -> None:
        """Note that the frame which was just taken is not drawn: it may be asked for again."""
        self._forget()

    def _forget(self) -> None:
        self._asked = self._under_way = None


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
