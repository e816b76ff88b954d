"""Samples over time, where a drag selects the period of a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from bokeh.events import Event, SelectionGeometry
from bokeh.models import BasicTicker, BoxSelectTool, Quad, Range1d
from bokeh.models.annotations import BoxAnnotation
from bokeh.plotting import figure

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_figure,
    quiet_hover,
    restyle_figure,
    set_properties,
)
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.time_axis import make_time_axis

HEIGHT_PX: Final = 62
MAX_BINS: Final = 150
"""Bars side by side; neighbours are added up until there are no more."""
_HOVER: Final = ("@when", "@rate samples/s")


class Bins:
    """Samples over time, added up into few enough bars.

    Parameters
    ----------
    answer : mapping
        ``{times, counts, prefixes}`` of the question "activity", with at least one time.
    prefix : str
        Whose samples; '' for all.

    Attributes
    ----------
    start : ndarray of float64
        Seconds on the scheduler's clock.
    width_s : float
    counts : ndarray of float64
    """

    def __init__(self, answer: Mapping[str, Any], prefix: str) -> None:  # plain data
        times = np.asarray(answer["times"], dtype=np.float64)
        first, last = float(times[0]), float(times[-1])
        step = max(float(np.diff(times).min()), 1e-3) if len(times) > 1 else 1.0
        # Whole steps, so that a bar has as many as the next one.
        merged = np.ceil((last - first + step) / step / MAX_BINS)
        self.width_s = float(max(step * merged, (last - first) / MAX_BINS))
        at = ((times - first) / self.width_s + 1e-6).astype(np.int64)
        n = int(at[-1]) + 1
        self.start = first + self.width_s * np.arange(n, dtype=np.float64)
        none = [0] * len(times)
        counts = answer["prefixes"].get(prefix, none) if prefix else answer["counts"]
        self.counts = np.bincount(at, weights=counts, minlength=n)

    @property
    def stop(self) -> float:
        """End of the last bar."""
        return float(self.start[-1]) + self.width_s


class ProfileTimeline:
    """The bars of one page.

    Parameters
    ----------
    look : Look
    on_select : callable
        Takes start and stop in seconds of the scheduler's clock.
    """

    def __init__(self, look: Look, on_select: Callable[[float, float], None]) -> None:
        self._on_select = on_select
        self._zero = 0.0
        self.source = Source("left", "right", "top", "when", "rate")
        self.figure: figure = quiet_figure(
            look,
            sizing_mode="stretch_width",
            height=HEIGHT_PX,
            x_range=Range1d(start=0, end=1),
            y_range=Range1d(start=0, end=1),
        )
        self.figure.grid.visible = False
        make_time_axis(self.figure)
        self.figure.yaxis[0].ticker = BasicTicker(desired_num_ticks=2, num_minor_ticks=0)
        self.period = BoxAnnotation(
            visible=False, left=0, right=0, fill_alpha=0.18, line_alpha=0.9, level="overlay"
        )
        self.figure.add_layout(self.period)
        self.bars = Quad(left="left", right="right", top="top", bottom=0, line_color=None)
        bars = add_glyph(self.figure, self.source.model, self.bars)
        hover = quiet_hover(look, *_HOVER, renderers=[bars])
        drag = BoxSelectTool(dimensions="width", renderers=[])
        self.figure.add_tools(hover, drag)
        self.figure.toolbar.active_drag = drag
        self.figure.on_event(SelectionGeometry, self._selected)
        self.restyle(look)

    def show(self, bins: Bins, color: str) -> None:
        """Draw the bars."""
        self._zero = self._zero or float(bins.start[0])
        at = np.flatnonzero(bins.counts)
        left, rate = bins.start[at] - self._zero, bins.counts[at] / bins.width_s
        self.source.set(
            {
                "left": left,
                "right": left + bins.width_s,
                "top": rate,
                "when": [fmt.clock(start) for start in bins.start[at].tolist()],
                "rate": np.round(rate, 1),
            }
        )
        set_properties(self.bars, fill_color=color)
        begin, end = bins.start[0] - self._zero, bins.stop - self._zero
        set_properties(self.figure.x_range, start=begin, end=end)
        set_properties(self.figure.y_range, end=1.05 * float(rate.max(initial=0.0) or 1.0))

    def mark(self, start: float, stop: float) -> None:
        """Mark the period that was chosen; none where both are 0."""
        is_chosen = stop > start
        left, right = (start - self._zero, stop - self._zero) if is_chosen else (0, 0)
        set_properties(self.period, visible=is_chosen, left=left, right=right)

    def restyle(self, look: Look) -> None:
        """Apply the look; bars get their colour with `show`."""
        restyle_figure(self.figure, look)
        set_properties(self.period, fill_color=look.accent, line_color=look.accent)

    def _selected(self, event: Event) -> None:
        if not isinstance(event, SelectionGeometry) or not event.final:
            return
        geometry: Mapping[str, Any] = dict(event.geometry or {})  # its keys differ by kind
        if geometry.get("type") == "rect":
            low, high = sorted((float(geometry["x0"]), float(geometry["x1"])))
            if high > low:
                self._on_select(low + self._zero, high + self._zero)
