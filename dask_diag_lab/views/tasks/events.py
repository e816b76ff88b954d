"""What happened to the cluster, on a time axis: workers, memory, errors, stealing, graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from bokeh.core.properties import value
from bokeh.events import Event, Tap
from bokeh.models import FixedTicker, Range1d, Scatter, Segment, Text
from bokeh.models.annotations import Title

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_figure,
    quiet_hover,
    set_properties,
    smaller,
    tooltip_html,
)
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.moving_range import MovingRange, add_moves
from dask_diag_lab.views.no_workers import NO_DATA
from dask_diag_lab.views.pane_size import PaneSize, pane_size, restyle_pane
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.tasks.event_lines import HOVER_LINES, EventLines
from dask_diag_lab.views.tasks.event_marks import (
    LIVE_S,
    Floats,
    Marks,
    event_columns,
    grown,
    live_window,
    marks_between,
)
from dask_diag_lab.views.tasks.event_numbers import OFFSET_PX, fitting_numbers
from dask_diag_lab.views.tasks.event_words import ROW_OF, ROWS, gap_words, row_colors, words
from dask_diag_lab.views.text_room import font_px, text_px
from dask_diag_lab.views.time_axis import fit_time_axis, make_time_axis, tell_zero

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

NO_EVENTS: Final = f"{NO_DATA} Workers, errors, spilling and graphs appear here."
NO_PLAIN_EVENTS: Final = "Nothing has happened yet. Workers, errors and spilling appear here."
"""Without a collector, of which it would be said that its recording began."""

_MARK_PX: Final = 48
"""Marks of a row are half of it apart at least: there is room for a number of a digit or two."""
_ROW_PX: Final = 10
"""In a row that is thinner the words beside it would lie on those of the next."""
_LARGEST_PX: Final = 20.0


class Events(RedrawnView):
    """A row of marks for each kind of event; many at one place are one mark with a number."""

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.marks = Source(
            *("x", "y", "until", "size", "marker", "fill", "line", "span", "number", "row", "all"),
            *(f"hover{line}" for line in range(HOVER_LINES)),
        )
        self._columns = event_columns(())
        self._total = 0
        self._lines = EventLines(store)
        self._read_version = (-1, -1)
        self._shown_rows: tuple[int, ...] = ()
        self._span_s: float | None = LIVE_S

    # --- the picture

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._title = Title(text=" ")
        self._time, self._y = MovingRange(), Range1d(start=1, end=0)
        self._y_ticker = FixedTicker(ticks=[])
        plot = self.figure = quiet_figure(
            self.look, title=self._title, x_range=self._time.model, y_range=self._y
        )
        plot.update(min_border_left=8)
        make_time_axis(plot)
        plot.yaxis.ticker = self._y_ticker
        plot.ygrid.ticker = self._y_ticker
        source = self.marks.model
        self._span = Segment(x0="x", x1="until", y0="y", y1="y", line_color="span", line_width=4)
        add_glyph(plot, source, self._span)
        self._mark = Scatter(x="x", y="y", size="size", marker="marker")
        self._mark.update(fill_color="fill", line_color="line", line_width=1.5)
        target = add_glyph(plot, source, self._mark)
        self._number = Text(x="x", y="y", text="number", x_offset=OFFSET_PX, y_offset=-4)
        add_glyph(plot, source, self._number)
        self._hover = quiet_hover(self.look, *self._hover_fields(), renderers=[target])
        plot.add_tools(self._hover)
        add_moves(plot)
        plot.on_event(Tap, self._on_tap)
        self.restyle()
        return plot

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        look = self.look
        restyle_pane(self.figure, look)
        axis = self.figure.yaxis[0]
        set_properties(axis, major_tick_line_color=None, major_label_text_color=look.foreground)
        set_properties(
            self._number,
            text_color=look.foreground,
            text_font=value(look.font),
            text_font_size=self._number_size,
        )
        set_properties(self._hover, tooltips=tooltip_html(look, *self._hover_fields()))

    def command(self, verb: str) -> None:
        """``live`` shows the last minutes as they come, ``fit`` all; see `View.command`."""
        if verb in {"live", "fit"}:
            self._span_s = LIVE_S if verb == "live" else None
            self._time.release()
            self.update()

    def _on_tap(self, event: Event) -> None:
        """Open the table of errors when their row is clicked."""
        if not isinstance(event, Tap) or event.y is None:
            return
        place = round(event.y)
        if 0 <= place < len(self._shown_rows):
            is_errors = self._shown_rows[place] == ROW_OF["task-erred"]
            if is_errors:
                self.open("exceptions")

    # --- keeping it up to date

    def shown(self) -> object:
        """Read on, and return what differs when the picture has to; see `RedrawnView.shown`."""
        self._read()
        if len(self._columns.time):
            self._follow()
        is_told = self.store.scheduler is not None
        return self._read_version, is_told, self._time.place, pane_size(self.figure), self.look

    def redraw(self) -> None:
        """Draw the marks; see `RedrawnView.redraw`."""
        size, is_empty = pane_size(self.figure), not len(self._columns.time)
        fit_time_axis(self.figure, size.width)
        for axis in (self.figure.xaxis[0], self.figure.yaxis[0]):
            set_properties(axis, visible=not (is_empty or size.height < 120))
        set_properties(self.figure.xgrid[0], visible=not is_empty)
        if is_empty:
            self.marks.set({name: [] for name in self.marks.model.data})
            set_properties(self._title, text=" ")
            empty = NO_EVENTS if self.store.scheduler is None else NO_PLAIN_EVENTS
            self.notice = Notice(empty=empty, note="; ".join(self._missing()))
        else:
            self._draw(size)

    def _read(self) -> None:
        """Take over the events; what a burst counts changes in its place."""
        store = self.store
        before, version = self._read_version, (store.events.version, store.seen_workers.version)
        if version == before:
            return
        self._read_version = version
        if version[0] != before[0]:
            events = store.events
            new = events.total - self._total
            dropped = events.dropped - (self._total - len(self._columns.time))
            self._columns = grown(self._columns, dropped, events.rows, new)
            self._total = events.total
        if version[1] != before[1]:
            self._lines.clear()

    def _follow(self) -> None:
        """Move on with the time, unless the user has moved the picture."""
        last = max(self.store.time, float(self._columns.until.max())) - self._zero
        self._time.follow(*live_window(last, self._span_s))

    @property
    def _zero(self) -> float:
        return float(self._columns.time.min())

    def _draw(self, size: PaneSize) -> None:
        begin, end = self._time.start, self._time.end
        events = self._columns
        self._draw_rows(size)
        tell_zero(self.figure, size, self._zero, "the first event")
        frame_px = self._frame_px(size)
        room = max(int(frame_px / _MARK_PX), 4)
        marks = marks_between(events, begin + self._zero, end + self._zero, room)
        self._draw_marks(marks, size.rows_px, frame_px / (end - begin))
        number = int(events.number.sum())
        shown = sum(int(events.number[members].sum()) for members in marks.members)
        title = f"Events: {fmt.count(shown)} in sight of {fmt.count(number)}"
        if shown == number:
            title = f"Events: {fmt.count(number)}"
        set_properties(self._title, text=title)
        notes = []
        if any(len(members) > 1 for members in marks.members):
            notes.append("marks with a number stand for so many that lie close together")
        self.notice = Notice(note="; ".join([*notes, *self._missing()]))

    def _missing(self) -> list[str]:
        """Return which events are not known, or no longer."""
        store, dropped = self.store, self.store.events.dropped
        older = [f"{fmt.plural(dropped, 'older event')} forgotten"] if dropped else []
        return older + gap_words(store.left_out.get("before", 0), store.events.n_undated)

    def _draw_rows(self, size: PaneSize) -> None:
        """Show the rows in which something has happened, in their fixed order.

        Where they are too thin for a word each, every other one has its word.
        """
        rows = tuple(np.unique(self._columns.row).tolist())
        self._shown_rows = rows
        step = 1 if size.rows_px >= len(rows) * _ROW_PX else 2
        titles = (ROWS[row].title for row in rows)
        labels = {place: title * (place % step == 0) for place, title in enumerate(titles)}
        set_properties(self._y, start=len(rows) - 0.4, end=-0.6)
        set_properties(self._y_ticker, ticks=list(labels))
        set_properties(self.figure.yaxis[0], major_label_overrides=labels)

    def _frame_px(self, size: PaneSize) -> float:
        """Return how wide the frame is beside the words of the rows."""
        font = font_px(smaller(self.look.font_size))
        return size.frame_px(max(text_px(ROWS[row].title, font) for row in self._shown_rows))

    def _draw_marks(self, marks: Marks, rows_px: float, second_px: float) -> None:
        place = {row: index for index, row in enumerate(self._shown_rows)}
        rows = marks.row.tolist()
        colors = row_colors(self.look)
        said = [
            self._lines.of(members, end)
            for members, end in zip(marks.members, marks.end.tolist(), strict=True)
        ]
        sizes = np.minimum(9 + 2.5 * np.log2(np.maximum(marks.number, 1)), _LARGEST_PX)
        columns: dict[str, Any] = {  # arrays and lists
            "x": marks.begin - self._zero,
            "y": np.array([place[row] for row in rows], dtype=np.float64),
            "until": marks.end - self._zero,
            "size": sizes,
            "marker": [ROWS[row].marker for row in rows],
            "fill": [
                self.look.background if is_end else colors[row][0]
                for row, is_end in zip(rows, marks.is_end.tolist(), strict=True)
            ],
            "line": [colors[row][1] for row in rows],
            "span": [colors[row][2] for row in rows],
            "number": self._numbers(marks, sizes, rows_px, second_px),
            "row": [ROWS[row].title for row in rows],
            "all": [
                f"{fmt.count(int(self._columns.number[members].sum()))} in all"
                if len(members) > 1
                else ""
                for members in marks.members
            ],
        }
        columns |= {f"hover{line}": [w[line] for w in said] for line in range(HOVER_LINES)}
        self.marks.set(columns)

    def _numbers(self, marks: Marks, sizes: Floats, rows_px: float, second_px: float) -> list[str]:
        """Return the number beside each mark, '' where it would lie on the next mark or row."""
        font = font_px(self._number_size)
        if rows_px < len(self._shown_rows) * font:
            return [""] * len(marks.row)
        return fitting_numbers(marks, sizes, second_px, font)

    @property
    def _number_size(self) -> str:
        return smaller(self.look.font_size, 2)

    def _hover_fields(self) -> list[str]:
        return [*(f"@hover{line}" for line in range(HOVER_LINES)), "@all"]

    def table(self) -> Table:
        """Return all events, oldest first; its note is of those that are missing."""
        self._read()
        self.notice = replace(self.notice, note="; ".join(self._missing()))
        rows, names = list(self.store.events.rows), self.store.seen_workers.names
        columns: dict[str, Sequence[object]] = {
            "time": [time for time, _, _ in rows],
            "until": self._columns.until.tolist(),
            "kind": [kind for _, kind, _ in rows],
            "count": self._columns.number.tolist(),
            "event": [words(kind, detail, names) for _, kind, detail in rows],
        }
        return Table(columns, {"time": "s", "until": "s"})
