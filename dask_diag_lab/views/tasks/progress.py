"""How far the tasks are: a bar for each prefix, group or span, those with work left first.

Tasks that the scheduler forgot stay counted as done, or as failed, also when the same is computed
again after that; on the stock dashboard they leave the bar.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dask_diag_lab.schema import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import Source, set_properties
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.models import ProgressBars
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.span_names import told_apart, without_start
from dask_diag_lab.views.tasks import task_counts as tasks
from dask_diag_lab.views.tasks.graph_layout import depths
from dask_diag_lab.views.tasks.progress_estimate import Begun, Estimate, estimate
from dask_diag_lab.views.tasks.task_counts import PARTS, Floats, Ints
from dask_diag_lab.views.view import Caption, Control, Table, View

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

KINDS: Final = (("prefix", "by prefix"), ("group", "by group"), ("span", "by span"))
ORDERS: Final = (("size", "work left first"), ("topological", "by flow of work"))
"""``size``: with work left first, then most tasks first. ``topological``: what others need first,
spans by the start of their work."""

NO_TASKS: Final = "No tasks yet. They appear as soon as something is computed on this cluster."
NO_SPANS: Final = 'No spans yet. Name parts of a computation: with distributed.span("name"): …'
WAITING_FOR_SPANS: Final = "Waiting for the scheduler's answer."
NESTED: Final = "a span counts the tasks of the spans inside it as well"


@dataclass(frozen=True, slots=True)
class Rows:
    """One row a bar; all columns are of equal length.

    Attributes
    ----------
    names, prefixes : sequence of str
        A prefix gives the colour; '' of spans, which have many.
    states : ndarray of int64
        Tasks in each of `STATES`.
    nbytes : ndarray of int64
        Bytes in memory, replicas not counted; -1 while unknown.
    mean_s, median_s : ndarray of float64
        Seconds of the tasks that ended, as recorded; NaN while unknown.
    flow : ndarray of int64
        The rows in the order in which work flows through them.
    """

    names: Sequence[str]
    prefixes: Sequence[str]
    states: Ints
    nbytes: Ints
    mean_s: Floats
    median_s: Floats
    flow: Ints


@register_plot
class Progress(View):
    """One bar a prefix, group or span; arguments ``by``, of `KINDS`, and ``order``, of `ORDERS`."""

    name = "progress"
    title = "Progress"
    group = "Tasks"
    description = "How many tasks of each function are done, running, waiting or failed."
    help = (
        "One bar for each function, those with work left first, then those with most tasks. "
        "All are of one length, and their parts are shares of the tasks; from the left:\n"
        "- light colour: done and released\n"
        "- solid colour: done and held in memory\n"
        "- black: failed; see Exceptions\n"
        "- grey: running or ready to run\n"
        "- grey with stripes: queued on the scheduler\n"
        "- coloured stripes: no worker may run it; check the workers' resources and "
        "restrictions\n"
        "- empty: waits for other tasks\n"
        "- what counts: all that was done or failed since the diagnostics came, also what the "
        "scheduler has forgotten, as after a restart; so a cell that runs again adds to the "
        "bar, and the status bar, which counts what is erred now, may show fewer\n"
        "- computed again: counts once while the scheduler still knows the task, as after its "
        "result was released or lost with a worker\n"
        "- cancelled before they ran: by prefix, such tasks leave the bar\n"
        "- names: the part of a key that Dask itself cuts out as its prefix, so odd keys share "
        "odd names, such as “Other” for numbers and “data” for a bare hash\n"
        "- controls: bars can be groups or spans as well, and in the order in which work "
        "flows; groups that the scheduler has dropped stay, as done or failed, and a new one "
        "of the same name goes on from there\n"
        "- controls in a small pane: behind a button, which comes with the pointer, the Tab "
        "key or a finger\n"
        "- by span: a span counts the tasks of the spans inside it as well, so bars add up to "
        "more than all tasks, and also what ran before the diagnostics came\n"
        "- wheel: scroll, where not all fit\n"
        "- time left: an estimate, recorded times of such tasks by the threads that are at work\n"
        "- healthy: bars fill one after the other, and the solid part stays short\n"
        "- a long solid part: memory is held by results that nobody has used yet"
    )
    keywords = (
        *("tasks", "bars", "done", "erred", "errors", "failed", "queued", "waiting"),
        *("no-worker", "remaining", "prefix", "state"),
    )

    reads = ("prefixes", "groups", "ended_groups", "spans", "palette", "actions")
    choices: ClassVar[Mapping[str, Sequence[str]]] = {
        "by": tuple(dict(KINDS)),
        "order": tuple(dict(ORDERS)),
    }

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.kind = self.arguments.get("by", "prefix")
        self.order = self.arguments.get("order", "size")
        self.bars = Source()
        self._homes = 0

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]  # others always need the same
        """Spans only where they are shown: they cost the scheduler most."""
        return frozenset({"spans"} if self.kind == "span" else ())

    def build(self) -> UIElement:
        """Return the bars; see `View.build`."""
        self.chart = ProgressBars(source=self.bars.model, sizing_mode="stretch_both", margin=0)
        return self.chart

    # --- what the reader sets

    def command(self, verb: str) -> None:
        """Order by ``order-size``, ``order-topological``; ``by-prefix``, ``by-group``, ``by-span``.

        ``fit`` scrolls to the top; see `View.command`.
        """
        what, _, value = verb.partition("-")
        self.set_control(what, value)
        if verb == "fit":
            self._scroll_to_top()
        self.update()

    def set_control(self, name: str, value: str) -> None:
        """Choose bars or their order; see `View.set_control`."""
        if name in self.choices and value in self.choices[name]:
            self.show({name: value})

    def show(self, arguments: Mapping[str, str]) -> None:
        """Choose bars and order anew, where the arguments name them; see `View.show`."""
        super().show(arguments)
        self.kind = arguments.get("by", self.kind)
        self.order = arguments.get("order", self.order)
        self._scroll_to_top()

    def _scroll_to_top(self) -> None:
        self._homes += 1
        set_properties(self.chart, home=self._homes)

    # --- keeping it up to date

    def state(self) -> object:
        """Return what is chosen, and the second: what runs comes nearer to its end."""
        second = int(self.store.time) if self.store.running.count else 0
        return self.kind, self.order, second, self.store.left_out.get("groups", 0)

    def draw(self) -> None:
        """Send the rows that differ; see `View.draw`."""
        look, colors = self.look, data_colors(self.look)
        set_properties(
            self.chart,
            nouns={"prefix": "prefixes"}.get(self.kind, f"{self.kind}s"),
            erred_color=colors.erred,
            erred_mark=colors.erred_mark,
            busy_color=colors.queued,
            no_worker_color=colors.no_worker,
            track=colors.track,
            **look.style,
        )
        rows, order = self._rows()
        controls = [
            Control("by", "select", "Bars", self.kind, KINDS),
            Control("order", "select", "Order", self.order, ORDERS),
        ]
        if not len(order):
            self.bars.set({name: [] for name in self.bars.model.data})
            self.caption = Caption(empty=self._why_empty(), controls=controls)
            return
        states = rows.states[order]
        parts = dict(zip(PARTS, tasks.part_counts(states).T, strict=True))
        columns: dict[str, Any] = {  # arrays and lists
            "name": [shown_name(rows.names[at]) for at in order.tolist()],
            "color": [self._color(rows.prefixes[at]) for at in order.tolist()],
            "total": states.sum(axis=1),
            "done": tasks.done(states),
            "forgotten": tasks.counts(states, "forgotten"),
            "waiting": tasks.counts(states, "waiting"),
            "no_worker": parts.pop("no-worker"),
            **parts,
            "nbytes": rows.nbytes[order],
            "duration": rows.mean_s[order],
            "median": rows.median_s[order],
        }
        numbers = {"name", "color"} ^ columns.keys()
        self.bars.set(columns | {name: columns[name].astype(np.float64) for name in numbers})
        self.caption = Caption(
            headline=self._headline(),
            legend=tasks.legend(look),
            controls=controls,
            note=self._note(),
        )

    def _color(self, prefix: str) -> str:
        if self.kind == "span":
            return data_colors(self.look).load_normal
        return prefix_color(self.store.palette.index(prefix), self.look)

    def _headline(self) -> str:
        states = self.store.prefixes.states
        total, done = int(states.sum()), int(tasks.done(states).sum())
        share = f"{fmt.percent(done / max(total, 1))} of {fmt.plural(total, 'task')} done"
        beginning = " · ".join([share, *_left(time_left(self.store))])
        shown = [state for state in STATES if state not in ("released", "forgotten")]
        return tasks.headline(beginning, states.sum(axis=0), shown)

    def _note(self) -> str:
        dropped = self.store.left_out.get("groups", 0) if self.kind == "group" else 0
        if dropped:
            return f"{fmt.plural(dropped, 'older group')} that ended not kept"
        is_nested = self.kind == "span" and any(self.store.extras["spans"]["parent"].tolist())
        return NESTED if is_nested else ""

    def _why_empty(self) -> str:
        if self.kind != "span":
            return NO_TASKS
        return NO_SPANS if self.store.extras["spans"].is_known else WAITING_FOR_SPANS

    def _rows(self) -> tuple[Rows, Ints]:
        """Return all rows, and which of them have tasks, in the order in which they are shown."""
        rows = {"prefix": _prefixes, "group": _groups, "span": _spans}[self.kind](self.store)
        totals = rows.states.sum(axis=1)
        order = rows.flow
        if self.order == "size":
            order = np.lexsort((-totals, tasks.remaining(rows.states) == 0))
        return rows, order[totals[order] > 0]

    def table(self) -> Table:
        """Return one row a prefix, group or span, in the order of the bars."""
        rows, order = self._rows()
        states = rows.states[order]
        columns: dict[str, Sequence[object]] = {
            self.kind: [rows.names[at] for at in order.tolist()],
            "total": states.sum(axis=1).tolist(),
            "done": tasks.done(states).tolist(),
        }
        columns |= {name: tasks.counts(states, name).tolist() for name in STATES}
        columns["nbytes"] = [size if size >= 0 else None for size in rows.nbytes[order].tolist()]
        for name, times in (("duration", rows.mean_s), ("median", rows.median_s)):
            seconds = times[order].tolist()
            columns[name] = [second if math.isfinite(second) else None for second in seconds]
        return Table(columns, {"nbytes": "B", "duration": "s", "median": "s"})


def time_left(store: Store) -> Estimate:
    """Return the time that all tasks need that have not ended."""
    prefixes, now = store.prefixes, store.time
    recorded = np.array([store.durations.of(name).mean_s for name in prefixes.names])
    # Of tasks that ran before the diagnostics came there is only what the scheduler expects.
    mean_s = np.where(np.isfinite(recorded), recorded, prefixes.duration)
    running = store.running.rows(now)
    index = {store.strings.find(name): at for at, name in enumerate(prefixes.names)}
    prefix = np.array([index.get(name, -1) for name in running["prefix"].tolist()], np.int64)
    is_known = prefix >= 0
    begun = Begun(prefix[is_known], now - running["start"][is_known])
    nthreads = store.scheduler.nthreads if store.scheduler else 0
    return estimate(prefixes.states, mean_s, prefixes.rate, nthreads, begun)


def _left(found: Estimate) -> list[str]:
    """Return how long it takes: less than the truth where some prefixes have not begun."""
    if not math.isfinite(found.seconds):
        return []
    seconds = fmt.duration(found.seconds)
    if not found.n_unknown:
        return [f"about {seconds} left (estimate)"]
    others = "1 prefix" if found.n_unknown == 1 else f"{fmt.count(found.n_unknown)} prefixes"
    return [f"at least {seconds} left (estimate; speed of {others} unknown)"]


def _prefixes(store: Store) -> Rows:
    prefixes = store.prefixes
    names = prefixes.names
    recorded = [store.durations.of(name) for name in names]
    mean_s = np.array([each.mean_s for each in recorded])
    median_s = np.array([each.median_s for each in recorded])
    flow = prefixes.topological
    return Rows(names, names, prefixes.states, prefixes.nbytes, mean_s, median_s, flow)


def _groups(store: Store) -> Rows:
    """Return the groups that are there, then those that are gone and were done or failed."""
    there, gone = store.groups, store.ended_groups
    names, prefixes = there.names + gone.names, there.prefix + gone.prefix
    states = np.concatenate([there.states, gone.states])
    nbytes = np.concatenate([there.nbytes, gone.nbytes])
    mean_s = _mean(np.concatenate([there.duration, gone.duration]), states)
    at = {name: row for row, name in enumerate(names)}
    needs = enumerate(there.dependencies + gone.dependencies)
    pairs = [(at[name], row) for row, needed in needs for name in needed if name in at]
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    flow = np.argsort(depths(len(names), edges), kind="stable")
    return Rows(names, prefixes, states, nbytes, mean_s, np.full(len(names), np.nan), flow)


def _spans(store: Store) -> Rows:
    spans = store.extras["spans"]
    states = np.array(spans["states"].tolist(), dtype=np.int64).reshape(-1, len(STATES))
    names, starts = spans["name"].tolist(), spans["start"].tolist()
    left, erred = tasks.remaining(states).tolist(), tasks.counts(states, "erred").tolist()
    names = told_apart(names, starts, list(map(without_start, left, erred)))
    mean_s = _mean(spans["seconds"].astype(np.float64), states)
    start = np.array(starts, dtype=np.float64)
    # Those that have not begun come last, in the order in which they were made.
    flow = np.argsort(np.where(np.isfinite(start), start, np.inf), kind="stable")
    nbytes, unknown = spans["nbytes"].astype(np.int64), np.full(len(names), np.nan)
    return Rows(names, [""] * len(names), states, nbytes, mean_s, unknown, flow)


def _mean(seconds: Floats, states: Ints) -> Floats:
    done = tasks.done(states) + tasks.counts(states, "erred")
    mean: Floats = np.where(done > 0, seconds / np.maximum(done, 1), np.nan)
    return mean
