"""What is said of a drawn task stream: how busy its threads are, what was merged, hidden or lost.

Looks at what `Drawing` has drawn; the words are those of `words` and `note_words`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.records import Kind
from dask_diag_lab.views.figure import smaller
from dask_diag_lab.views.stream import words
from dask_diag_lab.views.stream.likeness import Unlike, unlike
from dask_diag_lab.views.stream.note_words import picture_note
from dask_diag_lab.views.stream.rects import share_of_time
from dask_diag_lab.views.text_room import font_px

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.lod import LevelOfDetail
    from dask_diag_lab.views.stream.drawing import Drawing
    from dask_diag_lab.views.stream.window import TimeWindow

_NOTE_SIDES_PX: Final = 16


class Saying:
    """The title and the note of one task stream."""

    def __init__(self, store: Store, drawing: Drawing) -> None:
        self._store = store
        self._drawing = drawing
        self._measured: tuple[LevelOfDetail, float, Unlike] | None = None

    def title(self, centre: LevelOfDetail, window: TimeWindow, live: float) -> str:
        """Return how busy the threads in sight were."""
        drawing, rows = self._drawing, self._drawing.rows
        first, last = drawing.rows_in_sight
        until = min(window.end, live)
        begin = window.zero if window.has_margin else window.start
        thread_s = rows.threads.seconds(begin, until, first, last)
        lane, start = self._store.running.places(until)
        row = np.append(rows.row_of, -1)[lane]
        starts = start[(row >= first) & (row <= last)]
        visible = rows.lanes[first : last + 1]
        share = share_of_time(centre, visible, starts, thread_s, window.start, until)
        moment = self._store.time if window.is_following else begin
        counts = rows.threads.count(moment, first, last), rows.threads.count(moment)
        return words.title(share, counts, drawing.size, drawing.names_px)

    def note(self, centre: LevelOfDetail, window: TimeWindow) -> str:
        """Return what is merged, hidden, lost or not drawn as it was; '' when nothing is."""
        drawing = self._drawing
        size, rows = drawing.size, drawing.rows
        first, last = drawing.rows_in_sight
        # JupyterLab has one line of small text for a note, and cuts what is longer.
        note_font_px = font_px(smaller(drawing.picture.look.font_size))
        is_moving = bool(np.any(centre.kind == Kind.TRANSFER))
        return picture_note(
            self._store,
            centre,
            self._likeness(centre, drawing.pixel_s(window)),
            (first + 1, last + 1, rows.count),
            rows.n_hidden,
            drawing.unpacking.transfer_words if is_moving else "",
            size.width - _NOTE_SIDES_PX,
            note_font_px,
            is_short=size.is_small,
        )

    def _likeness(self, centre: LevelOfDetail, pixel_s: float) -> Unlike:
        known = self._measured
        if known is None or known[0] is not centre or known[1] != pixel_s:
            known = self._measured = centre, pixel_s, unlike(centre, pixel_s)
        return known[2]
