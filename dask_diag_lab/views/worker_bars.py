"""What the plots with a bar for each worker share: rows, stacked parts, words beside them, hover.

Knows Bokeh and the look; what is measured comes from the subclass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from bokeh.core.properties import value
from bokeh.models import FixedTicker, HBar, Range1d, Segment, Text
from bokeh.models.annotations import Title
from bokeh.plotting import figure

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bar_measure import Measure, Part, Words
from dask_diag_lab.views.base import Notice, View
from dask_diag_lab.views.figure import (
    Source,
    quiet_figure,
    quiet_hover,
    set_properties,
    smaller,
    tooltip_html,
)
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.palette import DataColors, data_colors
from dask_diag_lab.views.pane_size import CHARACTER_PX, PaneSize, pane_size, restyle_pane
from dask_diag_lab.views.small_legend import Entry, SmallLegend
from dask_diag_lab.views.worker_rows import Rows, capacity, make_rows

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

NO_WORKERS: Final = "This cluster has no workers yet. Add some with `cluster.scale(4)`."
NO_DATA: Final = "Waiting for the first data of this cluster."

_BAR_HEIGHT: Final = 0.86
_LABEL_PX: Final = 13
_NAME_CHARACTERS: Final = 20


class WorkerBars(View):
    """A horizontal bar for each worker, or for sorted groups of workers when there are many."""

    parts: ClassVar[Sequence[Part]] = (Part(""),)
    unit: ClassVar[str] = "number"
    """How ticks are written: bytes, seconds, percent or number."""
    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(fmt.number_ticks)
    sorted_by: ClassVar[str] = ""
    """What groups are sorted by, in words."""
    rule: ClassVar[str] = ""
    """Which colour a group takes, in words."""
    hover_lines: ClassVar[int] = 4
    value_characters: ClassVar[int] = 10
    """Room for `Words.value`."""
    row_max_px: ClassVar[int] = 44
    has_names: ClassVar[bool] = True

    def __init__(self, store: Store, look: Look = LIGHT) -> None:
        super().__init__(store, look)
        self.bars = Source(*self._columns())
        self.marks = Source("x", "y0", "y1")
        self.limits = Source("x", "y0", "y1")
        self._drawn: object = None

    # --- what a subclass says

    @abstractmethod
    def measure(self) -> Measure:
        """Return what to draw now; there is at least one worker."""

    @abstractmethod
    def words_of(self, worker: int) -> Words:
        """Return what is said about one worker."""

    @abstractmethod
    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about a group; the headline is written by `WorkerBars`."""

    @abstractmethod
    def level_colors(self, colors: DataColors) -> Sequence[str]:
        """Return the colour of each level."""

    def legend_entries(self, colors: DataColors) -> Sequence[Entry]:
        """Return the entries of the legend."""
        del colors
        return ()

    def group_level(self, rows: Rows, level: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Return the level of each row; that of most of its workers unless overridden."""
        return rows.commonest(level, len(self.level_colors(data_colors(self.look))))

    # --- the picture

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._title = Title(text=" ")
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=1, end=0)
        self._x_ticker, self._y_ticker = FixedTicker(ticks=[0]), FixedTicker(ticks=[])
        self.figure = quiet_figure(self.look, title=self._title, x_range=self._x, y_range=self._y)
        # Half a tick's label stands out at either end.
        self.figure.update(min_border_left=8, min_border_right=20)
        self.figure.ygrid.visible = False
        self.figure.xaxis.ticker = self._x_ticker
        self.figure.xgrid.ticker = self._x_ticker
        self.figure.yaxis.ticker = self._y_ticker
        self._add_glyphs(self.figure)
        self._legend = SmallLegend(self.figure, self.legend_entries(data_colors(self.look)))
        self.restyle()
        return self.figure

    def _add_glyphs(self, plot: figure) -> None:
        bars = self.bars.model
        self._track = HBar(y="y", right="track", height=_BAR_HEIGHT, line_color=None)
        plot.add_glyph(bars, self._track)
        self._greys = []
        for index, part in enumerate(self.parts):
            left = f"edge{index - 1}" if index else 0
            glyph = HBar(y="y", left=left, right=f"edge{index}", height=_BAR_HEIGHT)
            glyph.update(line_color=None, fill_color="color", fill_alpha=part.alpha)
            plot.add_glyph(bars, glyph)
            if part.is_grey:
                self._greys.append(glyph)
        self._mark = Segment(x0="x", x1="x", y0="y0", y1="y1", line_width=1, line_dash="2 2")
        plot.add_glyph(self.marks.model, self._mark)
        self._limit = Segment(x0="x", x1="x", y0="y0", y1="y1", line_width=2)
        plot.add_glyph(self.limits.model, self._limit)
        self._text = Text(x=1, y="y", text="value", text_baseline="middle", x_offset=6)
        plot.add_glyph(bars, self._text)
        # Invisible and as wide as the plot, so that a short bar is as easy to point at.
        self._target = HBar(y="y", right=1, height=1, fill_alpha=0, line_color=None)
        target = plot.add_glyph(bars, self._target)
        self._hover = quiet_hover(self.look, *self._hover_fields(), renderers=[target])
        plot.add_tools(self._hover)

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        colors = data_colors(self.look)
        restyle_pane(self.figure, self.look)
        set_properties(self.figure.yaxis[0], major_tick_line_color=None)
        set_properties(self._track, fill_color=colors.track)
        for glyph in self._greys:
            set_properties(glyph, fill_color=colors.spilled)
        set_properties(self._mark, line_color=self.look.muted)
        set_properties(self._limit, line_color=self.look.foreground)
        set_properties(
            self._text,
            text_color=self.look.foreground,
            text_font=value(self.look.font),
            text_font_size=smaller(self.look.font_size),
        )
        set_properties(self._hover, tooltips=tooltip_html(self.look, *self._hover_fields()))
        self._legend.restyle(self.legend_entries(colors))
        self._drawn = None
        self.update()

    # --- keeping it up to date

    def update(self) -> None:
        """Draw what changed since the last call; see `View.update`."""
        size = pane_size(self.figure)
        workers = self.store.workers
        now = (workers.version, self.store.scheduler, size, self.look)
        if now == self._drawn:
            return
        self._drawn = now
        if not len(workers.address):
            self._draw_nothing()
            return
        measure = self.measure()
        rows = make_rows(measure.order_by, capacity(size.rows_px))
        self._draw_frame(measure, rows, size)
        self._draw_bars(measure, rows, size)
        self._draw_marks(measure, rows)
        self.notice = Notice(note=self._note(rows))

    def _draw_nothing(self) -> None:
        for source in (self.bars, self.marks, self.limits):
            source.set({name: [] for name in source.model.data})
        set_properties(self._title, text=" ")
        self._legend.show(is_shown=False)
        for axis in (self.figure.xaxis[0], self.figure.yaxis[0]):
            set_properties(axis, visible=False)
        waiting = self.store.scheduler is None
        self.notice = Notice(empty=NO_DATA if waiting else NO_WORKERS)

    def _draw_frame(self, measure: Measure, rows: Rows, size: PaneSize) -> None:
        """Set title, ranges, ticks and what else depends on the room there is."""
        plot = self.figure
        is_long = len(measure.title) > size.title_characters
        set_properties(self._title, text=measure.short_title if is_long else measure.title)
        room_px = self._room_px(rows, size)
        end = measure.end / max(1 - room_px / max(size.width, 2 * room_px), 0.5)
        set_properties(self._x, start=0, end=end)
        set_properties(self._text, x=measure.end)
        set_properties(self._target, right=end)
        ticks = type(self).ticks(measure.end, max(size.width // 120, 2))
        set_properties(self._x_ticker, ticks=ticks)
        set_properties(
            plot.xaxis[0], visible=True, major_label_overrides=fmt.tick_labels(ticks, self.unit)
        )
        shown = max(len(rows), round(size.rows_px / self.row_max_px))
        set_properties(self._y, start=shown - 0.5, end=-0.5)
        self._legend.show(is_shown=not size.is_small, width=size.width)
        self._draw_names(rows, size.rows_px / shown, size)

    def _room_px(self, rows: Rows, size: PaneSize) -> float:
        """Return the width that the words beside the bars need."""
        if self._is_cramped(rows, size):
            return 0
        return (2 if size.is_narrow else self.value_characters) * CHARACTER_PX + 8

    @staticmethod
    def _is_cramped(rows: Rows, size: PaneSize) -> bool:
        return size.rows_px / max(len(rows), 1) < _LABEL_PX - 2

    def _draw_names(self, rows: Rows, row_px: float, size: PaneSize) -> None:
        axis = self.figure.yaxis[0]
        is_named = self.has_names and not (size.is_narrow or rows.is_grouped)
        set_properties(axis, visible=is_named)
        if not is_named:
            return
        step = next((s for s in (1, 2, 5) if s * row_px >= _LABEL_PX), 10)
        shown = range(0, len(rows), step)
        names = self.store.workers.name
        labels = {index: fmt.elide(str(names[index]), _NAME_CHARACTERS) for index in shown}
        set_properties(self._y_ticker, ticks=list(shown))
        set_properties(axis, major_label_overrides=labels)

    def _draw_bars(self, measure: Measure, rows: Rows, size: PaneSize) -> None:
        edges = np.cumsum([rows.mean(length) for length in measure.lengths], axis=0)
        level = self.group_level(rows, measure.level) if rows.is_grouped else measure.level
        palette = self.level_colors(data_colors(self.look))
        words = [self._row_words(rows, row) for row in range(len(rows))]
        is_cramped = self._is_cramped(rows, size)
        columns: dict[str, Any] = {  # arrays and lists
            "y": np.arange(len(rows), dtype=np.float64),
            "track": rows.mean(measure.track),
            "color": [palette[index] for index in level.tolist()],
            "value": [
                "" if is_cramped else said.sign if size.is_narrow else said.value for said in words
            ],
        }
        columns |= {f"edge{index}": edge for index, edge in enumerate(edges)}
        columns |= {
            f"hover{line}": [said.hover[line] if line < len(said.hover) else "" for said in words]
            for line in range(self.hover_lines)
        }
        self.bars.set(columns)

    def _row_words(self, rows: Rows, row: int) -> Words:
        if not rows.is_grouped:
            return self.words_of(row)
        members = rows.members(row)
        said = self.words_of_group(members)
        first = int(rows.starts[row]) + 1
        names = ", ".join(str(self.store.workers.name[index]) for index in members[:4].tolist())
        more = f", … ({len(members)})" if len(members) > 4 else ""
        place = f"{first}–{first + len(members) - 1} of {len(rows.order)}"
        return Words(said.value, said.sign, (f"Workers {place}", *said.hover, f"{names}{more}"))

    def _draw_marks(self, measure: Measure, rows: Rows) -> None:
        for source, marks in ((self.limits, measure.marks[:1]), (self.marks, measure.marks[1:])):
            x = np.concatenate([np.empty(0), *(rows.mean(mark) for mark in marks)])
            y = np.tile(np.arange(len(rows), dtype=np.float64), len(marks))
            kept = np.isfinite(x)
            source.set({"x": x[kept], "y0": y[kept] - 0.5, "y1": y[kept] + 0.5})

    def _note(self, rows: Rows) -> str:
        if not rows.is_grouped:
            return ""
        each = int(rows.sizes[0])
        return (
            f"{fmt.count(len(rows.order))} workers sorted by {self.sorted_by}; "
            f"each bar is the mean of {each}, {self.rule}"
        )

    def _columns(self) -> list[str]:
        edges = [f"edge{index}" for index in range(len(self.parts))]
        hover = [f"hover{line}" for line in range(self.hover_lines)]
        return ["y", "track", "color", "value", *edges, *hover]

    def _hover_fields(self) -> list[str]:
        return [f"@hover{line}" for line in range(self.hover_lines)]
