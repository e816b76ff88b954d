"""The task graph: every task while there are few, groups of tasks when there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
from bokeh.models import CategoricalColorMapper, CategoricalMarkerMapper
from bokeh.plotting import figure
from bokeh.transform import transform

from dask_diag_lab.jobs import Latest
from dask_diag_lab.schema import STATES
from dask_diag_lab.schema.tables import GRAPH
from dask_diag_lab.store.arrays import Floats, Ints
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import Source, add_glyph, base_hover
from dask_diag_lab.views.look import Look, data_colors
from dask_diag_lab.views.models import GraphEdges, GraphNodes
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.tasks import task_counts as tasks
from dask_diag_lab.views.tasks.group_graph import TaskGroupGraph
from dask_diag_lab.views.view import Caption, LegendItem, LegendShape, Table

NONE_RECORDED: Final = "No graph was looked at while its tasks were on the scheduler."
NO_TASKS: Final = "No tasks on the scheduler now. They appear when something is computed."
WAITING: Final = "Waiting for the task graph."

MAX_EDGES: Final = 20_000
"""Lines that a browser redraws without delay; more are thinned out evenly, and the plot says so."""

_ERRED: Final = STATES.index("erred")
_UNSEEN: Final = "#00000000"
_MARKERS: Final = {"no-worker": "square_cross", "queued": "square_dot", "erred": "diamond"}
_HOLLOW: Final = frozenset({"waiting", "no-worker", "forgotten"})
_LEGEND: Final[Mapping[str, tuple[str, LegendShape]]] = {
    "waiting": ("waiting", "outline"),
    "queued": ("queued", "square"),
    "processing": ("processing", "square"),
    "memory": ("in memory", "square"),
    "released": ("released", "square"),
    "erred": ("erred", "diamond"),
    "no-worker": ("no worker", "outline"),
}
_HOVER: Final = ("@key", "@state", "@prefix")
_REACH: Final = (0.5, 0.012)
"""So far beside a task's middle a click still means it: in layers or rows, or of what is seen."""


def state_style(state: str, look: Look) -> tuple[str, str]:
    """Return fill and outline of a state: not started is hollow, running is outlined."""
    colors = data_colors(look)
    color = colors.states[state]
    fill = f"{color}30" if state in _HOLLOW else color
    line = {
        "processing": look.foreground,
        "queued": look.background if look.is_dark else look.foreground,
        "erred": colors.erred_mark if look.is_dark else colors.transfer,
        "released": look.background,
    }.get(state, color)
    return fill, line


@dataclass(frozen=True, slots=True)
class Nodes:
    """The graph at one moment, with places; no later change shows in it. See `history.graph`."""

    version: int
    prefix: Sequence[str]
    state: Ints
    keys: Sequence[str]
    edges: Ints
    places: Floats


