"""What the tasks of each prefix hold and took, and what the threads' time went into."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np

from dask_diag_lab.schema import STATES, Kind
from dask_diag_lab.store.sums import NO_DURATIONS
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, Rows, SumsView
from dask_diag_lab.views.look import data_colors, prefix_color
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import Table

ACTIONS: Final = tuple(kind.name.lower().replace("_", "-") for kind in Kind)
"""What `distributed` calls each kind of action."""

_MEMORY: Final = STATES.index("memory")
_COLORS: Final = {
    "transfer": "transfer",
    "disk-read": "disk",
    "disk-write": "disk",
    "deserialize": "deserialize",
    "compute": "load_normal",
}
"""The colour of an action, that of the task stream, as attribute of `DataColors`."""


class SumBars(BarPlot):
    """Bars that are longest first; those that do not fit are one bar."""

    order = "size"
    merges = "sum"


class PrefixBars(SumBars):
    """A bar for each prefix in its colour."""

    noun, nouns = "prefix", "prefixes"
    label = key = "prefix"

    def prefix_colors(self, names: list[str]) -> list[str]:
        """Return the colour of each prefix."""
        return [prefix_color(self.history.prefix_index.index(name), self.look) for name in names]


class TimeBars(SumsView, SumBars):
    """Bars of the time of actions."""

    empty = "No task has ended yet. Times appear as soon as one has."
    parts = (Part("seconds"),)
    basis: ClassVar[str] = "Shares of the time of all tasks"

    def headline(self) -> str:
        """Return the sum of all; see `DataPlot.headline`."""
        total = fmt.duration(float(np.sum(self.rows()["seconds"])))
        return f"{self.title.capitalize()}: {total}"

    def note(self) -> str:
        """Return what was added up; see `DataPlot.note`."""
        return f"{self.basis}, recorded {self.since_text}"

    def seconds(self, *by: str, **where: int) -> dict[tuple[int, ...], float]:
        """Return seconds by what they are of, longest first; see `store.sums.Sums.total`."""
        sums = self.sums
        found = {} if sums is None else sums.total(by, "seconds", where)
        return dict(sorted(((k, s) for k, s in found.items() if s > 0), key=lambda kv: -kv[1]))


@register_plot
class MemoryByKey(PrefixBars):
    """Bytes of the results of each prefix that are in memory now."""

    name = "memory-by-key"

    reads = ("prefixes", "prefix_index")
    columns = (
        Column("prefix", "Prefix", "key"),
        Column("nbytes", "Size", "bytes", share_of="sum"),
        Column("count", "Results in memory", "count"),
        Column("mean", "Each on average", "bytes", adds=False, in_table=False),
    )
    parts = (Part("nbytes"),)
    empty = (
        "No results are in memory. They appear when tasks are persisted, scattered, or kept for "
        "tasks that still need them."
    )

    def rows(self) -> Rows:
        """Return a row for each prefix with results in memory, most bytes first."""
        prefixes = self.history.prefixes
        counts, names = prefixes.states[:, _MEMORY], prefixes.names
        kept = np.flatnonzero(counts)
        kept = kept[np.argsort(-prefixes.nbytes[kept], kind="stable")]
        names = [names[index] for index in kept.tolist()]
        nbytes, count = prefixes.nbytes[kept], counts[kept]
        return {
            "prefix": names,
            "nbytes": nbytes,
            "count": count,
            "mean": nbytes / count,
            "color": self.prefix_colors(names),
        }

    def headline(self) -> str:
        """Return the sum of all; see `DataPlot.headline`."""
        prefixes = self.history.prefixes
        counts = prefixes.states[:, _MEMORY]
        n, nbytes = fmt.plural(int(counts.sum()), "result"), prefixes.nbytes[counts > 0].sum()
        return f"Memory by key: {fmt.binary(float(nbytes))} · {n} in memory"


@register_plot
class ComputeTimePerKey(PrefixBars, TimeBars):
    """Seconds that threads computed tasks of each prefix.

    Mean and median are of the tasks that were recorded, not the scheduler's estimate of the next.
    """

    name = "compute-time-per-key"

    reads = ("actions", "prefix_index")
    columns = (
        Column("prefix", "Prefix", "key"),
        Column("seconds", "Thread time", "seconds", share_of="sum"),
        Column("count", "Tasks that ended well", "count"),
        Column("mean_s", "Mean of a task", "seconds", adds=False),
        Column("median_s", "Median of a task", "seconds", adds=False),
    )

    def rows(self) -> Rows:
        """Return a row for each prefix that was computed, longest first."""
        seconds = self.seconds("prefix", kind=Kind.COMPUTE)
        durations = self.sums.durations() if self.sums else {}
        recorded = [durations.get(prefix, NO_DURATIONS) for (prefix,) in seconds]
        names = [self.history.strings[prefix] for (prefix,) in seconds]
        return {
            "prefix": names,
            "seconds": np.array(list(seconds.values()), dtype=np.float64),
            "count": np.array([one.n_tasks for one in recorded], dtype=np.int64),
            "mean_s": np.array([one.mean_s for one in recorded], dtype=np.float64),
            "median_s": np.array([one.median_s for one in recorded], dtype=np.float64),
            "color": self.prefix_colors(names),
        }


@register_plot
class AggregateTimePerAction(TimeBars):
    """Seconds that each kind of action took: computing, transfers, disk."""

    name = "aggregate-time-per-action"

    basis = "All actions count, also two at one time, transfers included"
    reads = ("actions",)
    columns = (
        Column("action", "Action"),
        Column("seconds", "Time", "seconds"),  # no shares: those are of what threads did
    )
    noun = "action"
    label = key = "action"

    def rows(self) -> Rows:
        """Return a row for each action, longest first."""
        sums = {ACTIONS[kind]: seconds for (kind,), seconds in self.seconds("kind").items()}
        actions = list(sums)
        colors = data_colors(self.look)
        return {
            "action": actions,
            "seconds": np.array(list(sums.values())),
            "color": [getattr(colors, _COLORS.get(action, "gone")) for action in actions],
        }

    def table(self) -> Table:
        """Return one row for each action and prefix."""
        found = self.seconds("kind", "prefix")
        columns: dict[str, list[Any]] = {  # texts and numbers
            "action": [ACTIONS[kind] for kind, _ in found],
            "prefix": [self.history.strings[prefix] for _, prefix in found],
            "seconds": list(found.values()),
        }
        return Table(columns, {"seconds": "s"})
