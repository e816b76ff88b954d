"""The task graph by groups, for clusters with too many tasks to draw one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.core.properties import value
from bokeh.models import Quad, Segment, Text
from bokeh.plotting import figure

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views import progress_bars as bars
from dask_diag_lab.views.figure import Source, quiet_hover, set_properties, smaller, tooltip_html
from dask_diag_lab.views.graph_layout import Place, place_nodes
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.pane_size import CHARACTER_PX
from dask_diag_lab.views.progress_bars import SEGMENTS

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

MAX_GROUPS: Final = 200
"""Boxes of one picture; the largest groups are drawn, and the plot says how many are not."""

_HALF_WIDTH: Final = 0.42
_HALF_HEIGHT: Final = 0.38
_STRIP: Final = 0.2
"""Height of the progress strip, in rows."""
_HOVER: Final = ("@name", "@done", "@states", "@prefix")
_RELEASED_ALPHA: Final = 0.6


class GroupGraph:
    """Boxes of groups and the lines between them, in one figure.

    Attributes
    ----------
    boxes, edges : Source
    n_hidden : int
        Groups that are not drawn.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        strips = [f"edge{index}" for index in range(len(SEGMENTS))]
        self.boxes = Source(
            *("left", "right", "top", "bottom", "strip", "color", "label", "count"),
            *("name", "done", "states", "prefix"),
            *strips,
        )
        self.edges = Source("x0", "y0", "x1", "y1")
        self.n_hidden = 0
        self._placed: dict[str, Place] = {}
        self._seen: object = None

    def add_to(self, plot: figure, look: Look) -> None:
        """Add the glyphs to ``plot``."""
        self._edge = Segment(x0="x0", y0="y0", x1="x1", y1="y1", line_width=1)
        plot.add_glyph(self.edges.model, self._edge)
        self._box = Quad(left="left", right="right", top="top", bottom="bottom", line_width=2)
        self._box.line_color = "color"
        target = plot.add_glyph(self.boxes.model, self._box)
        self._strips = []
        for index in range(len(SEGMENTS)):
            left = f"edge{index - 1}" if index else "left"
            strip = Quad(left=left, right=f"edge{index}", top="strip", bottom="bottom")
            plot.add_glyph(self.boxes.model, strip)
            self._strips.append(strip)
        self._texts = [
            Text(x="left", y="top", text=text, x_offset=5, y_offset=offset, text_baseline="top")
            for text, offset in (("label", 4), ("count", 18))
        ]
        for text in self._texts:
            plot.add_glyph(self.boxes.model, text)
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
            set_properties(strip, fill_color=fill, fill_alpha=alpha, line_color=None)
        for text, color in zip(self._texts, (look.foreground, look.muted), strict=True):
            set_properties(text, text_color=color, text_font=value(look.font))
            set_properties(text, text_font_size=smaller(look.font_size))
        set_properties(self._hover, tooltips=tooltip_html(look, *_HOVER))
        self._seen = None

    def clear(self) -> None:
        """Draw nothing."""
        for source in (self.boxes, self.edges):
            source.set({name: [] for name in source.model.data})
        self._placed = {}
        self._seen = None
        self.n_hidden = 0

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
        now = (groups.version, look, box_px)
        if now == self._seen:
            return False
        self._seen = now
        states = groups.states
        chosen = np.sort(np.argsort(-states.sum(axis=1), kind="stable")[:MAX_GROUPS])
        self.n_hidden = len(states) - len(chosen)
        names = [groups.names[index] for index in chosen.tolist()]
        edges = self._edges_of(names)
        before, self._placed = self._placed, place_nodes(names, edges, self._placed)
        places = np.array([self._placed[name] for name in names]).reshape(-1, 2)
        self.boxes.set(self._columns(names, chosen, states[chosen], places, look, box_px))
        source, target = places[edges[:, 0]], places[edges[:, 1]]
        self.edges.set(
            {
                "x0": source[:, 0] + _HALF_WIDTH,
                "y0": source[:, 1],
                "x1": target[:, 0] - _HALF_WIDTH,
                "y1": target[:, 1],
            }
        )
        return before != self._placed

    def _edges_of(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        index = {name: i for i, name in enumerate(names)}
        groups = self.store.groups
        pairs = [
            (index[needed], index[name])
            for name, dependencies in zip(groups.names, groups.dependencies, strict=True)
            for needed in dependencies
            if name in index and needed in index and needed != name
        ]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _columns(
        self,
        names: Sequence[str],
        chosen: npt.NDArray[np.int64],
        states: npt.NDArray[np.int64],
        places: npt.NDArray[np.float64],
        look: Look,
        box_px: tuple[float, float],
    ) -> dict[str, Any]:  # arrays and lists
        left, top = places[:, 0] - _HALF_WIDTH, places[:, 1] - _HALF_HEIGHT
        bottom = places[:, 1] + _HALF_HEIGHT
        width_px, height_px = box_px[0] * 2 * _HALF_WIDTH, box_px[1] * (2 * _HALF_HEIGHT - _STRIP)
        fits = int((width_px - 8) / CHARACTER_PX)
        has_label, has_count = fits >= 4 and height_px >= 16, fits >= 9 and height_px >= 32
        prefixes = [self.store.groups.prefix[index] for index in chosen.tolist()]
        done, total = bars.done(states), states.sum(axis=1)
        counted = [
            f"{fmt.count(d)} / {fmt.count(t)}"
            for d, t in zip(done.tolist(), total.tolist(), strict=True)
        ]
        edges = bars.segment_edges(states, 0.02)
        columns: dict[str, Any] = {
            "left": left,
            "right": places[:, 0] + _HALF_WIDTH,
            "top": top,
            "bottom": bottom,
            "strip": bottom - _STRIP,
            "color": [prefix_color(self.store.palette.index(name), look) for name in prefixes],
            "label": [fmt.elide(name, fits) if has_label else "" for name in prefixes],
            "count": [text if has_count else "" for text in counted],
            "name": list(names),
            "done": [f"{text} done" for text in counted],
            "states": [_state_words(row) for row in states.tolist()],
            "prefix": prefixes,
        }
        return columns | {
            f"edge{i}": left + 2 * _HALF_WIDTH * edges[:, i] for i in range(len(SEGMENTS))
        }


def _state_words(counts: Sequence[int]) -> str:
    words = {"memory": "in memory", "no-worker": "without worker"}
    pairs = zip(STATES, counts, strict=True)
    return ", ".join(f"{fmt.count(n)} {words.get(state, state)}" for state, n in pairs if n)
