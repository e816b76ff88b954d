"""Lines over a run's time, each with the band between its lowest and highest, that follow live.

Knows Bokeh and the look; what is measured comes from the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from bokeh.models import FixedTicker, Line, PanTool, Range1d, VArea, WheelZoomTool
from bokeh.models.annotations import Title

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.axis_end import AxisEnd
from dask_diag_lab.views.figure import (
    MIN_BORDER_PX,
    add_glyph,
    quiet_figure,
    quiet_hover,
    set_properties,
    tooltip_html,
)
from dask_diag_lab.views.last_tick import LastTick
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.pane_size import PaneSize, pane_size, restyle_pane
from dask_diag_lab.views.point_words import PointWords, words_of
from dask_diag_lab.views.series_unit import SMALLEST, TICKS, WRITE, Unit
from dask_diag_lab.views.small_legend import Entry, SmallLegend
from dask_diag_lab.views.tail_source import TailSource, Values
from dask_diag_lab.views.text_room import font_px, text_px
from dask_diag_lab.views.time_axis import fit_time_axis, make_time_axis, tell_zero
from dask_diag_lab.views.time_points import Floats, Points, common_times, merged_points, points_at
from dask_diag_lab.views.title_words import fitting_title

MAX_POINTS: Final = 500
"""Points of a line in view; more are merged by mean, lowest and highest."""
LIVE_S: Final = 300.0
"""How much of the past the live picture shows."""
BAND_ALPHA: Final = 0.2

LEAST_SCALED_PX: Final = 180
"""In less width the upright axis would leave no room for the title, which has the figure.

