"""The graph of task groups, with what each group has done on its box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from bokeh.plotting import figure

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.pane_size import PaneSize
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.tasks.graph_view import GraphView
from dask_diag_lab.views.tasks.group_graph import GroupGraph, legend_entries
from dask_diag_lab.views.tasks.group_nodes import Structure
from dask_diag_lab.views.tasks.state_counts import count_title

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

NO_GROUPS: Final = "No task groups on the scheduler now. They appear when something is computed."


class TaskGroupGraph(GraphView):
    """Groups of tasks and what they need of each other."""

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.groups = GroupGraph(store)

    def add_to(self, plot: figure) -> None:
        """Add the glyphs; see `GraphView.add_to`."""
        self.groups.add_to(plot, self.look)

    def restyle_glyphs(self) -> None:
        """Apply `look` to the glyphs."""
        self.groups.restyle(self.look)

    def legend_entries(self) -> Sequence[Sequence[Entry]]:
        """Return what strip and outline of a box mean."""
        return [legend_entries(self.look)]

    def lay_out_anew(self) -> None:
        """Forget where boxes are."""
        self.groups.lay_out_anew()

    def tapped(self, x: float, y: float) -> None:
        """Open the profile of the group at a point."""
        if prefix := self.groups.at(x, y):
            self.open("profile", prefix=prefix)

    def seen(self) -> object:
        """Return the versions of groups and colours."""
        return self.store.groups.version, self.store.palette.version

    def draw(self, size: PaneSize) -> None:
        """Bring the picture up to date; see `GraphView.draw`."""
        groups = self.store.groups
        if not len(groups):
            self.groups.clear()
            self.show_all()
            self.show_legend(size, None)
            self.set_title("")
            self.notice = Notice(empty=NO_GROUPS)
            return
        self.show_legend(size, 0)
        self.draw_groups(self.groups, size)
        self.set_title(self._headline(size))
        said = left_out(self.groups.structure)
        self.notice = Notice(note=f"each box is {said}" if said else "")

    def _headline(self, size: PaneSize) -> str:
        states = self.store.groups.states.sum(axis=0)
        words = f"Task groups: {fmt.count(len(self.store.groups))}"
        tasks = f"{words} · {fmt.plural(int(states.sum()), 'task')}"
        return count_title(
            [tasks, words], states, size.title_characters, ("processing", "memory", "erred")
        )

    def table(self) -> Table:
        """Return one row a group; of what boxes stand for its note says nothing."""
        self.notice = replace(self.notice, note="")
        return group_table(self.store)


def left_out(structure: Structure | None) -> str:
    """Return what a box stands for where that is not one group each, and what is not drawn."""
    if structure is None or not (structure.is_collapsed or structure.n_hidden):
        return ""
    said = f"all groups of one prefix, as there are {fmt.plural(len(structure.node_of), 'group')}"
    if structure.n_hidden:
        said += f"; {fmt.count(structure.n_hidden)} smaller ones are not drawn"
    return said


def group_table(store: Store) -> Table:
    """Return all groups with all that is known of them."""
    groups = store.groups
    states = groups.states
    columns: dict[str, Sequence[object]] = {"group": groups.names, "prefix": groups.prefix}
    columns |= {name: states[:, index].tolist() for index, name in enumerate(STATES)}
    columns["nbytes_in_memory"] = groups.nbytes.tolist()
    columns["seconds"] = groups.duration.tolist()
    columns["start"] = [_or_none(time) for time in groups.start.tolist()]
    columns["stop"] = [_or_none(time) for time in groups.stop.tolist()]
    columns["dependencies"] = [", ".join(names) for names in groups.dependencies]
    return Table(columns, {"nbytes_in_memory": "B", "seconds": "s", "start": "s", "stop": "s"})


def _or_none(time: float) -> float | None:
    return time if np.isfinite(time) else None
