"""Plots of lines over time, each with the band from its lowest to its highest, that follow live."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from bokeh.models import DataRange1d, VArea
from bokeh.models import Line as LineGlyph

from dask_diag_lab.store.arrays import Floats
from dask_diag_lab.store.sums import ALL
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import MOMENT, TABLE_UNITS, Unit
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    base_figure,
    base_hover,
    restyle_figure,
    set_properties,
)
from dask_diag_lab.views.look import shade
from dask_diag_lab.views.models import EvenLabels, UnitHover, UnitTicker, UnitTickFormatter
from dask_diag_lab.views.time_axis import TimePlot, add_moves, make_time_axis
from dask_diag_lab.views.view import Caption, LegendItem, Table

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement


LIVE_S: Final = 300.0
"""How much of the past the live picture shows."""
YOUNG_S: Final = (10.0, 20.0, 30.0, 60.0, 120.0, 180.0, LIVE_S)
"""Widths of the picture of a young run: it stands still while its right end fills up."""
SPARE: Final = 8
"""Points that stay though they are out of view: a source that gets shorter is sent whole."""
BAND_ALPHA: Final = 0.2
SMALLEST: Final[Mapping[str, float]] = {
    "bytes": 1024.0**2,
    "rate": 1000.0,
    "percent": 5.0,
    "seconds": 1e-3,
}
"""Least height of the picture: noise near zero does not fill it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes
    ----------
    name : str
        In ``history.series``, or as `SeriesPlot.points` knows it.
    label : str
        In headline, legend, tooltip and table.
    color : str
        Attribute of `palette.DataColors`, or ``#rrggbb``.
    """

    name: str
    label: str
    color: str


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Mean, lowest and highest of something at times, of equal lengths; NaN where not known.

    Times are seconds since the epoch and ascend. Of what is one number `low` and `high` are the
    mean, and `total` need not be given.
    """

    times: Floats
    mean: Floats
    low: Floats
    high: Floats
    total: Floats | None = None


