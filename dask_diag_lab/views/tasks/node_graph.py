"""The task graph node by node: squares in the colour of their state.

Sends what is new, and of what is known only the column that changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.models import (
    CategoricalColorMapper,
    CategoricalMarkerMapper,
    ColumnDataSource,
    Scatter,
)
from bokeh.plotting import figure
from bokeh.transform import transform

from dask_diag_lab.records import STATES
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_hover,
    set_properties,
    tooltip_html,
)
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.tasks.graph_edges import GraphEdges, with_holes
from dask_diag_lab.views.tasks.graph_slots import SlotChange, Slots
from dask_diag_lab.views.tasks.layout.layered_graph import has_parts
from dask_diag_lab.views.tasks.node_places import NodePlaces, Nodes, Placed

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

_ERRED: Final = STATES.index("erred")
_UNSEEN: Final = "#00000000"
_MARKERS: Final = {
    "released": "square",
    "waiting": "square",
    "no-worker": "square_cross",
    "queued": "square_dot",
    "processing": "square",
    "memory": "square",
    "erred": "diamond",
    "forgotten": "square",
}
_HOLLOW: Final = frozenset({"waiting", "no-worker", "forgotten"})
_LEGEND: Final = ("waiting", "queued", "processing", "memory", "released", "erred", "no-worker")
_NAMES: Final = {"memory": "in memory", "no-worker": "no worker"}
_HOVER: Final = ("@key", "@state", "@prefix")

_LARGER: Final = 1.7
_MARK_PX: Final = 10.0
"""Nodes that erred are larger than the others by that, and not below that size."""
_PATCH_SHARE: Final = 4
"""Up to one in so many changed states are patched one by one, else the column is sent."""


def state_style(state: str, look: Look) -> tuple[str, str, str]:
    """Return fill, outline and marker of a state: not started is hollow, running is outlined."""
    colors = data_colors(look)
    color = colors.states[state]
    fill = f"{color}30" if state in _HOLLOW else color
    line = {
        "processing": look.foreground,
        "queued": look.background if look.is_dark else look.foreground,
        "erred": colors.erred_mark if look.is_dark else colors.transfer,
        "released": look.background,
    }.get(state, color)
    return fill, line, _MARKERS[state]


def legend_entries(look: Look) -> list[Entry]:
    """Return an entry for each state that a graph shows."""
    styles = {state: state_style(state, look) for state in _LEGEND}
    return [
        Entry(_NAMES.get(state, state), fill, line=line, marker=marker)
        for state, (fill, line, marker) in styles.items()
    ]


def mark_px(node_px: float) -> float:
    """Return the size of the mark of a node that erred, where others have that size."""
    return max(round(node_px * _LARGER, 1), _MARK_PX)


class NodeGraph:
    """Nodes and edges of one figure.

    Attributes
    ----------
    nodes : ColumnDataSource
        Rows without a node have NaN coordinates.
    edges : GraphEdges
    failed : Source
        Nodes that erred: they are drawn on top of the others, larger and of another shape.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.nodes = ColumnDataSource({name: [] for name in ("x", "y", "state", "key", "prefix")})
        self.edges = GraphEdges()
        self.failed = Source("x", "y")
        self._places = NodePlaces(store.workings)
        self._node_slots = Slots()
        self._keys: list[str] = []
        self._state = np.empty(0, dtype=np.int64)
        self._seen = (-1, -1)
        self._shape = 1.0

    def add_to(self, plot: figure, look: Look) -> None:
        """Add the glyphs to ``plot``."""
        self.edges.add_to(plot)
        states = list(STATES)
        self._fill = CategoricalColorMapper(factors=states, palette=["#000000"] * len(states))
        self._line = CategoricalColorMapper(factors=states, palette=["#000000"] * len(states))
        markers = CategoricalMarkerMapper(factors=states)
        markers.update(markers=[_MARKERS[state] for state in states])
        self._node = Scatter(x="x", y="y", size=10, marker=transform("state", markers))
        self._node.fill_color = transform("state", self._fill)
        self._node.line_color = transform("state", self._line)
        self._hover = quiet_hover(
            look, *_HOVER, renderers=[add_glyph(plot, self.nodes, self._node)]
        )
        plot.add_tools(self._hover)
        self._mark = Scatter(x="x", y="y", marker=_MARKERS["erred"])
        add_glyph(plot, self.failed.model, self._mark)
        self.restyle(look)

    def restyle(self, look: Look) -> None:
        """Apply the look."""
        styles = {state: state_style(state, look)[:2] for state in STATES}
        fill, line = styles["erred"]
        set_properties(self._mark, fill_color=fill, line_color=line)
        styles["erred"] = _UNSEEN, _UNSEEN
        set_properties(self._fill, palette=[fill for fill, _ in styles.values()])
        set_properties(self._line, palette=[line for _, line in styles.values()])
        self.edges.restyle(look)
        set_properties(self._hover, tooltips=tooltip_html(look, *_HOVER))

    def set_size(self, pixels: float) -> None:
        """Set the size of a square."""
        set_properties(self._node, size=pixels, line_width=1.5 if pixels >= 9 else 0.75)
        set_properties(self._mark, size=mark_px(pixels), line_width=1.5 if pixels >= 9 else 1)

    def clear(self) -> None:
        """Draw nothing."""
        self.lay_out_anew()
        if self.has_picture:
            self.nodes.data = {name: [] for name in self.nodes.data}
            self.failed.set({"x": [], "y": []})
            self.edges.clear()

    @property
    def is_ready(self) -> bool:
        """Whether nodes have got their places that `update` has not drawn yet."""
        return self._places.is_ready

    @property
    def has_picture(self) -> bool:
        """Whether nodes are drawn, be they those of before."""
        return len(self.nodes.data["x"]) > 0

    def extent(self) -> tuple[float, float, float, float]:
        """Return smallest x, largest x, smallest y and largest y of what is placed."""
        return self._places.extent()

    def at(self, x: float, y: float, reach: tuple[float, float]) -> str:
        """Return the key of the task nearest to a point, '' where none is within ``reach``."""
        if not self._keys:
            return ""
        xs = np.asarray(self.nodes.data["x"], dtype=np.float64)
        ys = np.asarray(self.nodes.data["y"], dtype=np.float64)
        far = np.hypot((xs - x) / reach[0], (ys - y) / reach[1])
        if not (far <= 1).any():
            return ""
        return self._keys[int(np.nanargmin(far))]

    def lay_out_anew(self) -> None:
        """Forget where nodes are: the next update places all of them again."""
        self._places.forget()
        self._node_slots = Slots()
        self.edges.lay_out_anew()
        self._keys, self._state = [], np.empty(0, dtype=np.int64)
        self._seen = (-1, -1)

    def update(self, *, may_close: bool, shape: float) -> None:
        """Bring nodes and edges up to date; what is placed off the loop waits until it is.

        Parameters
        ----------
        may_close : bool
            Whether nodes may move: to close up the room of those that are gone, or to fit a pane
            of another shape.
        shape : float
            Columns to a row of the pane, see `rounded_shape`.
        """
        graph, places = self.store.graph, self._places
        if may_close and shape != self._shape:
            self._shape = shape
            if has_parts(len(graph.node), graph.edges):
                self.lay_out_anew()
        if placed := places.take():
            self._show(placed)
        now = (graph.structure_version, graph.version)
        if places.is_under_way or self._seen == now:
            return
        if self._seen[0] == graph.structure_version:
            self._show_states(now, graph.node, graph.state)
        elif placed := places.place(Nodes.of(graph), may_close=may_close, shape=self._shape):
            self._show(placed)

    def _show(self, placed: Placed) -> None:
        nodes, places = placed.nodes, placed.places
        change = self._node_slots.change(nodes.node, is_reset=placed.is_other)
        self._send_nodes(nodes, change, places)
        self.edges.send(nodes.edges, nodes.node, places, is_reset=change.is_reset)
        seen = nodes.structure_version, nodes.version
        self._show_states(seen, nodes.node, nodes.state)

    def _send_nodes(
        self, nodes: Nodes, change: SlotChange, places: npt.NDArray[np.float32]
    ) -> None:
        strings, added = self.store.strings, change.added
        state, prefixes = nodes.state[added], nodes.prefix[added].tolist()
        columns: dict[str, Any] = {  # arrays and lists
            "x": places[added, 0],
            "y": places[added, 1],
            "state": [STATES[index] for index in state.tolist()],
            "key": [nodes.keys[index] for index in added.tolist()],
            "prefix": [strings[prefix] for prefix in prefixes],
        }
        if change.is_reset:
            self.nodes.data = columns
            self._keys, self._state = list(columns["key"]), state
            return
        if change.has_holes:
            alive = self._node_slots.is_alive[: len(self._keys)]
            self.nodes.data["x"] = with_holes(self.nodes.data["x"], alive)
        if len(added):
            self.nodes.stream(columns)
            self._keys += columns["key"]
            self._state = np.concatenate([self._state, state])

    def _show_states(
        self, seen: tuple[int, int], node: npt.NDArray[np.int64], state: npt.NDArray[np.int64]
    ) -> None:
        self._seen = seen
        if len(node):
            self._send_states(self._node_slots.rows_of(node), state)
        self._update_failed()

    def _send_states(self, rows: npt.NDArray[np.int64], now: npt.NDArray[np.int64]) -> None:
        is_changed = self._state[rows] != now
        if not is_changed.any():
            return
        rows, now = rows[is_changed], now[is_changed]
        self._state[rows] = now
        if len(rows) * _PATCH_SHARE <= len(self._state):
            pairs = zip(rows.tolist(), now.tolist(), strict=True)
            self.nodes.patch({"state": [(row, STATES[state]) for row, state in pairs]})
        else:
            self.nodes.data["state"] = [STATES[state] for state in self._state.tolist()]

    def _update_failed(self) -> None:
        is_failed = (self._state == _ERRED) & self._node_slots.is_alive
        places = (np.asarray(self.nodes.data[name], np.float32)[is_failed] for name in ("x", "y"))
        self.failed.set(dict(zip(("x", "y"), places, strict=True)))
