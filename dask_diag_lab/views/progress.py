"""How far the tasks of each prefix are: one bar each, those with work left first.

Tasks that the scheduler forgot stay counted as done until their prefix has new work after an end;
on the stock dashboard they leave the bar.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from bokeh.core.properties import value
from bokeh.models import Quad, Range1d, Text
from bokeh.models.annotations import Title

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views import progress_bars as bars
from dask_diag_lab.views import progress_words as words
from dask_diag_lab.views.base import Notice, Table, View
from dask_diag_lab.views.figure import (
    Source,
    quiet_figure,
    quiet_hover,
    set_properties,
    tooltip_html,
)
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.pane_size import CHARACTER_PX, pane_size, restyle_pane
from dask_diag_lab.views.progress_bars import SEGMENTS, Floats, Grid, Ints
from dask_diag_lab.views.small_legend import Entry, SmallLegend

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

NO_TASKS: Final = "No tasks yet. They appear as soon as something is computed on this cluster."

RELEASED_ALPHA: Final = 0.6

_TITLE_PX: Final = 26
_LEGEND_PX: Final = 22
_TEXT_PX: Final = 18
"""From the top of a cell to the top of its bar."""
_GAP_PX: Final = 9
_COLUMN_GAP_PX: Final = 20
_ERRED_MIN_PX: Final = 3


class Progress(View):
    """One bar a prefix."""

    def __init__(self, store: Store, look: Look = LIGHT) -> None:
        super().__init__(store, look)
        edges = [f"edge{index}" for index in range(len(SEGMENTS))]
        hover = [f"hover{line}" for line in range(words.HOVER_LINES)]
        self.cells = Source(
            *("x0", "x1", "y", "top", "bottom", "end", "color", "label", "value"),
            "erred",
            *edges,
            *hover,
        )
        self._order = "size"
        self._drawn: object = None

    # --- the picture

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._title = Title(text=" ")
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=1, end=0)
        plot = self.figure = quiet_figure(
            self.look, title=self._title, x_range=self._x, y_range=self._y
        )
        plot.update(min_border_left=8, min_border_right=8)
        plot.axis.visible = False
        plot.grid.visible = False
        cells = self.cells.model
        self._track = Quad(left="x0", right="x1", top="top", bottom="bottom", line_color=None)
        plot.add_glyph(cells, self._track)
        self._segments = []
        for index in range(len(SEGMENTS)):
            left = f"edge{index - 1}" if index else "x0"
            if SEGMENTS[index] == "erred":
                left = "erred"
            glyph = Quad(left=left, right=f"edge{index}", top="top", bottom="bottom")
            plot.add_glyph(cells, glyph)
            self._segments.append(glyph)
        self._label = Text(x="x0", y="y", text="label", y_offset=3, text_baseline="top")
        self._value = Text(x="x1", y="y", text="value", y_offset=3, text_baseline="top")
        self._value.text_align = "right"
        plot.add_glyph(cells, self._label)
        plot.add_glyph(cells, self._value)
        # Invisible and as large as the cell, so that name and thin bar are easy to point at.
        target = plot.add_glyph(
            cells,
            Quad(left="x0", right="x1", top="y", bottom="end", fill_alpha=0, line_color=None),
        )
        self._hover = quiet_hover(self.look, *self._hover_fields(), renderers=[target])
        plot.add_tools(self._hover)
        self._legend = SmallLegend(plot, self._entries())
        self.restyle()
        return plot

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        colors = data_colors(self.look)
        restyle_pane(self.figure, self.look)
        set_properties(self._track, fill_color=colors.track)
        for name, glyph in zip(SEGMENTS, self._segments, strict=True):
            set_properties(glyph, **self._segment_style(name))
        font = value(self.look.font)
        for text in (self._label, self._value):
            set_properties(text, text_font=font, text_font_size=self.look.font_size)
            set_properties(text, text_color=self.look.foreground)
        set_properties(self._hover, tooltips=tooltip_html(self.look, *self._hover_fields()))
        self._legend.restyle(self._entries())
        self._drawn = None
        self.update()

    def _segment_style(self, name: str) -> dict[str, Any]:
        """Return the glyph properties of one segment; colours and numbers."""
        colors = data_colors(self.look)
        plain = {"line_color": None, "hatch_pattern": None, "fill_alpha": 1.0}
        hatch = {
            "line_color": None,
            "hatch_pattern": "right_diagonal_line",
            "hatch_color": self.look.background,
            "hatch_weight": 0.8,
            "hatch_scale": 9,
        }
        return {
            "released": {**plain, "fill_color": "color", "fill_alpha": RELEASED_ALPHA},
            "memory": {**plain, "fill_color": "color"},
            "erred": {**plain, "fill_color": colors.erred, "line_color": colors.erred_mark},
            "processing": {**plain, "fill_color": colors.queued},
            "queued": {**hatch, "fill_color": colors.queued},
            "no-worker": {**hatch, "fill_color": colors.no_worker},
        }[name]

    def _entries(self) -> list[Entry]:
        colors, back = data_colors(self.look), self.look.background
        some, stripes = prefix_color(0, self.look), "right_diagonal_line"
        return [
            Entry("released", some, alpha=RELEASED_ALPHA),
            Entry("in memory", some),
            Entry("erred", colors.erred, line=colors.erred_mark),
            Entry("processing", colors.queued),
            Entry("queued", colors.queued, hatch=stripes, hatch_color=back),
            Entry("no worker", colors.no_worker, hatch=stripes, hatch_color=back),
            Entry("waiting", colors.track),
        ]

    # --- keeping it up to date

    def command(self, verb: str) -> None:
        """Order by ``order-topological`` or ``order-size``; see `View.command`."""
        if verb in {"order-topological", "order-size"}:
            self._order = verb.removeprefix("order-")
            self.update()

    def update(self) -> None:
        """Draw what changed since the last call; see `View.update`."""
        size = pane_size(self.figure)
        prefixes = self.store.prefixes
        nthreads = self.store.scheduler.nthreads if self.store.scheduler else 0
        now = (prefixes.version, self._order, nthreads, size, self.look)
        if now == self._drawn:
            return
        self._drawn = now
        states = prefixes.states
        if not states.sum():
            self._draw_nothing()
            return
        seconds = bars.estimate_s(states, prefixes.duration, nthreads)
        height = size.height - _TITLE_PX - (0 if size.is_small else _LEGEND_PX)
        width = size.width - 16 + _COLUMN_GAP_PX
        known = int((states.sum(axis=1) > 0).sum())
        grid, shown = bars.fit_grid(known, width, height)
        set_properties(self._x, start=0, end=width - _COLUMN_GAP_PX)
        set_properties(self._y, start=max(height, grid.rows * grid.row_px), end=0)
        set_properties(self._title, text=words.title(states, seconds, size.title_characters))
        self._legend.show(is_shown=not size.is_small, width=size.width)
        chosen = self._chosen(shown)
        self.cells.set(self._columns(states, chosen, grid))
        self.notice = Notice(note=words.hidden_note(states, chosen, known))

    def _draw_nothing(self) -> None:
        self.cells.set({name: [] for name in self.cells.model.data})
        set_properties(self._title, text=" ")
        self._legend.show(is_shown=False)
        self.notice = Notice(empty=NO_TASKS)

    def _chosen(self, number: int) -> Ints:
        """Return the indices of the first ``number`` prefixes, in the order wanted."""
        if self._order == "size":
            return np.arange(number)
        order = self.store.prefixes.topological
        return order[order < number]

    def _columns(self, states: Ints, chosen: Ints, grid: Grid) -> dict[str, Any]:
        states = states[chosen]
        x, y = grid.places(len(chosen))
        bar_px = grid.column_px - _COLUMN_GAP_PX
        edges = bars.segment_edges(states, min(_ERRED_MIN_PX / bar_px, 1.0))
        names = [self.store.prefixes.names[index] for index in chosen.tolist()]
        values = [words.done_of_all(row) for row in states]
        columns: dict[str, Any] = {  # arrays and lists
            "x0": x,
            "x1": x + bar_px,
            "y": y,
            "top": y + _TEXT_PX,
            "bottom": y + grid.row_px - _GAP_PX,
            "end": y + grid.row_px,
            "color": [prefix_color(self.store.palette.index(name), self.look) for name in names],
            "label": [
                fmt.elide(name, max(int(bar_px / CHARACTER_PX) - len(text) - 2, 3))
                for name, text in zip(names, values, strict=True)
            ],
            "value": values,
        }
        columns |= {f"edge{i}": x + bar_px * edges[:, i] for i in range(len(SEGMENTS))}
        # Not there rather than of no width: it has an outline, which would be seen.
        has_erred = bars.counts(states, "erred") > 0
        columns["erred"] = np.where(
            has_erred, columns[f"edge{SEGMENTS.index('erred') - 1}"], np.nan
        )
        nbytes, duration = self.store.prefixes.nbytes[chosen], self.store.prefixes.duration[chosen]
        said = words.hover(names, states, nbytes, duration)
        return columns | {f"hover{i}": [row[i] for row in said] for i in range(words.HOVER_LINES)}

    def _hover_fields(self) -> list[str]:
        return [f"@hover{line}" for line in range(words.HOVER_LINES)]

    def table(self) -> Table:
        """Return one row a prefix, those with work left first."""
        prefixes = self.store.prefixes
        states = prefixes.states
        columns: dict[str, Sequence[object]] = {
            "prefix": list(prefixes.names),
            "total": states.sum(axis=1).tolist(),
            "done": bars.done(states).tolist(),
        }
        columns |= {name: bars.counts(states, name).tolist() for name in STATES}
        columns["nbytes"] = prefixes.nbytes.tolist()
        columns["duration"] = [_or_none(seconds) for seconds in prefixes.duration]
        return Table(columns, {"nbytes": "B", "duration": "s"})


def _or_none(number: Floats) -> float | None:
    return float(number) if np.isfinite(number) else None
