"""What the workers' time goes to: by class of activity, and by function.

Both are made of the fine metrics that workers send with their heartbeats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import ClassVar, Final, NamedTuple

import numpy as np

from dask_diag_lab.jobs import Latest
from dask_diag_lab.store.busy import seconds_until
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, Rows, Unit
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stack import WAITING, ExtraPlot, extra_table
from dask_diag_lab.views.tasks.task_counts import done
from dask_diag_lab.views.view import Control, LegendItem, Table

NOTHING: Final = (
    "Nothing was reported yet, or not in this unit for this span. Figures appear a second or two"
    " after the first task has ended."
)
THREAD_CONTEXT: Final = "execute"
"""The context whose activities hold a worker's thread; all others run beside the threads."""
BACKGROUND: Final = ", in the background"
"""Ends the label of what holds no thread."""
ENCLOSING: Final = ("idle", "process", "p2p-idle", "p2p-process")
"""Spans of the shuffle's background loops: nothing to do, or all that is measured one by one."""
IN_THREADS: Final = ("thread-cpu", "thread-noncpu")


class Cost(NamedTuple):
    """A class of activities of `distributed`'s fine metrics.

    The classes are those of the questions that people ask about a slow computation. Reserved
    colours are those of the task stream; the hatch tells a class without colour.

    Attributes
    ----------
    style : (str, str)
        Colour, an attribute of `palette.DataColors`, and hatch.
    meaning, advice : str
    activities : str
        Separated by spaces; those of P2P shuffles without the "p2p-" that some have in front.
    """

    style: tuple[str, str]
    meaning: str
    advice: str
    activities: str = ""


IDLE: Final = "Idle threads"
UNTOLD: Final = "In tasks"
OWN: Final = "Measured by you"
OVERHEAD: Final = "Overhead"
COSTS: Final[Mapping[str, Cost]] = {
    "Computing": Cost(
        ("load_saturated", ""),
        "Tasks used the CPU",
        "tasks use the CPU, which is what it is for",
        "thread-cpu shard-partition-cpu get-output-cpu",
    ),
    "Waiting in tasks": Cost(
        ("memory_near", "/"),
        "Tasks held a thread and did not use the CPU: files, locks, the interpreter's lock",
        "for files, locks, a shuffle, or the processors, which other programs or threads use",
        "thread-noncpu shard-partition-noncpu get-output-noncpu comms-limiter disk-limiter",
    ),
    "Network": Cost(
        ("transfer", "-"),
        "Data moved between workers",
        "data moves much: use larger pieces, or keep related data together",
        "network send",
    ),
    "(De)serialization": Cost(
        ("deserialize", "."),
        "Data was packed, unpacked, compressed or decompressed",
        "packing is slow: prefer arrays and Arrow strings to Python objects, and scatter what each"
        " task carries",
        "serialize deserialize compress decompress offload",
    ),
    "Disk": Cost(
        ("disk", "|"),
        "Spilled data was written or read back",
        "data is spilled: use more memory, smaller pieces, or release results",
        "disk-read disk-write",
    ),
    "Copying in memory": Cost(
        ("load_normal", "+"),
        "Data was looked up in memory",
        "data is copied much",
        "memory-read",
    ),
    "Failed or cancelled": Cost(
        ("killed", "x"),
        "Work without a result: failed, cancelled, or the data was gone or its worker busy",
        "work is lost: see Exceptions",
        "failed cancelled missing busy",
    ),
    "In a process pool": Cost(
        ("load_saturated", "."),
        "Tasks ran in processes of their own, where computing and waiting cannot be told apart",
        "Dask cannot tell there what tasks wait for",
        "pool",
    ),
    OVERHEAD: Cost(
        ("waiting", "\\"),
        "Dask itself, around the tasks and transfers",
        "tasks are too small: use larger pieces",
        "executor other",
    ),
    OWN: Cost(
        ("incoming", "."),
        "Activities of your own, recorded with distributed.metrics.context_meter",
        "an activity of your own",
    ),
    UNTOLD: Cost(
        ("load_saturated", "x"),
        "Tasks held a thread, and their workers have not told yet what for",
        "their workers tell what for when they have ended",
    ),
    IDLE: Cost(
        ("track", ""),
        "Worker threads without a task while others had one",
        "threads have nothing to do: too few tasks, or they wait for each other",
    ),
}
"""All classes, in the order in which they are shown."""
COMPUTING: Final = "Computing"
OTHERS_IN_TASKS: Final = ("Waiting in tasks", "Failed or cancelled", "In a process pool", OWN)
"""What tasks do besides, from their start to their stop."""

