"""What happened to the cluster, on a time axis: workers, memory, errors, stealing, graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, FactorRange, Scatter, Segment, Text
from bokeh.plotting import figure

from dask_diag_lab.store.arrays import Bools, Ints
from dask_diag_lab.store.sums import ALL
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import MOMENT, Rows
from dask_diag_lab.views.figure import FigureView, add_glyph, base_hover, set_properties, smaller
from dask_diag_lab.views.names import (
    NO_DATA,
    ROW_OF,
    ROWS,
    describe,
    number_of,
    row_colors,
)
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.time_axis import TimePlot, add_moves, make_time_axis
from dask_diag_lab.views.view import Table

Event = tuple[float, str, Mapping[str, Any]]  # details are of any type
EventArray = npt.NDArray[np.void]  # of dtype `EVENT`

EVENT: Final = np.dtype([("time", "f8"), ("until", "f8"), ("row", "i8"), ("number", "i8")])
"""``row`` is the index in `ROWS`."""

CHANGING_S: Final = 60.0
"""Events older than this do not grow any more: a burst is over long before."""
LIVE_S: Final = 600.0
"""How much of the past the live picture shows."""
SPANS_S: Final = (30.0, 60.0, 120.0, 180.0, 300.0, 450.0)
"""How much it shows while it is young."""
STEP_S: Final = 30.0
"""Later it moves on in such steps: a picture in which nothing happens is not sent every tick."""
MARGIN: Final = 0.05
"""Share of the time that is left free before the first event, for the size of its mark."""
MOST_MARKS: Final = 14
"""Of a row; more would lie on each other in a small pane."""
HOVER_LINES: Final = 8
"""Events that a tooltip names."""

_LARGEST_PX: Final = 20.0
_OFFSET_PX: Final = 11
"""From the middle of a mark to where its number begins."""


@register_plot
class Events(TimePlot, FigureView):
    """A row of marks for each kind of event; many at one place are one mark with a number."""

    name = "events"
    live_s = LIVE_S

    reads = ("events",)

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self._rows = FactorRange(range_padding=0.1)
        self._events = event_array(())
        self._version, self._dropped = -1, 0

    # --- the picture

    def make_figure(self, source: ColumnDataSource) -> figure:
        """Return the figure; see `FigureView.make_figure`."""
        lines = "<span style='white-space:pre-line'>@events</span>"
        plot = self.new_figure(x_range=self._time.model, y_range=self._rows)
        plot.update(min_border_left=8, min_border_right=24)  # half of the last tick's label
        make_time_axis(plot)
        plot.yaxis.major_tick_line_color = None
        plot.yaxis.major_label_text_color = self.look.foreground
        span = Segment(x0="x", x1="until", y0="y", y1="y", line_color="line", line_width=4)
        add_glyph(plot, source, span)
        mark = Scatter(x="x", y="y", size="size", marker="marker")
        mark.update(fill_color="fill", line_color="line", line_width=1.5)
        target = add_glyph(plot, source, mark)
        number = Text(x="x", y="y", text="number", x_offset=_OFFSET_PX, y_offset=-4)
        number.update(
            text_color=self.look.foreground,
            text_font=value(self.look.font),
            text_font_size=smaller(self.look.font_size, 2),
        )
        add_glyph(plot, source, number)
        plot.add_tools(base_hover(self.look, "@title", lines, renderers=[target]))
        add_moves(plot)
        return plot

    def adjust(self, picture: figure, rows: Rows) -> None:
        """Show the rows in which something has happened, in their fixed order."""
        for part in (*picture.axis, *picture.grid):
            set_properties(part, visible=len(rows["x"]) > 0)
        shown = np.unique(self._events["row"]).tolist()
        set_properties(self._rows, factors=[list(ROWS)[row] for row in reversed(shown)])

    # --- keeping it up to date

    def update(self) -> None:
        """Move on with the time, unless the reader has moved the picture; see `View.update`."""
        self._read()
        if len(self._events["time"]):
            last = max(self.live.time, float(self._events["until"].max())) - self.window.zero
            begin, end = live_window(last, self._span_s)
            if self.period != ALL:
                first, stop = np.subtract(self.period, self.window.zero).tolist()
                begin, end = max(begin, first), min(end, stop)
            self.follow(begin, end)
        super().update()

    def _read(self) -> None:
        """Take over the events that are new or can have grown: all would take over 10 ms."""
        log = self.history.events
        if self._version != log.version:
            kept = self._events[log.dropped - self._dropped :]
            young = np.flatnonzero(kept["time"] > kept["time"].max(initial=0.0) - CHANGING_S)
            first = int(young.min(initial=len(kept)))
            self._version, self._dropped = log.version, log.dropped
            self._events = np.append(kept[:first], event_array(islice(log.rows, first, None)))
            self.window.zero = min(self._events["time"].tolist(), default=0.0)

    def rows(self) -> Rows:
        """Return a row for each mark."""
        events, look = self._events, self.look
        zero, begin, end = self.window.zero, self.window.start, self.window.end
        marks = marks_between(events, begin, end)
        first = np.array([members[0] for members in marks], dtype=np.int64)
        number = np.array([events["number"][members].sum() for members in marks], dtype=np.int64)
        titles = [list(ROWS)[at] for at in events["row"][first].tolist()]
        colors = {title: row_colors(title, look) for title in titles}
        return {
            "x": events["time"][first] - zero,
            "y": titles,
            "until": np.array([events["until"][members].max() - zero for members in marks]),
            "size": np.minimum(9 + 2.5 * np.log2(np.maximum(number, 1)), _LARGEST_PX),
            "marker": [ROWS[title][0] for title in titles],
            "fill": [colors[title][0] for title in titles],
            "line": [colors[title][1] for title in titles],
            "number": [fmt.count(n) if n > 1 else "" for n in number.tolist()],
            "title": [
                f"{title}: {fmt.count(n)} in all" if len(members) > 1 else title
                for title, members, n in zip(titles, marks, number.tolist(), strict=True)
            ],
            "events": [self._lines(members.tolist()) for members in marks],
        }

    def headline(self) -> str:
        """Return how many events there were."""
        number = int(self._events["number"][self._inside].sum())
        return f"Events: {fmt.count(number)}"

    @property
    def _inside(self) -> Bools:
        """Which events are in the period at least partly."""
        start, stop = self.period
        is_in: Bools = self._events["until"] >= start
        return is_in & (self._events["time"] <= stop)

    def why_empty(self) -> str:
        """Return whether there are events, but none in view."""
        if not len(self._events):
            return f"{NO_DATA} Workers, errors, spilling and graphs appear here."
        return f"No events in the time that is shown; there are {fmt.count(len(self._events))}."

    def note(self) -> str:
        """Return which moment 0 is, and which events are not known."""
        zero = f"0 s is {fmt.clock(self.window.zero)}, the first event"
        return "; ".join(filter(None, [self.period_text, self._missing(), zero]))

    def _missing(self) -> str:
        """Return how many events are not known any longer."""
        dropped = self.history.events.dropped
        return f"{fmt.plural(dropped, 'older event')} forgotten" if dropped else ""

    def _lines(self, members: Sequence[int]) -> str:
        """Return the events of one mark: the first ones, and how many more there are."""
        lines = [self._line(index) for index in members[:HOVER_LINES]]
        if len(members) > HOVER_LINES:
            lines.append(f"and {fmt.count(len(members) - HOVER_LINES)} more events")
        return "\n".join(lines)

    def _line(self, index: int) -> str:
        time, kind, detail = self.history.events.rows[index]
        lasted = float(detail.get("until", time)) - time
        within = f" within {fmt.duration(lasted)}" if lasted > 0.05 else ""
        names = self.history.slots.names
        return f"{fmt.clock(time)} {describe(kind, detail, names)}{within}"

    def table(self) -> Table:
        """Return all events, oldest first; its note is of those that are missing."""
        self._read()
        names, chosen = self.history.slots.names, np.flatnonzero(self._inside).tolist()
        log = list(self.history.events.rows)
        rows, events = [log[at] for at in chosen], self._events[chosen]
        columns: dict[str, Sequence[object]] = {
            "time": [time for time, _, _ in rows],
            "until": events["until"].tolist(),
            "kind": [kind for _, kind, _ in rows],
            "count": events["number"].tolist(),
            "event": [describe(kind, detail, names) for _, kind, detail in rows],
        }
        return Table(columns, {"time": MOMENT, "until": MOMENT}, self._missing())


def event_array(events: Iterable[Event]) -> EventArray:
    """Return events in order of arrival, as `EVENT` has them."""
    rows = [
        (
            *(time, max(time, detail.get("until", time))),
            *(ROW_OF.get(kind, len(ROWS) - 1), number_of(detail)),
        )
        for time, kind, detail in events
    ]
    return np.array(rows, dtype=EVENT)


def marks_between(events: EventArray, begin: float, end: float) -> list[Ints]:
    """Return the indices of the events of each mark between two times, oldest first.

    There are about `MOST_MARKS` in a row at most. Stretches that are merged are a power of two long
    and aligned to the epoch, so that marks do not jump when the picture moves on.
    """
    inside = np.flatnonzero((events["until"] >= begin) & (events["time"] <= end))
    length = 2.0 ** np.ceil(np.log2(max((end - begin) / MOST_MARKS, 1e-6)))
    row, time = events["row"][inside], events["time"][inside]
    place = np.floor(time / length)
    order = np.lexsort((time, place, row))
    is_other = (np.diff(row[order]) != 0) | (np.diff(place[order]) != 0)
    return np.split(inside[order], np.flatnonzero(is_other) + 1) if len(inside) else []


def live_window(last: float, span_s: float | None) -> tuple[float, float]:
    """Return begin and end of the picture, in seconds from the first event.

    Parameters
    ----------
    last : float
        Now, in seconds from the first event.
    span_s : float or None
        How much of the past to show at most; None for all.
    """
    end = next((span for span in SPANS_S if last < span), (last // STEP_S + 1) * STEP_S)
    begin = 0.0 if span_s is None else max(end - span_s, 0.0)
    return begin - MARGIN * (end - begin), end