There the word of its last tick stands inside the frame.
"""

_TICKS_PX: Final = 14
"""Between the left edge and the frame, beside the labels of the upright axis."""
_LEFT_PX: Final = 12
"""Beside a frame without labels there: the word of a tick at its edge needs the room."""
_RIGHT_PX: Final = 8


@dataclass(frozen=True, slots=True)
class TimeLine:
    """One line: its name in `TimeSeries.set`, its words in legend and hover, its colour."""

    name: str
    title: str
    color: str


class TimeSeries:
    """A figure of lines over time.

    Parameters
    ----------
    look : Look
    lines : sequence of TimeLine
    unit : {'bytes', 'rate', 'percent', 'number', 'count', 'seconds'}
        ``rate`` is bytes a second; ``percent`` of values where 100 is everything; ``count`` of what
        there are no halves of.
    band : bool
        Whether a band from lowest to highest is drawn.

    Attributes
    ----------
    model : figure
    behind_s : float
        Seconds by which the data is ahead of a picture that was moved; 0 when it follows.
    """

    def __init__(
        self, look: Look, lines: Sequence[TimeLine], *, unit: Unit = "number", band: bool = True
    ) -> None:
        self.behind_s = 0.0
        self._lines = tuple(lines)
        self._unit, self._has_band = unit, band
        self._moments = PointWords(lambda time, *_: fmt.clock(time))
        self._texts = self._new_texts()
        self._data: dict[str, Points] = {}
        self._fresh: set[str] = set()
        self._n_set = 0
        self._drawn: object = None
        self._words: tuple[str, ...] = ("",)
        self._end = AxisEnd(SMALLEST.get(unit, 1.0))
        self._span_s: float | None = LIVE_S
        self._placed, self._is_moved = (0.0, 1.0), False
        self._times: Floats = np.empty(0)
        self.source = TailSource("x", "top", "when", *self._columns())
        self._title = Title(text=" ")
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=0, end=1)
        self._y_ticker = FixedTicker(ticks=[0])
        self.model = quiet_figure(look, title=self._title, x_range=self._x, y_range=self._y)
        self._last_tick = LastTick(self.model)
        self._glyphs: list[tuple[VArea | None, Line]] = []
        self._build(look)
        self._show_axes(is_shown=False, size=pane_size(self.model))
        self.restyle(look)

    def _new_texts(self) -> list[PointWords]:
        return [words_of(line.title, WRITE[self._unit]) for line in self._lines]

    def _columns(self) -> list[str]:
        kinds = ("mean", "low", "high", "text")
        return [f"{kind}{at}" for at in range(len(self._lines)) for kind in kinds]

    def _build(self, look: Look) -> None:
        plot = self.model
        make_time_axis(plot)
        plot.yaxis.ticker = self._y_ticker
        plot.ygrid.ticker = self._y_ticker
        plot.xgrid.visible = False
        for at in range(len(self._lines)):
            band = None
            if self._has_band:
                band = VArea(x="x", y1=f"low{at}", y2=f"high{at}", fill_alpha=BAND_ALPHA)
                add_glyph(plot, self.source.model, band)
            line = Line(x="x", y=f"mean{at}", line_width=2)
            if at % 2:
                line.update(line_dash="6 3")
            add_glyph(plot, self.source.model, line)
            self._glyphs.append((band, line))
        target = add_glyph(plot, self.source.model, Line(x="x", y="top", line_alpha=0))
        self._hover = quiet_hover(look, *self._fields(), renderers=[target], mode="vline")
        pan, zoom = PanTool(dimensions="width"), WheelZoomTool(dimensions="width")
        zoom.update(modifiers={"ctrl": True})
        plot.add_tools(self._hover, pan, zoom)
        plot.toolbar.active_drag, plot.toolbar.active_scroll = pan, zoom
        self._legend = SmallLegend(plot, self._entries())

    def _fields(self) -> list[str]:
        return ["@when", *(f"@text{at}" for at in range(len(self._lines)))]

    def _entries(self) -> list[Entry]:
        if len(self._lines) == 1 and not self._has_band:
            return []
        entries = [Entry(line.title, line.color) for line in self._lines]
        if self._has_band:
            words = "lowest to highest"
            entries.append(Entry(words, self._lines[0].color, alpha=2 * BAND_ALPHA))
        return entries

    def set(
        self,
        name: str,
        times: Floats,
        mean: Floats,
        low: Floats | None = None,
        high: Floats | None = None,
    ) -> None:
        """Give a line its points; the picture is drawn when all lines have got theirs.

        Parameters
        ----------
        name : str
            Of one of the lines.
        times : ndarray of float64
            Seconds since the epoch, scheduler's clock, ascending.
        mean, low, high : ndarray of float64
            One value for each time; NaN where it is not known.
        """
        low, high = mean if low is None else low, mean if high is None else high
        self._data[name] = Points(times, mean, low, high)
        self._fresh.add(name)
        self._n_set += 1
        if len(self._fresh) == len(self._lines):
            self.draw()

    def say(self, *titles: str) -> None:
        """Set the line above the plot: the same in ever fewer words, see `fitting_title`."""
        self._words = titles

    @property
    def place(self) -> tuple[object, object]:
        """Where the reader has the picture: differs when it was panned or zoomed."""
        return self._x.start, self._x.end

    def command(self, verb: str) -> None:
        """Obey ``live`` (the last minutes, as they come) and ``fit`` (everything there is)."""
        if verb in ("live", "fit"):
            self._span_s, self._is_moved = LIVE_S if verb == "live" else None, False
            self._place(*self._live_window())
            self.draw()

    def restyle(self, look: Look, lines: Sequence[TimeLine] | None = None) -> None:
        """Apply another look, and the lines' colours that go with it."""
        if lines is not None:
            self._lines = tuple(lines)
            self._texts = self._new_texts()
            self._drawn = None
        restyle_pane(self.model, look)
        self._font_px = font_px(look.font_size)
        for (band, line), of in zip(self._glyphs, self._lines, strict=True):
            set_properties(line, line_color=of.color)
            if band is not None:
                set_properties(band, fill_color=of.color)
        self._last_tick.restyle(look)
        set_properties(self._hover, tooltips=tooltip_html(look, *self._fields()))
        self._legend.restyle(self._entries())

    # --- the picture

    def draw(self) -> None:
        """Draw what was set; also after the reader moved the picture or its size changed."""
        self._fresh.clear()
        if self._drawn == self._basis():
            return
        size = pane_size(self.model)
        is_known = any(np.isfinite(data.mean).any() for data in self._data.values())
        self._show_axes(is_shown=is_known, size=size)
        self._times = common_times([data.times for data in self._data.values()])
        if len(self._times):
            self._follow()
            self._draw_lines(size)
            tell_zero(self.model, size, float(self._times[0]), "where the record begins")
        else:
            self.source.set({name: [] for name in self.source.model.data})
        self._draw_words(size)
        fit_time_axis(self.model, size.width)
        self._drawn = self._basis()

    def _show_axes(self, *, is_shown: bool, size: PaneSize) -> None:
        """Show axes, or none: where nothing is drawn words may lie in their place."""
        set_properties(self.model.xaxis[0], visible=is_shown and size.height >= 120)
        is_scaled = size.width >= LEAST_SCALED_PX
        set_properties(self.model.yaxis[0], visible=is_shown and is_scaled)
        self._last_tick.show(is_shown=is_shown and not is_scaled)
        set_properties(self.model, min_border_left=MIN_BORDER_PX if is_scaled else _LEFT_PX)
        set_properties(self.model.ygrid[0], visible=is_shown)

    def _basis(self) -> object:
        """Return all that the picture depends on."""
        return self._n_set, pane_size(self.model), self.place, self._words

    def _draw_lines(self, size: PaneSize) -> None:
        columns, top = self._window(*self._placed)
        self.source.set(columns)
        end = self._end.at_least(top)
        ticks = TICKS.get(self._unit, fmt.number_ticks)(end, max(size.rows_px // 50, 2))
        labels = fmt.tick_labels(ticks, self._unit)
        set_properties(self._y, start=0, end=end * 1.02)
        set_properties(self._y_ticker, ticks=ticks)
        self._last_tick.write(ticks[-1], labels[ticks[-1]])
        set_properties(self.model.yaxis[0], major_label_overrides=labels)

    def _draw_words(self, size: PaneSize) -> None:
        # A title begins where the frame does, beside the labels of the axis.
        axis = self.model.yaxis[0]
        labels = axis.major_label_overrides.values() if axis.visible else ()
        labels_px = max((text_px(str(label), self._font_px) for label in labels), default=0.0)
        room_px = size.width - labels_px - _TICKS_PX - _RIGHT_PX
        set_properties(self._title, text=fitting_title(self._words, room_px, self._font_px) or " ")
        self._legend.show(is_shown=not size.is_small, width=size.width)

    def _live_window(self) -> tuple[float, float]:
        if not len(self._times):
            return 0.0, 1.0
        last = float(self._times[-1] - self._times[0])
        if self._span_s is None or last <= self._span_s:
            # The picture of a young run stands still while its right end fills up.
            steps = (10.0, 20.0, 30.0, 60.0, 120.0, 180.0, LIVE_S)
            return 0.0, next((step for step in steps if last <= step), last)
        return last - self._span_s, last

    def _place(self, start: float, end: float) -> None:
        self._placed = (start, end)
        set_properties(self._x, start=start, end=end)

    def _follow(self) -> None:
        """Move on with the data, unless the reader has moved the picture."""
        start, end = self._x.start, self._x.end
        assert isinstance(start, (int, float))  # not a date: the axis is in seconds
        assert isinstance(end, (int, float))
        now = (float(start), float(end))
        last = float(self._times[-1] - self._times[0])
        if now != self._placed and now[1] > now[0]:
            self._placed = now
            self._is_moved = True
        elif not self._is_moved:
            self._place(*self._live_window())
        self.behind_s = max(last - self._placed[1], 0.0)

    def _window(self, start: float, end: float) -> tuple[dict[str, Values], float]:
        """Return the columns of what is in view, and the highest value among them."""
        zero, span = self._times[0], end - start
        # From a quarter of the width on, so that the beginning stays while the end moves.
        begin = max(np.floor(start / span * 4) - 1, 0) * span / 4 + zero
        first = int(np.searchsorted(self._times, begin))
        stop = int(np.searchsorted(self._times, zero + end, side="right")) + 1
        times = self._times[first:stop]
        factor = 1
        while len(times) > MAX_POINTS * factor:
            factor *= 2
        groups = np.flatnonzero(np.diff((first + np.arange(len(times))) // factor, prepend=-1))
        columns: dict[str, Values] = {"x": times[groups] - zero}
        columns["when"] = self._moments.of(Points(*(times[groups],) * 4))
        top: Floats = np.zeros(len(groups))
        for at, line in enumerate(self._lines):
            data = points_at(self._data[line.name], times)
            merged = merged_points(data, groups)
            columns |= {f"mean{at}": merged.mean, f"low{at}": merged.low, f"high{at}": merged.high}
            columns[f"text{at}"] = self._texts[at].of(merged)
            top = np.fmax(top, merged.high if self._has_band else merged.mean)
        columns["top"] = top
        return columns, float(top.max(initial=0.0))