Amount = tuple[str, str, str, float]
"""Class, context, activity and seconds."""
TINY_S: Final = 1e-9
LARGE_COST_S: Final = 0.02
"""A task that costs more than this around its own work does not do so for being small."""
REST: Final = 20.0
"""Times as long as the time of threads took to work out it is not worked out anew."""
NOTHING_RUNS: Final = np.empty(0, dtype=np.int64), np.empty(0)
LARGE_TASKS: Final = "each task carries much: scatter large functions and arguments"

_CLASS_OF: Final = {
    activity: name for name, cost in COSTS.items() for activity in cost.activities.split()
}


def class_of(activity: str) -> str:
    """Return the class of an activity; one that `distributed` does not have is the user's own."""
    return _CLASS_OF.get(activity.removeprefix("p2p-"), OWN)


class Metric(NamedTuple):
    """One fine metric, and what a window gained of it."""

    context: str
    label: str
    activity: str
    unit: str
    value: float


def metrics_of(gained: Iterable[tuple[str, str, str, str, float]]) -> list[Metric]:
    """Return fine metrics without enclosing spans.

    "executor" of a function that no thread ran is all of its time in a pool of processes.
    """
    found = [Metric(*row) for row in gained]
    threaded = {metric.label for metric in found if metric.activity in IN_THREADS}
    return [
        metric._replace(activity="pool")
        if metric.activity == "executor" and metric.label not in threaded
        else metric
        for metric in found
        if metric.activity not in ENCLOSING
    ]


class TimeShare(NamedTuple):
    """What threads did in a window, all seconds of threads.

    Attributes
    ----------
    offered_s : float
        For which they were there.
    in_tasks_s : float
        For which a task held them.
    """

    offered_s: float
    in_tasks_s: float


