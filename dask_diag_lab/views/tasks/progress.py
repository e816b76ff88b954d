"""How far the tasks are: a bar for each prefix, group or span, those with work left first.

Tasks that the scheduler forgot stay counted as done, or as failed, also when the same is computed
again after that; on the stock dashboard they leave the bar.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import STATES, Kind, Outcome
from dask_diag_lab.store.arrays import Floats, Ints
from dask_diag_lab.store.sums import ALL, NO_DURATIONS, Durations, Sums
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import Column, DataPlot, Rows, SumsView
from dask_diag_lab.views.figure import Source, set_properties
from dask_diag_lab.views.look import data_colors, prefix_color
from dask_diag_lab.views.models import ProgressBars
from dask_diag_lab.views.names import losses, shown_name
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stack import WAITING
from dask_diag_lab.views.tasks import task_counts as tasks
from dask_diag_lab.views.tasks.graph_layout import depths
from dask_diag_lab.views.tasks.task_counts import is_straggler
from dask_diag_lab.views.view import Control, LegendItem

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import History, LiveSession

KINDS: Final = (("prefix", "by prefix"), ("group", "by group"), ("span", "by span"))
ORDERS: Final = (("size", "work left first"), ("topological", "by flow of work"))
"""``size``: with work left first, then most tasks first. ``topological``: what others need first,
spans by the start of their work."""

MAX_NAME: Final = 30
"""Characters of a prefix on a button."""

NO_TASKS: Final = "No tasks yet. They appear as soon as something is computed on this cluster."
NO_SPANS: Final = 'No spans yet. Name parts of a computation: with distributed.span("name"): …'

LONG_S: Final = 1.0
"""Tasks that take longer are seen to run by heartbeats; of shorter ones only how many end tells."""
MOST_DONE: Final = 0.9
"""Share of the mean that a running task has behind it at most: when a late one ends is unknown."""


@register_plot
class Progress(SumsView, DataPlot):
    """One bar a prefix, group or span; arguments ``by``, of `KINDS`, and ``order``, of `ORDERS`."""

    name = "progress"

    reads = ("prefixes", "groups", "ended_groups", "spans", "prefix_index", "actions", "nthreads")
    choices: ClassVar[Mapping[str, Sequence[str]]] = {
        "by": tuple(dict(KINDS)),
        "order": tuple(dict(ORDERS)),
    }

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self.bars = Source(is_patched=True)
        self.chart = ProgressBars(source=self.bars.model, sizing_mode="stretch_both", margin=0)
        self.kind, self.order = "prefix", "size"
        self.show(self.arguments)

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]  # others always need the same
        """Spans only where they are shown: they cost the scheduler most."""
        return frozenset({"spans"} if self.kind == "span" else ())

    def build(self) -> UIElement:
        """Return the bars; see `View.build`."""
        return self.chart

    # --- what the reader sets

    def set_control(self, name: str, value: str) -> None:
        """Choose bars or their order; see `View.set_control`."""
        if name in self.choices and value in self.choices[name]:
            self.show({name: value})
        elif name == "call-stack" and (straggler := self.straggler):
            self.open("task", key=straggler[1], show="call-stack")

    def show(self, arguments: Mapping[str, str]) -> None:
        """Choose bars and order anew, where the arguments name them; see `View.show`."""
        super().show(arguments)
        # The log of what was done does not tell groups and spans.
        self.kind = arguments.get("by", self.kind) if self.period == ALL else "prefix"
        self.order = arguments.get("order", self.order)
        self.columns = (
            *(Column(self.kind), Column("total"), Column("done"), *map(Column, STATES)),
            Column("nbytes", unit="bytes"),
            *(Column("duration", unit="seconds"), Column("median", unit="seconds")),
        )

    # --- keeping it up to date

    def state(self) -> object:
        """Return what is chosen, the note, and the second: what runs comes nearer to its end."""
        second = int(self.live.time) if self.history.running.count else 0
        return super().state(), self.kind, self.order, second, self.note()

    def rows(self) -> Rows:
        """Return a row for each prefix, group or span that has tasks, in the order shown."""
        bars = self._all()
        states = bars.states
        totals = states.sum(axis=1)
        if self.order == "size":
            order = np.lexsort((-totals, tasks.remaining(states) == 0))
        elif self.period == ALL:
            order = np.argsort(_FLOWS[self.kind](self.history), kind="stable")
        else:  # their first appearance
            order = np.arange(len(totals))
        order = order[totals[order] > 0]
        states, picked = states[order], order.tolist()
        return {
            self.kind: [bars.names[at] for at in picked],
            "of": [bars.prefixes[at] for at in picked],
            "total": totals[order],
            "done": tasks.done(states),
            **{state: states[:, at] for at, state in enumerate(STATES)},
            **{name: getattr(bars, name)[order] for name in ("nbytes", "duration", "median")},
        }

    def _all(self) -> Bars:
        if self.period != ALL:
            return _ended(self.history, self.sums)
        if self.kind == "prefix":
            return _prefixes(self.history, self._durations)
        return (_groups if self.kind == "group" else _spans)(self.history)

    @property
    def _durations(self) -> Mapping[int, Durations]:
        return self.sums.durations() if self.sums else {}

    @property
    def straggler(self) -> tuple[str, str, float] | None:
        """Prefix, key and seconds of the running task that is late by most; None where none is."""
        history, now = self.history, self.live.time
        if self.period != ALL or not history.running.count:
            return None
        running = history.running.rows(now)
        elapsed_s = now - running["start"]
        late = np.flatnonzero(is_straggler(running["prefix"], elapsed_s, self._durations))
        if not len(late):
            return None
        row = int(late[np.argmax(elapsed_s[late])])
        prefix = history.strings[int(running["prefix"][row])]
        return prefix, str(running["key"][row]), float(elapsed_s[row])

    def draw_rows(self, rows: Rows) -> None:
        """Send the rows that differ; see `DataPlot.draw_rows`."""
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
        names, of = rows[self.kind], rows["of"]
        numbers = {
            **{column.name: rows[column.name] for column in self.columns[1:]},
            "released": np.add(rows["released"], rows["forgotten"]),
            "no_worker": rows["no-worker"],
        }
        self.bars.set(
            {
                "name": [shown_name(name) for name in names],
                "color": [self._color(prefix) for prefix in of],
                **{name: np.asarray(column, np.float64) for name, column in numbers.items()},
            }
        )

    def legend(self, rows: Rows) -> Sequence[LegendItem]:
        """Return what the parts of a bar mean; see `DataPlot.legend`."""
        del rows
        return tasks.legend(self.look)

    def own_controls(self) -> Sequence[Control]:
        """Return bars and order, and the way to a straggler; see `DataPlot.own_controls`."""
        controls = [
            Control("by", "select", "Bars", self.kind, KINDS[: None if self.period == ALL else 1]),
            Control("order", "select", "Order", self.order, ORDERS),
        ]
        if straggler := self.straggler:
            prefix, _, seconds = straggler
            text = f"Call stack: {shown_name(prefix, MAX_NAME)}, {fmt.duration(seconds)}"
            controls.append(Control("call-stack", "button", text))
        return controls

    def _color(self, prefix: str) -> str:
        if self.kind == "span":
            return data_colors(self.look).load_normal
        return prefix_color(self.history.prefix_index.index(prefix), self.look)

    def headline(self) -> str:
        """Return how much is done, how long the rest takes, and the tasks in each state."""
        states = self.history.prefixes.states if self.period == ALL else self._all().states
        total, done = int(states.sum()), int(tasks.done(states).sum())
        if self.period != ALL:
            failed = f" · {fmt.count(total - done)} failed" if total > done else ""
            return f"{fmt.plural(total, 'task')} ended{failed}: {self.period_text}"
        beginning = f"{fmt.percent(done / max(total, 1))} of {fmt.plural(total, 'task')} done"
        seconds, is_all = time_left(self.live, self._durations)
        late_s = self.straggler[2] if self.straggler else 0.0  # nothing tells when it will end
        if math.isfinite(seconds) and seconds >= late_s:
            about = "about" if is_all and not late_s else "at least"
            beginning += f" · {about} {fmt.duration(seconds)} left (estimate)"
        shown = [state for state in STATES if state not in ("released", "forgotten")]
        return tasks.headline(beginning, states.sum(axis=0), shown)

    def note(self) -> str:
        """Return which workers died of late, as what they held is lost, and groups not there."""
        dropped = self.history.left_out.get("groups", 0) if self.kind == "group" else 0
        missing = f"{fmt.plural(dropped, 'older group')} that ended not kept" if dropped else ""
        n_threads = self.history.scheduler.nthreads if self.history.scheduler else 0
        is_stuck = not n_threads and tasks.remaining(self.history.prefixes.states).any()
        stuck = "no workers: nothing runs until some come" if is_stuck else ""
        return " · ".join(filter(None, (stuck, losses(self.live)[1], missing)))

    def why_empty(self) -> str:
        """Return why there is no bar, and how to get spans."""
        if self.kind != "span":
            return NO_TASKS
        return NO_SPANS if self.history.extras["spans"].is_known else WAITING


def time_left(live: LiveSession, durations: Mapping[int, Durations]) -> tuple[float, bool]:
    """Return the seconds that all tasks need that have not ended, and whether that is all.

    NaN where there is no ground for an estimate; False where there are prefixes with work left of
    which no task has ended yet: they come on top of it.
    """
    prefixes, now = live.history.prefixes, live.time
    recorded = np.array([each.mean_s for each in _recorded(live.history, durations)])
    # Of tasks that ran before the diagnostics came there is only what the scheduler expects.
    mean_s = np.where(np.isfinite(recorded), recorded, prefixes.duration)
    running = live.history.running.rows(now)
    index = {live.history.strings.find(name): at for at, name in enumerate(prefixes.names)}
    prefix = np.array([index.get(name, -1) for name in running["prefix"].tolist()], np.int64)
    is_known = prefix >= 0
    elapsed_s = (now - running["start"])[is_known]
    left = tasks.remaining(prefixes.states)
    nthreads = live.history.scheduler.nthreads if live.history.scheduler else 0
    if tasks.counts(prefixes.states, "no-worker").any():
        nthreads = 0  # nobody knows when these can run
    busy = live.history.busy.threads_lately(now)
    seconds = estimate(left, mean_s, busy, nthreads, prefix[is_known], elapsed_s)
    return seconds, bool(np.isfinite(mean_s[left > 0]).all())


def estimate(
    left: Ints, mean_s: Floats, busy: float, nthreads: int, prefix: Ints, elapsed_s: Floats
) -> float:
    """Return how long remaining tasks take: their work by the threads that are really at work.

    These are all threads where there is enough to do; fewer where tasks wait for each other; and
    far fewer with tasks of microseconds, of which threads spend most of their time between two.

    Parameters
    ----------
    left : ndarray of int64
        Tasks of each prefix that have not ended.
    mean_s : ndarray of float64
        Mean seconds of its tasks, as recorded; NaN while unknown.
    busy : float
        Threads that the tasks held which have ended of late.
    nthreads : int
    prefix, elapsed_s : ndarray
        Of each task that runs: index of its prefix, seconds it has behind it, which are taken off.

    Returns
    -------
    float
        Seconds until the prefixes are done whose ``mean_s`` is known; NaN where there are none,
        and without threads.
    """
    n, counted = len(left), (left > 0) & np.isfinite(mean_s)
    if nthreads <= 0 or not counted.any():
        return math.nan
    behind_s = np.fmin(elapsed_s, MOST_DONE * mean_s[prefix])
    n_running = np.where(left > 0, np.bincount(prefix, minlength=n), 0)
    is_long = np.nan_to_num(mean_s, nan=math.inf) >= LONG_S
    threads = min(max(busy, n_running[is_long].sum()) or nthreads, nthreads)
    work_s = (left * mean_s - np.bincount(prefix, behind_s, n))[counted].sum()
    # However many threads there are, a task takes its time.
    waiting_s, rest_s = mean_s[counted & (left > n_running)], mean_s[prefix] - behind_s
    longest_s = np.append(waiting_s, rest_s[counted[prefix]]).max()
    return float(max(work_s / threads, longest_s))


def _recorded(history: History, durations: Mapping[int, Durations]) -> list[Durations]:
    """Return how long tasks of each prefix took, in the order of the table."""
    found = [history.strings.find(name) for name in history.prefixes.names]
    return [durations.get(prefix or 0, NO_DURATIONS) for prefix in found]


class Bars(NamedTuple):
    """What there is a bar of: its name and prefix, tasks by state, bytes, seconds of a task."""

    names: Sequence[str]
    prefixes: Sequence[str]
    states: Ints
    nbytes: npt.NDArray[Any]
    duration: Floats
    median: Floats


def _ended(history: History, sums: Sums | None) -> Bars:
    """Return the tasks that ended in the period of sums: done, or failed for good."""
    counts, durations = dict[tuple[int, ...], float](), dict[int, Durations]()
    if sums is not None:
        counts = sums.total(("prefix", "outcome"), "count", {"kind": Kind.COMPUTE})
        durations = sums.durations()
    ended = (Outcome.OK, Outcome.ERRED)
    prefixes = list(dict.fromkeys(p for p, outcome in counts if outcome in ended))
    states = np.zeros((len(prefixes), len(STATES)), dtype=np.int64)
    for outcome, state in zip(ended, ("released", "erred"), strict=True):
        found = [counts.get((prefix, outcome), 0) for prefix in prefixes]
        states[:, STATES.index(state)] = np.round(found)
    names = [history.strings[prefix] for prefix in prefixes]
    recorded = [durations.get(prefix, NO_DURATIONS) for prefix in prefixes]
    return Bars(names, names, states, np.zeros(len(names)), *_took(recorded))


def _prefixes(history: History, durations: Mapping[int, Durations]) -> Bars:
    table = history.prefixes
    took = _took(_recorded(history, durations))
    return Bars(table.names, table.names, table.states, table.nbytes, *took)


def _took(recorded: Sequence[Durations]) -> tuple[Floats, Floats]:
    mean, median = ([getattr(one, name) for one in recorded] for name in ("mean_s", "median_s"))
    return np.array(mean), np.array(median)


def _groups(history: History) -> Bars:
    """Return the groups that are there, then those that are gone and were done or failed."""
    there, gone = history.groups, history.ended_groups
    names, prefixes = there.names + gone.names, there.prefix + gone.prefix
    states, nbytes, seconds = (
        np.concatenate([getattr(there, name), getattr(gone, name)])
        for name in ("states", "nbytes", "duration")
    )
    unknown = np.full(len(names), np.nan)
    return Bars(names, prefixes, states, nbytes, _mean(seconds, states), unknown)


def _spans(history: History) -> Bars:
    spans = history.extras["spans"]
    states = np.array(spans["states"].tolist(), dtype=np.int64).reshape(-1, len(STATES))
    names = spans["name"].tolist()
    mean = _mean(spans["seconds"].astype(np.float64), states)
    unknown = np.full(len(names), np.nan)
    return Bars(names, [""] * len(names), states, spans["nbytes"].astype(np.int64), mean, unknown)


def _depths_of_groups(history: History) -> list[int]:
    there, gone = history.groups, history.ended_groups
    edges = tasks.group_edges(there.names + gone.names, there.dependencies + gone.dependencies)
    return depths(len(there) + len(gone), edges)


def _depths_of_prefixes(history: History) -> list[int]:
    """Return for each prefix the depth of that of its groups which needs least."""
    groups, least = history.groups.prefix + history.ended_groups.prefix, dict[str, int]()
    for prefix, depth in zip(groups, _depths_of_groups(history), strict=True):
        least[prefix] = min(depth, least.get(prefix, depth))
    return [least.get(name, 0) for name in history.prefixes.names]


def _starts_of_spans(history: History) -> Floats:
    """Return when each span began; those that have not come last, in the order of their making."""
    return np.nan_to_num(history.extras["spans"]["start"].astype(np.float64), nan=np.inf)


_FLOWS: Final[Mapping[str, Callable[[History], Sequence[float] | Floats]]] = {
    "prefix": _depths_of_prefixes,
    "group": _depths_of_groups,
    "span": _starts_of_spans,
}
"""By what bars of each of `KINDS` are in the order in which work flows."""


def _mean(seconds: Floats, states: Ints) -> Floats:
    done = tasks.done(states) + tasks.counts(states, "erred")
    mean: Floats = np.where(done > 0, seconds / np.maximum(done, 1), np.nan)
    return mean
