"""The task graph: every task while there are few, groups of tasks when there are many.

`NodeGraph` and `GroupGraph` draw; this decides which of them, and what is in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from bokeh.models import PanTool, Range1d, WheelZoomTool
from bokeh.models.annotations import Title

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table, View
from dask_diag_lab.views.figure import quiet_figure, set_properties
from dask_diag_lab.views.group_graph import GroupGraph
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.node_graph import NodeGraph, legend_entries
from dask_diag_lab.views.pane_size import PaneSize, pane_size, restyle_pane
from dask_diag_lab.views.small_legend import SmallLegend

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

NO_TASKS: Final = "No tasks on the scheduler now. They appear when something is computed."

_NODE_PX: Final = (4.0, 16.0)
_NODE_SHARE: Final = 0.72
"""Side of a square, as a share of the distance to the next one."""
_MARGIN: Final = 0.6
_BOX_PX: Final = (260, 96)
"""Largest distance between two boxes of groups: few of them need not fill the pane."""

Extent = tuple[float, float, float, float]


class TaskGraph(View):
    """Tasks and their dependencies."""

    def __init__(self, store: Store, look: Look = LIGHT) -> None:
        super().__init__(store, look)
        self.nodes = NodeGraph(store)
        self.groups = GroupGraph(store)
        self._is_exact = True
        self._fitted: Extent | None = None
        self._drawn: object = None

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._title = Title(text=" ")
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=1, end=0)
        plot = self.figure = quiet_figure(
            self.look, title=self._title, x_range=self._x, y_range=self._y
        )
        plot.axis.visible = False
        plot.grid.visible = False
        self.nodes.add_to(plot, self.look)
        self.groups.add_to(plot, self.look)
        pan, zoom = PanTool(), WheelZoomTool(modifiers={"ctrl": True})
        plot.add_tools(pan, zoom)
        plot.toolbar.update(active_drag=pan, active_scroll=zoom)
        self._legend = SmallLegend(plot, legend_entries(self.look))
        self.restyle()
        return plot

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        restyle_pane(self.figure, self.look)
        self.nodes.restyle(self.look)
        self.groups.restyle(self.look)
        self._legend.restyle(legend_entries(self.look))
        self._drawn = None
        self.update()

    def command(self, verb: str) -> None:
        """``fit``: place everything anew, compactly, and show all of it; see `View.command`."""
        if verb == "fit":
            self.nodes.lay_out_anew()
            self.groups.lay_out_anew()
            self._fitted = None
            self._drawn = None
            self.update()

    # --- keeping it up to date

    def update(self) -> None:
        """Draw what changed since the last call; see `View.update`."""
        graph, groups = self.store.graph, self.store.groups
        size, span = pane_size(self.figure), self._ranges()
        now = (graph.version, groups.version, size, span, self.look)
        if now == self._drawn:
            return
        if graph.is_exact != self._is_exact:
            self._is_exact = graph.is_exact
            self._fitted = None
        if self._is_exact:
            self.groups.clear()
            self.nodes.update()
            extent = self.nodes.extent()
        else:
            self.nodes.clear()
            self.groups.update(self.look, self._cell_px(size))
            extent = self.groups.extent()
        self._fit(extent if self._is_exact else _roomy(extent, size))
        cell = self._cell_px(size)
        if self._is_exact:
            self.nodes.set_size(_node_px(cell))
        else:
            self.groups.update(self.look, cell)
        self._say(size)
        self._drawn = (graph.version, groups.version, size, self._ranges(), self.look)

    def _ranges(self) -> Extent:
        ends = (self._x.start, self._x.end, self._y.start, self._y.end)
        x0, x1, y1, y0 = (end if isinstance(end, float | int) else 0.0 for end in ends)
        return x0, x1, y1, y0

    def _fit(self, extent: Extent) -> None:
        """Show all of it, unless the user looks at a part."""
        x0, x1, y0, y1 = extent
        whole = (x0 - _MARGIN, x1 + _MARGIN, y1 + _MARGIN, y0 - _MARGIN)
        if self._fitted is not None and self._ranges() != self._fitted:
            return
        set_properties(self._x, start=whole[0], end=whole[1])
        set_properties(self._y, start=whole[2], end=whole[3])
        self._fitted = whole

    def _cell_px(self, size: PaneSize) -> tuple[float, float]:
        """Return the pixels between two layers and between two rows as they are shown."""
        x0, x1, y1, y0 = self._ranges()
        width, height = max(size.width - 8, 40), size.rows_px
        # Whole pixels: a hair's breadth of zoom must not send new sizes.
        return float(round(width / max(x1 - x0, 1e-9))), round(height / max(y1 - y0, 1e-9), 1)

    def _say(self, size: PaneSize) -> None:
        graph, groups = self.store.graph, self.store.groups
        n_drawn = len(graph.node) if self._is_exact else len(groups)
        is_empty = not n_drawn
        is_shown = self._is_exact and not is_empty and not size.is_small
        self._legend.show(is_shown=is_shown, width=size.width)
        set_properties(self._title, text=" " if is_empty else self._headline(size))
        self.notice = Notice(empty=NO_TASKS if is_empty else "", note=self._note())

    def _headline(self, size: PaneSize) -> str:
        graph, groups = self.store.graph, self.store.groups
        if not self._is_exact:
            number = fmt.plural(len(groups), "group")
            return f"Task graph: {number} of {fmt.plural(graph.total, 'task')}"
        words = f"Task graph: {fmt.plural(len(graph.node), 'task')}"
        counts = np.bincount(graph.state, minlength=len(STATES))
        named = {"memory": "in memory", "no-worker": "without worker"}
        shown = ("waiting", "no-worker", "queued", "processing", "memory", "erred")
        parts = [(int(counts[STATES.index(state)]), named.get(state, state)) for state in shown]
        said = " · ".join([words, *(f"{fmt.count(n)} {name}" for n, name in parts if n)])
        return said if len(said) <= size.title_characters else words

    def _note(self) -> str:
        graph = self.store.graph
        if self._is_exact:
            if not self.nodes.n_hidden_edges:
                return ""
            drawn = fmt.count(self.nodes.n_edges - self.nodes.n_hidden_edges)
            return f"{drawn} of {fmt.count(self.nodes.n_edges)} dependencies drawn, evenly thinned"
        more = ""
        if self.groups.n_hidden:
            more = f"; {fmt.plural(self.groups.n_hidden, 'smaller group')} not drawn"
        return (
            f"{fmt.count(graph.total)} tasks are more than the {fmt.count(graph.limit)} that are "
            f"drawn one by one: each box is a group of tasks{more}"
        )

    def table(self) -> Table:
        """Return one row a task, or one row a group where these are drawn."""
        graph, groups = self.store.graph, self.store.groups
        columns: dict[str, Sequence[object]]
        if graph.is_exact:
            columns = {
                "key": list(graph.key),
                "prefix": [self.store.strings[index] for index in graph.prefix.tolist()],
                "state": [STATES[index] for index in graph.state.tolist()],
            }
            return Table(columns)
        states = groups.states
        columns = {"group": groups.names, "prefix": groups.prefix}
        columns |= {name: states[:, index].tolist() for index, name in enumerate(STATES)}
        return Table(columns)


def _roomy(extent: Extent, size: PaneSize) -> Extent:
    """Return ``extent`` widened so that boxes do not get larger than they should."""
    x0, x1, y0, y1 = extent
    wide = max(size.width / _BOX_PX[0] - 2 * _MARGIN - (x1 - x0), 0) / 2
    tall = max(size.rows_px / _BOX_PX[1] - 2 * _MARGIN - (y1 - y0), 0) / 2
    return x0 - wide, x1 + wide, y0 - tall, y1 + tall


def _node_px(cell_px: tuple[float, float]) -> float:
    smallest, largest = _NODE_PX
    return round(min(max(min(cell_px) * _NODE_SHARE, smallest), largest), 1)