@register_plot
class Costs(BarPlot):
    """Seconds of each class of activity, beside the seconds that the threads offered.

    Threads offer all the time of a period; without one, that in which anything ran: pauses between
    computations are nobody's cost. Tasks hold as much of it as `store.sums.thread_time` has; the
    fine metrics say what for. What holds no thread has no share. Of a transfer the receiving end
    counts alone.
    """

    reads = ("activities", "workers", "actions", "nthreads")
    needs = frozenset({"activities"})
    name = "costs"
    has_period = True
    empty = NOTHING

    columns = (
        Column("class", "Class", shown=False),
        Column("seconds", "Time", "seconds", share_of="offered"),
        Column("most", "Most of it"),
        Column("meaning", ""),
        Column("offered", "Offered by all threads", "seconds", shown=False, in_table=False),
    )
    parts = tuple(Part(n, "", color, hatch=hatch) for n, ((color, hatch), *_) in COSTS.items())
    label = key = "class"
    value = ("seconds",)
    merges = "sum"
    nouns = "costs"

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        super().set_up()
        self._share: Latest[TimeShare] = Latest(self.live.jobs, rest=REST)

    def state(self) -> object:
        """Return whether the time of threads has been worked out anew; see `View.state`."""
        return super().state(), self._share.version

    @property
    def is_behind(self) -> bool:
        """Whether it is to be worked out anew; see `View.is_behind`."""
        return self._share.is_late

    def why_empty(self) -> str:
        """Return why there are no rows; see `DataPlot.why_empty`."""
        return self.empty if self.history.extras["activities"].is_known else WAITING

    def rows(self) -> Rows:
        """Return a row for each class that there is, and one for idle threads."""
        sums: dict[str, float] = {}
        most: dict[str, list[str]] = {}
        offered_s = 0.0
        for name, context, activity, seconds in self._amounts():
            sums[name] = sums.get(name, 0.0) + seconds
            part = f"{activity} in {context} {fmt.duration(seconds)}" if activity else ""
            most.setdefault(name, []).append(part)
            offered_s += seconds * (context == THREAD_CONTEXT)
        classes = [name.removesuffix(BACKGROUND) for name in sums]
        return {
            "class": list(sums),
            "seconds": np.array(list(sums.values())),
            "most": [", ".join(most[name][:3]) for name in sums],
            "meaning": [COSTS[name].meaning for name in classes],
            "offered": np.array([nan if n.endswith(BACKGROUND) else offered_s for n in sums]),
            **{n: np.array(list(sums.values())) * (np.array(classes) == n) for n in COSTS},
        }

    def headline(self) -> str:
        """Return the largest cost and what to do about it; idle threads only while work goes on."""
        rows = self.rows()
        sums = dict(zip(rows["class"], rows["seconds"], strict=True))
        if self.period == ALL and not self.history.workers.totals().processing:
            sums.pop(IDLE, None)
        largest = max(sums, key=lambda name: sums[name]).removesuffix(BACKGROUND)
        n_done = done(self.history.prefixes.states).sum()
        is_large = largest == OVERHEAD and sums.get(OVERHEAD, 0.0) >= LARGE_COST_S * n_done > 0
        return f"{largest} most: {LARGE_TASKS if is_large else COSTS[largest].advice}"

    def note(self) -> str:
        """Return what the shares are of; see `DataPlot.note`."""
        since = f"while anything ran since {fmt.clock(self.history.busy.since)}"
        return (
            f"Shares of the {fmt.duration(np.nanmax(self.rows()['offered']))} of thread time"
            f" offered {self.period_text or since}. What Task Stream calls computing is all that"
            " tasks did: computing, waiting, failed"
        )

    def table(self) -> Table:
        """Return one row for each activity, and one for idle threads."""
        amounts = self._amounts()
        names = enumerate(("class", "context", "activity", "seconds"))
        return Table({name: [row[i] for row in amounts] for i, name in names}, {"seconds": "s"})

    def _amounts(self) -> list[Amount]:
        """Return class, context, activity and seconds, largest first; idle threads last."""
        sums: defaultdict[tuple[str, str], float] = defaultdict(float)
        gained = self.history.activities.gained(self.period)
        for metric in metrics_of((*name, value) for name, value in gained.items()):
            # What tasks do for a shuffle is counted among their own time as well.
            is_twice = (metric.context, metric.label) == ("p2p", "foreground")
            # The worker that receives measures the same transfer.
            is_sent = (metric.context, metric.activity) == ("get-data", "network")
            if metric.unit == "seconds" and metric.value > 0 and not is_twice and not is_sent:
                sums[metric.context, metric.activity] += metric.value
        share = self._time_share()
        if share is None or not (sums or share.in_tasks_s):
            return []
        amounts = _fitted([(_label(c, a), c, a, s) for (c, a), s in sums.items()], share)
        held_s = sum(amount[3] for amount in amounts if amount[1] == THREAD_CONTEXT)
        amounts.append((IDLE, THREAD_CONTEXT, "", max(share.offered_s - held_s, 0.0)))
        order = [*COSTS, *(name + BACKGROUND for name in COSTS)]
        return sorted(amounts, key=lambda amount: (order.index(amount[0]), -amount[3]))

    def _time_share(self) -> TimeShare | None:
        """Return what threads did in the period, as far as that is worked out."""
        history, now = self.history, self.live.time
        steps = history.nthreads.times, history.nthreads.values
        if self.period == ALL:
            window = Window(history.busy.since)
            offered_s, running = history.busy.thread_seconds(*steps), NOTHING_RUNS
        else:
            window = Window(max(self.period.start, history.busy.since), min(self.period.stop, now))
            ends = np.array([window.start, max(window)])
            offered_s, running = (
                float(np.diff(seconds_until(ends, *steps))[0]),
                history.running.places(now),
            )
        found = history.actions.thread_time(window, running, now, only_tasks=True)
        return self._share.of(
            self.period,
            (history.actions.version, offered_s),
            lambda: TimeShare(offered_s, min(found()["computing"], offered_s)),
        )


