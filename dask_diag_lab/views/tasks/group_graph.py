"""The graph of task groups: a box each with what the group has done, and what needs what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from bokeh.events import Event, Tap
from bokeh.models import PanTool, Quad, Range1d, Segment, WheelZoomTool
from bokeh.models.layouts import Column as Stack
from bokeh.plotting import figure

from dask_diag_lab.schema import STATES
from dask_diag_lab.store.arrays import Floats, Ints
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import Column, DataPlot, Rows
from dask_diag_lab.views.figure import Source, add_glyph, base_figure, base_hover, set_properties
from dask_diag_lab.views.look import data_colors, prefix_color
from dask_diag_lab.views.models import BoxLabels
from dask_diag_lab.views.names import shown_name
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.tasks import task_counts as tasks
from dask_diag_lab.views.tasks.graph_layout import Placement, depths
from dask_diag_lab.views.tasks.task_counts import PARTS, RELEASED_ALPHA
from dask_diag_lab.views.view import Caption, LegendItem, Table

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import History

NO_GROUPS: Final = "No task groups on the scheduler now. They appear when something is computed."

MAX_BOXES: Final = 200
"""Groups with a box each: what a screen can show with a name."""
_LEAST_SPAN: Final = (2.4, 2.6)
"""Layers and rows that are shown at least: one box need not fill the pane."""
_MARGIN: Final = 0.6
"""Layers or rows that are free beside the outermost."""
_MARGIN_SHARE: Final = 0.015
"""The same as a share of the picture: where rows are close, a mark is larger than one."""

_HALF_BOX: Final = (0.42, 0.38)
"""Half of a box, as shares of the distance between layers and between rows."""
_STRIP: Final = 0.1
"""Height of the strip at the bottom of a box, in rows."""
_SHAPE: Final = 0.8
"""Layers to a row: boxes are much wider than high."""
_OUTLINE_PX: Final = (1.5, 4.0)
"""Of a group without and with tasks that are processing."""
_BOX_COLUMNS: Final = (
    *("left", "right", "top", "bottom", "strip", "color", "line"),
    *("label", "short", "count", "more", "states", "memory", "time"),
    *(f"{end}{at}" for at in range(len(PARTS)) for end in ("begin", "end")),
)
"""Of the source of the boxes; the last ones are both ends of each part of a strip."""
_HOVER: Final = ("@label", "@count tasks done", "@states", "@memory", "@time")


@dataclass(frozen=True, slots=True)
class Boxes:
    """Which boxes there are and what they need; void when groups come or go.

    Attributes
    ----------
    names, prefixes : sequence of str
        Of each box.
    of_group : ndarray of int64
        For each row of the group table its box.
    edges : ndarray of int64, shape (m, 2)
        (dependency, dependent) as indices of boxes.
    flow : ndarray of int64, shape (m, 2)
        Those that lead to the right: without the ones that close a circle.
    note : str
        What a box stands for where that is not one group each.
    """

    names: Sequence[str]
    prefixes: Sequence[str]
    of_group: Ints
    edges: Ints
    flow: Ints
    note: str


def boxes_of(history: History) -> Boxes:
    """Return the boxes for the groups there are now; of too many groups one for each prefix."""
    groups, note = history.groups, ""
    is_collapsed = len(groups) > MAX_BOXES
    labels = groups.prefix if is_collapsed else groups.names
    prefix_of = dict(zip(labels, groups.prefix, strict=True))
    index = {label: at for at, label in enumerate(prefix_of)}
    of_group = np.array([index[label] for label in labels], dtype=np.int64)
    if is_collapsed:
        note = f"all groups of one prefix, as there are {fmt.plural(len(groups), 'group')}"
    pairs = np.unique(of_group[tasks.group_edges(groups.names, groups.dependencies)], axis=0)
    edges = pairs[pairs[:, 0] != pairs[:, 1]]
    depth = np.array(depths(len(index), edges))
    flow = edges[depth[edges[:, 0]] < depth[edges[:, 1]]]
    return Boxes(list(prefix_of), list(prefix_of.values()), of_group, edges, flow, note)


@register_plot
class TaskGroupGraph(DataPlot):
    """Groups of tasks and what they need of each other, shown whole until the reader moves them."""

    name = "groups"

    reads: ClassVar[Sequence[str]] = ("groups", "prefix_index")
    columns = (
        *(Column("group"), Column("prefix"), *(Column(state) for state in STATES)),
        *(Column("nbytes_in_memory", unit="bytes"), Column("seconds", unit="seconds")),
        *(Column("start", unit="time"), Column("stop", unit="time"), Column("dependencies")),
    )

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        self.boxes, self.lines = Source(*_BOX_COLUMNS), Source("x0", "y0", "x1", "y1")
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=1, end=0)
        self._fitted: object = None
        self._boxes: Boxes | None = None
        self._boxes_version = -1
        self.forget_places()

    # --- the picture

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._stack = Stack(sizing_mode="stretch_both", margin=0)
        self._renew_figure()
        return self._stack

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        self._renew_figure()
        self.update()

    def _renew_figure(self) -> None:
        """Draw what there is in a figure with the colours of `look`."""
        plot = base_figure(self.look, x_range=self._x, y_range=self._y)
        plot.axis.visible = False
        plot.grid.visible = False
        self.add_glyphs(plot)
        pan, zoom = PanTool(), WheelZoomTool(modifiers={"ctrl": True})
        plot.add_tools(pan, zoom)
        plot.toolbar.update(active_drag=pan, active_scroll=zoom)
        plot.on_event(Tap, self._on_tap)
        self._stack.children = [plot]

    def add_glyphs(self, plot: figure) -> None:
        """Add all that is drawn to an empty figure."""
        look, source = self.look, self.boxes.model
        colors = data_colors(look)
        line = Segment(x0="x0", y0="y0", x1="x1", y1="y1", line_color=look.muted, line_alpha=0.5)
        add_glyph(plot, self.lines.model, line)
        box = Quad(left="left", right="right", top="top", bottom="bottom")
        box.update(fill_color=colors.track, line_color="color", line_width="line")
        hover = base_hover(look, *_HOVER, renderers=[add_glyph(plot, source, box)])
        plot.add_tools(hover)
        fills = (
            *(("color", RELEASED_ALPHA), ("color", 1.0), (colors.erred, 1.0)),
            *((colors.queued, 1.0), (colors.queued, 0.5), (colors.no_worker, 0.7)),
        )
        for at, (name, (fill, alpha)) in enumerate(zip(PARTS, fills, strict=True)):
            part = Quad(left=f"begin{at}", right=f"end{at}", top="strip", bottom="bottom")
            outline = colors.erred_mark if name == "erred" else None
            part.update(fill_color=fill, fill_alpha=alpha, line_color=outline)
            add_glyph(plot, source, part)
        labels = BoxLabels(left="left", right="right", top="top", bottom="strip")
        labels.update(color=look.foreground, muted_color=look.muted)
        labels.update(font=look.font, font_size=look.font_size)
        add_glyph(plot, source, labels)

    def forget_places(self) -> None:
        """Lay out all anew with the next `draw`."""
        self._placement = Placement()
        self._places: Floats = np.empty((0, 2))

    def command(self, verb: str) -> None:
        """``fit``: place everything anew, compactly, and show all of it; see `View.command`."""
        if verb == "fit":
            self.forget_places()
            self._fitted = self._drawn = None
            self.update()

    def _on_tap(self, event: Event) -> None:
        if isinstance(event, Tap) and event.x is not None and event.y is not None:
            self.tapped(event.x, event.y)

    def tapped(self, x: float, y: float) -> None:
        """Open the profile of the group at a point."""
        is_hit = (np.abs(self._places - (x, y)) <= _HALF_BOX).all(axis=1)
        if self._boxes is not None and is_hit.any():
            self.open("profile", prefix=self._boxes.prefixes[int(is_hit.argmax())])

    def ranges(self) -> tuple[Any, ...]:  # numbers; Bokeh would take dates as well
        """Return left, right, bottom and top of what the reader sees."""
        return self._x.start, self._x.end, self._y.start, self._y.end

    @property
    def is_followed(self) -> bool:
        """Whether all of it is shown: the reader looks at no part of it."""
        return self._fitted is None or self.ranges() == self._fitted

    def fit(self, places: Floats) -> None:
        """Show all places, unless the reader looks at a part."""
        if self.is_followed and len(places):
            low, high = places.min(axis=0), places.max(axis=0)
            size = high - low
            margin = np.maximum(_MARGIN, _MARGIN_SHARE * size)
            margin = np.maximum(margin, (_LEAST_SPAN - size) / 2)
            (left, top), (right, bottom) = (low - margin).tolist(), (high + margin).tolist()
            set_properties(self._x, start=left, end=right)
            set_properties(self._y, start=bottom, end=top)
            self._fitted = self.ranges()

    # --- keeping it up to date

    def draw(self) -> None:
        """Bring the picture up to date; see `View.draw`."""
        groups = self.history.groups
        if not len(groups):
            self.clear_boxes()
            self.caption = Caption(empty=NO_GROUPS)
            return
        note = self.draw_boxes()
        states = groups.states.sum(axis=0)
        there = f"{fmt.plural(len(groups), 'group')} · {fmt.plural(int(states.sum()), 'task')}"
        self.caption = Caption(
            headline=tasks.headline(there, states, ("erred", "processing", "memory")),
            legend=self.box_legend(),
            note=f"each box is {note}" if note else "",
        )

    def box_legend(self) -> list[LegendItem]:
        """Return what the strip at the bottom of a box and its outline mean."""
        return [
            *tasks.legend(self.look)[:3],
            LegendItem("processing", prefix_color(0, self.look), "outline"),
            LegendItem("not done", data_colors(self.look).track),
        ]

    def clear_boxes(self) -> None:
        """Draw no boxes; all is shown when there are some again."""
        for source in (self.boxes, self.lines):
            source.set({name: [] for name in source.model.data})
        self._fitted = None
        self.forget_places()

    def draw_boxes(self) -> str:
        """Bring boxes and lines up to date; return what boxes stand for, '' for a group each."""
        groups = self.history.groups
        if self._boxes is None or self._boxes_version != groups.structure_version:
            self._boxes_version = groups.structure_version
            self._boxes = boxes_of(self.history)
        boxes, place = self._boxes, self._placement.place
        self._places = place(boxes.names, boxes.flow, may_move=self.is_followed, shape=_SHAPE)
        (half_width, half_height), (x, y) = _HALF_BOX, self._places.T
        source, target = boxes.edges.T
        begin, end = x[source] + half_width, x[target] - half_width
        self.lines.set({"x0": begin, "y0": y[source], "x1": end, "y1": y[target]})
        states = np.zeros((len(boxes.names), len(STATES)), dtype=np.int64)
        np.add.at(states, boxes.of_group, groups.states)
        is_busy = tasks.counts(states, "processing") > 0
        index = self.history.prefix_index.index
        columns: dict[str, Any] = {  # arrays and lists
            "left": x - half_width,
            "right": x + half_width,
            "top": y - half_height,
            "bottom": y + half_height,
            "strip": y + half_height - _STRIP,
            "color": [prefix_color(index(prefix), self.look) for prefix in boxes.prefixes],
            "line": np.where(is_busy, _OUTLINE_PX[1], _OUTLINE_PX[0]),
        }
        total = np.maximum(states.sum(axis=1), 1)[:, None]
        ends = np.cumsum(tasks.part_counts(states), axis=1) / total * 2 * half_width
        for at in range(len(PARTS)):
            begins = ends[:, at - 1] if at else np.zeros(len(x))
            # A part of nothing would be an outline.
            columns[f"begin{at}"] = columns["left"] + np.where(ends[:, at] > begins, begins, np.nan)
            columns[f"end{at}"] = columns["left"] + ends[:, at]
        self.boxes.set(columns | self._texts(boxes, states))
        self.fit(self._places)
        return boxes.note

    def _texts(self, boxes: Boxes, states: Ints) -> dict[str, list[str]]:
        """Return what is written into each box, and the lines of its hover."""
        groups, box = self.history.groups, boxes.of_group
        held = np.bincount(box, groups.nbytes).tolist()
        seconds = np.bincount(box, groups.duration).tolist()
        memory = [fmt.binary(nbytes) if nbytes else "" for nbytes in held]
        spent = [fmt.duration(each) if each else "" for each in seconds]
        numbers = (tasks.counts(states, "erred"), tasks.done(states), states.sum(axis=1))
        return {
            "label": [shown_name(name) for name in boxes.names],
            "short": [shown_name(prefix) for prefix in boxes.prefixes],
            "count": [
                f"{fmt.count(erred)} erred · " * bool(erred)
                + f"{fmt.count(done)} / {fmt.count(total)}"
                for erred, done, total in zip(*(of.tolist() for of in numbers), strict=True)
            ],
            "more": [" · ".join(filter(None, pair)) for pair in zip(memory, spent, strict=True)],
            "states": [tasks.headline(fmt.plural(int(row.sum()), "task"), row) for row in states],
            "memory": [f"{text} in memory" if text else "" for text in memory],
            "time": [f"{text} of thread time" if text else "" for text in spent],
        }

    def rows(self) -> Rows:
        """Return all groups with all that is known of them, whatever boxes stand for."""
        groups = self.history.groups
        return {
            "group": groups.names,
            "prefix": groups.prefix,
            **{state: groups.states[:, at] for at, state in enumerate(STATES)},
            "nbytes_in_memory": groups.nbytes,
            "seconds": groups.duration,
            "start": groups.start,
            "stop": groups.stop,
            "dependencies": [", ".join(names) for names in groups.dependencies],
        }

    def table(self) -> Table:
        """Return one row a group, of which none is left out."""
        return replace(super().table(), note="")
