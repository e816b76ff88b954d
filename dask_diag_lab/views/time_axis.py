"""A time axis in seconds of a run: "0 s", "10 s", "1 min", "1 h 5 min"; and plots with one.

Also timelines: figures with a row for each thread or worker. A drag pans, with Alt or Ctrl it marks
a stretch to zoom to; the wheel scrolls rows, with Ctrl it zooms time. All that runs in the browser,
which also decides how many rows fit and how their names are shortened; the server learns of it by
the ranges.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from math import ceil, log
from typing import TYPE_CHECKING, ClassVar, Final, cast

import numpy as np
from bokeh.models import (
    AdaptiveTicker,
    CompositeTicker,
    FixedTicker,
    Range1d,
    WheelZoomTool,
)
from bokeh.models.annotations import BoxAnnotation
from bokeh.plotting import figure

from dask_diag_lab.store.sums import Window
from dask_diag_lab.views.figure import Source, base_figure, restyle_figure, set_properties
from dask_diag_lab.views.format import clock
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.models import (
    EvenLabels,
    RowsWheelTool,
    RowTicker,
    RowTickFormatter,
    RunTimeTickFormatter,
    StretchTool,
)
from dask_diag_lab.views.view import View

if TYPE_CHECKING:
    from dask_diag_lab.views.stream.frame import WorkerRows

MOST_TICKS: Final = 6
_MARK: Final = "#808080"
"""Of a stretch that is being marked; seen on every background."""
_STEPS: Final = (
    # Base, mantissas, least and largest distance in seconds.
    (10, (1, 2, 5), 0, 0.5),
    (60, (1, 2, 5, 10, 15, 20, 30), 1, 30 * 60),
    (24, (1, 2, 4, 6, 8, 12), 3600, 12 * 3600),
    (10, (1, 2, 5), 86400, None),
)


def make_time_axis(plot: figure) -> None:
    """Give a plot's axis of time ticks at round seconds, minutes, hours and days, in words."""
    tickers = [
        AdaptiveTicker(
            base=base,
            mantissas=list(mantissas),
            min_interval=least_s,
            max_interval=largest_s,
            num_minor_ticks=0,
        )
        for base, mantissas, least_s, largest_s in _STEPS
    ]
    plot.xaxis[0].update(
        ticker=CompositeTicker(tickers=tickers, desired_num_ticks=MOST_TICKS),
        formatter=RunTimeTickFormatter(),
        major_label_policy=EvenLabels(),
    )


MARGIN: Final = 0.01
"""Of what is followed so much is left free before the first task."""

_GROWTH: Final = 1.25
_SHORTEST_S: Final = 0.02


def stepped_span(needed_s: float) -> float:
    """Return the width of a window for ``needed_s`` of data, in steps of a quarter.

    Steps, so that a growing picture stays where it is and only its right end fills up.
    """
    steps = ceil(log(max(needed_s, _SHORTEST_S) * 1.02 / _SHORTEST_S, _GROWTH) - 1e-9)
    return float(_SHORTEST_S * _GROWTH ** max(steps, 0))


@dataclass(slots=True)
class TimeWindow:
    """The visible stretch of time, seconds since the epoch, and who decides about it.

    Attributes
    ----------
    start, end : float
        What is visible.
    zero : float
        The moment that the axis calls 0 s: the start of the burst that was followed last.
    is_following : bool
        Live data moves it; otherwise it stays exactly where it was put.
    frozen_at : float
        How far data was drawn when the reader froze it; NaN when it is not frozen.
    cleared_at : float
        Nothing before this is shown while following; ``-inf`` when never cleared.
    """

    start: float = 0.0
    end: float = 1.0
    zero: float = 0.0
    is_following: bool = True
    frozen_at: float = np.nan
    cleared_at: float = -np.inf

    @property
    def width(self) -> float:
        return self.end - self.start

    @property
    def chosen(self) -> Window | None:
        """The stretch that the reader has chosen; None where it follows, or is only frozen."""
        is_chosen = not self.is_following and not self.is_frozen
        return Window(self.start, self.end) if is_chosen else None

    @property
    def is_frozen(self) -> bool:
        return not np.isnan(self.frozen_at)

    def follow_burst(self, burst_start: float, live: float) -> None:
        """Show the burst up to the live end, if following."""
        if not self.is_following or np.isnan(burst_start):
            return
        first = max(burst_start, self.cleared_at)
        span = stepped_span(max(live - first, 0.0))
        self.zero = first
        self.start, self.end = first - MARGIN * span, first + span

    def follow_last(self, seconds: float, live: float) -> None:
        """Show the last ``seconds`` up to the live end, and nothing before zero, if following."""
        if self.is_following:
            self.start = max(live - seconds, self.zero)
            self.end = max(live, self.zero + seconds)

    def hold(self, start: float, end: float) -> None:
        """Stay exactly here until moved again."""
        self.start, self.end = min(start, end), max(start, end)
        self.is_following = False

    def fit(self, first: float, last: float) -> None:
        """Show all of the data and stay there."""
        margin = MARGIN * max(last - first, 0.01)
        self.cleared_at, self.frozen_at = -np.inf, np.nan
        self.zero = first
        self.hold(first - margin, last + margin)

    def release(self) -> None:
        """Follow live data again."""
        self.is_following = True
        self.frozen_at = np.nan

    def freeze(self, live: float) -> None:
        """Keep the picture as it is now, or let go of it when it is frozen."""
        if self.is_frozen:
            self.release()
        else:
            self.is_following, self.frozen_at = False, live

    def zoom(self, factor: float) -> None:
        """Show ``factor`` times as much around the middle."""
        middle, half = (self.start + self.end) / 2, self.width * factor / 2
        self.hold(middle - half, middle + half)

    def pan(self, share: float) -> None:
        """Move by ``share`` of the width."""
        step = self.width * share
        self.hold(self.start + step, self.end + step)

    def behind_s(self, live: float) -> float:
        """Return the seconds by which live data is ahead of what is shown."""
        if self.is_following or np.isnan(live):
            return 0.0
        shown = min(self.end, self.frozen_at) if self.is_frozen else self.end
        return max(float(live - shown), 0.0)


