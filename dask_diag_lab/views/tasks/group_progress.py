"""How many threads computed tasks of each prefix, over the whole time since the begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from bokeh.models import AdaptiveTicker, ColumnDataSource, Quad, Range1d, Step, VAreaStep
from bokeh.plotting import figure

from dask_diag_lab.store.sums import Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import MOMENT, Rows
from dask_diag_lab.views.figure import FigureView, Source, add_glyph, quiet_hover, set_properties
from dask_diag_lab.views.names import shown_name
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.tasks.prefix_threads import MAX_LAYERS, PrefixThreads
from dask_diag_lab.views.time_axis import MovingRange, add_moves, make_time_axis
from dask_diag_lab.views.view import LegendItem, Table

_ALPHA: Final = 0.75
_IN_HOVER: Final = 5
"""The largest layers, which the tooltip names."""
_HOVER: Final = ("@total", "@when", "<span style='white-space:pre-line'>@parts</span>")


@register_plot
class TaskGroupProgress(FigureView):
    """A stacked area for each prefix, under the line of all threads there were."""

    name = "group-progress"
    has_period = True

    reads = ("actions", "running", "nthreads", "palette")
    empty = "No task has run yet. Threads are counted as soon as one does."

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        levels = (f"level{at}" for at in range(MAX_LAYERS + 2))
        self.areas = Source("x", *levels, is_patched=True)
        self.line = Source("x", "threads", is_patched=True)
        self.threads = PrefixThreads(self.live, self.period)
        self._layers = self.threads.layers()
        self._time, self._y = MovingRange(), Range1d(start=0, end=1)

    # --- the picture

    def make_figure(self, source: ColumnDataSource) -> figure:
        """Return the figure; see `FigureView.make_figure`."""
        plot = self.new_figure(x_range=self._time.model, y_range=self._y)
        plot.update(min_border_left=8)
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
        plot.add_tools(quiet_hover(self.look, *_HOVER, renderers=[target_of]))
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
        zero = float(layers.edges[0])
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
        self._time.follow(0.0, float(edges[-1]))
        label = f"0 s is {fmt.clock(zero)}, the first task"
        set_properties(picture.xaxis[0], axis_label=label)

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show another stretch of time; see `View.show`."""
        super().show(arguments)
        self.threads = PrefixThreads(self.live, self.period)
        self._time.release()

    @property
    def chosen_period(self) -> Window | None:
        """What is in view, where the reader has put it; see `View.chosen_period`."""
        edges = self._layers.edges
        return self._time.chosen(float(edges[0])) if len(edges) else None

    def command(self, verb: str) -> None:
        """``fit`` and ``live`` show the whole time again; see `View.command`."""
        if verb in {"fit", "live"}:
            self._time.release()
            self._drawn = None
            self.update()

    # --- keeping it up to date

    def update(self) -> None:
        """Read on, and draw what differs; see `View.update`."""
        self.threads.read()
        super().update()

    def state(self) -> object:
        """Return how far history has been read and what runs has come; see `View.state`."""
        threads, n_running = self.threads, self.history.running.count
        # What runs grows while nothing else happens, a quarter of a bin at a time.
        step = int(self.live.time / threads.width_s * 4) if n_running else 0
        return threads.cursor, step, n_running, threads.is_recent

    @property
    def is_behind(self) -> bool:
        """Whether history is left to read: a million tasks at once would hold up all others."""
        return bool(self.threads.unread)

    def rows(self) -> Rows:
        """Return what the hover shows of each bin: threads, when, the largest layers."""
        layers = self._layers = self.threads.layers()
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
            "total": [f"{fmt.significant(number)} threads computing" for number in total.tolist()],
            "when": [
                f"{begin} to {end} · {at}"
                for begin, end, at in zip(ends, ends[1:], clock, strict=False)
            ],
            "parts": [_parts(names, threads) for threads in layers.threads.T.tolist()],
        }

    def draw(self) -> None:
        """Draw what was read; see `View.draw`."""
        super().draw()
        legend = [
            LegendItem(shown_name(name) if name else "others", self._color(name), alpha=_ALPHA)
            for name in self._layers.names
        ]
        self.caption = replace(self.caption, legend=legend)

    def _color(self, prefix: str) -> str:
        if not prefix:
            return data_colors(self.look).gone
        return prefix_color(self.history.palette.index(prefix), self.look)

    def headline(self) -> str:
        """Return how many threads compute now, and how many there are."""
        values, now = self.history.nthreads.values, self.threads.threads_now()
        total = int(values[-1]) if len(values) else 0
        # Tasks that left their thread run beside those that have one.
        busy = min(now, total) if total else now
        of_all = f" of {fmt.count(total)}" if total else ""
        return f"{fmt.count(busy)}{of_all} threads computing now"

    def note(self) -> str:
        """Return what a step is, and what is not drawn or not by itself."""
        actions = self.history.actions
        notes = [self.period_text] if self.period_text else []
        notes += [f"each step is the mean of {fmt.duration(self.threads.width_s)}"]
        if self._layers.n_others:
            notes.append(f"{fmt.count(self._layers.n_others)} smaller prefixes in one grey area")
        if self.threads.unread:
            read = fmt.percent(self.threads.cursor / actions.total)
            notes.append(f"reading the history: {read} so far")
        if actions.dropped:
            notes.append(f"{fmt.plural(actions.dropped, 'action')} lost on the way")
        return "; ".join(notes)

    def table(self) -> Table:
        """Return one row for each stretch of time and prefix that had threads at work.

        Of a long history what has been read so far; see `is_behind`.
        """
        self.threads.read()
        layers = self.threads.layers()
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
    """Return the largest layers of a bin, a line each, and the rest in one."""
    there = sorted((-n, at) for at, n in enumerate(threads) if n >= 0.005)
    lines = [f"{names[at]}: {fmt.significant(-n)}" for n, at in there[:_IN_HOVER]]
    if rest := there[_IN_HOVER:]:
        lines.append(f"{len(rest)} more: {fmt.significant(-sum(n for n, _ in rest))}")
    return "\n".join(lines)
