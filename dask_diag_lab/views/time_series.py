"""Lines over a run's time, each with the band between its lowest and highest, that follow live.

Knows Bokeh and the look; what is measured comes from the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bokeh.models import FixedTicker, Line, Range1d, VArea
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
from dask_diag_lab.views.line_points import LinePoints
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.moving_range import MovingRange, add_moves
from dask_diag_lab.views.pane_size import PaneSize, pane_size, restyle_pane
from dask_diag_lab.views.series_unit import SMALLEST, TICKS, Unit
from dask_diag_lab.views.small_legend import Entry, SmallLegend
from dask_diag_lab.views.tail_source import TailSource
from dask_diag_lab.views.text_room import font_px, text_px
from dask_diag_lab.views.time_axis import fit_time_axis, make_time_axis, tell_zero
from dask_diag_lab.views.time_points import Floats, Points
from dask_diag_lab.views.title_words import fitting_title

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
        self._points = LinePoints({line.name: line.title for line in lines}, unit, band=band)
        self._fresh: set[str] = set()
        self._n_set = 0
        self._drawn: object = None
        self._words: tuple[str, ...] = ("",)
        self._end = AxisEnd(SMALLEST.get(unit, 1.0))
        self._span_s: float | None = LIVE_S
        self.source = TailSource(*self._points.columns)
        self._title = Title(text=" ")
        self._time, self._y = MovingRange(), Range1d(start=0, end=1)
        self._y_ticker = FixedTicker(ticks=[0])
        ranges = {"x_range": self._time.model, "y_range": self._y}
        self.model = quiet_figure(look, title=self._title, **ranges)
        self._last_tick = LastTick(self.model)
        self._glyphs: list[tuple[VArea | None, Line]] = []
        self._build(look)
        self._show_axes(is_shown=False, size=pane_size(self.model))
        self.restyle(look)

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
        plot.add_tools(self._hover)
        add_moves(plot)
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
        self._points.set(name, Points(times, mean, low, high))
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
        return self._time.place

    def command(self, verb: str) -> None:
        """Obey ``live`` (the last minutes, as they come) and ``fit`` (everything there is)."""
        if verb in ("live", "fit"):
            self._span_s = LIVE_S if verb == "live" else None
            self._time.release()
            self._time.follow(*self._live_window())
            self.draw()

    def restyle(self, look: Look, lines: Sequence[TimeLine] | None = None) -> None:
        """Apply another look, and the lines' colours that go with it."""
        if lines is not None:
            self._lines = tuple(lines)
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
        self._show_axes(is_shown=self._points.is_known, size=size)
        self._points.align()
        times = self._points.times
        if len(times):
            self._time.follow(*self._live_window())
            self.behind_s = self._time.behind_s(float(times[-1] - times[0]))
            self._draw_lines(size)
            tell_zero(self.model, size, float(times[0]), "where the record begins")
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
        columns, top = self._points.between(self._time.start, self._time.end)
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
        times = self._points.times
        if not len(times):
            return 0.0, 1.0
        last = float(times[-1] - times[0])
        if self._span_s is None or last <= self._span_s:
            # The picture of a young run stands still while its right end fills up.
            steps = (10.0, 20.0, 30.0, 60.0, 120.0, 180.0, LIVE_S)
            return 0.0, next((step for step in steps if last <= step), last)
        return last - self._span_s, last
