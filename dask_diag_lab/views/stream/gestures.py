"""What the hand does on a task stream: drag pans, wheel scrolls rows, Ctrl-wheel zooms time.

Runs in the browser; the server learns of it by the ranges.
"""

from __future__ import annotations

from bokeh.models import Range1d
from bokeh.models.annotations import BoxAnnotation
from bokeh.plotting import figure

from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.scripted import RowsWheelTool, StretchTool


class Gestures:
    """The gestures of one figure.

    Parameters
    ----------
    plot : figure
    times, rows : Range1d
        Its ranges: seconds; rows, the top one at the end, with bounds.
    """

    def __init__(self, plot: figure, times: Range1d, rows: Range1d) -> None:
        # The page's own: marking a stretch is no message until it is zoomed to.
        self._stretch = BoxAnnotation(
            visible=False,
            editable=False,
            syncable=False,
            level="overlay",
            fill_alpha=0.15,
            line_alpha=0.8,
            line_dash=[4, 4],
        )
        # Both dimensions: the rows' bounds hold them where all of them fit.
        drag = StretchTool(dimensions="both", times=times, overlay=self._stretch)
        wheel = RowsWheelTool(dimensions="width", rows=rows)
        plot.add_layout(self._stretch)
        plot.add_tools(drag, wheel)
        plot.toolbar.active_drag = drag
        plot.toolbar.active_scroll = wheel

    def restyle(self, look: Look) -> None:
        """Apply a look."""
        set_properties(self._stretch, fill_color=look.accent, line_color=look.accent)
