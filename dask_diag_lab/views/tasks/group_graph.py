"""The graph of task groups: a box each with what the group has done, and what needs what."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from bokeh.models import Quad, Segment
from bokeh.plotting import figure

from dask_diag_lab.schema import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import Source, add_glyph, quiet_hover, set_properties, tooltip_html
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.models import BoxLabels
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks import task_counts as tasks
from dask_diag_lab.views.tasks.graph_layout import Floats, Placement
from dask_diag_lab.views.tasks.graph_plane import GraphPlane
from dask_diag_lab.views.tasks.task_counts import PARTS, RELEASED_ALPHA, Ints
from dask_diag_lab.views.view import Caption, LegendItem, Table

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

NO_GROUPS: Final = "No task groups on the scheduler now. They appear when something is computed."

MAX_BOXES: Final = 200
"""Boxes of one picture: what a screen can show with a name each."""
LEAST_SPAN: Final = (2.4, 2.6)
"""Layers and rows that are shown at least: one box need not fill the pane."""

_HALF_BOX: Final = (0.42, 0.38)
"""Half of a box, as shares of the distance between layers and between rows."""
_STRIP: Final = 0.1
"""Height of the strip at the bottom of a box, in rows."""
_SHAPE: Final = 0.8
"""Layers to a row: boxes are much wider than high."""
_OUTLINE_PX: Final = (1.5, 4.0)
"""Of a group without and with tasks that are processing."""
_HOVER: Final = ("@name", "@done", "@states", "@memory", "@time", "@erred", "@prefix")


def legend(look: Look) -> list[LegendItem]:
    """Return what the strip at the bottom of a box and its outline mean."""
    colors, some = data_colors(look), prefix_color(0, look)
    return [
        LegendItem("released", some, alpha=RELEASED_ALPHA),
        LegendItem("in memory", some),
        tasks.erred_item(look),
        LegendItem("processing", some, "outline"),
        LegendItem("not done", colors.track),
    ]


@dataclass(frozen=True, slots=True)
class Structure:
    """Which boxes there are and what they need; void when groups come or go.

    Attributes
    ----------
    names, prefixes : sequence of str
        Of each box.
    box_of : ndarray of int64
        For each row of the group table its box; -1 where that is not drawn.
    members : ndarray of int64
        Groups in each box.
    edges : ndarray of int64, shape (m, 2)
        (dependency, dependent) as indices of boxes, without circles.
    n_hidden : int
        Boxes that are not drawn.
    is_collapsed : bool
        Whether a box is a prefix with all its groups.
    """

    names: Sequence[str]
    prefixes: Sequence[str]
    box_of: Ints
    members: Ints
    edges: Ints
    n_hidden: int
    is_collapsed: bool

    @property
    def note(self) -> str:
        """What a box stands for where that is not one group each, and what is not drawn."""
        if not (self.is_collapsed or self.n_hidden):
            return ""
        number = fmt.plural(len(self.box_of), "group")
        text = f"all groups of one prefix, as there are {number}"
        if self.n_hidden:
            text += f"; {fmt.count(self.n_hidden)} smaller ones are not drawn"
        return text


def structure_of(store: Store) -> Structure:
    """Return the boxes for the groups there are now; of too many groups one for each prefix."""
    groups = store.groups
    names, prefixes = groups.names, groups.prefix
    is_collapsed = len(names) > MAX_BOXES
    labels = prefixes if is_collapsed else names
    index: dict[str, int] = {}
    number = np.array([index.setdefault(label, len(index)) for label in labels], dtype=np.int64)
    total = np.zeros(len(index), dtype=np.int64)
    np.add.at(total, number, groups.states.sum(axis=1))
    kept = np.sort(np.argsort(-total, kind="stable")[:MAX_BOXES])
    place = np.full(len(index), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    box_of = place[number]
    every = list(index)
    drawn = [every[at] for at in kept.tolist()]
    prefix_of = dict(zip(labels, prefixes, strict=True))
    return Structure(
        names=drawn,
        prefixes=[prefix_of[name] for name in drawn],
        box_of=box_of,
        members=np.bincount(box_of[box_of >= 0], minlength=len(drawn)),
        edges=_edges(names, groups.dependencies, box_of, len(drawn)),
        n_hidden=len(every) - len(drawn),
        is_collapsed=is_collapsed,
    )


def _edges(
    names: Sequence[str], dependencies: Sequence[Sequence[str]], box_of: Ints, n: int
) -> Ints:
    """Return what boxes need, without what closes a circle: prefixes may need each other.

    Goes by Kahn's order; where only circles are left, the box with the fewest open needs goes on.
    """
    row = {name: box for name, box in zip(names, box_of.tolist(), strict=True) if box >= 0}
    needs: list[set[int]] = [set() for _ in range(n)]
    for name, needed in zip(names, dependencies, strict=True):
        if name in row:
            needs[row[name]].update(row[other] for other in needed if other in row)
    missing = {box: needed - {box} for box, needed in enumerate(needs)}
    rank: dict[int, int] = {}
    while missing:
        ready = [box for box, needed in missing.items() if not needed]
        for box in ready or [min(missing, key=lambda box: len(missing[box]))]:
            del missing[box]
            rank[box] = len(rank)
        for open_needs in missing.values():
            open_needs.difference_update(rank)
    pairs = [(a, b) for b in range(n) for a in sorted(needs[b]) if rank[a] < rank[b]]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


class GroupBoxes:
    """Boxes of groups and the lines between them, in one figure.

    Attributes
    ----------
    boxes, edges : Source
    structure : Structure or None
        What is drawn; None when nothing is.
    places : ndarray of float64, shape (n, 2)
        Layer and row of each box.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.boxes = Source(
            *("left", "right", "top", "bottom", "strip", "color", "line"),
            *("label", "short", "count", "more", *(field[1:] for field in _HOVER)),
            *(f"begin{index}" for index in range(len(PARTS))),
            *(f"end{index}" for index in range(len(PARTS))),
        )
        self.edges = Source("x0", "y0", "x1", "y1")
        self.clear()

    def add_to(self, plot: figure, look: Look) -> None:
        """Add the glyphs to ``plot``."""
        self._edge = Segment(x0="x0", y0="y0", x1="x1", y1="y1", line_width=1, line_alpha=0.5)
        add_glyph(plot, self.edges.model, self._edge)
        self._box = Quad(left="left", right="right", top="top", bottom="bottom")
        self._box.update(line_color="color", line_width="line")
        target = add_glyph(plot, self.boxes.model, self._box)
        self._parts = [
            Quad(left=f"begin{index}", right=f"end{index}", top="strip", bottom="bottom")
            for index in range(len(PARTS))
        ]
        for part in self._parts:
            add_glyph(plot, self.boxes.model, part)
        self._labels = BoxLabels(left="left", right="right", top="top", bottom="strip")
        add_glyph(plot, self.boxes.model, self._labels)
        self._hover = quiet_hover(look, *_HOVER, renderers=[target])
        plot.add_tools(self._hover)
        self.restyle(look)

    def restyle(self, look: Look) -> None:
        """Apply the look; the colours of prefixes follow with the next update."""
        colors = data_colors(look)
        set_properties(self._edge, line_color=look.muted)
        set_properties(self._box, fill_color=colors.track)
        fills = {
            "released": ("color", RELEASED_ALPHA),
            "memory": ("color", 1.0),
            "erred": (colors.erred, 1.0),
            "processing": (colors.queued, 1.0),
            "queued": (colors.queued, 0.5),
            "no-worker": (colors.no_worker, 0.7),
        }
        for name, part in zip(PARTS, self._parts, strict=True):
            fill, alpha = fills[name]
            line = colors.erred_mark if name == "erred" else None
            set_properties(part, fill_color=fill, fill_alpha=alpha, line_color=line)
        set_properties(self._labels, color=look.foreground, muted_color=look.muted)
        set_properties(self._labels, font=look.font, font_size=look.font_size)
        set_properties(self._hover, tooltips=tooltip_html(look, *_HOVER))

    def clear(self) -> None:
        """Draw nothing."""
        for source in (self.boxes, self.edges):
            source.set({name: [] for name in source.model.data})
        self.structure: Structure | None = None
        self._structure_version = -1
        self.forget_places()

    def forget_places(self) -> None:
        """Lay out all anew with the next update."""
        self._placement = Placement()
        self.places: Floats = np.empty((0, 2))

    def at(self, x: float, y: float) -> str:
        """Return the prefix of the box at a point, '' where there is none."""
        is_hit = (np.abs(self.places - (x, y)) <= _HALF_BOX).all(axis=1)
        return (
            self.structure.prefixes[int(is_hit.argmax())] if self.structure and is_hit.any() else ""
        )

    def update(self, look: Look, *, may_move: bool) -> None:
        """Bring boxes and lines up to date; known boxes stay unless ``may_move``."""
        groups = self.store.groups
        if self.structure is None or self._structure_version != groups.structure_version:
            self._structure_version = groups.structure_version
            self.structure = structure_of(self.store)
        structure = self.structure
        names, edges = structure.names, structure.edges
        self.places = self._placement.place(names, edges, may_move=may_move, shape=_SHAPE)
        (half_width, half_height), (x, y) = _HALF_BOX, self.places.T
        source, target = edges.T
        self.edges.set(
            {
                "x0": x[source] + half_width,
                "y0": y[source],
                "x1": x[target] - half_width,
                "y1": y[target],
            }
        )
        states = np.zeros((len(names), len(STATES)), dtype=np.int64)
        is_drawn = structure.box_of >= 0
        np.add.at(states, structure.box_of[is_drawn], groups.states[is_drawn])
        is_busy = tasks.counts(states, "processing") > 0
        index = self.store.palette.index
        columns: dict[str, Any] = {  # arrays and lists
            "left": x - half_width,
            "right": x + half_width,
            "top": y - half_height,
            "bottom": y + half_height,
            "strip": y + half_height - _STRIP,
            "color": [prefix_color(index(prefix), look) for prefix in structure.prefixes],
            "line": np.where(is_busy, _OUTLINE_PX[1], _OUTLINE_PX[0]),
        }
        total = np.maximum(states.sum(axis=1), 1)[:, None]
        ends = np.cumsum(tasks.part_counts(states), axis=1) / total * 2 * half_width
        for at in range(len(PARTS)):
            begins = ends[:, at - 1] if at else np.zeros(len(names))
            # A part of nothing would be an outline.
            columns[f"begin{at}"] = columns["left"] + np.where(ends[:, at] > begins, begins, np.nan)
            columns[f"end{at}"] = columns["left"] + ends[:, at]
        self.boxes.set(columns | self._texts(structure, states))

    def _texts(self, structure: Structure, states: Ints) -> dict[str, list[str]]:
        """Return what is written into each box, and the lines of its hover."""
        n, groups = len(structure.names), self.store.groups
        is_drawn = structure.box_of >= 0
        box = structure.box_of[is_drawn]
        held, seconds = np.zeros(n, dtype=np.int64), np.zeros(n)
        begin, end = np.full(n, np.inf), np.full(n, -np.inf)
        np.add.at(held, box, groups.nbytes[is_drawn])
        np.add.at(seconds, box, groups.duration[is_drawn])
        np.fmin.at(begin, box, groups.start[is_drawn])
        np.fmax.at(end, box, groups.stop[is_drawn])
        names = [shown_name(name) for name in structure.names]
        prefixes = [shown_name(prefix) for prefix in structure.prefixes]
        number = Counter(prefixes)
        totals = zip(tasks.done(states).tolist(), states.sum(axis=1).tolist(), strict=True)
        counted = [f"{fmt.count(done)} / {fmt.count(total)}" for done, total in totals]
        erred = tasks.counts(states, "erred").tolist()
        memory = [fmt.binary(nbytes) if nbytes else "" for nbytes in held.tolist()]
        spent = [fmt.duration(each) if each else "" for each in seconds.tolist()]
        spans = [fmt.duration(s) if 0 < s < math.inf else "" for s in (end - begin).tolist()]
        if structure.is_collapsed:
            origin = [
                f"{fmt.plural(m, 'group')} of this prefix" for m in structure.members.tolist()
            ]
        else:
            origin = [f"prefix {prefix}" for prefix in prefixes]
        return {
            "label": names,
            "short": [
                prefix if number[prefix] == 1 else name
                for name, prefix in zip(names, prefixes, strict=True)
            ],
            "count": [
                f"{fmt.count(failed)} erred · {text}" if failed else text
                for failed, text in zip(erred, counted, strict=True)
            ],
            "more": [" · ".join(filter(None, pair)) for pair in zip(memory, spent, strict=True)],
            "name": names,
            "done": [f"{text} tasks done" for text in counted],
            "states": [tasks.state_text(row) for row in states.tolist()],
            "memory": [f"{text} in memory" if text else "" for text in memory],
            "time": [
                f"{text} of thread time" + (f" within {span}" if span else "") if text else ""
                for text, span in zip(spent, spans, strict=True)
            ],
            "erred": [f"{fmt.plural(failed, 'task')} erred" if failed else "" for failed in erred],
            "prefix": origin,
        }


