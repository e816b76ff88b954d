"""The task graph by groups: a box each, with what the group has done, and lines between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from bokeh.core.properties import value
from bokeh.models import Quad, Segment, Text
from bokeh.plotting import figure

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
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
from dask_diag_lab.views.pane_size import CHARACTER_PX
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks import progress_bars as bars
from dask_diag_lab.views.tasks.graph_layout import Place, place_nodes
from dask_diag_lab.views.tasks.group_nodes import (
    Floats,
    Metrics,
    Structure,
    metrics_of,
    structure_of,
)
from dask_diag_lab.views.tasks.progress_bars import SEGMENTS

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

_HALF_WIDTH: Final = 0.42
_HALF_HEIGHT: Final = 0.38
_STRIP: Final = 0.2
"""Height of the progress strip, in rows."""
_HOVER: Final = ("@name", "@done", "@states", "@memory", "@time", "@erred", "@prefix")
_LINE_PX: Final = 14
"""Height of one line of a box's text."""
_QUIET_PX, _BUSY_PX = 1.5, 4.0
"""Outline of a group without and with tasks that are processing."""
_RELEASED_ALPHA: Final = 0.6


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
        self._texts = [
            Text(x="left", y="top", text=text, x_offset=5, y_offset=offset, text_baseline="top")
            for text, offset in (("label", 5), ("count", 5 + _LINE_PX), ("more", 5 + 2 * _LINE_PX))
        ]
        for text in self._texts:
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
            set_properties(text, text_font_size=smaller(look.font_size))
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
        if self.structure is not None:
            for name, prefix in zip(self.structure.names, self.structure.prefix, strict=True):
                its_x, its_y = self._placed[name]
                if abs(its_x - x) <= _HALF_WIDTH and abs(its_y - y) <= _HALF_HEIGHT:
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

    def update(self, look: Look, box_px: tuple[float, float]) -> bool:
        """Bring boxes and lines up to date; return whether boxes came, went or moved.

        Parameters
        ----------
        look : Look
        box_px : tuple of float
            Width and height in pixels that one layer and one row have: decides what is written.
        """
        groups = self.store.groups
        now = (groups.version, self.store.palette.version, look, box_px)
        if now == self._seen:
            return False
        self._seen = now
        before = self._placed
        structure = self._restructured()
        places = np.array([self._placed[name] for name in structure.names]).reshape(-1, 2)
        metrics = metrics_of(self.store, structure)
        self.boxes.set(self._columns(structure, metrics, places, look, box_px))
        source, target = places[structure.edges[:, 0]], places[structure.edges[:, 1]]
        self.edges.set(
            {
                "x0": source[:, 0] + _HALF_WIDTH,
                "y0": source[:, 1],
                "x1": target[:, 0] - _HALF_WIDTH,
                "y1": target[:, 1],
            }
        )
        return before != self._placed

    def _restructured(self) -> Structure:
        """Return the nodes, placed; those of before while no group came or went."""
        now = self.store.groups.structure_version
        if self.structure is None or self._structured != now or not self._placed:
            self.structure, self._structured = structure_of(self.store), now
            names, edges = self.structure.names, self.structure.edges
            self._placed = place_nodes(names, edges, self._placed)
        return self.structure

    def _columns(
        self,
        structure: Structure,
        metrics: Metrics,
        places: Floats,
        look: Look,
        box_px: tuple[float, float],
    ) -> dict[str, Any]:  # arrays and lists
        left, bottom = places[:, 0] - _HALF_WIDTH, places[:, 1] + _HALF_HEIGHT
        is_busy = bars.counts(metrics.states, "processing") > 0
        index = self.store.palette.index
        columns: dict[str, Any] = {
            "left": left,
            "right": places[:, 0] + _HALF_WIDTH,
            "top": places[:, 1] - _HALF_HEIGHT,
            "bottom": bottom,
            "strip": bottom - _STRIP,
            "color": [prefix_color(index(name), look) for name in structure.prefix],
            "line": np.where(is_busy, _BUSY_PX, _QUIET_PX),
            "prefix": _origins(structure),
        }
        return columns | _strips(metrics, left) | _words(structure.names, metrics, box_px)


