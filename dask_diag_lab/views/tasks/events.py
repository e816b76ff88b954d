"""What happened to the cluster, on a time axis: workers, memory, errors, stealing, graphs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.core.properties import value
from bokeh.events import Event as BokehEvent
from bokeh.events import Tap
from bokeh.models import FixedTicker, NoOverlap, Range1d, Scatter, Segment, Text

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_figure,
    quiet_hover,
    restyle_figure,
    set_properties,
    smaller,
    tooltip_html,
)
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.tasks.event_words import (
    ENDS,
    ROW_OF,
    ROWS,
    gap_words,
    number_of,
    row_colors,
    words,
)
from dask_diag_lab.views.time_axis import MovingRange, add_moves, make_time_axis
from dask_diag_lab.views.view import Caption, Table, View
from dask_diag_lab.views.worker_names import NO_DATA

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Event = tuple[float, str, Mapping[str, Any]]  # details are of any type

NO_EVENTS: Final = f"{NO_DATA} Workers, errors, spilling and graphs appear here."

CHANGING_S: Final = 60.0
"""Events older than this do not grow any more: a burst is over long before."""

LIVE_S: Final = 600.0
"""How much of the past the live picture shows."""
SPANS_S: Final = (30.0, 60.0, 120.0, 180.0, 300.0, 450.0)
"""How much it shows while it is young."""
STEPS: Final = 20
MARGIN: Final = 0.05
"""Share of the time that is left free before the first event, for the size of its mark."""
MOST_MARKS: Final = 14
"""Of a row; more would lie on each other in a small pane."""
HOVER_LINES: Final = 8
"""Lines of a tooltip: an event each, the last one for how many more there are."""

_LARGEST_PX: Final = 20.0
_OFFSET_PX: Final = 11
"""From the middle of a mark to where its number begins."""
_HOVER: Final = (*(f"@hover{line}" for line in range(HOVER_LINES)), "@all")


@register_plot
class Events(View):
    """A row of marks for each kind of event; many at one place are one mark with a number."""

    name = "events"
    title = "Events"
    group = "Tasks"
    description = "What happened to the cluster, and when."
    help = (
        "A row for each kind of event on a time axis: workers came, retire, left, died, paused "
        "for their memory, began to spill; tasks failed or were moved to idle workers; graphs "
        "and clients came.\n"
        "- a mark with a number: so many events close together; a line behind it tells for "
        "how long they went on. Where there is no room for the number, point at the mark\n"
        "- a hollow mark: an end. The worker goes on, has no data on disk any more, or the "
        "client left; the number beside a full mark leaves ends out\n"
        "- spill: a megabyte or more went to disk, and 1 % of what was there, after nothing "
        "had for ten seconds, or after half of the last spill was gone\n"
        "- tasks of graphs: those that were new to the scheduler\n"
        "- recording began: what is before it is what the scheduler itself still knew\n"
        "- click an error: Exceptions\n"
        "- 0 s below: the first event, mostly the start of the cluster\n"
        "- drag: pan\n"
        "- Ctrl-wheel: zoom\n"
        "- healthy: graphs, and workers that come\n"
        "- workers that die, or pause and spill again and again: they are short of memory"
    )
    keywords = (
        *("timeline", "workers", "died", "killed", "restart", "paused", "spill", "stealing"),
        *("errors", "clients", "log", "history"),
    )

    reads = ("events", "seen_workers")

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.marks = Source(
            *("x", "y", "until", "size", "marker", "fill", "line", "span", "number", "row", "all"),
            *(f"hover{line}" for line in range(HOVER_LINES)),
        )
        self._columns = event_columns(())
        self._columns_version = -1
        self._total = 0
        self._rows: tuple[int, ...] = ()
        self._span_s: float | None = LIVE_S

    # --- the picture

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._time, self._y = MovingRange(), Range1d(start=1, end=0)
        plot = self.figure = quiet_figure(self.look, x_range=self._time.model, y_range=self._y)
        plot.update(min_border_left=8, min_border_right=24)  # half of the last tick's label
        make_time_axis(plot)
        self._y_ticker = FixedTicker(ticks=[])
        plot.yaxis.ticker = self._y_ticker
        plot.yaxis.major_label_policy = NoOverlap(min_distance=0)
        plot.ygrid.ticker = self._y_ticker
        source = self.marks.model
        span = Segment(x0="x", x1="until", y0="y", y1="y", line_color="span", line_width=4)
        add_glyph(plot, source, span)
        mark = Scatter(x="x", y="y", size="size", marker="marker")
        mark.update(fill_color="fill", line_color="line", line_width=1.5)
        target = add_glyph(plot, source, mark)
        self._number = Text(x="x", y="y", text="number", x_offset=_OFFSET_PX, y_offset=-4)
        add_glyph(plot, source, self._number)
        self._hover = quiet_hover(self.look, *_HOVER, renderers=[target])
        plot.add_tools(self._hover)
        add_moves(plot)
        plot.on_event(Tap, self._tapped)
        self._style()
        return plot

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        self._style()
        self.update()

    def _style(self) -> None:
        look = self.look
        restyle_figure(self.figure, look)
        axis = self.figure.yaxis[0]
        set_properties(axis, major_tick_line_color=None, major_label_text_color=look.foreground)
        set_properties(
            self._number,
            text_color=look.foreground,
            text_font=value(look.font),
            text_font_size=smaller(look.font_size, 2),
        )
        set_properties(self._hover, tooltips=tooltip_html(look, *_HOVER))

    def command(self, verb: str) -> None:
        """``live`` shows the last minutes as they come, ``fit`` all; see `View.command`."""
        if verb in {"live", "fit"}:
            self._span_s = LIVE_S if verb == "live" else None
            self._time.release()
            self.update()

    def _tapped(self, event: BokehEvent) -> None:
        """Open the table of errors when their row is clicked."""
        if not isinstance(event, Tap) or event.y is None:
            return
        place = round(event.y)
        if 0 <= place < len(self._rows) and self._rows[place] == ROW_OF["task-erred"]:
            self.open("exceptions")

    # --- keeping it up to date

    def update(self) -> None:
        """Move on with the time, unless the reader has moved the picture; see `View.update`."""
        self._read()
        if len(self._columns.time):
            last = max(self.store.time, float(self._columns.until.max())) - self._zero
            self._time.follow(*live_window(last, self._span_s))
        super().update()

    def state(self) -> object:
        """Return where the picture is; see `View.state`."""
        return self._time.place

    def draw(self) -> None:
        """Draw the marks; see `View.draw`."""
        is_empty = not len(self._columns.time)
        for part in (*self.figure.axis, *self.figure.grid):
            set_properties(part, visible=not is_empty)
        notes = self._missing()
        if is_empty:
            self.marks.set({name: [] for name in self.marks.model.data})
            self.caption = Caption(empty=NO_EVENTS, note="; ".join(notes))
            return
        self._draw_rows()
        begin, end = self._time.start + self._zero, self._time.end + self._zero
        marks = marks_between(self._columns, begin, end, MOST_MARKS)
        self._draw_marks(marks, (end - begin) / MOST_MARKS)
        number = int(self._columns.number.sum())
        shown = sum(int(self._columns.number[members].sum()) for members in marks.members)
        in_view = "" if shown == number else f"{fmt.count(shown)} in view of "
        if any(len(members) > 1 for members in marks.members):
            notes.insert(0, "marks with a number stand for so many that lie close together")
        zero = f"0 s is {fmt.clock(self._zero)}, the first event"
        self.caption = Caption(
            headline=f"Events: {in_view}{fmt.count(number)}", note="; ".join([*notes, zero])
        )

    def _read(self) -> None:
        """Take over the events; what a burst counts changes in its place."""
        events = self.store.events
        if self._columns_version != events.version:
            self._columns_version = events.version
            n_new = events.total - self._total
            n_dropped = events.dropped - (self._total - len(self._columns.time))
            self._columns = grown(self._columns, n_dropped, events.rows, n_new)
            self._total = events.total

    @property
    def _zero(self) -> float:
        return float(self._columns.time.min())

    def _missing(self) -> list[str]:
        """Return which events are not known, or no longer."""
        store, dropped = self.store, self.store.events.dropped
        older = [f"{fmt.plural(dropped, 'older event')} forgotten"] if dropped else []
        return older + gap_words(store.left_out.get("before", 0), store.events.n_undated)

    def _draw_rows(self) -> None:
        """Show the rows in which something has happened, in their fixed order."""
        rows = self._rows = tuple(np.unique(self._columns.row).tolist())
        labels = {place: ROWS[row].title for place, row in enumerate(rows)}
        set_properties(self._y, start=len(rows) - 0.4, end=-0.6)
        set_properties(self._y_ticker, ticks=list(labels))
        set_properties(self.figure.yaxis[0], major_label_overrides=labels)

    def _draw_marks(self, marks: Marks, stretch_s: float) -> None:
        place = {row: index for index, row in enumerate(self._rows)}
        rows = marks.row.tolist()
        colors = row_colors(self.look)
        lines = [self._lines(members) for members in marks.members]
        columns: dict[str, Any] = {  # arrays and lists
            "x": marks.begin - self._zero,
            "y": np.array([place[row] for row in rows], dtype=np.float64),
            "until": marks.end - self._zero,
            "size": np.minimum(9 + 2.5 * np.log2(np.maximum(marks.number, 1)), _LARGEST_PX),
            "marker": [ROWS[row].marker for row in rows],
            "fill": [
                self.look.background if is_end else colors[row][0]
                for row, is_end in zip(rows, marks.is_end.tolist(), strict=True)
            ],
            "line": [colors[row][1] for row in rows],
            "span": [colors[row][2] for row in rows],
            "number": numbers_beside(marks, stretch_s),
            "row": [ROWS[row].title for row in rows],
            "all": [
                f"{fmt.count(int(self._columns.number[members].sum()))} in all"
                if len(members) > 1
                else ""
                for members in marks.members
            ],
        }
        columns |= {f"hover{line}": [w[line] for w in lines] for line in range(HOVER_LINES)}
        self.marks.set(columns)

    def _lines(self, members: Ints) -> list[str]:
        """Return the events of one mark: the first ones, and how many more there are."""
        indices = members.tolist()
        shown = indices if len(indices) <= HOVER_LINES else indices[: HOVER_LINES - 1]
        lines = [self._line(index) for index in shown]
        if len(indices) > len(shown):
            lines.append(f"and {fmt.count(len(indices) - len(shown))} more events")
        return lines + [""] * (HOVER_LINES - len(lines))

    def _line(self, index: int) -> str:
        time, kind, detail = self.store.events.rows[index]
        lasted = float(detail.get("until", time)) - time
        within = f" within {fmt.duration(lasted)}" if lasted > 0.05 else ""
        return f"{fmt.clock(time)} {words(kind, detail, self.store.seen_workers.names)}{within}"

    def table(self) -> Table:
        """Return all events, oldest first; its note is of those that are missing."""
        self._read()
        rows, names = list(self.store.events.rows), self.store.seen_workers.names
        columns: dict[str, Sequence[object]] = {
            "time": [time for time, _, _ in rows],
            "until": self._columns.until.tolist(),
            "kind": [kind for _, kind, _ in rows],
            "count": self._columns.number.tolist(),
            "event": [words(kind, detail, names) for _, kind, detail in rows],
        }
        return Table(columns, {"time": "s", "until": "s"}, "; ".join(self._missing()))


@dataclass(frozen=True, slots=True)
class EventColumns:
    """Events as columns, in order of arrival; ``row`` is the index in `ROWS`.

    ``is_end`` where an event only tells that another one is over.
    """

    time: Floats
    until: Floats
    row: Ints
    number: Ints
    is_end: Flags


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks in view.

    Attributes
    ----------
    begin, end : ndarray of float64
        Span of the events of each, seconds since the epoch.
    row : ndarray of int64
        Index in `ROWS`.
    number : ndarray of int64
        Things that happened: bursts count all of theirs. Ends are not counted beside beginnings:
        a worker that paused and went on has paused once.
    is_end : ndarray of bool
        Those of which all events are ends.
    members : list of ndarray of int64
        Indices of the events of each, oldest first.
    """

    begin: Floats
    end: Floats
    row: Ints
    number: Ints
    is_end: Flags
    members: list[Ints]