@register_plot
class TaskGroupGraph(GraphPlane):
    """Groups of tasks and what they need of each other."""

    name = "groups"
    title = "Task Group Graph"
    group = "Tasks"
    description = "Groups of tasks with what each has done, and what needs what."
    help = (
        "Each box is a group: the tasks that one call or one operation on a collection made. "
        "Lines lead to the groups that need its results; work flows from left to right.\n"
        "- in a box: name, tasks done of all, memory held and thread time, as far as they fit; "
        "zoom in or point at it for all\n"
        "- the strip at its bottom: fills like a bar of Progress\n"
        "- thick outline: tasks of it are being processed\n"
        "- click a box: the profile of that function\n"
        "- drag: pan\n"
        "- Ctrl-wheel: zoom\n"
        "- healthy: few thick outlines, which move to the right\n"
        "- much memory in a group whose dependents wait: something else they need is late\n"
        "- parts without lines between them: lie side by side, as the pane has room; the rows "
        "of small ones are further apart beside a large one\n"
        "- tasks of all: as in Progress by group, with those done and forgotten; but groups "
        "that the scheduler has dropped are not drawn, and Progress alone still counts them\n"
        "- more than 200 groups: a box is all groups of one prefix, and the plot says so"
    )
    keywords = ("dag", "dependencies", "nodes", "layers", "structure", "blockwise", "prefix")

    reads = ("groups", "palette")

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.groups = GroupBoxes(store)

    def add_to(self, plot: figure) -> None:
        """Add the glyphs; see `GraphPlane.add_to`."""
        self.groups.add_to(plot, self.look)

    def restyle_glyphs(self) -> None:
        """Apply `look` to the glyphs."""
        self.groups.restyle(self.look)

    def forget_places(self) -> None:
        """Forget where boxes are."""
        self.groups.forget_places()

    def tapped(self, x: float, y: float) -> None:
        """Open the profile of the group at a point."""
        if prefix := self.groups.at(x, y):
            self.open("profile", prefix=prefix)

    def draw(self) -> None:
        """Bring the picture up to date; see `View.draw`."""
        groups = self.store.groups
        if not len(groups):
            self.groups.clear()
            self.show_all()
            self.caption = Caption(empty=NO_GROUPS)
            return
        self.groups.update(self.look, may_move=self.is_followed)
        self.fit(self.groups.places, LEAST_SPAN)
        states = groups.states.sum(axis=0)
        tasks_there = fmt.plural(int(states.sum()), "task")
        beginning = f"{fmt.plural(len(groups), 'group')} · {tasks_there}"
        note = self.groups.structure.note if self.groups.structure else ""
        self.caption = Caption(
            headline=tasks.headline(beginning, states, ("erred", "processing", "memory")),
            legend=legend(self.look),
            note=f"each box is {note}" if note else "",
        )

    def table(self) -> Table:
        """Return one row a group; what boxes stand for does not concern it."""
        self.caption = replace(self.caption, note="")
        return group_table(self.store)


def group_table(store: Store) -> Table:
    """Return all groups with all that is known of them."""
    groups = store.groups
    columns: dict[str, Sequence[object]] = {"group": groups.names, "prefix": groups.prefix}
    columns |= {name: groups.states[:, at].tolist() for at, name in enumerate(STATES)}
    columns["nbytes_in_memory"] = groups.nbytes.tolist()
    columns["seconds"] = groups.duration.tolist()
    for name, times in (("start", groups.start), ("stop", groups.stop)):
        columns[name] = [time if math.isfinite(time) else None for time in times.tolist()]
    columns["dependencies"] = [", ".join(names) for names in groups.dependencies]
    return Table(columns, {"nbytes_in_memory": "B", "seconds": "s", "start": "s", "stop": "s"})
