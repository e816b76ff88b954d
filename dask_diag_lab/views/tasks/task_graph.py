"""The task graph: every task while there are few, groups of tasks when there are many.

`NodeGraph` and `GroupGraph` draw; this decides which of them, and what is in sight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from bokeh.plotting import figure

from dask_diag_lab.records import GRAPH, STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.tasks import group_graph, node_graph
from dask_diag_lab.views.tasks.graph_view import MARGIN, Extent, GraphView
from dask_diag_lab.views.tasks.group_graph import GroupGraph
from dask_diag_lab.views.tasks.node_graph import NodeGraph
from dask_diag_lab.views.tasks.state_counts import count_title
from dask_diag_lab.views.tasks.task_groups import group_table, left_out

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

NO_TASKS: Final = "No tasks on the scheduler now. They appear when something is computed."
WAITING: Final = "Waiting for the task graph."

_NODE_LEGEND, _GROUP_LEGEND = range(2)
_NODE_PX: Final = (4.0, 16.0)
_NODE_SHARE: Final = 0.72
"""Side of a square, as a share of the distance to the next one."""
_NODE_CELL: Final = (1.0, 1.0)
"""Proportions of the room that a node and its lines should have."""
_OUTLINE_PX: Final = 1.5
_REACH_PX: Final = 10.0
"""So far beside a task's middle a click still means it."""


class TaskGraph(GraphView):
    """Tasks and their dependencies."""

    needs = frozenset({GRAPH})

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.nodes = NodeGraph(store)
        self.groups = GroupGraph(store)
        self._is_exact = True
        self._cell = (1.0, 1.0)

    # --- the picture

    def add_to(self, plot: figure) -> None:
        """Add the glyphs; see `GraphView.add_to`."""
        self.nodes.add_to(plot, self.look)
        self.groups.add_to(plot, self.look)

    def restyle_glyphs(self) -> None:
        """Apply `look` to the glyphs."""
        self.nodes.restyle(self.look)
        self.groups.restyle(self.look)

    def legend_entries(self) -> Sequence[Sequence[Entry]]:
        """Return what the states of nodes look like, and what the boxes of groups mean."""
        return node_graph.legend_entries(self.look), group_graph.legend_entries(self.look)

    def lay_out_anew(self) -> None:
        """Forget where nodes are."""
        self.nodes.lay_out_anew()
        self.groups.lay_out_anew()

    def tapped(self, x: float, y: float) -> None:
        """Open the task at a point, or the profile of the group there."""
        if self._is_exact:
            reach = (_REACH_PX / self._cell[0], _REACH_PX / self._cell[1])
            if key := self.nodes.at(x, y, reach):
                self.open("task", key=key)
        elif prefix := self.groups.at(x, y):
            self.open("profile", prefix=prefix)

    # --- keeping it up to date

    def seen(self) -> object:
        """Return the versions of graph and groups, and whether nodes have got their places."""
        return self.store.graph.version, self.store.groups.version, self.nodes.is_ready

    def draw(self, size: PaneSize) -> None:
        """Bring the picture up to date; see `GraphView.draw`."""
        graph = self.store.graph
        if graph.is_exact != self._is_exact:
            self._is_exact = graph.is_exact
            self.show_all()
        shown = _NODE_LEGEND if self._is_exact else _GROUP_LEGEND
        self.show_legend(size, None if self._is_empty else shown)
        if self._is_exact:
            self.groups.clear()
            self.nodes.update(may_close=self.is_followed, shape=self.shape(size, _NODE_CELL))
            self.fit(with_marks(self.nodes.extent(), self.frame_px(size)))
            self._cell = self.cell_px(size)
            self.nodes.set_size(_node_px(self._cell))
            self.nodes.edges.set_room(self._cell[1])
        else:
            self.nodes.clear()
            self.draw_groups(self.groups, size)
        self._say(size)

    @property
    def _is_empty(self) -> bool:
        store = self.store
        return not (len(store.graph.node) if self._is_exact else len(store.groups))

    def _say(self, size: PaneSize) -> None:
        is_empty = self._is_empty or (self._is_exact and not self.nodes.has_picture)
        self.set_title("" if is_empty else self._headline(size))
        self.notice = Notice(empty=self._empty() if is_empty else "", note=self._note())

    def _empty(self) -> str:
        """Return why no task is drawn: the tables of groups come before the graph does."""
        store = self.store
        live = store.groups.states[:, : STATES.index("forgotten")]
        is_known = store.scheduler is not None and not len(store.graph.node)
        return NO_TASKS if is_known and not live.any() else WAITING

    def _headline(self, size: PaneSize) -> str:
        graph, groups = self.store.graph, self.store.groups
        if not self._is_exact:
            number = fmt.plural(len(groups), "group")
            return f"Task graph: {number} of {fmt.plural(graph.total, 'task')}"
        words = f"Task graph: {fmt.plural(len(graph.node), 'task')}"
        counts = np.bincount(graph.state, minlength=len(STATES))
        return count_title([words, words.partition(": ")[2]], counts, size.title_characters)

    def _note(self) -> str:
        graph = self.store.graph
        if self._is_exact:
            edges = self.nodes.edges
            if not edges.n_hidden:
                return ""
            drawn = fmt.count(edges.n - edges.n_hidden)
            return f"{drawn} of {fmt.count(edges.n)} dependencies drawn, evenly thinned"
        more = left_out(self.groups.structure)
        return (
            f"{fmt.count(graph.total)} tasks are more than the {fmt.count(graph.limit)} that are "
            f"drawn one by one: each box is {more or 'a group of tasks'}"
        )

    def table(self) -> Table:
        """Return one row a task, or one row a group where these are drawn.

        The note is then the table's, which leaves nothing out.
        """
        graph = self.store.graph
        if not graph.is_exact:
            words = f"{fmt.count(graph.total)} tasks are too many to list: a row is a group of them"
            self.notice = replace(self.notice, note=words)
            return group_table(self.store)
        self.notice = replace(self.notice, note="")
        return Table(
            {
                "key": list(graph.key),
                "prefix": [self.store.strings[index] for index in graph.prefix.tolist()],
                "state": [STATES[index] for index in graph.state.tolist()],
            }
        )


def _node_px(cell_px: tuple[float, float]) -> float:
    smallest, largest = _NODE_PX
    return round(min(max(min(cell_px) * _NODE_SHARE, smallest), largest), 1)


def with_marks(extent: Extent, frame_px: tuple[float, float]) -> Extent:
    """Return ``extent`` widened so that the outermost marks are whole where rows are close."""
    (x0, x1, y0, y1), (width, height) = extent, frame_px
    cell_px = width / (x1 - x0 + 2 * MARGIN), height / (y1 - y0 + 2 * MARGIN)
    reach_px = node_graph.mark_px(_node_px(cell_px)) / 2 + _OUTLINE_PX

    def missing(span: float, length_px: float) -> float:
        return max(reach_px * span / (length_px - 2 * reach_px) - MARGIN, 0.0)

    wide, tall = missing(x1 - x0, width), missing(y1 - y0, height)
    return x0 - wide, x1 + wide, y0 - tall, y1 + tall
