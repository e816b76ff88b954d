"""The Bokeh models of a task stream: figure, column sources, glyphs, legend and hovers.

Knows how things look; `task_stream` decides what is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bokeh.models import (
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    Range1d,
    Scatter,
)
from bokeh.models.annotations import Title
from bokeh.models.renderers import GlyphRenderer
from bokeh.transform import transform

from dask_diag_lab.views.figure import Source, add_glyph, quiet_figure, set_properties, tooltip_html
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.name_legend import color_legend
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.pane_size import restyle_pane
from dask_diag_lab.views.scripted import StreamBars, StreamMoves, StreamTails
from dask_diag_lab.views.stream.code_colors import code_colors
from dask_diag_lab.views.stream.gestures import Gestures
from dask_diag_lab.views.stream.hover import LINES, hover_of
from dask_diag_lab.views.stream.marks import Marks
from dask_diag_lab.views.stream.rects import (
    FULL_HEIGHT,
    N_CODES,
    TRANSFER_CODE,
)
from dask_diag_lab.views.stream.slots import SlotSource
from dask_diag_lab.views.time_axis import make_time_axis

RUNNING_ALPHA: Final = 0.45

_RECT_COLUMNS: Final = (
    *("left", "right", "lane", "code", "height", "kind", "prefix", "nbytes", "task", "busy"),
    *("longest", "count", "source"),
)
_CLEAR: Final = "#00000000"

if TYPE_CHECKING:
    Renderer = GlyphRenderer[Any]  # of any glyph


class Picture:
    """Everything the browser draws of one task stream.

    Attributes
    ----------
    look : Look
        The one that was applied last.
    figure : figure
    x_range, y_range : Range1d
        Seconds since the moment called 0; rows, the first one on top.
    work, moves, erred, killed : SlotSource
        Rectangles by the way in which they are drawn.
    running : Source
        Tasks that run; they end at ``now`` of the facts.
    marks : Marks
        Ends of workers, events, the chosen rectangle.
    texts, shares, keys, lanes, workers, facts : Source
        Names and numbers that the hover texts look up.
    legend : Source
        One row for each entry of the legend.
    """

    def __init__(self, look: Look) -> None:
        self.x_range = Range1d(start=0, end=1)
        self.y_range = Range1d(start=0.5, end=-0.5, bounds=(-0.5, 0.5))
        self.figure = quiet_figure(
            look,
            x_range=self.x_range,
            y_range=self.y_range,
            lod_threshold=None,
        )
        self.title = Title(text="Task Stream")
        self.figure.title = self.title  # figure() would take a copy
        self.work, self.erred, self.killed = (SlotSource(*_RECT_COLUMNS) for _ in range(3))
        self.moves = SlotSource(*_RECT_COLUMNS, "y")
        self.running = Source("left", "lane", "code", "prefix", "key")
        self.texts = Source("id", "text")
        self.shares = Source("id", "words")
        self.keys = Source("task", "key")
        self.lanes = Source("worker", "slot")
        self.workers = Source("label")
        self.facts = Source("zero", "now", "transfer_words")
        self.legend = Source("label", "code", "at")
        self._fill, self._edge, self._tail = (
            LinearColorMapper(low=-0.5, high=N_CODES - 0.5, high_color=_CLEAR) for _ in range(3)
        )
        self._is_outlined = True
        self._has_labels = False
        self._axes_shown = (True, True)
        self._hovers: list[HoverTool] = []
        self.marks = Marks(self.figure, look)
        self._bars = self._add_bars()
        self._add_points()
        self.marks.add_above(self.killed)
        self._axes()
        fill, edge = transform("code", self._fill), transform("code", self._edge)
        self._legend = color_legend(self.figure, self.legend, fill, edge)
        self._add_hovers(look)
        self._gestures = Gestures(self.figure, self.x_range, self.y_range)
        self.restyle(look)

    @property
    def sources(self) -> tuple[Source, ...]:
        rects = (self.work, self.moves, self.erred, self.killed, self.running)
        marks = (self.marks.gone, self.marks.events, self.marks.chosen)
        names = (self.texts, self.shares, self.keys, self.lanes, self.workers)
        return (*rects, *marks, *names, self.facts, self.legend)

    @property
    def sent_bytes(self) -> int:
        return sum(source.sent_bytes for source in self.sources)

    def _add_bars(self) -> dict[str, Renderer]:
        fill, edge = transform("code", self._fill), transform("code", self._edge)
        drawn: dict[str, Renderer] = {}
        for name, y, height in (
            ("work", "lane", "height"),
            ("running", "lane", FULL_HEIGHT),
            ("moves", "y", "height"),
            ("erred", "lane", "height"),
            ("killed", "lane", "height"),
        ):
            source: Source = getattr(self, name)
            bars = (StreamMoves if name == "moves" else StreamBars)(
                y=y,
                left="left",
                right={"value": 0.0} if name == "running" else "right",
                height=height,
                fill_color=fill,
                line_color=edge,
                line_width=1,
            )
            drawn[name] = add_glyph(self.figure, source.model, bars)
            if name == "moves":
                tails = StreamTails(
                    y=y,
                    left="left",
                    right="right",
                    height=height,
                    fill_color=transform("code", self._tail),
                    line_color=None,
                )
                drawn["tails"] = add_glyph(self.figure, source.model, tails)
        drawn["running"].glyph.update(fill_alpha=RUNNING_ALPHA, line_color=None)
        drawn["erred"].glyph.update(hatch_pattern="cross", hatch_scale=7, hatch_weight=0.8)
        drawn["killed"].glyph.update(
            hatch_pattern="left_diagonal_line", hatch_scale=7, hatch_weight=1.2
        )
        return drawn

    def _add_points(self) -> None:
        """Add the pointed ends of what runs."""
        point = Scatter(
            x={"value": 0.0},
            y="lane",
            marker="triangle",
            angle=-1.5708,
            size=7,
            fill_color=transform("code", self._fill),
            line_color=None,
        )
        self._points: Renderer = add_glyph(self.figure, self.running.model, point)

    def run_until(self, now: float) -> None:
        """Let what runs end at a moment, in seconds since the moment called 0."""
        set_properties(self._bars["running"].glyph, right={"value": now})
        set_properties(self._points.glyph, x={"value": now})

    @property
    def tails(self) -> Renderer:
        """The grey ends of transfers."""
        return self._bars["tails"]

    def grey_tails(self, share: float) -> None:
        """Draw the last part of transfers as (de)serialization."""
        set_properties(self.tails.glyph, share=share)

    def _axes(self) -> None:
        make_time_axis(self.figure)
        self.row_axis = self.figure.yaxis[0]
        self._row_ticker, self._divider_ticker = FixedTicker(ticks=[]), FixedTicker(ticks=[])
        self.row_axis.update(ticker=self._row_ticker, major_tick_line_color=None)
        self._separators = self.figure.ygrid[0]
        self._separators.ticker = self._divider_ticker

    def _add_hovers(self, look: Look) -> None:
        tables = {
            "texts": self.texts.model,
            "shares": self.shares.model,
            "keys": self.keys.model,
            "rows": self.lanes.model,
            "workers": self.workers.model,
            "facts": self.facts.model,
        }
        for renderer, what, suffix in (
            (self._bars["work"], "tasks", ""),
            (self._bars["moves"], "transfers or disk accesses", ""),
            (self._bars["erred"], "failed tasks", " · failed"),
            (self._bars["killed"], "tasks", " · its worker died"),
            (self._bars["running"], "tasks", " · running"),
            (self.marks.band, "worker", ""),
        ):
            self._hovers.append(hover_of(renderer, look, tables, self.x_range, what, suffix))
        self.figure.add_tools(*self._hovers)

    @property
    def rows(self) -> tuple[float, float]:
        """Top and bottom of the visible rows."""
        ends = _number(self.y_range.start), _number(self.y_range.end)
        return min(ends), max(ends)

    @property
    def times(self) -> tuple[float, float]:
        """Start and end of the visible time, seconds since the moment called 0."""
        return _number(self.x_range.start), _number(self.x_range.end)

    def label_rows(self, labels: dict[float, str], dividers: list[float]) -> None:
        """Name rows and draw the lines between workers."""
        ticks = [position for position, text in labels.items() if text]
        self._has_labels = bool(ticks)
        words: dict[float | str, str] = {_exact(at): labels[at] for at in ticks}
        set_properties(self._row_ticker, ticks=ticks)
        set_properties(self.row_axis, major_label_overrides=words)
        set_properties(self._divider_ticker, ticks=dividers)

    def show_axes(self, *, is_shown: bool) -> None:
        """Show axes and lines, or none: where nothing is drawn words may lie in their place."""
        wanted = is_shown, is_shown and self._has_labels
        if wanted != self._axes_shown:
            self._axes_shown = wanted
            self.row_axis.visible = wanted[1]
            for part in (self.figure.xaxis[0], *self.figure.grid):
                part.visible = is_shown

    def outline(self, *, is_on: bool) -> None:
        """Draw the outlines that set adjacent tasks apart, or leave them out."""
        color = transform("code", self._edge) if is_on else None
        if is_on != self._is_outlined:
            self._is_outlined = is_on
            for name in ("work", "moves"):
                self._bars[name].glyph.update(line_color=color)

    def show_legend(self, is_shown: bool) -> None:
        """Show or hide the legend: low pictures have no room for one."""
        set_properties(self._legend, visible=is_shown)

    def restyle(self, look: Look) -> None:
        """Apply a look to every model; no data is sent again."""
        self.look = look
        restyle_pane(self.figure, look)
        colors = data_colors(look)
        fill, edge = code_colors(look)
        tail = [_CLEAR] * N_CODES
        tail[TRANSFER_CODE] = colors.deserialize
        set_properties(self._fill, palette=fill)
        set_properties(self._edge, palette=edge)
        set_properties(self._tail, palette=tail)
        self._bars["erred"].glyph.update(hatch_color=colors.erred_mark)
        self._bars["killed"].glyph.update(hatch_color=colors.killed_mark)
        self.marks.restyle(look)
        self._gestures.restyle(look)
        set_properties(self._separators, grid_line_color=look.grid, grid_line_alpha=1.0)
        html = tooltip_html(look, *LINES)
        for hover in self._hovers:
            set_properties(hover, tooltips=html)


def _number(end: Any) -> float:  # Bokeh: float | datetime | timedelta
    """Return a range's end, which Bokeh types as a number or a date, as the number it is."""
    return float(end)


def _exact(position: float) -> float | int:
    """Return whole positions as int: Bokeh finds the word of tick 3 under 3, not 3.0."""
    return int(position) if position == int(position) else position