class TimeRange:
    """The axis of time of a figure: shows a window, and moves it where the reader moves the axis.

    Attributes
    ----------
    model : Range1d
        Seconds since the moment that it calls 0.
    moved_at : float
        Monotonic time when the reader last moved it.
    """

    def __init__(self, window: TimeWindow) -> None:
        self.model = Range1d(start=0, end=1)
        self.moved_at = -np.inf
        self._window, self._zero, self._is_placing = window, 0.0, False
        for end in ("start", "end"):
            self.model.on_change(end, self._moved)

    @property
    def ends(self) -> tuple[float, float]:
        """Start and end."""
        return as_numbers(self.model)

    def place(self, zero: float) -> None:
        """Show the window, where a moment is 0."""
        start, end = self._window.start - zero, self._window.end - zero
        self._zero, self._is_placing = zero, True  # only what comes from the page moves the window
        set_properties(self.model, start=start, end=end)
        self._is_placing = False

    def _moved(self, _attribute: str, _old: float, _new: float) -> None:
        if self._is_placing:
            return
        self.moved_at = time.monotonic()
        start, end = (self._zero + at for at in self.ends)
        window = self._window
        if max(abs(start - window.start), abs(end - window.end)) > 1e-6 * window.width:
            window.hold(start, end)


def as_numbers(model: Range1d) -> tuple[float, float]:
    """Return the ends of a range of numbers, whose type says that they may be dates."""
    start, end = cast("tuple[float, float]", (model.start, model.end))
    return float(start), float(end)


class WindowView(View):
    """A plot with an axis of time, whose window the reader may move."""

    has_period = True
    window: TimeWindow

    @property
    def chosen_period(self) -> Window | None:
        """What is in view, where the reader has put it; see `View.chosen_period`."""
        return self.window.chosen


class TimePlot(WindowView):
    """A plot with time from left to right, which follows the data until the reader moves it.

    Attributes
    ----------
    live_s : float or None
        How much of the past is shown as it comes; None for all.
    """

    live_s: ClassVar[float | None] = None

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self.window = TimeWindow()
        self._time, self._span_s = TimeRange(self.window), self.live_s

    def state(self) -> object:
        """Return where the reader has the picture; see `View.state`."""
        return super().state(), astuple(self.window), self._span_s

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show another stretch of time; see `View.show`."""
        super().show(arguments)
        self.window.release()

    def command(self, verb: str) -> None:
        """Obey ``live`` (what comes now) and ``fit`` (everything there is)."""
        if verb in ("live", "fit"):
            self._span_s = self.live_s if verb == "live" else None
            self.window.release()

    def follow(self, start: float, end: float) -> None:
        """Show this stretch, in seconds since zero, unless the reader has chosen another one."""
        window = self.window
        if window.is_following:
            window.start, window.end = window.zero + start, window.zero + end
        self._time.place(window.zero)


def add_moves(plot: figure) -> None:
    """Let the reader pan the time of a plot by dragging, and zoom it with Ctrl and the wheel.

    Dragging with Alt or Ctrl zooms to the stretch that it marks.
    """
    zoom = WheelZoomTool(dimensions="width", modifiers={"ctrl": True})
    plot.add_tools(zoom)
    plot.toolbar.update(active_drag=add_stretch_tool(plot, "width"), active_scroll=zoom)


def add_stretch_tool(plot: figure, dimensions: str) -> StretchTool:
    """Let the reader pan a plot, and mark the stretch of time to zoom to; return the tool."""
    # The page's own: marking a stretch is no message until it is zoomed to.
    overlay = BoxAnnotation(
        visible=False,
        editable=False,
        syncable=False,
        level="overlay",
        fill_color=_MARK,
        fill_alpha=0.2,
        line_color=_MARK,
        line_alpha=0.9,
        line_dash=[4, 4],
    )
    plot.add_layout(overlay)
    tool = StretchTool(dimensions=dimensions, times=plot.x_range, overlay=overlay)
    plot.add_tools(tool)
    return tool


EDGE_PX: Final = 24
"""For the half of the last tick's label that is beside the frame."""