def _label(context: str, activity: str) -> str:
    return class_of(activity) + BACKGROUND * (context != THREAD_CONTEXT)


def _fitted(amounts: list[Amount], share: TimeShare) -> list[Amount]:
    """Return amounts that fit into what threads offered, and in tasks are what these held.

    Workers tell of a task with a heartbeat after it has ended, and of one that seceded tell its
    waiting as well, which held no thread. So what tasks held is shared out as the metrics of tasks
    are, computing first; what is around the tasks has at most the rest of the time.
    """
    computing_s = sum(amount[3] for amount in amounts if amount[0] == COMPUTING)
    others_s = sum(amount[3] for amount in amounts if amount[0] in OTHERS_IN_TASKS)
    held_s, free_s = share.in_tasks_s, share.offered_s - share.in_tasks_s
    if held_s and not computing_s + others_s:
        amounts, others_s = [*amounts, (UNTOLD, THREAD_CONTEXT, "", held_s)], held_s
    of_all = max(
        computing_s / max(computing_s + others_s, TINY_S), computing_s / max(held_s, TINY_S)
    )
    kept_s = held_s * min(of_all, 1.0)
    scale = dict.fromkeys((*OTHERS_IN_TASKS, UNTOLD), (held_s - kept_s) / max(others_s, TINY_S))
    scale[COMPUTING] = kept_s / max(computing_s, TINY_S)
    around_s = sum(a[3] for a in amounts if a[0] not in scale and a[1] == THREAD_CONTEXT)
    rest = min(free_s / max(around_s, TINY_S), 1.0)
    return [
        (name, context, a, s * scale.get(name, rest if context == THREAD_CONTEXT else 1.0))
        for name, context, a, s in amounts
    ]


_UNITS: Final[Mapping[str, Unit]] = {"seconds": "seconds", "bytes": "bytes", "count": "number"}
_CONTEXTS: Final = {
    "gather-dep": "Fetching data (gather-dep)",
    "get-data": "Sending data (get-data)",
    "memory-monitor": "Spilling (memory-monitor)",
    "p2p": "Shuffling",
}
"""Work that belongs to no single function."""


