"""The task graph by groups: a box each, with what the group has done, and lines between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from bokeh.core.properties import value
from bokeh.models import Quad, Segment, Text
from bokeh.plotting import figure

from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_hover,
    set_properties,
    smaller,
    tooltip_html,
)
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.tasks import progress_bars as bars
from dask_diag_lab.views.tasks.group_box import LINE, PADDING_PX, Box, box_of
from dask_diag_lab.views.tasks.group_nodes import (
    Floats,
    Metrics,
    Structure,
    metrics_of,
    structure_of,
)
from dask_diag_lab.views.tasks.group_words import wanted_px, words_of
from dask_diag_lab.views.tasks.layout.layered_graph import has_parts
from dask_diag_lab.views.tasks.layout.named_layout import Place, place_nodes, rows_needed
from dask_diag_lab.views.tasks.progress_bars import SEGMENTS
from dask_diag_lab.views.text_room import font_px

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

_HOVER: Final = ("@name", "@done", "@states", "@memory", "@time", "@erred", "@prefix")
_RELEASED_ALPHA: Final = 0.6
_LOOSE: Final = 1.5
"""Boxes are placed anew where they could be larger by that."""


def legend_entries(look: Look) -> list[Entry]:
    """Return what the strip at the bottom of a box and its outline mean."""
    colors, some = data_colors(look), prefix_color(0, look)
    return [
        Entry("released", some, alpha=_RELEASED_ALPHA),
        Entry("in memory", some),
        Entry("erred", colors.erred, line=colors.erred_mark),
        Entry("processing", colors.queued, line=some),
        Entry("not done", colors.track),
    ]


class GroupGraph:
    """Boxes of groups and the lines between them, in one figure.

    Attributes
    ----------
    boxes, edges : Source
    structure : Structure or None
        What is drawn; None when nothing is.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        strips = [f"edge{index}" for index in range(len(SEGMENTS))]
        self.boxes = Source(
            *("left", "right", "top", "bottom", "strip", "color", "line", "label", "count"),
            *("more", "name", "done", "states", "memory", "time", "erred", "prefix", "failed"),
            *strips,
        )
        self.edges = Source("x0", "y0", "x1", "y1")
        self.structure: Structure | None = None
        self._placed: dict[str, Place] = {}
        self._structured: object = None
        self._seen: object = None
        self._shape = 1.0
        self._box_now = box_of((1.0, 1.0), 1.0)
        self._reaches: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))
        self._wanted: tuple[object, float] = (None, 0.0)

    def add_to(self, plot: figure, look: Look) -> None:
        """Add the glyphs to ``plot``."""
        self._edge = Segment(x0="x0", y0="y0", x1="x1", y1="y1", line_width=1)
        add_glyph(plot, self.edges.model, self._edge)
        self._box = Quad(left="left", right="right", top="top", bottom="bottom")
        self._box.update(line_color="color", line_width="line")
        target = add_glyph(plot, self.boxes.model, self._box)
        self._strips = []
        for index in range(len(SEGMENTS)):
            left = f"edge{index - 1}" if index else "left"
            if SEGMENTS[index] == "erred":
                left = "failed"
            strip = Quad(left=left, right=f"edge{index}", top="strip", bottom="bottom")
            add_glyph(plot, self.boxes.model, strip)
            self._strips.append(strip)
        texts = ("label", "count", "more")
        self._texts = [Text(x="left", y="top", text=text, text_baseline="top") for text in texts]
        for text in self._texts:
            text.update(text_line_height=LINE)
            add_glyph(plot, self.boxes.model, text)
        self._hover = quiet_hover(look, *_HOVER, renderers=[target])
        plot.add_tools(self._hover)
        self.restyle(look)

    def restyle(self, look: Look) -> None:
        """Apply the look; the colours of prefixes follow with the next update."""
        colors = data_colors(look)
        set_properties(self._edge, line_color=look.muted, line_alpha=0.5)
        set_properties(self._box, fill_color=colors.track)
        fills = {
            "released": ("color", _RELEASED_ALPHA),
            "memory": ("color", 1.0),
            "erred": (colors.erred, 1.0),
            "processing": (colors.queued, 1.0),
            "queued": (colors.queued, 0.5),
            "no-worker": (colors.no_worker, 0.7),
        }
        for name, strip in zip(SEGMENTS, self._strips, strict=True):
            fill, alpha = fills[name]
            line = colors.erred_mark if name == "erred" else None
            set_properties(strip, fill_color=fill, fill_alpha=alpha, line_color=line)
        for text, color in zip(self._texts, (look.foreground, look.muted, look.muted), strict=True):
            set_properties(text, text_color=color, text_font=value(look.font))
        set_properties(self._hover, tooltips=tooltip_html(look, *_HOVER))
        self._seen = None

    def clear(self) -> None:
        """Draw nothing."""
        for source in (self.boxes, self.edges):
            source.set({name: [] for name in source.model.data})
        self._placed = {}
        self.structure = None
        self._structured = self._seen = None

    def at(self, x: float, y: float) -> str:
        """Return the prefix of the box at a point, '' where there is none."""
        box = self._box_now
        if self.structure is not None:
            names, prefixes = self.structure.names, self.structure.prefix
            for name, prefix, up, down in zip(names, prefixes, *self._reaches, strict=True):
                its_x, its_y = self._placed[name]
                if abs(its_x - x) <= box.half_width and its_y - up <= y <= its_y + down:
                    return prefix
        return ""

    def extent(self) -> tuple[float, float, float, float]:
        """Return smallest x, largest x, smallest y and largest y of what is placed."""
        places = np.array(list(self._placed.values())) if self._placed else np.zeros((1, 2))
        (x0, y0), (x1, y1) = places.min(axis=0), places.max(axis=0)
        return float(x0), float(x1), float(y0), float(y1)

    def lay_out_anew(self) -> None:
        """Forget where boxes are: the next update places all of them again."""
        self._placed = {}
        self._seen = None

    def update(
        self, look: Look, cell_px: tuple[float, float], *, may_close: bool, shape: float
    ) -> None:
        """Bring boxes and lines up to date.

        Parameters
        ----------
        look : Look
        cell_px : tuple of float
            Width and height in pixels that one layer and one row have: decides what is written.
        may_close : bool
            Whether boxes may move: to close up the room of those that are gone, or to fit a pane
            of another shape.
        shape : float
            Boxes beside each other that the pane has room for to one below, see `rounded_shape`.
        """
        groups = self.store.groups
        is_reshaped = may_close and shape != self._shape
        if is_reshaped:
            self._shape = shape
        now = (groups.version, self.store.palette.version, look, cell_px, self._shape)
        if now == self._seen:
            return
        self._seen = now
        structure = self._restructured(may_close=may_close, is_reshaped=is_reshaped)
        box = self._box_now = box_of(cell_px, font_px(smaller(look.font_size)))
        self._set_texts(box)
        places = np.array([self._placed[name] for name in structure.names]).reshape(-1, 2)
        self._reaches = box.reaches(places, self._wanted_px(structure, box.font_px))
        metrics = metrics_of(self.store, structure)
        self.boxes.set(self._columns(structure, metrics, places, look, box))
        source, target = places[structure.edges[:, 0]], places[structure.edges[:, 1]]
        self.edges.set(
            {
                "x0": source[:, 0] + box.half_width,
                "y0": source[:, 1],
                "x1": target[:, 0] - box.half_width,
                "y1": target[:, 1],
            }
        )

    def _wanted_px(self, structure: Structure, font_px: float) -> float:
        """Return the room that names need; that of before until they or the font change."""
        asked = (self._structured, font_px)
        if self._wanted[0] != asked:
            self._wanted = (asked, wanted_px(structure, font_px))
        return self._wanted[1]

    def _set_texts(self, box: Box) -> None:
        """Set size and direction of what is written into boxes."""
        for number, text in enumerate(self._texts):
            across = box.before_px + number * box.line_px
            set_properties(
                text,
                y="strip" if box.is_turned else "top",
                angle=np.pi / 2 if box.is_turned else 0.0,
                x_offset=across if box.is_turned else PADDING_PX,
                y_offset=-PADDING_PX if box.is_turned else across,
                text_font_size=f"{box.font_px:g}px",
            )

    def _restructured(self, *, may_close: bool, is_reshaped: bool) -> Structure:
        """Return the nodes, placed; those of before while no group came or went."""
        now = self.store.groups.structure_version
        is_same = self.structure is not None and self._structured == now
        structure = self.structure if self.structure and is_same else structure_of(self.store)
        if is_reshaped and has_parts(len(structure.names), structure.edges):
            self._placed = {}
        if not is_same or not self._placed:
            self.structure, self._structured = structure, now
            self._placed = self._places(structure, may_close=may_close)
        return structure

    def _places(self, structure: Structure, *, may_close: bool) -> dict[str, Place]:
        """Return where boxes go: those that were there stay, unless all could be much larger."""
        of, shape = (structure.names, structure.edges), self._shape
        placed = place_nodes(*of, self._placed, may_close=may_close, shape=shape)
        if not may_close or not self._placed:
            return placed
        anew = place_nodes(*of, {}, shape=shape)
        is_loose = rows_needed(placed, shape) > _LOOSE * rows_needed(anew, shape)
        return anew if is_loose else placed

    def _columns(
        self,
        structure: Structure,
        metrics: Metrics,
        places: Floats,
        look: Look,
        box: Box,
    ) -> dict[str, Any]:  # arrays and lists
        up, down = self._reaches
        left, bottom = places[:, 0] - box.half_width, places[:, 1] + down
        is_busy = bars.counts(metrics.states, "processing") > 0
        index = self.store.palette.index
        columns: dict[str, Any] = {
            "left": left,
            "right": places[:, 0] + box.half_width,
            "top": places[:, 1] - up,
            "bottom": bottom,
            "strip": bottom - box.strip,
            "color": [prefix_color(index(name), look) for name in structure.prefix],
            "line": np.where(is_busy, *reversed(box.outline_px)),
        }
        columns |= _strips(metrics, left, 2 * box.half_width)
        return columns | words_of(structure, metrics, box, box.rooms_px(up + down))


def _strips(metrics: Metrics, left: Floats, width: float) -> dict[str, Floats]:
    """Return where the parts of each strip end, and where that of failed tasks begins."""
    edges = bars.segment_edges(metrics.states, 0.02)
    strip = {f"edge{i}": left + width * edges[:, i] for i in range(len(SEGMENTS))}
    # Not there rather than of no width: it has an outline, which would be seen.
    before = strip[f"edge{SEGMENTS.index('erred') - 1}"]
    has_failed = bars.counts(metrics.states, "erred") > 0
    return strip | {"failed": np.where(has_failed, before, np.nan)}
