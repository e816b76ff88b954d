"""The task graph: every task while there are few, groups of tasks when there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from bokeh.models import CategoricalColorMapper, CategoricalMarkerMapper, ColumnDataSource
from bokeh.plotting import figure
from bokeh.transform import transform

from dask_diag_lab.jobs import Latest
from dask_diag_lab.schema import GRAPH, STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import Source, add_glyph, quiet_hover, set_properties, tooltip_html
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.models import GraphEdges, GraphNodes
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.tasks import group_graph
from dask_diag_lab.views.tasks import task_counts as tasks
from dask_diag_lab.views.tasks.graph_layout import Floats, Placement
from dask_diag_lab.views.tasks.graph_plane import GraphPlane
from dask_diag_lab.views.tasks.group_graph import GroupBoxes, group_table
from dask_diag_lab.views.tasks.task_counts import Ints
from dask_diag_lab.views.view import Caption, LegendItem, LegendShape, Table

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

NO_TASKS: Final = "No tasks on the scheduler now. They appear when something is computed."
WAITING: Final = "Waiting for the task graph."

MAX_EDGES: Final = 20_000
"""Lines that a browser redraws without delay; more are thinned out evenly, and the plot says so."""

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
_PATCH_SHARE: Final = 4
"""Up to one in so many changed states are patched one by one, else the column is sent."""
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


def legend(look: Look) -> list[LegendItem]:
    """Return what the marks of the states look like."""
    colors = dict(data_colors(look).states)
    if look.is_dark:
        colors["erred"] = state_style("erred", look)[1]  # the fill is black
    return [LegendItem(label, colors[state], shape) for state, (label, shape) in _LEGEND.items()]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The graph at one moment, with places; no later change shows in it. See `store.graph`."""

    version: int
    node: Ints
    prefix: Ints
    state: Ints
    keys: Sequence[str]
    edges: Ints
    places: Floats


class Rows:
    """Which row of a source belongs to which member, a distinct integer, of a changing set.

    Rows keep their place, so that little has to be sent: what is new is appended, what is gone
    leaves a hole, and when holes prevail all rows are given out anew.
    """

    def __init__(self) -> None:
        self.members: Ints = np.empty(0, dtype=np.int64)
        self.is_alive: npt.NDArray[np.bool_] = np.empty(0, dtype=np.bool_)

    def change(self, members: Ints, *, is_reset: bool) -> Ints | None:
        """Take over the members there are; return which are new, None where all rows are."""
        stays = np.isin(self.members, members, assume_unique=True) & self.is_alive
        new = np.flatnonzero(~np.isin(members, self.members[stays], assume_unique=True))
        if is_reset or 2 * int(stays.sum()) < len(self.members) or not stays.any():
            self.members = members.copy()
            self.is_alive = np.ones(len(members), dtype=np.bool_)
            return None
        # A dead row keeps no member: one that comes back gets a row of its own.
        kept = np.where(stays, self.members, -1 - np.arange(len(stays)))
        self.members = np.concatenate([kept, members[new]])
        self.is_alive = np.concatenate([stays, np.ones(len(new), dtype=np.bool_)])
        return new

    def of(self, members: Ints) -> Ints:
        """Return the row of each of ``members``, all of which are there."""
        order = np.argsort(self.members, kind="stable")
        rows: Ints = order[np.searchsorted(self.members, members, sorter=order)]
        return rows