class Timeline:
    """The axes of a timeline and where its reader has them.

    Parameters
    ----------
    look : Look
    window : TimeWindow
        What is to be seen; moved by the reader as well.
    min_row_px : int
        Rows are never thinner in the browser: those that do not fit are reached by scrolling.

    Attributes
    ----------
    figure : figure
    zero : float
        What the axis calls 0 s now, in seconds since the epoch.
    time : TimeRange
        Of the axis; also when the reader last moved it or the rows.
    workers : Source
        Names of the rows: ``label``, ``first``, ``count``, ``is_gone`` of each worker.
    """

    def __init__(self, look: Look, window: TimeWindow, min_row_px: int) -> None:
        self.window = window
        self.zero = 0.0
        self.time = TimeRange(window)
        self.y_range = Range1d(start=0.5, end=-0.5, bounds=(-0.5, 0.5))
        self.figure = base_figure(
            look,
            x_range=self.time.model,
            y_range=self.y_range,
            title=None,
            lod_threshold=None,
            min_border_right=EDGE_PX,
        )
        make_time_axis(self.figure)
        self.workers = Source("label", "first", "count", "is_gone")
        self._rows_axis = self.figure.yaxis[0]
        self._rows_axis.update(
            ticker=RowTicker(workers=self.workers.model),
            formatter=RowTickFormatter(workers=self.workers.model),
            major_tick_line_color=None,
        )
        self._dividers = FixedTicker(ticks=[])
        self.figure.ygrid[0].ticker = self._dividers
        self._add_gestures(min_row_px)
        for end in ("start", "end"):
            self.y_range.on_change(end, self._moved_rows)

    def _add_gestures(self, min_row_px: int) -> None:
        # Both dimensions: the rows' bounds hold them where all of them fit.
        drag = add_stretch_tool(self.figure, "both")
        wheel = RowsWheelTool(
            dimensions="width",
            rows=self.y_range,
            min_row_px=min_row_px,
        )
        self.figure.add_tools(wheel)
        self.figure.toolbar.update(active_drag=drag, active_scroll=wheel)

    @property
    def rows(self) -> tuple[float, float]:
        """Top and bottom of the visible rows."""
        ends = as_numbers(self.y_range)
        return min(ends), max(ends)

    @property
    def times(self) -> tuple[float, float]:
        """Start and end of the visible time, seconds since the moment called 0."""
        return self.time.ends

    def place(self, zero: float) -> None:
        """Show the window, on an axis on which a moment is 0."""
        self.zero = zero
        label = f"0 s is {clock(zero)}" if zero else None
        set_properties(self.figure.xaxis[0], axis_label=label)
        self.time.place(zero)

    def name_rows(self, workers: Sequence[WorkerRows]) -> None:
        """Have one row for each thread of some workers."""
        n_rows = max(workers[-1].first + workers[-1].count if workers else 0, 1)
        self.workers.set(
            {
                "label": [worker.label for worker in workers],
                "first": np.array([worker.first for worker in workers], dtype=np.int32),
                "count": np.array([worker.count for worker in workers], dtype=np.int32),
                "is_gone": np.array([worker.is_gone for worker in workers], dtype=np.int32),
            }
        )
        set_properties(self._dividers, ticks=[worker.first - 0.5 for worker in workers[1:]])
        # The browser shows of these what it has room for: all of 4000 would have to be coarse.
        set_properties(self.y_range, bounds=(-0.5, n_rows - 0.5))

    def show_axes(self, *, is_shown: bool) -> None:
        """Show axes and lines, or none where text says why nothing is drawn."""
        for part in (*self.figure.axis, *self.figure.grid):
            set_properties(part, visible=is_shown)

    def restyle(self, look: Look) -> None:
        """Apply a look."""
        restyle_figure(self.figure, look)
        set_properties(self._rows_axis, major_tick_line_color=None)
        set_properties(self.figure.ygrid[0], grid_line_color=look.grid, grid_line_alpha=1.0)

    def _moved_rows(self, _attribute: str, _old: float, _new: float) -> None:
        self.time.moved_at = time.monotonic()
