"""Brings a task stream's picture up to date: asks the store, sends only what changed.

`task_stream` decides which window and when; `picture` how it looks.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np
from bokeh.core.property.descriptors import UnsetValueError

from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.room import size_among
from dask_diag_lab.views.stream import words
from dask_diag_lab.views.stream.frames import Frame, Frames
from dask_diag_lab.views.stream.happenings import Happenings
from dask_diag_lab.views.stream.names import Names
from dask_diag_lab.views.stream.pointing import REACH_PX, Target, recorded_at
from dask_diag_lab.views.stream.rects import Columns
from dask_diag_lab.views.stream.rows import (
    gone_columns,
    label_width,
    row_labels,
    rows_that_fit,
    separators,
    visible_lanes,
    worker_rows,
)
from dask_diag_lab.views.stream.running_bars import RunningBars
from dask_diag_lab.views.stream.saying import Saying
from dask_diag_lab.views.stream.shown_rows import RowChoice, ShownRows
from dask_diag_lab.views.stream.sight import Sight
from dask_diag_lab.views.stream.unpacking import Unpacking, unpacking

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.lod import LevelOfDetail
    from dask_diag_lab.views.stream.picture import Picture
    from dask_diag_lab.views.stream.window import TimeWindow

OUTLINED_RECTS: Final = 2000
"""More rectangles than this go without outline, which takes most of the time of drawing them."""
LONGEST_PACE_S: Final = 0.6
"""A picture whose blocks are longer than its updates are apart is drawn less often."""
_SIDES_PX: Final = 16
"""`PaneSize.title_characters` leaves so much free beside a title."""


class Drawing:
    """What has been drawn of one task stream, and how to bring it up to date.

    Attributes
    ----------
    sight : Sight or None
        What was drawn; None until something was.
    centre : LevelOfDetail or None
        What the window of it shows.
    rows : ShownRows
        Which lanes have a row.
    columns : dict of str to ndarray
        All rectangles that were drawn.
    is_owed : bool
        Whether what was asked for last is not drawn: it is under way, did not fit, or failed.
    cost_s : float
        Seconds that it took to gather them and to draw what had changed.
    asked_at : float
        Monotonic time when they were asked for last.
    note : str
        What is said below the picture.
    """

    def __init__(self, store: Store, picture: Picture) -> None:
        self.store = store
        self.picture = picture
        self.names = Names(store, picture)
        self.sight: Sight | None = None
        self.centre: LevelOfDetail | None = None
        self.rows = ShownRows((), np.empty(0, dtype=np.bool_))
        self.columns: Columns = {}
        self.is_owed = False
        self.cost_s = 0.0
        self.asked_at = -np.inf
        self.note = ""
        self.unpacking = Unpacking()
        self._activities_version = -1
        self._happenings = Happenings(store)
        self._choice = RowChoice()
        self._saying = Saying(store, self)
        self._lanes_version = -1
        self._labelled: tuple[ShownRows, float, int] | None = None
        self._sources = {
            "work": picture.work,
            "moves": picture.moves,
            "erred": picture.erred,
            "killed": picture.killed,
        }
        self._frames = Frames(store, self._sources)
        self._running = RunningBars(store, picture, self.names)

    @property
    def size(self) -> PaneSize:
        """Size of the whole figure on the page."""
        return size_among(self.picture.figure, self.note, self.picture.look.font_size)

    @property
    def names_px(self) -> int:
        """Width of the names of rows left of the frame, about; 0 until it is known."""
        width = self.size.width
        right_px = int(self.picture.figure.min_border_right or 0) + _SIDES_PX
        return max(width - self._frame_px("inner_width", width) - right_px, 0)

    @property
    def pace_s(self) -> float:
        """Seconds between two pictures that can be told apart while time goes on."""
        resolution_s = self.centre.resolution_s if self.centre is not None else 0.0
        return min(resolution_s, LONGEST_PACE_S)

    def place(self, window: TimeWindow, *, is_scrolled: bool) -> bool:
        """Set both ranges, rows, their labels and the legend's room; tell if the time moved."""
        picture, size = self.picture, self.size
        start, end = window.start - window.zero, window.end - window.zero
        is_moved = set_properties(picture.x_range, start=start, end=end)
        self._take_rows(window)
        height_px = self._frame_px("inner_height", size.rows_px)
        n_rows = max(self.rows.count, 1)
        shown = rows_that_fit(n_rows, height_px)
        set_properties(picture.y_range, bounds=(-0.5, n_rows - 0.5))
        if not is_scrolled or picture.rows[1] > n_rows - 0.5:
            top = max(min(picture.rows[0], n_rows - shown - 0.5), -0.5) if is_scrolled else -0.5
            set_properties(picture.y_range, start=top + shown, end=top)
        self._label(height_px)
        picture.show_legend(is_shown=not size.is_small)
        self._mark(window, picture.rows)
        return is_moved

    def _label(self, height_px: float) -> None:
        """Name the rows, if they or the room for names have changed."""
        top, bottom = self.picture.rows
        basis = (self.rows, height_px / max(bottom - top, 0.1), label_width(self.size.width))
        if basis != self._labelled:
            self._labelled = basis
            rows, row_px, characters = basis
            labels = row_labels(rows.workers, row_px, characters)
            self.picture.label_rows(labels, separators(rows.workers))

    def covers(self, window: TimeWindow) -> bool:
        """Whether the page has data for the window, at about its level of detail."""
        return self.sight is not None and self.sight.covers(window)

    def ask(self, window: TimeWindow, *, at_once: bool) -> None:
        """Have what the store has of the window and beside it drawn: much of it a little later.

        Not while something is under way, but `at_once`.
        """
        began = time.monotonic()
        lanes = self.rows.lanes_of(visible_lanes(*self.picture.rows, self.rows.count))
        width_px = self._frame_px("inner_width", self.size.width)
        ends = window.start, window.end, window.zero
        sight = Sight(*ends, self.rows, lanes, width_px, self.unpacking)
        self._frames.ask(sight, at_once=at_once or self.sight is None)
        self.is_owed = self._frames.is_under_way  # else it is the same again
        self.asked_at, self.cost_s = began, time.monotonic() - began
        self.show(window)

    def show(self, window: TimeWindow) -> bool:
        """Draw what was asked for, once it is there; return whether anything was drawn."""
        if (frame := self._frames.take()) is None:
            return False
        sight, began = frame.sight, time.monotonic()
        if not sight.fits(window, self.rows):
            self._frames.refuse()
            return False
        self.is_owed = False
        self.sight, self.centre, self.columns = sight, frame.centre, frame.columns
        for name, change in frame.changes.items():
            if change is not None:
                self._sources[name].make(change)
        self._name(frame)
        self.cost_s = frame.cost_s + time.monotonic() - began
        return True

    @property
    def is_under_way(self) -> bool:
        """Whether what was asked for is not there yet."""
        return self._frames.is_under_way

    def is_misplaced(self, window: TimeWindow) -> bool:
        """Whether what is drawn is of other rows, or has another 0, than the axes have now."""
        return self.sight is not None and not self.sight.fits(window, self.rows)

    def is_of(self, window: TimeWindow) -> bool:
        """Whether what is drawn is of this window, or nothing else is to come."""
        return not self.is_owed or (self.sight is not None and self.sight.is_of(window))

    def running(self, window: TimeWindow, now: float) -> None:
        """Draw the tasks that run, up to ``now``; not more often than needed."""
        self._running.draw(window, self.rows, now)

    def estimate(self) -> None:
        """Take over what the workers' totals tell."""
        activities = self.store.extras["activities"]
        if activities.version != self._activities_version:
            self._activities_version = activities.version
            self.unpacking = unpacking(activities)
            words_of = {
                self.store.strings.find(name): self.unpacking.prefix_words(name)
                for name in self.unpacking.of_prefix
            }
            ids = [string for string in words_of if string is not None]
            self.picture.shares.set({"id": ids, "words": [words_of[string] for string in ids]})
            self.picture.grey_tails(self.unpacking.of_transfers)

    def tell(self, window: TimeWindow) -> None:
        """Send the few numbers and words that all hover texts need."""
        facts = {"zero": [window.zero], "now": [self._running.until(window.zero)]}
        self.picture.facts.set({**facts, "transfer_words": [self.unpacking.transfer_words]})

    @property
    def rows_in_sight(self) -> tuple[int, int]:
        """First and last row in sight."""
        top, bottom = self.picture.rows
        return max(round(top + 0.5), 0), min(round(bottom - 0.5), self.rows.count - 1)

    def pixel_s(self, window: TimeWindow) -> float:
        """Return the seconds to a pixel."""
        return window.width / max(self._frame_px("inner_width", self.size.width), 1)

    @property
    def pixel_rows(self) -> float:
        """Rows to a pixel."""
        top, bottom = self.picture.rows
        return (bottom - top) / max(self._frame_px("inner_height", self.size.rows_px), 1)

    def at(self, window: TimeWindow, x: float, row: float) -> Target | None:
        """Return the rectangle at a position of the picture's axes."""
        reach_s = REACH_PX * self.pixel_s(window)
        moment = window.zero + x
        target = recorded_at(self.columns, moment, row, reach_s)
        return target or self._running.at(moment, row, reach_s)

    def say(self, window: TimeWindow, live: float) -> str:
        """Write the title and return the note about what is merged, hidden or lost.

        Those of before while another window is under way: its blocks are not known yet.
        """
        if self.centre is not None and self.is_of(window):
            title = self._saying.title(self.centre, window, live)
            set_properties(self.picture.title, text=title)
            self.note = self._saying.note(self.centre, window)
        return self.note

    def _name(self, frame: Frame) -> None:
        """Bring the legend and the names that hover texts look up in line with rectangles."""
        picture, columns, sight = self.picture, frame.columns, frame.sight
        self.names.send_texts(np.concatenate((columns["prefix"], columns["source"])))
        picture.outline(is_on=len(columns["start"]) <= OUTLINED_RECTS)
        inside = (columns["start"] < sight.end) & (columns["stop"] > sight.start)
        labels, codes = words.legend(
            {name: columns[name][inside] for name in ("code", "busy_s")},
            self.store.palette.names,
            self.size,
            has_tails=self.unpacking.of_transfers > 0,
        )
        picture.legend.set(
            {"label": labels, "code": np.array(codes, np.uint8), "at": np.full(len(codes), np.nan)}
        )
        top, bottom = picture.rows
        is_near = abs(columns["lane"] - (top + bottom) / 2) < bottom - top
        is_single = inside & is_near & (columns["count"] == 1)
        self.names.send_keys(columns["task"][is_single])

    def _mark(self, window: TimeWindow, rows: tuple[float, float]) -> None:
        until = window.end + 2 * window.width
        marks = self.picture.marks
        marks.gone.set(gone_columns(self.rows.gone, window.zero, until))
        begin = window.start - window.width
        marks.events.set(self._happenings.columns(window.zero, (begin, until), rows))

    def _take_rows(self, window: TimeWindow) -> None:
        if self.store.lanes.version != self._lanes_version:
            self._lanes_version = self.store.lanes.version
            self._choice = RowChoice(worker_rows(self.store))
        rows = self._choice.between(window.start, window.end, is_live=window.is_following)
        if rows is self.rows:
            return
        self.rows = rows
        counts = [worker.count for worker in rows.workers]
        index = np.repeat(np.arange(len(counts), dtype=np.uint16), counts)
        slot = np.asarray(self.store.lanes.slot)[rows.lanes].astype(np.uint16)
        self.picture.lanes.set({"worker": index, "slot": slot})
        self.picture.workers.set({"label": [worker.label for worker in rows.workers]})

    def _frame_px(self, side: str, otherwise: int) -> int:
        try:
            return int(getattr(self.picture.figure, side)) or otherwise
        except UnsetValueError:  # no browser has told yet
            return otherwise