def event_columns(rows: Iterable[Event]) -> EventColumns:
    """Return events as columns."""
    table = [
        (
            *(time, detail.get("until", time)),
            *(ROW_OF.get(kind, len(ROWS) - 1), number_of(detail), kind in ENDS),
        )
        for time, kind, detail in rows
    ]
    times = np.array([row[:2] for row in table], dtype=np.float64).reshape(-1, 2)
    rest = np.array([row[2:] for row in table], dtype=np.int64).reshape(-1, 3)
    until = np.maximum(times[:, 1], times[:, 0])
    return EventColumns(times[:, 0], until, rest[:, 0], rest[:, 1], rest[:, 2].astype(np.bool_))


def grown(before: EventColumns, n_dropped: int, rows: Sequence[Event], n_new: int) -> EventColumns:
    """Return the columns of ``rows``, made anew only where they can have changed.

    All 10 000 that the store keeps would take over 10 ms.

    Parameters
    ----------
    before : EventColumns
        The columns of before, of which ``n_dropped`` have been forgotten since.
    n_dropped : int
    rows : sequence
        The events now, of which ``n_new`` are new.
    n_new : int
    """
    if n_new >= len(rows) or n_dropped > len(before.time):
        return event_columns(rows)
    since = rows[-1][0] - CHANGING_S
    tail: list[Event] = []
    for event in reversed(rows):
        if len(tail) >= n_new and event[0] < since:
            break
        tail.append(event)
    kept = slice(n_dropped, n_dropped + len(rows) - len(tail))
    after = event_columns(tail[::-1])
    names = [field.name for field in fields(EventColumns)]
    columns = {n: np.concatenate((getattr(before, n)[kept], getattr(after, n))) for n in names}
    return EventColumns(**columns)