@register_plot
class TaskGraph(GraphPlane):
    """Tasks and their dependencies.

    Attributes
    ----------
    nodes, edges : ColumnDataSource
        Rows without a node or an edge have NaN coordinates.
    failed : Source
        Nodes that erred: they are drawn on top of the others, larger and of another shape.
    groups : GroupBoxes
        Drawn where there are too many tasks.
    """

    name = "graph"
    title = "Task Graph"
    group = "Tasks"
    description = "Tasks as dots and their dependencies as lines, coloured by state."
    help = (
        "Each mark is a task, each line leads to a task that needs its result; work flows "
        "from left to right.\n"
        "- form and colour: the state, as the legend has it; hollow has not begun, an "
        "outline runs\n"
        "- drag: pan\n"
        "- Ctrl-wheel: zoom\n"
        "- healthy: a front of tasks that are processing moves to the right, and what is in "
        "memory behind it is released soon\n"
        "- a broad area in memory: takes room that others need\n"
        "- one task that many lines leave or enter: can hold up everything behind it\n"
        "- faint lines: many of them side by side; zoom in to tell them apart\n"
        "- parts without lines between them: lie side by side, as the pane has room; the rows "
        "of small ones are further apart beside a large one\n"
        "- tasks that the scheduler has forgotten: leave the picture, while Progress still "
        "counts them; their room closes up once it is most of the picture\n"
        "- very many tasks: their groups are drawn instead, and the plot says so"
    )
    keywords = ("dag", "dependencies", "nodes", "edges", "state", "structure", "erred")

    reads = ("graph", "groups", "palette")
    needs = frozenset({GRAPH})

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.nodes = ColumnDataSource({name: [] for name in ("x", "y", "state", "key", "prefix")})
        self.edges = ColumnDataSource({name: [] for name in ("x0", "y0", "x1", "y1", "share")})
        self.failed = Source("x", "y")
        self.groups = GroupBoxes(store)
        self._latest: Latest[Nodes] = Latest(store.jobs)
        self._is_exact = True
        self.forget_places()

    # --- the picture

    def add_to(self, plot: figure) -> None:
        """Add the glyphs; see `GraphPlane.add_to`."""
        self._edge = GraphEdges(x0="x0", y0="y0", x1="x1", y1="y1", share="share")
        add_glyph(plot, self.edges, self._edge)
        states = list(STATES)
        unseen = [_UNSEEN] * len(states)
        self._fill = CategoricalColorMapper(factors=states, palette=unseen)
        self._line = CategoricalColorMapper(factors=states, palette=unseen)
        markers = CategoricalMarkerMapper(factors=states)
        markers.update(markers=[_MARKERS[state] for state in states])
        node = GraphNodes(x="x", y="y", marker=transform("state", markers))
        node.fill_color = transform("state", self._fill)
        node.line_color = transform("state", self._line)
        self._hover = quiet_hover(self.look, *_HOVER, renderers=[add_glyph(plot, self.nodes, node)])
        plot.add_tools(self._hover)
        self._mark = GraphNodes(x="x", y="y", marker=_MARKERS["erred"], scale=1.7, least_px=10)
        add_glyph(plot, self.failed.model, self._mark)
        self.groups.add_to(plot, self.look)

    def restyle_glyphs(self) -> None:
        """Apply `look` to the glyphs."""
        styles = {state: state_style(state, self.look) for state in STATES}
        fill, line = styles["erred"]
        set_properties(self._mark, fill_color=fill, line_color=line)
        styles["erred"] = _UNSEEN, _UNSEEN
        set_properties(self._fill, palette=[fill for fill, _ in styles.values()])
        set_properties(self._line, palette=[line for _, line in styles.values()])
        set_properties(self._edge, line_color=self.look.muted)
        set_properties(self._hover, tooltips=tooltip_html(self.look, *_HOVER))
        self.groups.restyle(self.look)

    def forget_places(self) -> None:
        """Lay out all anew with the next `draw`; until that is done the picture stays."""
        self._placement = Placement()
        self._drawn_nodes: Nodes | None = None
        self._node_rows, self._edge_rows = Rows(), Rows()
        self.groups.forget_places()

    def tapped(self, x: float, y: float) -> None:
        """Open the task at a point, or the profile of the group there."""
        nodes = self._drawn_nodes
        if not self._is_exact:
            if prefix := self.groups.at(x, y):
                self.open("profile", prefix=prefix)
        elif nodes is not None and len(nodes.keys):
            reach = _REACH[0], max(_REACH[0], _REACH[1] * self.visible_rows)
            far = np.hypot(*((nodes.places - (x, y)) / reach).T)
            if far.min() <= 1:
                self.open("task", key=nodes.keys[int(far.argmin())])

    # --- keeping it up to date

    def state(self) -> object:
        """Return whether nodes have got their places; see `View.state`."""
        return self._latest.version

    def draw(self) -> None:
        """Bring the picture up to date; see `View.draw`."""
        graph = self.store.graph
        if graph.is_exact != self._is_exact:
            self._is_exact = graph.is_exact
            self.show_all()
            self._clear_nodes()
            self.groups.clear()
        if self._is_exact:
            self._draw_nodes()
        else:
            self.groups.update(self.look, may_move=self.is_followed)
            self.fit(self.groups.places, group_graph.LEAST_SPAN)
        self.caption = self._caption()

    def _clear_nodes(self) -> None:
        self.forget_places()
        self.failed.set({"x": [], "y": []})
        for source in (self.nodes, self.edges):
            if len(next(iter(source.data.values()))):
                source.data = {name: [] for name in source.data}

    def _draw_nodes(self) -> None:
        graph, placed = self.store.graph, self._placed()
        if placed is None:
            return
        if placed is not self._drawn_nodes:
            self._show(placed)
        current = graph if placed.version == graph.structure_version else placed
        self._show_states(current.node, current.state)
        self.fit(placed.places)

    def _placed(self) -> Nodes | None:
        """Return the newest graph that has places; begin to place what there is now.

        Off the loop, one state of the graph after the other: each goes on from the one before.
        """
        graph, placement, drawn = self.store.graph, self._placement, self._drawn_nodes
        if drawn is not None and drawn.version == graph.structure_version:
            return drawn
        version, may_move = graph.structure_version, self.is_followed
        # The store's own may change while they are read in another thread.
        node, prefix, state = graph.node.copy(), graph.prefix.copy(), graph.state
        keys, edges = list(graph.key), graph.edges

        def place() -> Nodes:
            ranks = natural_ranks(keys)
            places = placement.place(keys, edges, ranks, may_move=may_move)
            return Nodes(version, node, prefix, state, keys, edges, places)

        return self._latest.of(placement, version, place)

    def _show(self, placed: Nodes) -> None:
        """Send the nodes and edges that are new, and what became of the others."""
        before, self._drawn_nodes = self._drawn_nodes, placed
        x, y = placed.places.astype(np.float32).T
        strings = self.store.strings
        is_other = before is None or _has_moved(before, placed)
        added = self._node_rows.change(placed.node, is_reset=is_other)
        picked = np.arange(len(x)) if added is None else added
        columns: dict[str, Any] = {  # arrays and lists
            "x": x[picked],
            "y": y[picked],
            "state": [STATES[at] for at in placed.state[picked].tolist()],
            "key": [placed.keys[at] for at in picked.tolist()],
            "prefix": [strings[at] for at in placed.prefix[picked].tolist()],
        }
        _send(self.nodes, columns, self._node_rows, is_reset=added is None)
        drawn = placed.edges[:: -(-len(placed.edges) // MAX_EDGES) or 1]
        code = (placed.node[drawn[:, 0]] << 32) + placed.node[drawn[:, 1]]
        added = self._edge_rows.change(code, is_reset=is_other)
        source, target = (drawn if added is None else drawn[added]).T
        lines = {"x0": x[source], "y0": y[source], "x1": x[target], "y1": y[target]}
        share = edge_shares(drawn)
        lines["share"] = share if added is None else share[added]
        _send(self.edges, lines, self._edge_rows, is_reset=added is None)
        now = np.array(self.edges.data["share"], dtype=np.float32)
        now[self._edge_rows.of(code)] = share
        if not np.array_equal(now, self.edges.data["share"]):  # others have new neighbours
            self.edges.data["share"] = now

    def _show_states(self, node: Ints, state: Ints) -> None:
        names = self.nodes.data["state"]
        pairs = zip(self._node_rows.of(node).tolist(), state.tolist(), strict=True)
        changed = [(row, STATES[at]) for row, at in pairs if names[row] != STATES[at]]
        if len(changed) * _PATCH_SHARE <= len(names):
            if changed:
                self.nodes.patch({"state": changed})
        else:
            now = list(names)
            for row, name in changed:
                now[row] = name
            self.nodes.data["state"] = now
        rows = self._node_rows.of(node[state == _ERRED])
        x, y = (np.asarray(self.nodes.data[name], dtype=np.float32)[rows] for name in ("x", "y"))
        self.failed.set({"x": x, "y": y})

    # --- the texts

    def _caption(self) -> Caption:
        graph, groups, look = self.store.graph, self.store.groups, self.look
        total = fmt.count(graph.total)
        if not self._is_exact:
            note = self.groups.structure.note if self.groups.structure else ""
            return Caption(
                headline=f"{fmt.plural(len(groups), 'group')} of {total} tasks",
                legend=group_graph.legend(look),
                note=f"{total} tasks are more than the {fmt.count(graph.limit)} that are drawn one "
                f"by one: each box is {note or 'a group of tasks'}",
                empty="" if len(groups) else self._why_empty(),
            )
        n = len(graph.node)
        if not n or not len(self.nodes.data["x"]):
            return Caption(empty=self._why_empty())
        states = np.bincount(graph.state, minlength=len(STATES))
        shown, all_edges = (
            len(graph.edges[:: -(-len(graph.edges) // MAX_EDGES) or 1]),
            len(graph.edges),
        )
        return Caption(
            headline=tasks.headline(fmt.plural(n, "task"), states),
            legend=legend(look),
            note=f"{fmt.count(shown)} of {fmt.count(all_edges)} dependencies drawn, evenly thinned"
            if shown < all_edges
            else "",
        )

    def _why_empty(self) -> str:
        """Return why no task is drawn: the tables of groups come before the graph does."""
        store = self.store
        live = store.groups.states[:, : STATES.index("forgotten")]
        is_known = store.scheduler is not None and not len(store.graph.node)
        return NO_TASKS if is_known and not live.any() else WAITING

    def table(self) -> Table:
        """Return one row a task, or one row a group where these are drawn.

        The note is then the table's, which leaves nothing out.
        """
        graph = self.store.graph
        if not graph.is_exact:
            note = f"{fmt.count(graph.total)} tasks are too many to list: a row is a group of them"
            self.caption = replace(self.caption, note=note)
            return group_table(self.store)
        self.caption = replace(self.caption, note="")
        return Table(
            {
                "key": list(graph.key),
                "prefix": [self.store.strings[at] for at in graph.prefix.tolist()],
                "state": [STATES[at] for at in graph.state.tolist()],
            }
        )


def _has_moved(before: Nodes, now: Nodes) -> bool:
    """Return whether nodes that were there have other places, or other tasks their numbers."""
    _, then, here = np.intersect1d(before.node, now.node, return_indices=True)
    if not np.array_equal(before.places[then], now.places[here]):
        return True
    pairs = zip(then.tolist(), here.tolist(), strict=True)
    return any(before.keys[old] != now.keys[new] for old, new in pairs)


def _send(
    source: ColumnDataSource, columns: Mapping[str, Any], rows: Rows, *, is_reset: bool
) -> None:
    """Send columns of new rows; rows whose member is gone lose their place."""
    if is_reset:
        source.data = dict(columns)
        return
    x = next(iter(columns))
    known = np.asarray(source.data[x], dtype=np.float32)
    kept = np.where(rows.is_alive[: len(known)], known, np.float32(np.nan))
    if not np.array_equal(kept, known, equal_nan=True):
        source.data[x] = kept
    if len(columns[x]):
        source.stream(dict(columns))


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


def natural_ranks(keys: Sequence[str]) -> list[int]:
    """Return the rank of each key where numbers count as numbers: ``('x', 2)`` before ``10``."""

    def parts(key: str) -> list[tuple[int, str]]:
        indices = [part.strip(" )") for part in key.split(",")[1:]] if key.startswith("(") else []
        return [(len(part), part) if part.isdigit() else (0, part) for part in indices]

    ordered = sorted(range(len(keys)), key=lambda at: parts(keys[at]))
    ranks = [0] * len(keys)
    for rank, at in enumerate(ordered):
        ranks[at] = rank
    return ranks