class SeriesPlot(TimePlot):
    """Lines over time, of what the history has recorded since the diagnostics began.

    Attributes
    ----------
    lines : sequence of Line
    unit : str
        See `data.Unit`.
    has_band : bool
        Whether a band from lowest to highest is drawn.
    empty : str
        Why there is nothing to draw, and what to do.
    """

    reads: ClassVar[Sequence[str]] = ("series",)
    lines: ClassVar[Sequence[Line]] = ()
    unit: ClassVar[Unit] = "number"
    has_band: ClassVar[bool] = True
    empty: ClassVar[str] = "Nothing has been recorded yet."
    live_s = LIVE_S

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self._n_in_view, self._placed = 0, ALL
        numbered = [
            f"{kind}{at}" for at in range(len(self.lines)) for kind in ("mean", "low", "high")
        ]
        self.source = Source("x", "time", "top", *numbered, is_patched=True)

    def points(self, name: str) -> Points:
        """Return the points of a line: those of ``history.series``."""
        found = self.history.series.get(name)
        return Points(found.times, found.mean, found.low, found.high, found.total)

    def headline(self) -> str:
        """Return the newest value of each line."""
        newest = [
            f"{fmt.write(self.unit, float(of.mean[-1]))} {line.label}".rstrip()
            for line in self.lines
            if len((of := self.points(line.name)).mean) and np.isfinite(of.mean[-1])
        ]
        mean = "mean " * (self.has_band and bool(newest))
        return f"{self.title}: {mean}{', '.join(newest) or 'unknown'}"

    def note(self) -> str:
        """Return which moment 0 is; see `Caption.note`."""
        times = [of.times[0] for line in self.lines if len((of := self.points(line.name)).times)]
        return f"0 s is {fmt.clock(float(min(times)))}, where the record begins" if times else ""

    def why_empty(self) -> str:
        """Return why no line has a point, and what to do."""
        return self.empty

    def legend(self) -> list[LegendItem]:
        """Return the legend; none for a line alone."""
        if len(self.lines) == 1 and not self.has_band:
            return []
        items = [
            LegendItem(line.label, shade(self.look, line.color), "dash" if at % 2 else "line")
            for at, line in enumerate(self.lines)
        ]
        if self.has_band:
            items.append(LegendItem("lowest to highest", items[0].color, alpha=2 * BAND_ALPHA))
        return items

    # --- the picture

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        height = DataRange1d(start=0, min_interval=SMALLEST.get(self.unit, 1.0))
        self.figure = base_figure(self.look, x_range=self._time.model, y_range=height)
        self.figure.min_border_right = 24  # half of the last tick's label
        make_time_axis(self.figure)
        ticker = UnitTicker(unit=self.unit)
        self.figure.yaxis[0].update(
            formatter=UnitTickFormatter(unit=self.unit),
            ticker=ticker,
            major_label_policy=EvenLabels(),
        )
        self.figure.ygrid[0].ticker = ticker
        self.figure.xgrid.visible = False
        self._glyphs = [self._add_line(at) for at in range(len(self.lines))]
        target = LineGlyph(x="x", y="top", line_alpha=0)
        hover = base_hover(
            self.look,
            "@time{custom}",
            *(f"@mean{at}{{custom}}" for at in range(len(self.lines))),
            renderers=[add_glyph(self.figure, self.source.model, target)],
            mode="vline",
            formatters={"@time": UnitHover(unit="time")}
            | {f"@mean{at}": self._format_of(at) for at in range(len(self.lines))},
        )
        self.figure.add_tools(hover)
        add_moves(self.figure)
        self.restyle()
        return self.figure

    def _add_line(self, at: int) -> tuple[VArea, LineGlyph]:
        alpha = BAND_ALPHA if self.has_band else 0.0
        band = VArea(x="x", y1=f"low{at}", y2=f"high{at}", fill_alpha=alpha)
        line = LineGlyph(x="x", y=f"mean{at}", line_width=2)
        if at % 2:
            line.update(line_dash="6 3")
        add_glyph(self.figure, self.source.model, band)
        add_glyph(self.figure, self.source.model, line)
        return band, line

    def _format_of(self, at: int) -> UnitHover:
        band = {"low": f"low{at}", "high": f"high{at}"} if self.has_band else {}
        label = self.lines[at].label
        return UnitHover(unit=self.unit, label=label, source=self.source.model, **band)

    def draw(self) -> None:
        """Add the points that came; see `View.draw`."""
        points = [self.points(line.name) for line in self.lines]
        is_known = any(np.isfinite(of.mean).any() for of in points)
        for axis in (self.figure.xaxis[0], self.figure.yaxis[0], self.figure.ygrid[0]):
            set_properties(axis, visible=is_known)
        if not is_known:
            self.source.set({name: [] for name in self.source.model.data})
            self.caption = Caption(empty=self.why_empty())
            return
        times = np.unique(np.concatenate([of.times for of in points]))
        last = float(times[-1] - times[0])
        period = np.subtract(self.period, times[0])
        begin, end = np.nan_to_num(period, neginf=0.0, posinf=last).tolist()
        self.window.zero = float(times[0])
        if self.period != self._placed:  # once: then the reader may move it
            self._placed = self.period
            if self.period != ALL and begin < end and not self.follows_run:
                self.window.hold(times[0] + begin, times[0] + end)
            else:
                self.window.release()
        self.follow(*self._live_window(last))
        self.source.set(self._in_view(points, times))
        self.caption = Caption(
            headline=self.headline(),
            legend=self.legend(),
            note=self.note(),
            behind_s=self.window.behind_s(float(times[-1])),
        )

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        restyle_figure(self.figure, self.look)
        for (band, glyph), line in zip(self._glyphs, self.lines, strict=True):
            set_properties(glyph, line_color=shade(self.look, line.color))
            set_properties(band, fill_color=shade(self.look, line.color))
        self.update()

    def table(self) -> Table:
        """Return one row a point in time; of lines without a band their one number."""
        columns: dict[str, Sequence[Any]] = {}  # numbers and None
        for line in self.lines:
            of = self.points(line.name)
            part = slice(*np.searchsorted(of.times, self.period))
            columns.setdefault("time", of.times[part].tolist())
            kinds = {"_mean": of.mean, "_low": of.low, "_high": of.high, "_total": of.total}
            for kind, values in kinds.items() if self.has_band else [("", of.mean)]:
                if values is not None:
                    name = f"{line.label.replace(' ', '_')}{kind}"
                    columns[name] = [v if math.isfinite(v) else None for v in values[part].tolist()]
        unit = TABLE_UNITS.get(self.unit)
        units = {name: unit for name in columns if unit and name != "time"}
        return Table(columns, {"time": MOMENT, **units})

    def _live_window(self, last: float) -> tuple[float, float]:
        if self._span_s is None or last <= self._span_s:
            return 0.0, next((step for step in YOUNG_S if last <= step), last)
        return last - self._span_s, last

    def _in_view(self, points: Sequence[Points], times: Floats) -> dict[str, Floats]:
        """Return the columns of the points that are in view."""
        first = int(np.searchsorted(times, self.window.start)) - 1
        stop = int(np.searchsorted(times, self.window.end, side="right")) + 1
        first, stop = max(first, 0), min(stop, len(times))
        if 0 < self._n_in_view - (stop - first) <= SPARE:
            first = max(stop - self._n_in_view, 0)
        self._n_in_view = stop - first
        part = slice(first, stop)
        columns = {"x": times[part] - times[0], "time": times[part]}
        top: Floats = np.zeros(len(times[part]))
        for at, data in enumerate(points):
            mean, low, high = _placed(data, times)[:, part]
            columns |= {f"mean{at}": mean, f"low{at}": low, f"high{at}": high}
            top = np.fmax(top, high if self.has_band else mean)
        return columns | {"top": top}


def _placed(data: Points, times: Floats) -> Floats:
    """Return mean, lowest and highest at all ``times``, NaN where there are none."""
    columns: Floats = np.full((3, len(times)), np.nan)
    columns[:, np.searchsorted(times, data.times)] = data.mean, data.low, data.high
    return columns