@register_plot
class TaskGraphPlot(TaskGroupGraph):
    """Tasks and their dependencies.

    Attributes
    ----------
    nodes, edges : Source
    failed : Source
        Nodes that erred: they are drawn on top of the others, larger and of another shape.
    kin, ways : Source
        The chosen task, what it needed and what needs it, and the edges between them.
    """

    name = "graph"

    reads = ("graph", "groups", "prefix_index")
    needs = frozenset({GRAPH})

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        self.nodes = Source("x", "y", "state", "key", "prefix", is_patched=True)
        self.edges = Source("x0", "y0", "x1", "y1", "share", is_patched=True)
        self.failed = Source("x", "y")
        self.kin, self.ways = Source("x", "y"), Source("x0", "y0", "x1", "y1", "share")
        self._linked: object = None
        self._latest: Latest[Nodes] = Latest(self.live.jobs)
        self._is_exact = True
        super().set_up()

    # --- the picture

    def add_glyphs(self, plot: figure) -> None:
        """Add the glyphs; see `TaskGroupGraph.add_glyphs`."""
        states, look = list(STATES), self.look
        fills, lines = zip(*(state_style(state, look) for state in states), strict=True)
        line = GraphEdges(x0="x0", y0="y0", x1="x1", y1="y1", share="share", line_color=look.muted)
        add_glyph(plot, self.edges.model, line)
        markers = CategoricalMarkerMapper(factors=states, default_value="square")
        markers.update(markers=[_MARKERS.get(state, "square") for state in states])
        node = GraphNodes(x="x", y="y", marker=transform("state", markers))
        for name, colors in (("fill_color", fills), ("line_color", lines)):
            shown = [_UNSEEN if at == _ERRED else color for at, color in enumerate(colors)]
            mapper = CategoricalColorMapper(factors=states, palette=shown)
            node.update(**{name: transform("state", mapper)})
        target = add_glyph(plot, self.nodes.model, node)
        plot.add_tools(base_hover(look, *_HOVER, renderers=[target]))
        erred = GraphNodes(x="x", y="y", marker=_MARKERS["erred"], scale=1.7, least_px=10)
        erred.update(fill_color=fills[_ERRED], line_color=lines[_ERRED])
        add_glyph(plot, self.failed.model, erred)
        color = data_colors(look).transfer
        add_glyph(plot, self.ways.model, line.clone(line_color=color, line_alpha=1.0))
        kin = GraphNodes(x="x", y="y", marker="square", scale=1.5, least_px=8)
        kin.update(fill_color=_UNSEEN, line_color=color, line_width=2)
        add_glyph(plot, self.kin.model, kin)
        super().add_glyphs(plot)

    def forget_places(self) -> None:
        """Lay out all anew with the next `draw`; until that is done the picture stays."""
        super().forget_places()
        self._drawn_nodes: Nodes | None = None

    def tapped(self, x: float, y: float) -> None:
        """Open the task at a point, or the profile of the group there."""
        nodes = self._drawn_nodes
        if not self._is_exact:
            super().tapped(x, y)
        elif nodes is not None and len(nodes.keys):
            _, _, bottom, top = self.ranges()
            reach = _REACH[0], max(_REACH[0], _REACH[1] * (bottom - top))
            far = np.hypot(*((nodes.places - (x, y)) / reach).T)
            key = nodes.keys[int(far.argmin())] if far.min() <= 1 else ""
            self.live.choose(key)
            if key:
                self.open("task", key=key)

    # --- keeping it up to date

    def state(self) -> object:
        """Return whether nodes have got their places, and what is chosen; see `View.state`."""
        return self._latest.version, self.live.chosen_key

    def draw(self) -> None:
        """Bring the picture up to date; see `View.draw`."""
        graph, groups, note = self.history.graph, self.history.groups, ""
        if graph.is_exact != self._is_exact:
            self._is_exact = graph.is_exact
            self.clear_boxes()
            for source in (self.nodes, self.edges, self.failed, self.kin, self.ways):
                source.set({name: [] for name in source.model.data})
        if self._is_exact:
            self._draw_nodes()
            self.caption = self._caption()
            return
        if len(groups):
            note = self.draw_boxes()
        total = fmt.count(graph.total)
        self.caption = Caption(
            headline=f"{fmt.plural(len(groups), 'group')} of {total} tasks",
            legend=self.box_legend(),
            note=f"{total} tasks are more than the {fmt.count(graph.limit)} that are drawn one "
            f"by one: each box is {note or 'a group of tasks'}",
            empty="" if len(groups) else self._why_empty(),
        )

    def _draw_nodes(self) -> None:
        graph, placed = self.history.graph, self._placed()
        if placed is None:
            return
        if placed is not self._drawn_nodes:
            self._show(placed)
        state = graph.state if placed.version == graph.nodes.structure_version else placed.state
        names = self.nodes.model.data["state"]
        rows = enumerate(state.tolist())
        if changed := [(row, STATES[at]) for row, at in rows if names[row] != STATES[at]]:
            self.nodes.model.patch({"state": changed})
        x, y = placed.places[state == _ERRED].T
        self.failed.set({"x": x, "y": y})
        self._show_kin(placed)
        self.fit(placed.places)

    def _show_kin(self, placed: Nodes) -> None:
        """Outline the chosen task, what it needed and what needs it."""
        if self._linked == (linked := (placed.version, self.live.chosen_key)):
            return
        self._linked = linked
        at = [row for row, key in enumerate(placed.keys) if key == self.live.chosen_key]
        edges = placed.edges[np.isin(placed.edges, at).any(axis=1)]
        x, y = placed.places[np.union1d(edges, at).astype(np.int64)].T
        self.kin.set({"x": x, "y": y})
        self.ways.set(lines(edges, placed.places))

    def _placed(self) -> Nodes | None:
        """Return the newest graph that has places; begin to place what there is now.

        Off the loop, one state of the graph after the other: each goes on from the one before.
        """
        graph, placement, drawn = self.history.graph, self._placement, self._drawn_nodes
        if drawn is not None and drawn.version == graph.nodes.structure_version:
            return drawn
        version, may_move = graph.nodes.structure_version, self.is_followed
        prefix, state = graph.nodes.prefix, graph.state
        keys, edges = graph.nodes.names, graph.edges

        def place() -> Nodes:
            places = placement.place(keys, edges, may_move=may_move)
            return Nodes(version, prefix, state, keys, edges, places)

        return self._latest.get_or_start(placement, version, place)

    def _show(self, placed: Nodes) -> None:
        """Send all nodes and edges; to lay them out has taken longer."""
        self._drawn_nodes = placed
        x, y = placed.places.astype(np.float32).T
        drawn = thinned(placed.edges)
        self.nodes.set(
            {
                "x": x,
                "y": y,
                "state": [STATES[at] for at in placed.state.tolist()],
                "key": placed.keys,
                "prefix": placed.prefix,
            }
        )
        self.edges.set(lines(drawn, placed.places))

    # --- the texts

    def _caption(self) -> Caption:
        graph, look = self.history.graph, self.look
        n, drawn_nodes = len(graph.nodes), self._drawn_nodes
        if not n or drawn_nodes is None or not len(self.nodes.model.data["x"]):
            return Caption(empty=self._why_empty())
        n_edges, n_drawn = len(drawn_nodes.edges), len(thinned(drawn_nodes.edges))
        drawn = f"{fmt.count(n_drawn)} of {fmt.count(n_edges)} dependencies drawn, evenly thinned"
        states = np.bincount(graph.state, minlength=len(STATES))
        colors = dict(data_colors(look).states)
        if look.is_dark:
            colors["erred"] = state_style("erred", look)[1]  # the fill is black
        return Caption(
            headline=tasks.headline(fmt.plural(n, "task"), states),
            legend=[
                LegendItem(label, colors[state], shape) for state, (label, shape) in _LEGEND.items()
            ],
            note=drawn if n_drawn < n_edges else "",
        )

    def _why_empty(self) -> str:
        """Return why no task is drawn: the tables of groups come before the graph does."""
        history = self.history
        live = history.groups.states[:, : STATES.index("forgotten")]
        is_coming = history.scheduler is None or live.any() or len(history.graph.nodes)
        if self.live.recorded is not None:
            return NONE_RECORDED
        return WAITING if is_coming else NO_TASKS

    def table(self) -> Table:
        """Return one row a task, or one row a group where these are drawn.

        The note is then the table's, which leaves nothing out.
        """
        graph = self.history.graph
        if not graph.is_exact:
            note = f"{fmt.count(graph.total)} tasks are too many to list: a row is a group of them"
            return replace(super().table(), note=note)
        columns: dict[str, Sequence[str]] = {
            "key": graph.nodes.names,
            "prefix": graph.nodes.prefix,
            "state": [STATES[at] for at in graph.state.tolist()],
        }
        return Table(columns, note="")


def thinned(edges: Ints) -> Ints:
    """Return every n-th edge, `MAX_EDGES` at most."""
    return edges[:: -(-len(edges) // MAX_EDGES) or 1]


def lines(edges: Ints, places: Floats) -> dict[str, npt.NDArray[np.float32]]:
    """Return the columns of the lines that edges are drawn as."""
    (x0, y0), (x1, y1) = places.astype(np.float32)[edges].transpose(1, 2, 0)
    return {"x0": x0, "y0": y0, "x1": x1, "y1": y1, "share": edge_shares(edges)}


def edge_shares(edges: Ints) -> npt.NDArray[np.float32]:
    """Return how strong each line may be beside the others: 1 for one that is alone.

    Where m nodes all lead to n, m times n lines lie between about as many rows as the larger of
    the two: so many a row as its square root, or fewer.

    Parameters
    ----------
    edges : ndarray of int, shape (m, 2)
        (dependency, dependent) as indices of nodes.
    """
    out, into = (np.bincount(ends)[ends] for ends in edges.T)
    shares: npt.NDArray[np.float32] = (1 / np.sqrt(out * into)).astype(np.float32)
    return shares
