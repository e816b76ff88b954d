"""The edges of the task graph: lines that get fainter as there are more of them side by side.

Sends what is new; where nodes are and which edges there are is told by who owns the graph.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.models import ColumnDataSource, LinearColorMapper, Segment
from bokeh.plotting import figure
from bokeh.transform import transform

from dask_diag_lab.views.figure import add_glyph, set_properties
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.tasks.graph_slots import Ints, Slots

MAX_EDGES: Final = 20_000
"""Lines that a browser redraws without delay; more are thinned out evenly, and the plot says so."""

SHADES: Final = 25
"""Steps of `crowds`: the last one is of 4096 lines between two rows."""

_COVER: Final = 0.5
"""Share of a surface that lines may cover together."""
_ALPHA: Final = (0.012, 0.45)
"""Of the faintest, still 3 of 255 steps of a screen, and of a line that is alone."""


def crowds(edges: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
    """Return how many lines lie about each edge, in half powers of two from 0 for one alone.

    Where m nodes all lead to n, m times n lines lie between about as many rows as the larger of
    the two: so many a row as its square root, or fewer.

    Parameters
    ----------
    edges : ndarray of int, shape (m, 2)
        (dependency, dependent) as indices of nodes.
    """
    n = int(edges.max()) + 1 if len(edges) else 0
    out = np.bincount(edges[:, 0], minlength=n)[edges[:, 0]]
    into = np.bincount(edges[:, 1], minlength=n)[edges[:, 1]]
    shade: npt.NDArray[np.float64] = np.round(np.log2(out * into))
    return np.minimum(shade, SHADES - 1).astype(np.uint8)


def alphas(row_px: float) -> list[float]:
    """Return the alpha of each of `crowds`, where rows are so many pixels apart."""
    least, most = _ALPHA
    wanted = (_COVER * row_px / 2 ** (shade / 2) for shade in range(SHADES))
    return [round(min(max(alpha, least), most), 3) for alpha in wanted]


class GraphEdges:
    """The edges of one figure.

    Attributes
    ----------
    source : ColumnDataSource
        Rows without an edge have NaN coordinates.
    n, n_hidden : int
        Edges there are, and how many of them are not drawn.
    """

    def __init__(self) -> None:
        self.source = ColumnDataSource({n: [] for n in ("x0", "y0", "x1", "y1", "crowd")})
        self.n = 0
        self.n_hidden = 0
        self._slots = Slots()
        self._look = LIGHT
        self._row_px = 1.0
        self._shades = LinearColorMapper(low=-0.5, high=SHADES - 0.5, palette=["#00000000"])

    def add_to(self, plot: figure) -> None:
        """Add the lines to ``plot``."""
        line = Segment(x0="x0", y0="y0", x1="x1", y1="y1", line_width=1)
        line.line_color = transform("crowd", self._shades)
        add_glyph(plot, self.source, line)

    def restyle(self, look: Look) -> None:
        """Apply the look."""
        self._look = look
        self._shade()

    def set_room(self, row_px: float) -> None:
        """Set how many pixels apart rows are: there is more to see of lines that lie apart."""
        # In coarse steps: not each turn of the wheel has to send anything.
        self._row_px = 2.0 ** (round(2 * np.log2(max(row_px, 1e-3))) / 2)
        self._shade()

    def _shade(self) -> None:
        parts = (round(alpha * 255) for alpha in alphas(self._row_px))
        palette = [f"{self._look.muted}{part:02x}" for part in parts]
        set_properties(self._shades, palette=palette)

    def clear(self) -> None:
        """Draw nothing."""
        self.source.data = {name: [] for name in self.source.data}
        self.n = self.n_hidden = 0

    def lay_out_anew(self) -> None:
        """Forget which rows are whose: the next `send` sends all."""
        self._slots = Slots()

    def send(
        self,
        edges: npt.NDArray[np.integer],
        nodes: Ints,
        places: npt.NDArray[np.float32],
        *,
        is_reset: bool,
    ) -> None:
        """Bring the lines up to the graph.

        Parameters
        ----------
        edges : ndarray of int, shape (m, 2)
            (dependency, dependent) as indices of ``nodes`` and ``places``.
        nodes : ndarray of int64
            The number of each node, which stays its own.
        places : ndarray of float32, shape (n, 2)
        is_reset : bool
            Whether nodes of the same number are other ones than before.
        """
        self.n = len(edges)
        step = -(-len(edges) // MAX_EDGES) or 1
        drawn = edges[::step]
        self.n_hidden = len(edges) - len(drawn)
        codes, first = np.unique((nodes[drawn[:, 0]] << 32) + nodes[drawn[:, 1]], return_index=True)
        drawn = drawn[first]
        known = len(self._slots.members)
        change = self._slots.change(codes, is_reset=is_reset)
        columns = _columns(drawn, places)
        if change.is_reset:
            if known or len(codes):
                self.source.data = columns
            return
        self._renew(known, codes, columns["crowd"], has_holes=change.has_holes)
        if len(change.added):
            self.source.stream({name: column[change.added] for name, column in columns.items()})

    def _renew(
        self, known: int, codes: Ints, crowd: npt.NDArray[np.uint8], *, has_holes: bool
    ) -> None:
        """Send what became of the lines that were there: some left, others have new neighbours."""
        changed: dict[str, Any] = {}  # arrays
        if has_holes:
            is_alive = self._slots.is_alive[:known]
            changed["x0"] = with_holes(self.source.data["x0"], is_alive)
        now = np.array(self.source.data["crowd"], dtype=np.uint8)
        rows = self._slots.rows_of(codes)
        is_old = rows < known
        if (now[rows[is_old]] != crowd[is_old]).any():
            now[rows[is_old]] = crowd[is_old]
            changed["crowd"] = now
        if changed:
            self.source.data.update(changed)


def _columns(
    edges: npt.NDArray[np.integer], places: npt.NDArray[np.float32]
) -> dict[str, npt.NDArray[Any]]:
    source, target = places[edges[:, 0]], places[edges[:, 1]]
    return {
        "x0": source[:, 0],
        "y0": source[:, 1],
        "x1": target[:, 0],
        "y1": target[:, 1],
        "crowd": crowds(edges),
    }


def with_holes(column: Any, is_alive: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Return a coordinate with NaN where no member is."""
    return np.where(is_alive, np.asarray(column, dtype=np.float32), np.float32(np.nan))
