"""What each function spent its time or bytes on, by class of activity.

Made of the fine metrics that workers send with their heartbeats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple

import numpy as np

from dask_diag_lab.analysis.facts import COMPUTING, WAITING
from dask_diag_lab.store.sums import ALL
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, Rows, Unit
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.stack import ExtraPlot, extra_table
from dask_diag_lab.views.view import Control, Table

THREAD_CONTEXT: Final = "execute"
"""The context whose activities hold a worker's thread; all others run beside the threads."""
ENCLOSING: Final = ("idle", "process", "p2p-idle", "p2p-process")
"""Spans of the shuffle's background loops: nothing to do, or all that is measured one by one."""


class ActivityClass(NamedTuple):
    """A class of activities of `distributed`'s fine metrics, by the questions that people ask.

    Attributes
    ----------
    color, hatch : str
        An attribute of `palette.DataColors`; those of the task stream mean the same. The hatch
        tells a class without colour.
    activities : sequence of str
        Those of P2P shuffles without the "p2p-" that some have in front.
    """

    color: str
    hatch: str
    activities: Sequence[str] = ()


OWN: Final = "Measured by you"
CLASSES: Final[Mapping[str, ActivityClass]] = {
    "Computing": ActivityClass("load_saturated", "", COMPUTING),
    "Waiting in tasks": ActivityClass("memory_near", "/", WAITING),
    "Network": ActivityClass("transfer", "-", ("network", "send")),
    "(De)serialization": ActivityClass(
        "deserialize", ".", ("serialize", "deserialize", "compress", "decompress", "offload")
    ),
    "Disk": ActivityClass("disk", "|", ("disk-read", "disk-write")),
    "Copying in memory": ActivityClass("load_normal", "+", ("memory-read",)),
    "Failed or cancelled": ActivityClass("killed", "x", ("failed", "cancelled", "missing", "busy")),
    "In a process pool": ActivityClass("load_saturated", ".", ("pool",)),
    "Overhead": ActivityClass("waiting", "\\", ("executor", "other")),
    OWN: ActivityClass("incoming", "."),
}
"""All classes, in the order in which they are shown."""
_CLASS_OF: Final = {activity: name for name, its in CLASSES.items() for activity in its.activities}


_IN_THREADS: Final = ("thread-cpu", "thread-noncpu")


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
    threaded = {metric.label for metric in found if metric.activity in _IN_THREADS}
    return [
        metric._replace(activity="pool")
        if metric.activity == "executor" and metric.label not in threaded
        else metric
        for metric in found
        if metric.activity not in ENCLOSING
    ]


_UNITS: Final[Mapping[str, Unit]] = {"seconds": "seconds", "bytes": "bytes", "count": "number"}


@register_plot
class FineMetrics(ExtraPlot, BarPlot):
    """One bar for each function, and for what runs beside the tasks; parts are activities."""

    reads = ("fine", "activities", "workers")
    needs = frozenset({"fine", "activities"})
    empty = (
        "Nothing was reported yet, or not in this unit for this span. Figures appear a second or"
        " two after the first task has ended."
    )
    name = "fine-performance-metrics"
    has_period = True

    parts = tuple(Part(n, n, its.color, hatch=its.hatch) for n, its in CLASSES.items())
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
            *(Column(name, name, unit, shown=False) for name in CLASSES),
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
                name: np.array(
                    [sum(v for a, v in found[n].items() if class_of(a) == name) for n in names]
                )
                for name in CLASSES
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
    """Return the function, or what `distributed` calls work that belongs to no single one."""
    if context == THREAD_CONTEXT:
        return label
    return f"{context}: {label}" if label else context
