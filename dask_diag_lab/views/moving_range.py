"""The stretch of time that a picture shows: moves on with the data until the reader moves it.

Knows Bokeh; which stretch is the live one says the picture.
"""

from __future__ import annotations

from bokeh.models import PanTool, Range1d, WheelZoomTool
from bokeh.plotting import figure

from dask_diag_lab.views.figure import set_properties


class MovingRange:
    """A range of time, in seconds of a run.

    Parameters
    ----------
    end : float
        Of what is shown before there is data.

    Attributes
    ----------
    model : Range1d
    start, end : float
        What it was put to, or what the reader had chosen when `follow` was last called.
    """

    def __init__(self, end: float = 1.0) -> None:
        self.model = Range1d(start=0, end=end)
        self.start, self.end = 0.0, end
        self._is_put = self._is_moved = False

    @property
    def place(self) -> tuple[object, object]:
        """Where the reader has the picture: differs when it was panned or zoomed."""
        return self.model.start, self.model.end

    def follow(self, start: float, end: float) -> None:
        """Show this stretch, unless the reader has chosen another one since `release`."""
        if self._is_put:
            self._heed()
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

    def behind_s(self, last: float) -> float:
        """Return the seconds by which data until ``last`` is ahead of the picture."""
        return max(last - self.end, 0.0)

    def _heed(self) -> None:
        """Take over what the reader has chosen, if it is a stretch of time."""
        start, end = self.model.start, self.model.end
        if not (isinstance(start, int | float) and isinstance(end, int | float)):
            return
        if (start, end) != (self.start, self.end) and end > start:
            self.start, self.end, self._is_moved = float(start), float(end), True


def add_moves(plot: figure) -> None:
    """Let the reader pan the time of a plot by dragging, and zoom it with Ctrl and the wheel."""
    pan, zoom = PanTool(dimensions="width"), WheelZoomTool(dimensions="width")
    zoom.update(modifiers={"ctrl": True})
    plot.add_tools(pan, zoom)
    plot.toolbar.update(active_drag=pan, active_scroll=zoom)
