"""The glyphs of the progress plot: track, segments, words and what the pointer hits.

Knows Bokeh and the look; what is drawn comes as rows and a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from bokeh.core.properties import value
from bokeh.models import Quad, Text
from bokeh.plotting import figure

from dask_diag_lab.views.figure import Source, add_glyph, quiet_hover, set_properties, tooltip_html
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.tasks import progress_bars as bars
from dask_diag_lab.views.tasks import progress_words as words
from dask_diag_lab.views.tasks.progress_bars import SEGMENTS, Grid
from dask_diag_lab.views.tasks.progress_rows import Rows
from dask_diag_lab.views.text_room import fitting_name, font_px, text_px

RELEASED_ALPHA: Final = 0.6
COLUMN_GAP_PX: Final = 20

_TEXT_PX: Final = (18, 15)
"""From the top of a cell to the top of its bar; the second one of a compact grid."""
_GAP_PX: Final = (9, 3)
_OFFSET_PX: Final = (3, 1)
_ERRED_MIN_PX: Final = 3
_NAME_PX: Final = 60
"""Of a name, before the words at the other end of its bar get shorter."""
_BETWEEN_PX: Final = 10
_HOVER: Final = tuple(f"@hover{line}" for line in range(words.HOVER_LINES))


class ProgressGlyphs:
    """The cells of one figure.

    Attributes
    ----------
    cells : Source
    segments : list of Quad
        In the order of `SEGMENTS`.
    """

    def __init__(self) -> None:
        edges = [f"edge{index}" for index in range(len(SEGMENTS))]
        hover = [f"hover{line}" for line in range(words.HOVER_LINES)]
        self.cells = Source(
            *("x0", "x1", "y", "top", "bottom", "end", "color", "label", "value"),
            "erred",
            *edges,
            *hover,
        )
        self.segments: list[Quad] = []
        self._font_px = 0.0

    def add_to(self, plot: figure, look: Look) -> None:
        """Add the glyphs to ``plot``."""
        cells = self.cells.model
        self._track = Quad(left="x0", right="x1", top="top", bottom="bottom", line_color=None)
        add_glyph(plot, cells, self._track)
        for index in range(len(SEGMENTS)):
            left = f"edge{index - 1}" if index else "x0"
            if SEGMENTS[index] == "erred":
                left = "erred"
            glyph = Quad(left=left, right=f"edge{index}", top="top", bottom="bottom")
            add_glyph(plot, cells, glyph)
            self.segments.append(glyph)
        self.label = Text(x="x0", y="y", text="label", y_offset=3, text_baseline="top")
        self.value = Text(x="x1", y="y", text="value", y_offset=3, text_baseline="top")
        self.value.text_align = "right"
        add_glyph(plot, cells, self.label)
        add_glyph(plot, cells, self.value)
        # Invisible and as large as the cell, so that name and thin bar are easy to point at.
        target = add_glyph(
            plot,
            cells,
            Quad(left="x0", right="x1", top="y", bottom="end", fill_alpha=0, line_color=None),
        )
        self._hover = quiet_hover(look, *_HOVER, renderers=[target])
        plot.add_tools(self._hover)
        self.restyle(look)

    def restyle(self, look: Look) -> None:
        """Apply the look; the colours of prefixes follow with the next rows."""
        set_properties(self._track, fill_color=data_colors(look).track)
        for name, glyph in zip(SEGMENTS, self.segments, strict=True):
            set_properties(glyph, **_segment_style(name, look))
        font = value(look.font)
        self._font_px = font_px(look.font_size)
        for text in (self.label, self.value):
            set_properties(text, text_font=font, text_font_size=look.font_size)
            set_properties(text, text_color=look.foreground)
        set_properties(self._hover, tooltips=tooltip_html(look, *_HOVER))

    def clear(self) -> None:
        """Draw nothing."""
        self.cells.set({name: [] for name in self.cells.model.data})

    def draw(self, rows: Rows, grid: Grid, first: int, colors: Sequence[str]) -> None:
        """Draw ``rows`` in the cells of a grid from cell ``first`` on."""
        x, y = grid.places(len(rows), first)
        bar_px = grid.column_px - COLUMN_GAP_PX
        edges = bars.segment_edges(rows.states, min(_ERRED_MIN_PX / bar_px, 1.0))
        labels, values = self._texts(rows, bar_px)
        columns: dict[str, Any] = {  # arrays and lists
            "x0": x,
            "x1": x + bar_px,
            "y": y,
            "top": y + _TEXT_PX[grid.is_compact],
            "bottom": y + grid.row_px - _GAP_PX[grid.is_compact],
            "end": y + grid.row_px,
            "color": list(colors),
            "label": labels,
            "value": values,
        }
        columns |= {f"edge{i}": x + bar_px * edges[:, i] for i in range(len(SEGMENTS))}
        # Not there rather than of no width: it has an outline, which would be seen.
        has_erred = bars.counts(rows.states, "erred") > 0
        columns["erred"] = np.where(
            has_erred, columns[f"edge{SEGMENTS.index('erred') - 1}"], np.nan
        )
        said = words.hover(rows)
        columns |= {f"hover{i}": [row[i] for row in said] for i in range(words.HOVER_LINES)}
        self.cells.set(columns)
        for text in (self.label, self.value):
            set_properties(text, y_offset=_OFFSET_PX[grid.is_compact])

    def _texts(self, rows: Rows, room_px: float) -> tuple[list[str], list[str]]:
        """Return what stands at the two ends of each bar: names give way to figures."""
        names, values = [], []
        for name, states in zip(rows.names, rows.states, strict=True):
            wanted_px = min(text_px(name, self._font_px), _NAME_PX) + _BETWEEN_PX
            said = words.done_of_all(states)
            fitting = (text for text in said if self._px(text) + wanted_px <= room_px)
            figures = next(fitting, said[-1])
            left_px = room_px - self._px(figures) - _BETWEEN_PX
            names.append(fitting_name(name, left_px, self._font_px))
            values.append(figures)
        return names, values

    def _px(self, text: str) -> float:
        return text_px(text, self._font_px)


def _segment_style(name: str, look: Look) -> dict[str, Any]:  # properties have no common type
    """Return the glyph properties of one segment; colours and numbers."""
    colors = data_colors(look)
    plain = {"line_color": None, "hatch_pattern": None, "fill_alpha": 1.0}
    hatch = {
        "line_color": None,
        "hatch_pattern": "right_diagonal_line",
        "hatch_color": look.background,
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


def legend_entries(look: Look) -> list[Entry]:
    """Return an entry for each segment, and for what waits."""
    colors, back = data_colors(look), look.background
    some, stripes = prefix_color(0, look), "right_diagonal_line"
    return [
        Entry("released", some, alpha=RELEASED_ALPHA),
        Entry("in memory", some),
        Entry("erred", colors.erred, line=colors.erred_mark),
        Entry("processing", colors.queued),
        Entry("queued", colors.queued, hatch=stripes, hatch_color=back),
        Entry("no worker", colors.no_worker, hatch=stripes, hatch_color=back),
        Entry("waiting", colors.track),
    ]
