"""The Bokeh models of a bar plot: figure, sources, glyphs, hover, legend, and how rows are chosen.

Knows how things look; `worker_bars` decides what is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from bokeh.core.properties import value
from bokeh.events import Event, MouseWheel, Tap
from bokeh.models import FixedTicker, HBar, Range1d, Segment, Text
from bokeh.models.annotations import Title

from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_figure,
    quiet_hover,
    set_properties,
    smaller,
    tooltip_html,
)
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.pane_size import restyle_pane
from dask_diag_lab.views.small_legend import Entry, SmallLegend
from dask_diag_lab.views.workers.bar_measure import Part
from dask_diag_lab.views.workers.form_switch import FormSwitch

BAR_HEIGHT: Final = 0.86
_BARS_SHARE: Final = 0.4
"""Share of the frame's width that is left for bars at least."""


class BarPicture:
    """Everything the browser draws of one bar plot.

    Parameters
    ----------
    look : Look
    parts : sequence of Part
    is_split : bool
        Parts lie below each other, each from 0, instead of one after the other.
    hover_lines : int
    forms : sequence of str
        Words for the ways to put workers together.
    entries : sequence of Entry
        The legend.

    Attributes
    ----------
    figure : figure
    bars, marks, limits : Source
        Rows; thin and strong lines across them.
    x, y : Range1d
    """

    def __init__(
        self,
        look: Look,
        parts: Sequence[Part],
        *,
        is_split: bool,
        hover_lines: int,
        forms: Sequence[str],
        entries: Sequence[Entry],
    ) -> None:
        self.parts, self._is_split, self._hover_lines = parts, is_split, hover_lines
        self.bars = Source(*self._columns())
        self.marks = Source("x", "y0", "y1")
        self.limits = Source("x", "y0", "y1")
        self.title = Title(text=" ")
        self.x, self.y = Range1d(start=0, end=1), Range1d(start=1, end=0)
        self.x_ticker, self.y_ticker = FixedTicker(ticks=[0]), FixedTicker(ticks=[])
        self.on_scroll: Callable[[float], None] = lambda _delta: None
        self.on_tap: Callable[[int], None] = lambda _row: None
        self.on_form: Callable[[int], None] = lambda _form: None
        self.figure = quiet_figure(look, title=self.title, x_range=self.x, y_range=self.y)
        # Half a tick's label stands out at either end.
        self.figure.update(min_border_left=8, min_border_right=20)
        self.figure.ygrid.visible = False
        self.figure.xaxis.ticker = self.x_ticker
        self.figure.xgrid.ticker = self.x_ticker
        self.figure.yaxis.ticker = self.y_ticker
        self._add_bars()
        self._add_lines(look)
        self.legend = SmallLegend(self.figure, entries)
        self.switch = FormSwitch(self.figure, forms, self._choose)
        self.figure.on_event(MouseWheel, self._wheel)
        self.figure.on_event(Tap, self._tap)

    def _columns(self) -> list[str]:
        edges = [f"edge{index}" for index in range(len(self.parts))]
        split = [f"y{index}" for index in range(len(self.parts))] if self._is_split else []
        return ["y", "track", "color", "value", *edges, *split, *self._hover_names()]

    def _hover_names(self) -> list[str]:
        return [f"hover{line}" for line in range(self._hover_lines)]

    def _add_bars(self) -> None:
        bars = self.bars.model
        self._track = HBar(y="y", right="track", height=BAR_HEIGHT, line_color=None)
        add_glyph(self.figure, bars, self._track)
        self._colored: list[tuple[HBar, str]] = []
        height = BAR_HEIGHT / len(self.parts) if self._is_split else BAR_HEIGHT
        for index, part in enumerate(self.parts):
            left = f"edge{index - 1}" if index and not self._is_split else 0
            y = f"y{index}" if self._is_split else "y"
            glyph = HBar(y=y, left=left, right=f"edge{index}", height=height)
            glyph.update(line_color=None, fill_color="color", fill_alpha=part.alpha)
            add_glyph(self.figure, bars, glyph)
            if part.color:
                self._colored.append((glyph, part.color))

    def _add_lines(self, look: Look) -> None:
        plot = self.figure
        self._mark = Segment(x0="x", x1="x", y0="y0", y1="y1", line_width=1, line_dash="2 2")
        add_glyph(plot, self.marks.model, self._mark)
        self._limit = Segment(x0="x", x1="x", y0="y0", y1="y1", line_width=2)
        add_glyph(plot, self.limits.model, self._limit)
        self.text = Text(x=1, y="y", text="value", text_baseline="middle", x_offset=6)
        add_glyph(plot, self.bars.model, self.text)
        # Invisible and as wide as the plot, so that a short bar is as easy to point at.
        self.target = HBar(y="y", right=1, height=1, fill_alpha=0, line_color=None)
        target = add_glyph(plot, self.bars.model, self.target)
        fields = [f"@{name}" for name in self._hover_names()]
        self._hover = quiet_hover(look, *fields, renderers=[target])
        plot.add_tools(self._hover)

    def restyle(self, look: Look, entries: Sequence[Entry]) -> None:
        """Apply another look."""
        colors = data_colors(look)
        restyle_pane(self.figure, look)
        set_properties(self.figure.yaxis[0], major_tick_line_color=None)
        set_properties(self._track, fill_color=colors.track)
        for glyph, name in self._colored:
            set_properties(glyph, fill_color=getattr(colors, name))
        set_properties(self._mark, line_color=look.muted)
        set_properties(self._limit, line_color=look.foreground)
        set_properties(
            self.text,
            text_color=look.foreground,
            text_font=value(look.font),
            text_font_size=smaller(look.font_size),
        )
        fields = [f"@{name}" for name in self._hover_names()]
        set_properties(self._hover, tooltips=tooltip_html(look, *fields))
        self.legend.restyle(entries)
        self.switch.restyle(look)

    def reach(self, end: float, words_share: float) -> None:
        """Let the longest bar end at ``end``, before a share of the frame for the words."""
        whole = end / max(1 - words_share, _BARS_SHARE)
        set_properties(self.x, start=0, end=whole)
        set_properties(self.text, x=end)
        set_properties(self.target, right=whole)

    def set_rows(
        self,
        edges: Sequence[npt.NDArray[np.float64]],
        columns: Mapping[str, npt.NDArray[np.float64] | Sequence[str]],
        hover: Sequence[Sequence[str]],
    ) -> None:
        """Show rows: the right end of each part, ``track``, ``color``, ``value``, hover lines."""
        y = np.arange(len(hover), dtype=np.float64)
        given: dict[str, npt.NDArray[np.float64] | Sequence[str]] = {"y": y, **columns}
        given |= {f"edge{index}": edge for index, edge in enumerate(edges)}
        if self._is_split:
            n = len(self.parts)
            offsets = (np.arange(n) - (n - 1) / 2) * BAR_HEIGHT / n
            given |= {f"y{index}": y + offset for index, offset in enumerate(offsets.tolist())}
        for line, name in enumerate(self._hover_names()):
            given[name] = [lines[line] if line < len(lines) else "" for lines in hover]
        self.bars.set(given)

    def set_marks(self, marks: Sequence[npt.NDArray[np.float64]]) -> None:
        """Show lines across the rows, the first ones strong; NaN where there is none."""
        for source, shown in ((self.limits, marks[:1]), (self.marks, marks[1:])):
            x = np.concatenate([np.empty(0), *shown])
            y = np.concatenate([np.empty(0), *(np.arange(len(m), dtype=float) for m in shown)])
            kept = np.isfinite(x)
            source.set({"x": x[kept], "y0": y[kept] - 0.5, "y1": y[kept] + 0.5})

    def clear(self) -> None:
        """Show nothing: what there is to say stands in a notice."""
        for source in (self.bars, self.marks, self.limits):
            source.set({name: [] for name in source.model.data})
        set_properties(self.title, text=" ")
        self.legend.show(is_shown=False)
        self.switch.show(is_shown=False, chosen=0)
        for axis in (self.figure.xaxis[0], self.figure.yaxis[0]):
            set_properties(axis, visible=False)

    def _choose(self, form: int) -> None:
        self.on_form(form)

    def _wheel(self, event: Event) -> None:
        if isinstance(event, MouseWheel) and event.delta:
            self.on_scroll(event.delta)

    def _tap(self, event: Event) -> None:
        if not isinstance(event, Tap) or event.y is None or event.x is None:
            return
        row = round(event.y)
        is_inside = 0 <= event.x <= float(self.target.right)  # type: ignore[arg-type]  # a number
        if is_inside and 0 <= row < len(self.bars.model.data["y"]):
            self.on_tap(row)