def _strips(metrics: Metrics, left: Floats) -> dict[str, Floats]:
    """Return where the parts of each strip end, and where that of failed tasks begins."""
    edges = bars.segment_edges(metrics.states, 0.02)
    strip = {f"edge{i}": left + 2 * _HALF_WIDTH * edges[:, i] for i in range(len(SEGMENTS))}
    # Not there rather than of no width: it has an outline, which would be seen.
    before = strip[f"edge{SEGMENTS.index('erred') - 1}"]
    has_failed = bars.counts(metrics.states, "erred") > 0
    return strip | {"failed": np.where(has_failed, before, np.nan)}


def _words(
    names: Sequence[str], metrics: Metrics, box_px: tuple[float, float]
) -> dict[str, list[str]]:
    """Return what is written into each box, as far as it fits, and said about it in the hover."""
    fits, n_lines = room_for_text(box_px)
    states, nodes = metrics.states, range(len(names))
    erred = bars.counts(states, "erred").tolist()
    totals = zip(bars.done(states).tolist(), states.sum(axis=1).tolist(), strict=True)
    counted = [f"{fmt.count(done)} / {fmt.count(total)}" for done, total in totals]
    failed = [f"{fmt.count(n)} erred · " if n else "" for n in erred]
    memory = [_memory_words(metrics, node) for node in nodes]
    times = [fmt.duration(seconds) for seconds in metrics.seconds.tolist()]

    def line(number: int, texts: Iterable[str]) -> list[str]:
        return [fmt.elide(text, fits) if n_lines > number else "" for text in texts]

    return {
        "label": [shown_name(name, fits) if n_lines else "" for name in names],
        "count": line(1, (bad + text for bad, text in zip(failed, counted, strict=True))),
        "more": line(2, (" · ".join(filter(None, two)) for two in zip(memory, times, strict=True))),
        "name": [shown_name(name) for name in names],
        "done": [f"{text} tasks done" for text in counted],
        "states": [_state_words(row) for row in states.tolist()],
        "memory": [f"{text} in memory" if text else "" for text in memory],
        "time": [_time_words(metrics, node) for node in nodes],
        "erred": [f"{fmt.plural(n, 'task')} erred" if n else "" for n in erred],
    }


def room_for_text(box_px: tuple[float, float]) -> tuple[int, int]:
    """Return the characters and the lines that fit into a box above its strip."""
    fits = int((box_px[0] * 2 * _HALF_WIDTH - 8) / CHARACTER_PX)
    height = box_px[1] * (2 * _HALF_HEIGHT - _STRIP)
    lines = int((height - 5) / _LINE_PX) if fits >= 4 else 0
    return fits, max(lines if fits >= 9 else min(lines, 1), 0)


def _memory_words(metrics: Metrics, node: int) -> str:
    held = int(metrics.held[node])
    return fmt.binary(held) if held else ""


def _time_words(metrics: Metrics, node: int) -> str:
    seconds = float(metrics.seconds[node])
    if not seconds:
        return ""
    said = f"{fmt.duration(seconds)} of thread time"
    span = float(metrics.end[node] - metrics.begin[node])
    return f"{said} within {fmt.duration(span)}" if math.isfinite(span) and span > 0 else said


def _origins(structure: Structure) -> list[str]:
    """Return the last line of each hover: the prefix of a group, the groups of a prefix."""
    if structure.is_collapsed:
        return [f"{fmt.plural(n, 'group')} of this prefix" for n in structure.members.tolist()]
    return [f"prefix {shown_name(name)}" for name in structure.prefix]


def _state_words(counts: Sequence[int]) -> str:
    words = {"memory": "in memory", "no-worker": "without worker"}
    pairs = zip(STATES, counts, strict=True)
    return ", ".join(f"{fmt.count(n)} {words.get(state, state)}" for state, n in pairs if n)
