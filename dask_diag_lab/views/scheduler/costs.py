"""What the workers' time goes to: by class of activity, and by function.

Both are made of the fine metrics that workers send with their heartbeats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, Rows, Unit
from dask_diag_lab.views.extras import ExtraPlot, extra_table
from dask_diag_lab.views.registry import register_plot
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
LARGE_TASKS: Final = "each task carries much: scatter large functions and arguments"

_CLASS_OF: Final = {
    activity: name for name, cost in COSTS.items() for activity in cost.activities.split()
}


def class_of(activity: str) -> str:
    """Return the class of an activity; one that `distributed` does not have is the user's own."""
    return _CLASS_OF.get(activity.removeprefix("p2p-"), OWN)


class FineBars(ExtraPlot, BarPlot):
    """Bars of fine metrics, with a part for each class of activity."""

    reads = ("fine", "workers")
    empty = NOTHING

    def amounts(self, chosen: npt.NDArray[np.bool_]) -> Iterable[tuple[str, str, str, float]]:
        """Return label, context, activity and value of rows, without enclosing spans.

        "executor" of a function that no thread ran is all of its time in a pool of processes.
        """
        fine = self.extra
        activity = fine["activity"].astype(str).astype(object)
        labels = fine["label"][np.isin(fine["activity"].astype(str), IN_THREADS)].tolist()
        activity[(activity == "executor") & ~np.isin(fine["label"].astype(str), labels)] = "pool"
        rows = chosen & ~np.isin(fine["activity"].astype(str), ENCLOSING)
        columns = (fine["label"], fine["context"], activity, fine["value"])
        return zip(*(column[rows].tolist() for column in columns), strict=True)


@register_plot
class Costs(FineBars):
    """Seconds of each class of activity, beside the seconds that the threads offered.

    Threads offer time while anything runs in the cluster: pauses between computations are nobody's
    cost. Tasks hold as much of it as was recorded; the fine metrics say what for, the time of tasks
    that have seceded among it, so computing is taken from them first. What holds no thread has no
    share. Of a transfer the receiving end counts alone.
    """

    reads = ("activities", "workers")
    name = "costs"

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
        if not self.store.workers.totals().processing:
            sums.pop(IDLE, None)
        largest = max(sums, key=lambda name: sums[name]).removesuffix(BACKGROUND)
        n_done = done(self.store.prefixes.states).sum()
        is_large = largest == OVERHEAD and sums.get(OVERHEAD, 0.0) >= LARGE_COST_S * n_done > 0
        return f"{largest} most: {LARGE_TASKS if is_large else COSTS[largest].advice}"

    def note(self) -> str:
        """Return what the shares are of; see `DataPlot.note`."""
        return (
            f"Shares of the {fmt.duration(np.nanmax(self.rows()['offered']))} of thread time"
            f" offered while anything ran since {fmt.clock(self.store.busy.since)}. What Task"
            " Stream calls computing is all that tasks did: computing, waiting, failed"
        )

    def table(self) -> Table:
        """Return one row for each activity, and one for idle threads."""
        amounts = self._amounts()
        names = enumerate(("class", "context", "activity", "seconds"))
        return Table({name: [row[i] for row in amounts] for i, name in names}, {"seconds": "s"})

    def _amounts(self) -> list[Amount]:
        """Return class, context, activity and seconds, largest first; idle threads last."""
        fine, nthreads, busy = self.extra, self.store.nthreads, self.store.busy
        # What tasks do for a shuffle is counted among their own time as well.
        is_twice = (fine["context"] == "p2p") & (fine["label"] == "foreground")
        # The worker that receives measures the same transfer.
        is_sent = (fine["context"] == "get-data") & (fine["activity"] == "network")
        sums: defaultdict[tuple[str, str], float] = defaultdict(float)
        chosen = (fine["unit"] == "seconds") & ~is_twice & ~is_sent
        for _, context, activity, seconds in self.amounts(chosen):
            sums[context, activity] += seconds
        amounts = _fitted(
            [(_label(context, a), context, a, s) for (context, a), s in sums.items() if s > 0],
            max(busy.held_s - self.store.seceded_s, 0.0),
        )
        if amounts:
            held_s = sum(amount[3] for amount in amounts if amount[1] == THREAD_CONTEXT)
            offered_s = busy.thread_seconds(nthreads.times, nthreads.values)
            # Threads were held around tasks also while none ran.
            amounts.append((IDLE, THREAD_CONTEXT, "", max(offered_s - held_s, 0.0)))
        order = [*COSTS, *(name + BACKGROUND for name in COSTS)]
        return sorted(amounts, key=lambda amount: (order.index(amount[0]), -amount[3]))


def _label(context: str, activity: str) -> str:
    return class_of(activity) + BACKGROUND * (context != THREAD_CONTEXT)


def _fitted(amounts: list[Amount], held_s: float) -> list[Amount]:
    """Return amounts of which those in tasks are as many seconds as tasks held threads."""
    computing_s = sum(amount[3] for amount in amounts if amount[0] == COMPUTING)
    others_s = sum(amount[3] for amount in amounts if amount[0] in OTHERS_IN_TASKS)
    # Heartbeats tell later than tasks end; seceded tasks and those from before tell more.
    share = max(
        computing_s / max(computing_s + others_s, TINY_S), computing_s / max(held_s, TINY_S)
    )
    kept_s = held_s * min(share, 1.0)
    scale = dict.fromkeys(OTHERS_IN_TASKS, (held_s - kept_s) / max(others_s, TINY_S))
    scale[COMPUTING] = kept_s / max(computing_s, TINY_S)
    return [(n, context, a, s * scale.get(n, 1.0)) for n, context, a, s in amounts]


_UNITS: Final[Mapping[str, Unit]] = {"seconds": "seconds", "bytes": "bytes", "count": "number"}
_CONTEXTS: Final = {
    "gather-dep": "Fetching data (gather-dep)",
    "get-data": "Sending data (get-data)",
    "memory-monitor": "Spilling (memory-monitor)",
    "p2p": "Shuffling",
}
"""Work that belongs to no single function."""


@register_plot
class FineMetrics(FineBars):
    """One bar for each function, and for what runs beside the tasks; parts are activities."""

    name = "fine-performance-metrics"

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
        fine = self.extra
        chosen = (fine["unit"] == self.unit) & ((fine["span"] == self.span) | (not self.span))
        found: dict[str, defaultdict[str, float]] = {}
        for label, context, activity, value in self.amounts(chosen):
            found.setdefault(_function(context, label), defaultdict(float))[activity] += value
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
        return f"{together}since the scheduler started"

    def legend(self, rows: Rows) -> Sequence[LegendItem]:
        """Return the classes that there are."""
        return [item for item in super().legend(rows) if np.any(np.asarray(rows[item.label]) > 0)]

    def table(self) -> Table:
        """Return every row of the metrics, of all units and spans."""
        return extra_table(self.extra)

    def open_row(self, key: str) -> None:
        """Open the profile of a function."""
        fine = self.extra
        if key in fine["label"][fine["context"] == THREAD_CONTEXT].tolist():
            self.open("profile", prefix=key)

    def own_controls(self) -> Sequence[Control]:
        """Return units and spans; see `BarPlot.own_controls`."""
        units, spans = (set(self.extra[name].tolist()) for name in ("unit", "span"))
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
