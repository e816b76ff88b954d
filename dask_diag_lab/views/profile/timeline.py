"""Activity over time: samples a second by task, where a drag selects the period of a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.events import Event, SelectionGeometry
from bokeh.models import BoxSelectTool, FixedTicker, HoverTool, Quad, Range1d
from bokeh.models.annotations import BoxAnnotation, Title
from bokeh.plotting import figure

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_figure,
    quiet_hover,
    set_properties,
    tooltip_html,
)
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import prefix_color
from dask_diag_lab.views.pane_size import pane_size, restyle_pane
from dask_diag_lab.views.profile.inks import quiet_color
from dask_diag_lab.views.time_axis import fit_time_axis, run_time_formatter

Floats = npt.NDArray[np.float64]

HEIGHT_PX: Final = 78
MAX_BINS: Final = 150
"""Bars side by side; neighbours are added up until there are no more."""
MAX_STEPS: Final = 100_000
"""Odd times make no more steps than this."""
MAX_PREFIXES: Final = 8
"""Tasks with a colour of their own; the rest is grey."""
HOVER_LINES: Final = ("@when", "@what", "@rate")


class Bins:
    """Samples over time, added up into few enough bars.

    Parameters
    ----------
    answer : mapping
        ``{times, counts, prefixes}`` of the question "activity".

    Attributes
    ----------
    start : ndarray of float64
        Seconds on the scheduler's clock.
    width_s : float
    counts : ndarray of float64
        All samples.
    prefixes : dict of str to ndarray of float64
        Those of each task, most samples first.
    """

    def __init__(self, answer: Mapping[str, Any]) -> None:  # plain data, of many types
        times = np.asarray(answer["times"], dtype=np.float64)
        gaps = np.diff(times)
        first = float(times[0]) if len(times) else 0.0
        step = float(gaps[gaps > 0].min()) if (gaps > 0).any() else 1.0
        step = max(step, float(gaps.sum()) / MAX_STEPS)
        n_steps = round((float(times[-1]) - first) / step) + 1 if len(times) else 0
        merged = -(-n_steps // MAX_BINS) if n_steps else 1
        self.width_s = step * merged
        n = -(-n_steps // merged)
        at = np.rint((times - first) / step).astype(np.int64) // merged
        self.start: Floats = first + self.width_s * np.arange(n, dtype=np.float64)
        self.counts = self._added(at, answer["counts"], n)
        sums = {name: self._added(at, row, n) for name, row in answer.get("prefixes", {}).items()}
        self.prefixes = dict(sorted(sums.items(), key=lambda item: (-item[1].sum(), item[0])))

    @staticmethod
    def _added(at: npt.NDArray[np.int64], values: Sequence[float], n: int) -> Floats:
        row = np.asarray(values, dtype=np.float64)
        return np.asarray(np.bincount(at, weights=row, minlength=n)[:n], dtype=np.float64)

    @property
    def has_samples(self) -> bool:
        """Whether any bar is higher than nothing: workers without work tell of empty cycles."""
        return bool(self.counts.any())

    @property
    def stop(self) -> float:
        """End of the last bar."""
        return float(self.start[-1]) + self.width_s if len(self.start) else 0.0


class Timeline:
    """The bars of one page.

    Parameters
    ----------
    look : Look
    on_select : callable
        Takes start and stop in seconds of the scheduler's clock.

    Attributes
    ----------
    is_telling : bool
        Whether there are bars, or words instead of them.
    """

    def __init__(self, look: Look, on_select: Callable[[float, float], None]) -> None:
        self.is_telling = False
        self._on_select = on_select
        self._zero = self._stop = 0.0
        self._shown: tuple[object, ...] = ()
        self.bars = Source("left", "right", "top", "bottom", "fill", "when", "what", "rate")
        self._title = Title(text=" ")
        self.figure: figure = quiet_figure(
            look,
            sizing_mode="stretch_width",
            height=HEIGHT_PX,
            x_range=Range1d(start=0, end=1),
            y_range=Range1d(start=0, end=1),
            title=self._title,
        )
        self.figure.grid.visible = False
        self._y_ticker = FixedTicker(ticks=[])
        self.figure.xaxis[0].update(ticker=FixedTicker(ticks=[]), formatter=run_time_formatter())
        self.figure.yaxis[0].ticker = self._y_ticker
        self.period = BoxAnnotation(
            visible=False, left=0, right=0, fill_alpha=0.18, line_alpha=0.9, level="overlay"
        )
        self.figure.add_layout(self.period)
        self._hover = self._draw(look)
        self.figure.on_event(SelectionGeometry, self._selected)
        self.restyle(look)

    def show(
        self, bins: Bins, look: Look, color_of: Callable[[str], int], prefix: str = ""
    ) -> None:
        """Draw the bars; those of one task alone have a colour where `prefix` names it."""
        names = [prefix] if prefix else list(bins.prefixes)[:MAX_PREFIXES]
        names = [name for name in names if name in bins.prefixes]
        colors = [prefix_color(color_of(name), look) for name in names] + [quiet_color(look)]
        key = (bins, names, colors)
        if key != self._shown:
            self._shown = key
            self._renew(bins, names, colors)
        self._scale(bins)

    def _renew(self, bins: Bins, names: Sequence[str], colors: Sequence[str]) -> None:
        if len(bins.start) and not self._zero <= bins.start[0] <= self._stop:
            self._zero = float(bins.start[0])  # not the going on of what was shown before
        self._stop = bins.stop
        layers = [(name, bins.prefixes[name]) for name in names]
        rest = np.maximum(
            bins.counts - sum((row for _, row in layers), np.zeros(len(bins.start))), 0
        )
        layers.append(("" if layers else "all tasks", rest))
        self._set(bins, layers, colors)

    def say(self, title: str) -> None:
        """Write above the bars what they are, or why there are none; '' where that is no matter."""
        self.is_telling = bool(title)
        set_properties(self._title, text=title or " ")

    def mark(self, start: float, stop: float) -> None:
        """Mark the period that was chosen; none where both are 0."""
        set_properties(
            self.period,
            visible=stop > start,
            left=start - self._zero if stop > start else 0,
            right=stop - self._zero if stop > start else 0,
        )

    def restyle(self, look: Look) -> None:
        """Apply the look; bars get their colours with `show`."""
        restyle_pane(self.figure, look)
        set_properties(self._hover, tooltips=tooltip_html(look, *HOVER_LINES))
        set_properties(self.period, fill_color=look.accent, line_color=look.accent)

    def _draw(self, look: Look) -> HoverTool:
        glyph = Quad(left="left", right="right", top="top", bottom="bottom", fill_color="fill")
        set_properties(glyph, line_color=None)
        bars = add_glyph(self.figure, self.bars.model, glyph)
        hover = quiet_hover(look, *HOVER_LINES, renderers=[bars])
        drag = BoxSelectTool(dimensions="width", renderers=[])
        self.figure.add_tools(hover, drag)
        self.figure.toolbar.active_drag = drag
        return hover

    def _set(self, bins: Bins, layers: Sequence[tuple[str, Floats]], colors: Sequence[str]) -> None:
        parts = []
        below = np.zeros(len(bins.start))
        clocks = np.array([fmt.clock(start) for start in bins.start.tolist()], dtype=np.str_)
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
                    "what": np.full(len(at), fmt.elide(name or "other tasks", 120)),
                    "rate": _rates(row[at] / bins.width_s),
                }
            )
            below = below + row
        # Arrays: Bokeh looks at each item of a list, once and again.
        names = self.bars.model.data
        self.bars.set({name: np.concatenate([part[name] for part in parts]) for name in names})

    def _scale(self, bins: Bins) -> None:
        span = max(bins.stop - self._zero, bins.width_s)
        most = float(bins.counts.max(initial=0.0)) / bins.width_s or 1.0
        left = float(bins.start[0]) - self._zero if len(bins.start) else 0.0
        set_properties(self.figure.x_range, start=left, end=span)
        set_properties(self.figure.y_range, end=most * 1.05)
        fit_time_axis(self.figure, pane_size(self.figure).width)
        ticks = fmt.number_ticks(most, 2)
        words = {
            t: f"{label}/s" if t else "0" for t, label in fmt.tick_labels(ticks, "number").items()
        }
        set_properties(self._y_ticker, ticks=ticks)
        set_properties(self.figure.yaxis[0], major_label_overrides=words)

    def _selected(self, event: Event) -> None:
        if not isinstance(event, SelectionGeometry) or not event.final:
            return
        geometry: Mapping[str, Any] = dict(event.geometry or {})  # its keys differ by kind
        if geometry.get("type") == "rect":
            low, high = sorted((float(geometry["x0"]), float(geometry["x1"])))
            if high > low:
                self._on_select(low + self._zero, high + self._zero)


def _rates(rates: Floats) -> npt.NDArray[np.str_]:
    """Return each rate in words; a bar is as high as many others."""
    different, which = np.unique(rates, return_inverse=True)
    words = [f"{fmt.significant(rate)} samples/s" for rate in different.tolist()]
    return np.array(words, dtype=np.str_)[which]
