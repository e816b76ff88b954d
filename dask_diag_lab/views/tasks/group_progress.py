"""How many threads computed tasks of each prefix, over the whole time that the log has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Final

import numpy as np
from bokeh.models import AdaptiveTicker, ColumnDataSource, Quad, Range1d, Step, VAreaStep
from bokeh.plotting import figure

from dask_diag_lab.schema import Kind
from dask_diag_lab.store.arrays import Floats, Ints
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import MOMENT, JobView, Rows
from dask_diag_lab.views.figure import FigureView, Source, add_glyph, base_hover, set_properties
from dask_diag_lab.views.look import data_colors, prefix_color
from dask_diag_lab.views.names import shown_name
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.time_axis import TimePlot, add_moves, make_time_axis
from dask_diag_lab.views.view import LegendItem, Table

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession

MAX_BINS: Final = 240
"""Of more than so many, bins are twice as wide."""
FINEST_S: Final = 2.0**-2
"""Least width of a bin; powers of two keep edges where they were when bins become wider.

Finer ones would show that workers correct their clocks by tens of milliseconds: one thread as two.
"""
MAX_LAYERS: Final = 12
"""Prefixes with a layer of their own; the others share one."""
CLOCKS_S: Final = 1.0
"""Heartbeats put starts off by less. What runs and began longer before another task ended in its
slot has left its thread."""


@dataclass(frozen=True, slots=True)
class Layers:
    """What is stacked: one row of ``threads`` a layer, from the bottom.

    Attributes
    ----------
    names : sequence of str
        Prefixes in order of appearance; '' is the layer of the others.
    threads : ndarray of float64, shape (layers, bins)
        Mean number of threads that computed in each bin.
    n_others : int
        Prefixes in the layer of the others.
    edges : ndarray of float64
        Seconds since the epoch, one more than bins; the last is now.
    width_s : float
        Of a bin.
    """

    names: Sequence[str]
    threads: Floats
    n_others: int
    edges: Floats
    width_s: float


NO_LAYERS: Final = Layers([], np.empty((0, 0)), 0, np.empty(0), FINEST_S)


def layers_job(live: LiveSession, period: Window) -> Callable[[], Layers]:
    """Return what counts the threads of each prefix in a period, in any thread.

    What runs counts as far as it has come.
    """
    history, now = live.history, live.time
    read = history.actions.of_window(period, ("kind", "prefix", "start", "stop", "slot"))
    running, slots, strings = history.running.rows(now), history.slots, history.strings
    begun, ended = running["start"], slots.last_stop[slots.ids[running["slot"]]]
    begun = np.where(ended - begun < CLOCKS_S, np.minimum(np.maximum(begun, ended), now), begun)
    order_of = history.prefix_index.indices(np.arange(len(strings)))

    def make() -> Layers:
        rows = read()
        its = np.flatnonzero(rows["kind"] == Kind.COMPUTE)
        prefix, start, stop, slot = (rows[n][its] for n in ("prefix", "start", "stop", "slot"))
        start = _in_turn(slot, start, stop)
        prefix = np.append(prefix, running["prefix"])
        start = np.maximum(np.append(start, begun), period.start)
        stop = np.minimum(np.append(stop, np.full(len(begun), now)), period.stop)
        is_in = (stop > start) | (period == ALL)
        goes_on = is_in[len(is_in) - len(begun) :].any()
        prefix, start, stop = prefix[is_in], start[is_in], np.maximum(start, stop)[is_in]
        if not len(start):
            return NO_LAYERS
        width_s, begin, end = FINEST_S, float(start.min()), float(stop.max())
        while end // width_s - begin // width_s >= MAX_BINS:
            width_s *= 2
        first, n = begin // width_s, int(end // width_s - begin // width_s) + 1
        prefixes = np.flatnonzero(np.bincount(prefix))
        row = np.searchsorted(prefixes, prefix)
        seconds: Floats = width_s * _shared_out(
            row, start / width_s - first, stop / width_s - first, n
        )
        edges = (first + np.arange(n + 1, dtype=np.float64)) * width_s
        if goes_on:
            # The last bin is not over: its mean is that of the part that has passed.
            edges[-1] = min(max(now, end, edges[-2] + width_s / 100), edges[-1])
        order = np.argsort(-seconds.sum(axis=1), kind="stable")
        shown, others = order[:MAX_LAYERS], order[MAX_LAYERS:]
        shown = shown[np.argsort(order_of[prefixes[shown]], kind="stable")]
        names, stacked = strings.take(prefixes[shown].tolist()), seconds[shown]
        if len(others):
            names = [*names, ""]
            stacked = np.vstack([stacked, seconds[others].sum(axis=0)])
        return Layers(names, stacked / np.diff(edges), len(others), edges, width_s)

    return make


def _in_turn(slot: Ints, start: Floats, stop: Floats) -> Floats:
    """Return starts of tasks before which no other had the thread.

    A worker takes times to the scheduler's clock by its latest heartbeat, task by task: one that
    took long moves a task into the one before it. What left its thread is in a slot of its own.
    """
    # One key, in runs as of blocks, sorts ten times faster than two; its digits tell microseconds.
    since = stop - stop.min(initial=np.inf)
    order = np.argsort(slot * (since.max(initial=0.0) + 1.0) + since, kind="stable")
    ended, is_same = stop[order], np.diff(slot[order], prepend=-2) == 0
    before = np.full(len(start), -np.inf)
    before[order] = np.where(is_same, np.roll(ended, 1), -np.inf)
    in_turn: Floats = np.minimum(np.maximum(start, before), stop)
    return in_turn


def _shared_out(row: Ints, start: Floats, stop: Floats, n: int) -> Floats:
    """Return how much of each of ``n`` cells of its row each interval covers, summed.

    Each interval is the difference of two ramps, and a ramp that begins in a cell fills the rest
    of that one and all that follow: two sums by cell and one running sum do.

    Parameters
    ----------
    row : ndarray of int64
    start, stop : ndarray of float64
        In cells.
    n : int
    """
    size = (int(row.max()) + 1) * n
    part, whole = np.zeros(size), np.zeros(size)
    for place, sign in ((start, 1.0), (stop, -1.0)):
        cell = np.clip(np.floor(place).astype(np.int64), 0, n - 1)
        part += sign * np.bincount(row * n + cell, weights=cell + 1 - place, minlength=size)
        whole += sign * np.bincount(row * n + cell, minlength=size)
    covered = part.reshape(-1, n)
    covered[:, 1:] += np.cumsum(whole.reshape(-1, n), axis=1)[:, :-1]
    return np.maximum(covered, 0.0)


_ALPHA: Final = 0.75
_HOVER: Final = ("@total", "@when", "<span style='white-space:pre-line'>@parts</span>")


@register_plot
class TaskGroupProgress(JobView[Layers], TimePlot, FigureView):
    """A stacked area for each prefix, under the line of all threads there were."""

    name = "group-progress"

    reads = ("actions", "running", "nthreads", "prefix_index")
    empty = "No task has run yet. Threads are counted as soon as one does."

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        levels = (f"level{at}" for at in range(MAX_LAYERS + 2))
        self.areas = Source("x", *levels, is_patched=True)
        self.line = Source("x", "threads", is_patched=True)
        self._layers = NO_LAYERS
        self._y = Range1d(start=0, end=1)

    # --- the picture

    def make_figure(self, source: ColumnDataSource) -> figure:
        """Return the figure; see `FigureView.make_figure`."""
        plot = self.new_figure(x_range=self._time.model, y_range=self._y, min_border_left=8)
        make_time_axis(plot)
        plot.xgrid.visible = False
        plot.yaxis.ticker = AdaptiveTicker(mantissas=[1, 2, 5], min_interval=1, num_minor_ticks=0)
        self._areas: list[VAreaStep] = []
        for at in range(MAX_LAYERS + 1):
            area = VAreaStep(x="x", y1=f"level{at}", y2=f"level{at + 1}", step_mode="after")
            area.fill_alpha = _ALPHA
            self._areas.append(area)
            add_glyph(plot, self.areas.model, area, visible=False)
        step = Step(x="x", y="threads", mode="after", line_width=2, line_color=self.look.foreground)
        add_glyph(plot, self.line.model, step)
        target = Quad(left="left", right="right", bottom=0, top="top", fill_alpha=0)
        target.line_color = None
        target_of = add_glyph(plot, source, target)
        plot.add_tools(base_hover(self.look, *_HOVER, renderers=[target_of]))
        add_moves(plot)
        return plot

    def adjust(self, picture: figure, rows: Rows) -> None:
        """Stack the areas under the line of all threads."""
        layers, has_rows = self._layers, len(rows["left"]) > 0
        for part in (*picture.renderers, *picture.axis):
            # BokehJS 3.9 never comes back from painting an area without points.
            set_properties(part, visible=has_rows)
        if not has_rows:
            return
        self.window.zero = zero = float(layers.edges[0])
        edges = layers.edges - zero
        stacked = np.zeros((MAX_LAYERS + 2, len(edges)))
        sums = np.cumsum(layers.threads, axis=0)
        # A step needs its end as a point of its own.
        stacked[1 : len(sums) + 1] = np.column_stack([sums, sums[:, -1]])
        stacked[len(sums) + 1 :] = stacked[len(sums)]
        self.areas.set({"x": edges, **{f"level{at}": level for at, level in enumerate(stacked)}})
        for area, name in zip(self._areas, layers.names, strict=False):
            set_properties(area, fill_color=self._color(name))
        threads = self.history.nthreads.mean(layers.edges)
        self.line.set({"x": edges, "threads": np.append(threads, threads[-1:])})
        set_properties(self._y, end=float(rows["top"][0]))
        self.follow(0.0, float(edges[-1]))
        label = f"0 s is {fmt.clock(zero)}, the first task"
        set_properties(picture.xaxis[0], axis_label=label)

    # --- keeping it up to date

    def state(self) -> object:
        """Return how far what runs has come; see `View.state`."""
        return super().state(), self._step, self._busy

    @property
    def _step(self) -> int:
        """What runs grows while nothing else happens, a quarter of a bin at a time."""
        return int(self.live.time / self._layers.width_s * 4) if self.history.running.count else 0

    def _newest(self) -> Layers:
        """Return the newest layers; of the last change they may be yet to come."""
        version = self.history.actions.version, self.history.running.version, self._step
        make = partial(layers_job, self.live, self.period)
        return self._latest.get_or_begin(self.period, version, make) or NO_LAYERS

    def rows(self) -> Rows:
        """Return what the hover shows of each bin: threads, when, the largest layers."""
        layers = self._layers = self._newest()
        edges = layers.edges - layers.edges[:1]
        total = layers.threads.sum(axis=0)
        names = [shown_name(name, 60) if name else "others" for name in layers.names]
        ends = [fmt.duration(edge) for edge in edges.tolist()]
        clock = [fmt.clock(edge) for edge in layers.edges.tolist()]
        most = max([1.0, *total.tolist(), *self.history.nthreads.mean(layers.edges).tolist()])
        return {
            "left": edges[:-1],
            "right": edges[1:],
            # Clocks of workers differ a little: that must not move the picture up and down.
            "top": np.full(len(total), round(most, 1) * 1.04),
            "total": [f"{fmt.significant(number)} threads in tasks" for number in total.tolist()],
            "when": [
                f"{begin} to {end} · {at}"
                for begin, end, at in zip(ends, ends[1:], clock, strict=False)
            ],
            "parts": [_parts(names, threads) for threads in layers.threads.T.tolist()],
        }

    def legend(self, rows: Rows) -> Sequence[LegendItem]:
        """Return the layers; see `DataPlot.legend`."""
        del rows
        return [
            LegendItem(shown_name(name) if name else "others", self._color(name), alpha=_ALPHA)
            for name in self._layers.names
        ]

    def _color(self, prefix: str) -> str:
        if not prefix:
            return data_colors(self.look).gone
        return prefix_color(self.history.prefix_index.index(prefix), self.look)

    def headline(self) -> str:
        """Return how many threads compute, and how many there are; of a period the mean."""
        if isfinite(self.period.stop):
            layers, (start, stop) = self._layers, self.period
            seconds = float((layers.threads @ np.diff(layers.edges)).sum()) if layers.names else 0.0
            first = layers.edges[0] if layers.names and not isfinite(start) else start
            mean = seconds / max(min(stop, self.live.time) - first, 1e-9)
            return f"{fmt.significant(mean)} threads in tasks on average"
        values, busy = self.history.nthreads.values, self._busy
        total = int(values[-1]) if len(values) else 0
        of_all = f" of {fmt.count(total)}" if total else ""
        return f"{fmt.count(min(busy, total) if total else busy)}{of_all} threads in tasks lately"

    @property
    def _busy(self) -> int:
        """Threads in tasks: heartbeats name what runs, but come too seldom for short ones."""
        history = self.history
        return max(history.running.count, round(history.busy.threads_lately(self.live.time)))

    def note(self) -> str:
        """Return what a step is, and what is not drawn or not by itself."""
        actions = self.history.actions
        notes = [self.period_text] if self.period_text else []
        notes += [f"each step is the mean of {fmt.duration(self._layers.width_s)}"]
        if self._layers.n_others:
            notes.append(f"{fmt.count(self._layers.n_others)} smaller prefixes in one grey area")
        if actions.evicted:
            notes.append(f"the oldest {fmt.plural(actions.evicted, 'action')} given up")
        if actions.dropped:
            notes.append(f"{fmt.plural(actions.dropped, 'action')} lost on the way")
        return "; ".join(notes)

    def table(self) -> Table:
        """Return one row for each stretch of time and prefix that had threads at work."""
        layers = self._newest()
        bins, rows = np.nonzero(layers.threads.T > 0)
        names = [name or f"{layers.n_others} others" for name in layers.names]
        columns = {
            "start": layers.edges[bins].tolist(),
            "stop": layers.edges[bins + 1].tolist() if len(bins) else [],
            "prefix": [names[row] for row in rows.tolist()],
            "threads": layers.threads[rows, bins].tolist(),
        }
        return Table(columns, dict.fromkeys(("start", "stop"), MOMENT))


def _parts(names: Sequence[str], threads: Sequence[float]) -> str:
    """Return the layers of a bin, a line each, the largest first."""
    there = sorted((-n, at) for at, n in enumerate(threads) if n >= 0.005)
    return "\n".join(f"{names[at]}: {fmt.significant(-n)}" for n, at in there)
