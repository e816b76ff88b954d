"""The task stream: what every thread of every worker did, with running tasks, in its own window.

Decides when what is asked of the store and sent; how it looks is `picture`'s.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from bokeh.models.ui import UIElement

from dask_diag_lab.views.base import Notice, Table, View
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.stream import words
from dask_diag_lab.views.stream.drawing import Drawing
from dask_diag_lab.views.stream.history import history
from dask_diag_lab.views.stream.live_end import LiveEnd
from dask_diag_lab.views.stream.note_words import table_note
from dask_diag_lab.views.stream.picture import Picture
from dask_diag_lab.views.stream.taps import Taps
from dask_diag_lab.views.stream.window import Burst, TimeWindow
from dask_diag_lab.views.time_axis import fit_time_axis, tell_zero

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

SETTLE_S: Final = 0.08
"""A range must have rested this long before finer data is fetched for it…"""
LONGEST_WAIT_S: Final = 0.25
"""…but a hand that leaves the data it has gets more this often without resting."""
CROSSING_S: Final = 1.0
"""A range sent by us less than this before the reader's may have reached the page after it."""
DUTY: Final = 8
"""Drawing takes at most one part in this many of the time."""


class TaskStream(View):
    """One page's task stream.

    Attributes
    ----------
    window : TimeWindow
    picture : Picture or None
        None until `build`.
    """

    freezes_itself: ClassVar[bool] = True
    table_waits: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"activities"})

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.window = TimeWindow()
        self.picture: Picture | None = None
        self._drawing: Drawing | None = None
        self._taps: Taps | None = None
        self._table: tuple[tuple[object, ...], Table, str] | None = None
        self._live = LiveEnd(store)
        self._burst = Burst()
        self._is_scrolled = False
        self._is_setting = False
        self._moved_at = -np.inf
        self._is_ordered = False
        self._placed_at = -np.inf
        self._is_contested = False
        self._due_at = np.inf
        self._seen: object = None

    def build(self) -> UIElement:
        """Return the figure, already drawn."""
        self.picture = picture = Picture(self.look)
        self._drawing = Drawing(self.store, picture)
        self._taps = Taps(self.store, self._drawing, self.window, self.open)
        self.update()
        for attribute in ("start", "end"):
            picture.x_range.on_change(attribute, self._time_moved)
            picture.y_range.on_change(attribute, self._rows_moved)
        return picture.figure

    def update(self) -> None:
        """Follow live data if so asked, redraw what changed, and say what there is to say."""
        drawing = self._drawing
        if drawing is None or self._is_waiting(drawing):
            return
        self._follow()
        drawing.estimate()
        with self._setting():
            if drawing.place(self.window, is_scrolled=self._is_scrolled):
                self._placed_at = time.monotonic()
            self._fit_axis(drawing)
            self._due_at = np.inf
            is_shown, is_misplaced = drawing.show(self.window), drawing.is_misplaced(self.window)
            is_still = self._is_still(drawing) and not is_misplaced
            if not is_still:
                self._draw(drawing, is_misplaced=is_misplaced)
                drawing.running(self.window, self._live.now)
            drawing.tell(self.window)
            if self._taps is not None:
                self._taps.draw()
        self._say(drawing, is_still=is_still and not is_shown)

    @property
    def is_behind(self) -> bool:
        """Whether drawing was put off; see `View.is_behind`."""
        return self._due_at < np.inf

    def table(self) -> Table:
        """Return every action: of the window where the reader chose one, else all of them.

        The note is then the table's: what is said of the picture makes no sense above rows.
        """
        store, window = self.store, self.window
        ends = (-np.inf, np.inf) if window.is_following else (window.start, window.end)
        versions = (store.actions.version, store.running.version, store.lanes.version)
        basis = (*ends, *versions)
        if self._table is None or self._table[0] != basis:
            self._table = (basis, *history(store, *ends))
        _, table, left_out = self._table
        self.notice = replace(self.notice, note=table_note(store, left_out))
        return table

    def restyle(self) -> None:
        """Apply the look; data is coloured by code, so none is sent again."""
        if self.picture is not None:
            self.picture.restyle(self.look)

    def command(self, verb: str) -> None:
        """Move the window: live, freeze, fit, clear, zoom-in, zoom-out, pan-left, pan-right."""
        window, live = self.window, self._live.last
        if verb == "live":
            window.release()
            self._is_scrolled = False
        elif verb == "freeze":
            window.freeze(live)
        elif verb == "clear":
            window.cleared_at = self._live.now if not np.isnan(live) else -np.inf
            window.release()
            if self._taps is not None:
                self._taps.clear()
        elif verb == "fit":
            self._fit(live)
        elif verb in {"zoom-in", "zoom-out"}:
            window.zoom(0.5 if verb == "zoom-in" else 2.0)
        elif verb in {"pan-left", "pan-right"}:
            window.pan(-0.25 if verb == "pan-left" else 0.25)
        else:
            return
        if window.start < window.zero - 0.02 * window.width:
            window.zero = float(np.fmin(window.zero, self._live.first))
        self._is_ordered = self._is_ordered or verb != "freeze"
        self._due_at = np.inf
        self.update()

    def close(self) -> None:
        """Let go of the picture and of the history."""
        self.picture = self._drawing = self._taps = self._table = None

    # Where the window is.

    def _follow(self) -> None:
        burst = self._burst.advance(self.store.actions, self._live.running_starts)
        self.window.follow(burst, self._live.last)

    def _fit(self, live: float) -> None:
        if np.isnan(live):
            return
        self.window.cleared_at = -np.inf
        self.window.frozen_at = np.nan
        first = self._live.first
        margin = 0.01 * max(live - first, 0.01)
        self.window.zero = first
        self.window.hold(first - margin, live + margin)
        self._is_scrolled = False

    def _fit_axis(self, drawing: Drawing) -> None:
        figure, size, zero = drawing.picture.figure, drawing.size, self.window.zero
        what = "when this burst of work began" if zero == self._burst.start else ""
        fit_time_axis(figure, size.width)
        tell_zero(figure, size, zero, what)

    # What the reader moved.

    @contextmanager
    def _setting(self) -> Iterator[None]:
        """Mark range changes of ours: only changes that come from outside move the window."""
        before, self._is_setting = self._is_setting, True
        try:
            yield
        finally:
            self._is_setting = before

    def _time_moved(self, _attribute: str, _old: float, _new: float) -> None:
        picture, window = self.picture, self.window
        if self._is_setting or picture is None:
            return
        start, end = (window.zero + at for at in picture.times)
        if max(abs(start - window.start), abs(end - window.end)) <= 1e-6 * window.width:
            return  # an echo of what was set here
        self._moved_at = time.monotonic()
        if window.is_following and self._moved_at - self._placed_at < CROSSING_S:
            self._is_contested = True
        window.hold(start, end)

    def _insist(self) -> None:
        """Send the reader's range once more if ours may have crossed it on its way.

        Bokeh sends no value that it believes to be there already, so it differs by nothing
        that can be seen.
        """
        if self._is_contested and self.picture is not None:
            self._is_contested = False
            x_range = self.picture.x_range
            start, end = self.picture.times
            x_range.update(start=start, end=end + 1e-7 * (end - start))

    def _rows_moved(self, _attribute: str, _old: float, _new: float) -> None:
        if not self._is_setting:
            self._is_scrolled = True
            self._moved_at = time.monotonic()

    # When to draw.

    def _is_still(self, drawing: Drawing) -> bool:
        """Whether a frozen picture shows what it showed when it was frozen."""
        is_moved = self._is_ordered or self._moved_at >= drawing.asked_at
        return self.window.is_frozen and not is_moved and not drawing.is_owed

    def _draw(self, drawing: Drawing, *, is_misplaced: bool) -> None:
        """Have drawn what there is now; later, where that is soon enough.

        What is drawn in other rows than those of the axes is drawn anew at once.
        """
        if not is_misplaced:
            if drawing.is_under_way:
                return
            if wait_s := self._wait_s(drawing):
                self._due_at = time.monotonic() + wait_s
                return
        drawing.ask(self.window, at_once=is_misplaced)
        self._is_ordered = False
        self._insist()

    def _wait_s(self, drawing: Drawing) -> float:
        """Return for how long drawing must wait: for a hand to rest, or for its cost's sake."""
        if self._is_ordered or not self._is_served:
            return 0.0
        now = time.monotonic()
        since_moved, since_asked = now - self._moved_at, now - drawing.asked_at
        has_data = drawing.covers(self.window) or since_asked < LONGEST_WAIT_S
        if since_moved < SETTLE_S and has_data:
            return SETTLE_S - since_moved
        if since_moved > LONGEST_WAIT_S:
            return max(DUTY * drawing.cost_s - since_asked, drawing.pace_s - since_asked, 0.0)
        return 0.0

    def _is_waiting(self, drawing: Drawing) -> bool:
        """Whether there is nothing to do but to wait until it is time to draw."""
        seen = (self.store.version, self._moved_at, drawing.size)
        is_same, self._seen = seen == self._seen, seen
        return is_same and time.monotonic() < self._due_at < np.inf

    @property
    def _is_served(self) -> bool:
        """Whether somebody calls `update` again where drawing is put off."""
        document = self.picture.figure.document if self.picture is not None else None
        return document is not None and document.session_context is not None

    def _say(self, drawing: Drawing, *, is_still: bool) -> None:
        store, window, live = self.store, self.window, self._live.last
        centre, note = drawing.centre, drawing.note if is_still else drawing.say(window, live)
        has_picture = bool(store.actions.count or store.running.count)
        empty = self.notice.empty
        if drawing.is_of(window):
            is_empty = centre is None or (not len(centre) and not self._live.runs_in(window))
            empty = words.empty(
                store,
                has_picture=has_picture,
                is_window_empty=is_empty,
                is_cleared=window.is_following and window.cleared_at > -np.inf,
            )
        drawing.picture.show_axes(is_shown=has_picture and not (empty and drawing.size.is_small))
        behind_s = window.behind(live)
        self.notice = Notice(empty, note, behind_s, is_frozen=window.is_frozen)