def marks_between(events: EventColumns, begin: float, end: float, most: int) -> Marks:
    """Return the marks between two times, at most about ``most`` in a row.

    Stretches that are merged are a power of two long and aligned to the epoch, so that marks do
    not jump when the picture moves on. Two whose first events are less than half a stretch apart
    are one mark as well, or they would lie on each other; of three in a row the outer ones are
    further apart than a stretch, so that never more than two become one.
    """
    inside = np.flatnonzero((events.until >= begin) & (events.time <= end))
    length = 2.0 ** np.ceil(np.log2(max((end - begin) / max(most, 1), 1e-6)))
    place = np.floor(events.time[inside] / length).astype(np.int64)
    order = np.lexsort((events.time[inside], place, events.row[inside]))
    inside, place = inside[order], place[order]
    row = events.row[inside]
    is_new = np.ones(len(inside), dtype=np.bool_)
    is_new[1:] = (row[1:] != row[:-1]) | (place[1:] != place[:-1])
    first = np.flatnonzero(is_new)
    if not len(first):
        return Marks(np.empty(0), np.empty(0), row, row, np.empty(0, np.bool_), [])
    time = events.time[inside]
    is_apart = np.ones(len(first), dtype=np.bool_)
    is_apart[1:] = (np.diff(row[first]) != 0) | (np.diff(time[first]) >= length / 2)
    first = first[is_apart]
    number, is_end = events.number[inside], events.is_end[inside]
    is_all_ends = np.logical_and.reduceat(is_end, first)
    begun = np.add.reduceat(np.where(is_end, 0, number), first)
    return Marks(
        time[first],
        np.maximum.reduceat(events.until[inside], first),
        row[first],
        np.where(is_all_ends, np.add.reduceat(number, first), begun),
        is_all_ends,
        np.split(inside, first[1:]),
    )


