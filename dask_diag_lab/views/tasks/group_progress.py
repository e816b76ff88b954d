"""How many threads computed tasks of each prefix, over the whole time since the begin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from bokeh.models import AdaptiveTicker, Quad, Range1d, Step, VAreaStep

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import (
    Source,
    add_glyph,
    quiet_figure,
    quiet_hover,
    restyle_figure,
    set_properties,
    tooltip_html,
)
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks.task_counts import Floats
from dask_diag_lab.views.tasks.thread_history import MAX_LAYERS, Layers, ThreadHistory
from dask_diag_lab.views.time_axis import MovingRange, add_moves, make_time_axis
from dask_diag_lab.views.view import Caption, LegendItem, Table, View

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

READING: Final = "Reading the history …"
NO_TASKS: Final = "No task has run yet. Threads are counted as soon as one does."

READ_S: Final = 0.02
"""So long a page reads history before others have their turn."""
_ALPHA: Final = 0.75
_IN_HOVER: Final = 5
"""The largest layers, which the tooltip names."""
_HOVER: Final = ("@total", "@when", "<span style='white-space:pre-line'>@parts</span>")


@register_plot
class TaskGroupProgress(View):
    """A stacked area for each prefix, under the line of all threads there were."""

    name = "group-progress"
    title = "Task Group Progress"
    group = "Tasks"
    description = "How many threads computed tasks of each function, over time."
    help = (
        "Stacked areas, one colour for each function: their height is the number of threads "
        "that computed its tasks, averaged over each step.\n"
        "- the line: how many threads the cluster had\n"
        "- point at a moment: its figures\n"
        "- 0 s below: the start of the first task\n"
        "- drag: pan\n"
        "- Ctrl-wheel: zoom\n"
        "- healthy: the areas reach up to the line\n"
        "- a gap under the line: threads without work; too few tasks at that stage, or tasks "
        "that wait for data\n"
        "- areas above the line: tasks that left their thread and run beside those that have "
        "one\n"
        "- a long thin tail: a few stragglers"
    )
    keywords = ("parallelism", "threads", "utilization", "occupancy", "area", "stages", "tail")

    reads = ("actions", "running", "nthreads", "palette")

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        levels = [f"level{at}" for at in range(MAX_LAYERS + 2)]
        self.areas = Source("x", *levels)
        self.bins = Source("left", "right", "total", "when", "parts")
        self.line = Source("x", "threads")
        self.history = ThreadHistory(store)
        self._most = 1.0

    # --- the picture

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._time, self._y = MovingRange(), Range1d(start=0, end=1)
        plot = self.figure = quiet_figure(self.look, x_range=self._time.model, y_range=self._y)
        plot.update(min_border_left=8)
        make_time_axis(plot)
        plot.xgrid.visible = False
        plot.yaxis.ticker = AdaptiveTicker(mantissas=[1, 2, 5], min_interval=1, num_minor_ticks=0)
        self._areas = [
            VAreaStep(x="x", y1=f"level{at}", y2=f"level{at + 1}", step_mode="after")
            for at in range(MAX_LAYERS + 1)
        ]
        self._drawn_areas = [
            add_glyph(plot, self.areas.model, area, visible=False) for area in self._areas
        ]
        self._step = Step(x="x", y="threads", mode="after", line_width=2)
        add_glyph(plot, self.line.model, self._step)
        self._target = Quad(left="left", right="right", bottom=0, top=1)
        self._target.update(fill_alpha=0, line_color=None)
        target = add_glyph(plot, self.bins.model, self._target)
        self._hover = quiet_hover(self.look, *_HOVER, renderers=[target])
        plot.add_tools(self._hover)
        add_moves(plot)
        self.restyle()
        return plot

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        restyle_figure(self.figure, self.look)
        set_properties(self._step, line_color=self.look.foreground)
        set_properties(self._hover, tooltips=tooltip_html(self.look, *_HOVER))
        self.update()

    def command(self, verb: str) -> None:
        """``fit`` and ``live`` show the whole time again; see `View.command`."""
        if verb in {"fit", "live"}:
            self._time.release()
            self._drawn = None
            self.update()

    # --- keeping it up to date

    def update(self) -> None:
        """Read on, and draw what differs; see `View.update`."""
        document = self.figure.document
        is_served = document is None or document.session_context is not None
        # Of a document that nobody serves there is no later update.
        self.history.read(READ_S if is_served else math.inf)
        super().update()

    def state(self) -> object:
        """Return how far history has been read and what runs has come; see `View.state`."""
        # What runs grows while nothing else happens, a quarter of a bin at a time.
        is_running = bool(self.store.running.count)
        step = int(self.store.time / self.history.bins.width_s * 4) if is_running else 0
        return self.history.cursor, step, self.history.threads_now()

    @property
    def is_behind(self) -> bool:
        """Whether history is left to read: a million tasks at once would hold up all others."""
        return bool(self.history.unread)

    def draw(self) -> None:
        """Draw what was read; see `View.draw`."""
        layers = self.history.layers()
        for area in self._drawn_areas:
            # BokehJS 3.9 never comes back from painting an area without points.
            set_properties(area, visible=bool(layers.names))
        set_properties(self.figure.xaxis[0], visible=bool(layers.names))
        set_properties(self.figure.yaxis[0], visible=bool(layers.names))
        if layers.names:
            self._draw(layers)
            return
        for source in (self.areas, self.bins, self.line):
            source.set({name: [] for name in source.model.data})
        self.caption = Caption(empty=READING if self.history.unread else NO_TASKS)

    def _draw(self, layers: Layers) -> None:
        zero = float(layers.edges[0])
        edges = layers.edges - zero
        stacked = np.zeros((MAX_LAYERS + 2, len(edges)))
        sums = np.cumsum(layers.threads, axis=0)
        # A step needs its end as a point of its own.
        stacked[1 : len(sums) + 1] = np.column_stack([sums, sums[:, -1]])
        stacked[len(sums) + 1 :] = stacked[len(sums)]
        self.areas.set({"x": edges, **{f"level{at}": level for at, level in enumerate(stacked)}})
        names = layers.names
        for area, name in zip(self._areas, names, strict=False):
            set_properties(area, fill_color=self._color(name), fill_alpha=_ALPHA)
        times, threads = self._nthreads(layers.edges)
        self.line.set({"x": times - zero, "threads": threads})
        # Clocks of workers differ a little: that must not move the picture up and down.
        most = round(max(float(sums[-1].max()), float(threads.max(initial=0.0))), 1)
        self._most = max(self._most, most)
        set_properties(self._y, end=self._most * 1.04)
        set_properties(self._target, top=self._most * 1.04)
        self._time.follow(0.0, float(edges[-1]))
        label = f"0 s is {fmt.clock(zero)}, the first task"
        set_properties(self.figure.xaxis[0], axis_label=label)
        self.bins.set(_hover_columns(layers))
        self._describe(layers, int(threads[-1]) if len(threads) else 0)

    def _color(self, prefix: str) -> str:
        if not prefix:
            return data_colors(self.look).gone
        return prefix_color(self.store.palette.index(prefix), self.look)

    def _nthreads(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return where the number of threads changed in the time of the picture, and its ends."""
        history = self.store.nthreads
        if not len(history.times):
            return np.empty(0), np.empty(0)
        is_inside = (history.times > edges[0]) & (history.times < edges[-1])
        times = np.concatenate([edges[:1], history.times[is_inside], edges[-1:]])
        at = np.searchsorted(history.times, times, side="right") - 1
        values = history.values[np.maximum(at, 0)].astype(np.float64)
        return times, np.where(at >= 0, values, 0.0)

    def _describe(self, layers: Layers, total: int) -> None:
        now = self.history.threads_now()
        # Tasks that left their thread run beside those that have one.
        busy = min(now, total) if total else now
        of_all = f" of {fmt.count(total)}" if total else ""
        notes = [f"each step is the mean of {fmt.duration(self.history.bins.width_s)}"]
        if layers.n_others:
            notes.append(f"{fmt.count(layers.n_others)} smaller prefixes in one grey area")
        if self.history.unread:
            notes.append(f"reading the history: {fmt.percent(self.history.share)} so far")
        if self.store.actions.dropped:
            notes.append(f"{fmt.plural(self.store.actions.dropped, 'action')} lost on the way")
        self.caption = Caption(
            headline=f"{fmt.count(busy)}{of_all} threads computing now",
            legend=[
                LegendItem(shown_name(name) if name else "others", self._color(name), alpha=_ALPHA)
                for name in layers.names
            ],
            note="; ".join(notes),
        )

    def table(self) -> Table:
        """Return one row for each stretch of time and prefix that had threads at work.

        Of a long history what has been read so far; see `is_behind`.
        """
        self.history.read(READ_S)
        layers = self.history.layers()
        bins, rows = np.nonzero(layers.threads.T > 0)
        names = [name or f"{layers.n_others} others" for name in layers.names]
        columns = {
            "start": layers.edges[bins].tolist(),
            "stop": layers.edges[bins + 1].tolist() if len(bins) else [],
            "prefix": [names[row] for row in rows.tolist()],
            "threads": layers.threads[rows, bins].tolist(),
        }
        return Table(columns, {"start": "s", "stop": "s"})


def _hover_columns(layers: Layers) -> dict[str, Floats | list[str]]:
    """Return what the pointer is told of each bin: threads at work, when, the largest layers."""
    edges = layers.edges - layers.edges[0]
    names = [shown_name(name, 60) if name else "others" for name in layers.names]
    total = [fmt.significant(number) for number in layers.threads.sum(axis=0).tolist()]
    ends = [fmt.duration(edge) for edge in edges.tolist()]
    clock = [fmt.clock(edge) for edge in layers.edges.tolist()]
    parts = []
    for bin_threads in layers.threads.T.tolist():
        there = sorted((-n, at) for at, n in enumerate(bin_threads) if n >= 0.005)
        lines = [f"{names[at]}: {fmt.significant(-n)}" for n, at in there[:_IN_HOVER]]
        if rest := there[_IN_HOVER:]:
            lines.append(f"{len(rest)} more: {fmt.significant(-sum(n for n, _ in rest))}")
        parts.append("\n".join(lines))
    return {
        "left": edges[:-1],
        "right": edges[1:],
        "total": [f"{number} threads computing" for number in total],
        "when": [
            f"{begin} to {end} · {at}"
            for begin, end, at in zip(ends, ends[1:], clock, strict=False)
        ],
        "parts": parts,
    }
