"""How many threads computed tasks of each prefix, over the whole time since the begin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from bokeh.models import FixedTicker, Quad, Range1d, Step, VAreaStep
from bokeh.models.annotations import Title

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.axis_end import AxisEnd
from dask_diag_lab.views.base import Notice, Table
from dask_diag_lab.views.figure import (
    add_glyph,
    quiet_figure,
    quiet_hover,
    set_properties,
    tooltip_html,
)
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.moving_range import MovingRange, add_moves
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.pane_size import PaneSize, pane_size, restyle_pane
from dask_diag_lab.views.redrawn import RedrawnView
from dask_diag_lab.views.tail_source import TailSource
from dask_diag_lab.views.tasks.thread_bins import Floats
from dask_diag_lab.views.tasks.thread_history import ThreadHistory
from dask_diag_lab.views.tasks.thread_layers import (
    HOVER_LINES,
    MAX_AREAS,
    HoverWords,
    Layers,
    layers_of,
)
from dask_diag_lab.views.tasks.thread_legend import ThreadLegend
from dask_diag_lab.views.time_axis import fit_time_axis, make_time_axis, tell_zero

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

READING: Final = "Reading the history …"
NO_TASKS: Final = "No task has run yet. Threads are counted as soon as one does."

READ_S: Final = 0.02
"""So long a page reads history before others have their turn."""
UNSEEN: Final = 1e-4
"""Differences in threads, and in seconds, that nobody can see."""
_ALPHA: Final = 0.75
_LEAST_PX: Final = (240, 120)
"""A narrower picture has no numbers of threads, a lower one no times either."""


class TaskGroupProgress(RedrawnView):
    """A stacked area for each prefix, under the line of all threads there were."""

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        levels = [f"level{index}" for index in range(MAX_AREAS + 2)]
        hover = [f"hover{line}" for line in range(HOVER_LINES)]
        self.areas = TailSource("x", *levels, tolerance=UNSEEN)
        self.bins = TailSource("left", "right", *hover, tolerance=UNSEEN)
        self.line = TailSource("x", "threads", tolerance=UNSEEN)
        self.history = ThreadHistory(store)
        self._n_now = 0
        self._words = HoverWords()
        self._y_end = AxisEnd(1.0)

    # --- the picture

    def build(self) -> UIElement:
        """Return the figure; see `View.build`."""
        self._title = Title(text=" ")
        self._time, self._y = MovingRange(), Range1d(start=0, end=1)
        self._y_ticker = FixedTicker(ticks=[0])
        plot = self.figure = quiet_figure(
            self.look, title=self._title, x_range=self._time.model, y_range=self._y
        )
        plot.update(min_border_left=8)
        make_time_axis(plot)
        self.legend = ThreadLegend(plot, _ALPHA)
        plot.xgrid.visible = False
        plot.yaxis.ticker = self._y_ticker
        plot.ygrid.ticker = self._y_ticker
        self._areas = []
        for index in range(MAX_AREAS + 1):
            area = VAreaStep(x="x", y1=f"level{index}", y2=f"level{index + 1}", step_mode="after")
            self._areas.append(add_glyph(plot, self.areas.model, area, visible=False))
        self._step = Step(x="x", y="threads", mode="after", line_width=2)
        add_glyph(plot, self.line.model, self._step)
        self._target = Quad(left="left", right="right", bottom=0, top=1)
        self._target.update(fill_alpha=0, line_color=None)
        target = add_glyph(plot, self.bins.model, self._target)
        self._hover = quiet_hover(self.look, *self._hover_fields(), renderers=[target])
        plot.add_tools(self._hover)
        add_moves(plot)
        self.restyle()
        return plot

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        restyle_pane(self.figure, self.look)
        set_properties(self._step, line_color=self.look.foreground)
        set_properties(self._hover, tooltips=tooltip_html(self.look, *self._hover_fields()))

    def command(self, verb: str) -> None:
        """``fit`` and ``live`` show the whole time again; see `View.command`."""
        if verb in {"fit", "live"}:
            self._time.release()
            self._drawn = None
            self.update()

    # --- keeping it up to date

    def shown(self) -> object:
        """Read on, and return what differs when the picture has to; see `RedrawnView.shown`."""
        store = self.store
        self.history.read(READ_S if self._can_go_on_later else math.inf)
        # What runs grows while nothing else happens, a quarter of a bin at a time.
        is_running = bool(store.running.count)
        self._n_now = self.history.threads_now()
        step = int(store.time / self.history.counts.width_s * 4) if is_running else 0
        versions = (store.actions.version, store.running.version, store.nthreads.version)
        size = pane_size(self.figure)
        seen = (store.palette.version, self.history.cursor, step, self._n_now)
        return *versions, *seen, size, self.look

    def redraw(self) -> None:
        """Draw what was read; see `RedrawnView.redraw`."""
        layers, size = self.layers(), pane_size(self.figure)
        has_axis = bool(layers.names) and size.height >= _LEAST_PX[1]
        set_properties(self.figure.xaxis[0], visible=has_axis)
        set_properties(self.figure.yaxis[0], visible=has_axis and size.width >= _LEAST_PX[0])
        if layers.names:
            self._draw(layers, size)
        else:
            self._draw_nothing()
        fit_time_axis(self.figure, size.width)

    def _draw_nothing(self) -> None:
        for source in (self.areas, self.bins, self.line):
            source.set({name: [] for name in source.model.data})
        self._show_areas(False)
        self.legend.hide()
        set_properties(self._title, text=" ")
        self.notice = Notice(empty=READING if self.history.unread else NO_TASKS)

    @property
    def _can_go_on_later(self) -> bool:
        """Whether there will be another update: always, but in a document that nobody serves."""
        document = self.figure.document
        return document is None or document.session_context is not None

    @property
    def is_behind(self) -> bool:
        """Whether history is left to read: a million tasks at once would hold up all others."""
        return bool(self.history.unread)

    def layers(self) -> Layers:
        """Return what to stack now."""
        return layers_of(self.store, self.history.counts)

    def _draw(self, layers: Layers, size: PaneSize) -> None:
        zero = float(layers.edges[0])
        self._draw_areas(layers, zero)
        times, threads = self._nthreads(layers.edges)
        self.line.set({"x": times - zero, "threads": threads})
        most = max(float(layers.threads.sum(axis=0).max()), float(threads.max(initial=0.0)))
        # Clocks of workers differ a little: that must not make room for threads there are not.
        end = self._y_end.at_least(round(most, 1))
        set_properties(self._y, start=0, end=end * 1.04)
        ticks = fmt.number_ticks(end, max(size.rows_px // 50, 2), whole=True)
        set_properties(self._y_ticker, ticks=ticks)
        set_properties(self.figure.yaxis[0], major_label_overrides=fmt.tick_labels(ticks, "number"))
        set_properties(self._target, top=end * 1.04)
        self._time.follow(0.0, float(layers.edges[-1]) - zero)
        tell_zero(self.figure, size, zero, "the first task")
        self._draw_hover(layers, zero)
        self.legend.show(layers, size, self._color)
        self._say(layers, threads, size)

    def _draw_areas(self, layers: Layers, zero: float) -> None:
        levels = np.zeros((MAX_AREAS + 2, layers.threads.shape[1]))
        stacked = np.cumsum(layers.threads, axis=0)
        levels[1 : len(stacked) + 1] = stacked
        levels[len(stacked) + 1 :] = stacked[-1]
        # A step needs its end as a point of its own.
        levels = np.concatenate([levels, levels[:, -1:]], axis=1)
        columns = {f"level{index}": level for index, level in enumerate(levels)}
        self.areas.set({"x": layers.edges - zero, **columns})
        for index, area in enumerate(self._areas):
            name = layers.names[index] if index < len(layers.names) else ""
            set_properties(area.glyph, fill_color=self._color(name), fill_alpha=_ALPHA)
        self._show_areas(True)

    def _show_areas(self, is_shown: bool) -> None:
        """Show or hide them: BokehJS 3.9 never comes back from painting an area without points."""
        for area in self._areas:
            set_properties(area, visible=is_shown)

    def _color(self, prefix: str) -> str:
        if not prefix:
            return data_colors(self.look).gone
        return prefix_color(self.store.palette.index(prefix), self.look)

    def _nthreads(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return where the number of threads changed in the time of the picture, and its ends."""
        history = self.store.nthreads
        if not len(history.times):
            return np.empty(0), np.empty(0)
        begin, end = float(edges[0]), float(edges[-1])
        inside = (history.times > begin) & (history.times < end)
        first = int(np.searchsorted(history.times, begin, side="right")) - 1
        at_begin = float(history.values[first]) if first >= 0 else 0.0
        values = history.values[inside].astype(np.float64)
        last = values[-1] if len(values) else at_begin
        return (
            np.concatenate([[begin], history.times[inside], [end]]),
            np.concatenate([[at_begin], values, [last]]),
        )

    def _draw_hover(self, layers: Layers, zero: float) -> None:
        said = self._words.of(layers)
        columns = {f"hover{line}": [words[line] for words in said] for line in range(HOVER_LINES)}
        left, right = layers.edges[:-1] - zero, layers.edges[1:] - zero
        self.bins.set({"left": left, "right": right, **columns})

    def _say(self, layers: Layers, threads: Floats, size: PaneSize) -> None:
        total = int(threads[-1]) if len(threads) else 0
        # Tasks that left their thread run beside those that have one.
        busy = min(self._n_now, total) if total else self._n_now
        of_all = f" of {fmt.count(total)}" if total else ""
        said = f"{fmt.count(busy)}{of_all} threads computing now"
        text = f"Task group progress: {said}"
        set_properties(self._title, text=text if len(text) <= size.title_characters else said)
        notes = [f"each step is the mean of {fmt.duration(self.history.counts.width_s)}"]
        if layers.n_others:
            notes.append(f"{fmt.count(layers.n_others)} smaller prefixes in one grey area")
        if self.history.unread:
            notes.append(f"reading the history: {fmt.percent(self.history.share)} so far")
        if self.store.actions.dropped:
            notes.append(f"{fmt.plural(self.store.actions.dropped, 'action')} lost on the way")
        self.notice = Notice(note="; ".join(notes))

    def _hover_fields(self) -> list[str]:
        return [f"@hover{line}" for line in range(HOVER_LINES)]

    def table(self) -> Table:
        """Return one row for each stretch of time and prefix that had threads at work.

        Of a long history what has been read so far; see `is_behind`.
        """
        self.history.read(READ_S)
        layers = self.layers()
        columns: dict[str, list[object]] = {
            name: [] for name in ("start", "stop", "prefix", "threads")
        }
        for index in range(layers.threads.shape[1] if layers.names else 0):
            for row in np.flatnonzero(layers.threads[:, index] > 0).tolist():
                columns["start"].append(float(layers.edges[index]))
                columns["stop"].append(float(layers.edges[index + 1]))
                columns["prefix"].append(layers.names[row] or f"{layers.n_others} others")
                columns["threads"].append(float(layers.threads[row, index]))
        return Table(columns, {"start": "s", "stop": "s"})