def live_window(last: float, span_s: float | None) -> tuple[float, float]:
    """Return begin and end of the picture, in seconds from the first event.

    Parameters
    ----------
    last : float
        Now, in seconds from the first event.
    span_s : float or None
        How much of the past to show at most; None for all.
    """
    if span_s is None:
        whole = max(last, SPANS_S[0])
        return -MARGIN * whole, whole * (1 + MARGIN)
    span = next((s for s in SPANS_S if last <= s * 0.98 and s < span_s), span_s)
    # In steps over its width, so that a picture in which nothing happens is not sent every tick.
    step = span / STEPS
    end = max((math.floor(last / step) + 1) * step, span)
    return end - span * (1 + MARGIN), end


def numbers_beside(marks: Marks, stretch_s: float) -> list[str]:
    """Return the number beside each mark, '' of one event or where the next mark is close."""
    gap = np.full(len(marks.row), np.inf)
    is_row = marks.row[1:] == marks.row[:-1]
    gap[:-1][is_row] = np.diff(marks.begin)[is_row]
    texts = [fmt.count(number) if number > 1 else "" for number in marks.number.tolist()]
    return [
        text if apart >= (1.25 + 0.25 * len(text)) * stretch_s else ""
        for text, apart in zip(texts, gap.tolist(), strict=True)
    ]