@register_plot
class FineMetrics(ExtraPlot, BarPlot):
    """One bar for each function, and for what runs beside the tasks; parts are activities."""

    reads = ("fine", "activities", "workers")
    needs = frozenset({"fine", "activities"})
    empty = NOTHING
    name = "fine-performance-metrics"
    has_period = True

    parts = tuple(Part(n, n, color, hatch=hatch) for n, ((color, hatch), *_) in COSTS.items())
    label = key = noun = "function"
    value: ClassVar[Sequence[str]] = ("total",)
    sort_by = "total"
    order = "size"
    merges = "sum"

    settings = ("unit", "span")
    unit = "seconds"
    span = ""

    @property
    def columns(self) -> Sequence[Column]:  # type: ignore[override]  # the reader chooses a unit
        """Total, largest activities, and a column for each class."""
        unit = _UNITS.get(self.unit, "number")
        return (
            Column("function", "Function", "key"),
            Column("total", "Total", unit, share_of="sum"),
            Column("most", "Most of it"),
            *(Column(name, name, unit, shown=False) for name in COSTS),
        )

    def rows(self) -> Rows:
        """Return a row for each function, and for what runs beside the tasks, largest first."""
        found: dict[str, defaultdict[str, float]] = {}
        for metric in metrics_of(self._metrics()):
            if metric.unit == self.unit:
                name = _function(metric.context, metric.label)
                found.setdefault(name, defaultdict(float))[metric.activity] += metric.value
        total = {name: sum(amounts.values()) for name, amounts in found.items()}
        names = sorted((n for n in total if total[n] > 0), key=lambda name: -total[name])
        return {
            "function": names,
            "total": np.array([total[name] for name in names]),
            "most": [self._largest(found[name], total[name]) for name in names],
            **{
                cost: np.array(
                    [sum(v for a, v in found[n].items() if class_of(a) == cost) for n in names]
                )
                for cost in COSTS
            },
        }

    def headline(self) -> str:
        """Return the sum of all; see `DataPlot.headline`."""
        total = np.asarray(self.rows()["total"])
        return f"{self._written(float(total.sum()))} over {fmt.plural(len(total), 'function')}"

    def note(self) -> str:
        """Return since when; see `DataPlot.note`."""
        together = "all spans of this name together, " if self.span else ""
        return together + (self.period_text or "since the scheduler started")

    def legend(self, rows: Rows) -> Sequence[LegendItem]:
        """Return the classes that there are."""
        return [item for item in super().legend(rows) if np.any(np.asarray(rows[item.label]) > 0)]

    def table(self) -> Table:
        """Return every row of the metrics, of all units and spans; those of a period lack spans."""
        if self.period == ALL:
            return extra_table(self.extra)
        rows = list(self._metrics())
        return Table({name: [row[at] for row in rows] for at, name in enumerate(Metric._fields)})

    def _metrics(self) -> Iterable[tuple[str, str, str, str, float]]:
        """Return `Metric` by `Metric` what is shown."""
        if self.period != ALL:
            return [(*n, value) for n, value in self.history.activities.gained(self.period).items()]
        fine = self.extra
        chosen = (fine["span"] == self.span) | (not self.span)
        columns = (fine[name][chosen].tolist() for name in Metric._fields)
        return zip(*columns, strict=True)

    def open_row(self, key: str) -> None:
        """Open the profile of a function."""
        fine = self.extra
        if key in fine["label"][fine["context"] == THREAD_CONTEXT].tolist():
            self.open("profile", prefix=key)

    def own_controls(self) -> Sequence[Control]:
        """Return units and spans; see `BarPlot.own_controls`."""
        units, spans = (set(self.extra[name].tolist()) for name in ("unit", "span"))
        if self.period != ALL:
            units, spans = {unit for *_, unit, _ in self._metrics()}, set()
        shown = [(u, u) for u in dict.fromkeys([*_UNITS, *sorted(units)]) if u in units]
        options = [("", "All spans"), *((s, fmt.elide(s, 60)) for s in sorted(spans - {""}))]
        controls = [
            Control("unit", "select", "Unit", self.unit, shown),
            Control("span", "select", "Span", self.span, options),
        ]
        return controls[: bool(shown) + (len(options) > 2)]

    def _largest(self, amounts: Mapping[str, float], total: float) -> str:
        ranked = sorted(amounts.items(), key=lambda amount: -amount[1])[:5]
        return ", ".join(f"{a} {self._written(v)} ({fmt.percent(v / total)})" for a, v in ranked)

    def _written(self, amount: float) -> str:
        unit = "" if self.unit in _UNITS else f" {fmt.elide(self.unit, 20)}"
        return fmt.write(_UNITS.get(self.unit, "number"), amount) + unit


def _function(context: str, label: str) -> str:
    """Return the function, or what work is called that belongs to no single one."""
    if context == THREAD_CONTEXT:
        return label
    work = _CONTEXTS.get(context, context)
    return f"{work}: {label}" if label else work
