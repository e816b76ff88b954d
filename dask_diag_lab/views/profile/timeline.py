"""Samples over time by prefix, where a drag selects the period of a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
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
from dask_diag_lab.views.palette import prefix_color, quiet_color
from dask_diag_lab.views.time_axis import make_time_axis

Floats = npt.NDArray[np.float64]

HEIGHT_PX: Final = 62
MAX_BINS: Final = 150
"""Bars side by side; neighbours are added up until there are no more."""
MAX_PREFIXES: Final = 8
"""Prefixes with a colour of their own; the rest is grey."""
_HOVER: Final = ("@when", "@what", "@rate samples/s")


class Bins:
    """Samples over time, added up into few enough bars.

    Parameters
    ----------
    answer : mapping
        ``{times, counts, prefixes}`` of the question "activity", with at least one time.

    Attributes
    ----------
    start : ndarray of float64
        Seconds on the scheduler's clock.
    width_s : float
    counts : ndarray of float64
        All samples.
    prefixes : dict of str to ndarray of float64
        Those of each prefix, most samples first.
    """

    def __init__(self, answer: Mapping[str, Any]) -> None:  # plain data, of many types
        times = np.asarray(answer["times"], dtype=np.float64)
        first, last = float(times[0]), float(times[-1])
        step = max(float(np.diff(times).min()), 1e-3) if len(times) > 1 else 1.0
        # Whole steps, so that a bar has as many as the next one.
        merged = np.ceil((last - first + step) / step / MAX_BINS)
        self.width_s = float(max(step * merged, (last - first) / MAX_BINS))
        at = ((times - first) / self.width_s + 1e-6).astype(np.int64)
        n = int(at[-1]) + 1
        self.start: Floats = first + self.width_s * np.arange(n, dtype=np.float64)
        self.counts = np.bincount(at, weights=answer["counts"], minlength=n)
        rows = answer.get("prefixes", {}).items()
        sums = {name: np.bincount(at, weights=row, minlength=n) for name, row in rows}
        self.prefixes = dict(sorted(sums.items(), key=lambda item: (-item[1].sum(), item[0])))

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
        self.source = Source("left", "right", "top", "bottom", "fill", "when", "what", "rate")
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
        glyph = Quad(left="left", right="right", top="top", bottom="bottom", fill_color="fill")
        set_properties(glyph, line_color=None)
        bars = add_glyph(self.figure, self.source.model, glyph)
        hover = quiet_hover(look, *_HOVER, renderers=[bars])
        drag = BoxSelectTool(dimensions="width", renderers=[])
        self.figure.add_tools(hover, drag)
        self.figure.toolbar.active_drag = drag
        self.figure.on_event(SelectionGeometry, self._selected)
        self.restyle(look)

    def show(
        self, bins: Bins, look: Look, color_of: Callable[[str], int], prefix: str = ""
    ) -> None:
        """Draw the bars; those of one prefix alone have a colour where `prefix` names it."""
        names = [prefix] if prefix else list(bins.prefixes)[:MAX_PREFIXES]
        names = [name for name in names if name in bins.prefixes]
        colors = [prefix_color(color_of(name), look) for name in names] + [quiet_color(look)]
        self._zero = self._zero or float(bins.start[0])
        layers = [(name, bins.prefixes[name]) for name in names]
        others = np.maximum(bins.counts - sum(row for _, row in layers), 0)
        layers.append(("other tasks" if layers else "all tasks", others))
        self.source.set(self._columns(bins, layers, colors))
        most = float(bins.counts.max()) / bins.width_s or 1.0
        left, right = bins.start[0] - self._zero, bins.stop - self._zero
        set_properties(self.figure.x_range, start=left, end=right)
        set_properties(self.figure.y_range, end=most * 1.05)

    def mark(self, start: float, stop: float) -> None:
        """Mark the period that was chosen; none where both are 0."""
        is_chosen = stop > start
        left, right = (start - self._zero, stop - self._zero) if is_chosen else (0, 0)
        set_properties(self.period, visible=is_chosen, left=left, right=right)

    def restyle(self, look: Look) -> None:
        """Apply the look; bars get their colours with `show`."""
        restyle_figure(self.figure, look)
        set_properties(self.period, fill_color=look.accent, line_color=look.accent)

    def _columns(
        self, bins: Bins, layers: Sequence[tuple[str, Floats]], colors: Sequence[str]
    ) -> dict[str, npt.NDArray[Any]]:  # text and numbers
        parts, below = [], np.zeros(len(bins.start))
        clocks = np.array([fmt.clock(start) for start in bins.start.tolist()])
        for (name, row), color in zip(layers, colors, strict=True):
            at = np.flatnonzero(row)
            left = bins.start[at] - self._zero
            parts.append(
                {
                    "left": left,
                    "right": left + bins.width_s,
                    "bottom": below[at] / bins.width_s,
                    "top": (below[at] + row[at]) / bins.width_s,
                    "fill": np.full(len(at), color),
                    "when": clocks[at],
                    "what": np.full(len(at), fmt.elide(name, 120)),
                    "rate": np.round(row[at] / bins.width_s, 1),
                }
            )
            below = below + row
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _selected(self, event: Event) -> None:
        if not isinstance(event, SelectionGeometry) or not event.final:
            return
        geometry: Mapping[str, Any] = dict(event.geometry or {})  # its keys differ by kind
        if geometry.get("type") == "rect":
            low, high = sorted((float(geometry["x0"]), float(geometry["x1"])))
            if high > low:
                self._on_select(low + self._zero, high + self._zero)
