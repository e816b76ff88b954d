"""A figure with time from left to right and one row for each thread or worker.

A drag pans, with Alt or Ctrl it marks a stretch to zoom to; the wheel scrolls rows, with Ctrl it
zooms time. All that runs in the browser, which also decides how many rows fit and how their names
are shortened; the server learns of it by the ranges.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from bokeh.models import FixedTicker, Range1d

from dask_diag_lab.views.figure import Source, quiet_figure, restyle_figure, set_properties
from dask_diag_lab.views.format import clock
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.models import RowsWheelTool, RowTicker, RowTickFormatter
from dask_diag_lab.views.time_axis import (
    TimeRange,
    TimeWindow,
    add_stretch_tool,
    as_numbers,
    make_time_axis,
)

if TYPE_CHECKING:
    from dask_diag_lab.views.stream.frame import WorkerRows

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
    wheel : RowsWheelTool
    workers : Source
        Names of the rows: ``label``, ``first``, ``count``, ``is_gone`` of each worker.
    """

    def __init__(self, look: Look, window: TimeWindow, min_row_px: int) -> None:
        self.window = window
        self.zero = 0.0
        self.time = TimeRange(window)
        self.y_range = Range1d(start=0.5, end=-0.5, bounds=(-0.5, 0.5))
        self.figure = quiet_figure(
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
        self.wheel = wheel = RowsWheelTool(
            dimensions="width",
            rows=self.y_range,
            min_row_px=min_row_px,
        )
        self.figure.add_tools(wheel)
        self.figure.toolbar.active_drag = drag
        self.figure.toolbar.active_scroll = wheel

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
