"""A time axis in seconds of a run: "0 s", "10 s", "1 min", "1 h 5 min"; and plots with one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from bokeh.models import (
    AdaptiveTicker,
    CompositeTicker,
    Range1d,
    WheelZoomTool,
)
from bokeh.models.annotations import BoxAnnotation
from bokeh.plotting import figure

from dask_diag_lab.store.sums import Window
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.models import EvenLabels, RunTimeTickFormatter, StretchTool
from dask_diag_lab.views.view import View

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


class MovingRange:
    """A range of time, in seconds of a run.

    Attributes
    ----------
    model : Range1d
    start, end : float
        What it was put to, or what the reader had chosen when `follow` was last called.
    """

    def __init__(self) -> None:
        self.model = Range1d(start=0, end=1)
        self.start, self.end = 0.0, 1.0
        self._is_put = self._is_moved = False

    @property
    def place(self) -> tuple[object, object]:
        """Where the reader has the picture: differs when it was panned or zoomed."""
        return self.model.start, self.model.end

    def follow(self, start: float, end: float) -> None:
        """Show this stretch, unless the reader has chosen another one since `release`."""
        if self._is_put:
            self._take_over()
        if not self._is_moved:
            self.put(start, end)

    def put(self, start: float, end: float) -> None:
        """Show this stretch."""
        self.start, self.end, self._is_put = start, end, True
        set_properties(self.model, start=start, end=end)

    def hold(self, start: float, end: float) -> None:
        """Show this stretch and stay there, as if the reader had chosen it."""
        self.put(start, end)
        self._is_moved = True

    def release(self) -> None:
        """Follow the data again, wherever the reader has the picture."""
        self._is_put = self._is_moved = False

    def chosen(self, zero: float) -> Window | None:
        """Return the stretch that the reader has chosen, where 0 is `zero`; None for none."""
        return Window(zero + self.start, zero + self.end) if self._is_moved else None

    def behind_s(self, last: float) -> float:
        """Return the seconds by which data until ``last`` is ahead of the picture."""
        return max(last - self.end, 0.0)

    def _take_over(self) -> None:
        """Take over what the reader has chosen, if it is a stretch of time."""
        start, end = self.model.start, self.model.end
        if not (isinstance(start, int | float) and isinstance(end, int | float)):
            return
        if (start, end) != (self.start, self.end) and end > start:
            self.start, self.end, self._is_moved = float(start), float(end), True


class TimePlot(View):
    """A plot with time from left to right, which follows the data until the reader moves it.

    Attributes
    ----------
    live_s : float or None
        How much of the past is shown as it comes; None for all.
    """

    live_s: ClassVar[float | None] = None
    has_period = True

    _zero = 0.0  # what the axis calls 0 s, in seconds since the epoch

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self._time, self._span_s, self._n_commands = MovingRange(), self.live_s, 0

    def state(self) -> object:
        """Return where the reader has the picture; see `View.state`."""
        return super().state(), self._time.place, self._span_s, self._n_commands

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show another stretch of time; see `View.show`."""
        super().show(arguments)
        self._time.release()

    @property
    def chosen_period(self) -> Window | None:
        """What is in view, where the reader has put it; see `View.chosen_period`."""
        return self._time.chosen(self._zero)

    def command(self, verb: str) -> None:
        """Obey ``live`` (what comes now) and ``fit`` (everything there is)."""
        if verb in ("live", "fit"):
            self._span_s = self.live_s if verb == "live" else None
            self._n_commands += 1
            self._time.release()


def add_moves(plot: figure) -> None:
    """Let the reader pan the time of a plot by dragging, and zoom it with Ctrl and the wheel.

    Dragging with Alt or Ctrl zooms to the stretch that it marks.
    """
    zoom = WheelZoomTool(dimensions="width")
    zoom.update(modifiers={"ctrl": True})
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
