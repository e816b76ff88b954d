"""What the tasks of each prefix hold and took, and what the threads' time went into."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import numpy as np

from dask_diag_lab.schema import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.palette import data_colors, prefix_color
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.view import Table

WAITING: Final = "Waiting for the scheduler's answer."
UNKNOWN: Final = (
    "How much memory the results take is not known: the scheduler does not tell their sizes. "
    "Workers Memory shows what the workers hold."
)
"""Without the collector, see `transport.plain`."""
NO_RESULTS: Final = (
    "No results are in memory. They appear when tasks are persisted, scattered, or kept for "
    "tasks that still need them."
)
NO_TIME: Final = "No task has ended yet. Times appear as soon as one has."
MOST_NAMED: Final = 5
"""Prefixes of an action that its tooltip names."""

_MEMORY: Final = STATES.index("memory")


class PrefixBars(BarPlot):
    """A bar for each prefix in its colour, longest first; those without room are one bar."""

    noun, nouns = "prefix", "prefixes"
    label = key = "prefix"
    order = "size"
    merges = "sum"

    def prefix_colors(self, names: list[str]) -> list[str]:
        """Return the colour of each prefix."""
        return [prefix_color(self.store.palette.index(name), self.look) for name in names]


@register_plot
class MemoryByKey(PrefixBars):
    """Bytes of the results of each prefix that are in memory now."""

    name = "memory-by-key"
    title = "Memory by Key"
    group = "Tasks"
    description = "How much memory the results of each function take now."
    help = (
        "One bar for each function with results in memory, longest first or by name. A "
        "result counts once, however many workers hold a copy, and also while it is spilled "
        "to disk.\n"
        "- healthy: what is large is what you still need\n"
        "- a long bar of a step on the way: a future or a `persist` still holds it, or many "
        "tasks that need it have not run yet\n"
        "- how sure: sizes are exact; only where the scheduler already had more than 20 000 "
        "tasks when the diagnostics came, those of functions with released results begin as "
        "the mean size of a result"
    )
    keywords = ("bytes", "size", "results", "prefix", "leak", "held", "managed", "nbytes")

    reads = ("prefixes", "palette")
    columns = (
        Column("prefix", "Prefix", "key"),
        Column("nbytes", "Size", "bytes", share_of="sum"),
        Column("count", "Results in memory", "count"),
        Column("mean", "Each on average", "bytes", adds=False, in_table=False),
    )
    parts = (Part("nbytes"),)

    def rows(self) -> Rows:
        """Return a row for each prefix with results in memory, most bytes first."""
        prefixes = self.store.prefixes
        counts = prefixes.states[:, _MEMORY]
        kept = np.flatnonzero((counts > 0) & (prefixes.nbytes >= 0))
        kept = kept[np.argsort(-prefixes.nbytes[kept], kind="stable")]
        names = [prefixes.names[index] for index in kept.tolist()]
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
        rows = self.rows()
        n = fmt.plural(int(np.sum(rows["count"])), "result")
        return f"Memory by key: {fmt.binary(float(np.sum(rows['nbytes'])))} · {n} in memory"

    def why_empty(self) -> str:
        """Return whether there are results of unknown size; see `DataPlot.why_empty`."""
        return UNKNOWN if self.store.prefixes.states[:, _MEMORY].any() else NO_RESULTS


@register_plot
class ComputeTimePerKey(PrefixBars):
    """Seconds that threads computed tasks of each prefix.

    Mean and median are of the tasks that were recorded, not the scheduler's estimate of the next.
    """

    name = "compute-time-per-key"
    title = "Compute Time per Key"
    group = "Tasks"
    description = "How long worker threads computed the tasks of each function."
    help = (
        "One bar for each function: the time in which threads computed its tasks since the "
        "scheduler started, and its share of all computing.\n"
        "- healthy: the longest bar is the work you came for; it is where faster code pays "
        "most\n"
        "- mean and median: of the tasks recorded since the diagnostics came\n"
        "- many tasks with a mean of a few milliseconds: they cost more to schedule than to "
        "compute; make the chunks larger\n"
        "- not here: moving data and disk, see Aggregate Time per Action"
    )
    keywords = ("duration", "seconds", "slow", "hot", "prefix", "cost", "profile", "share")

    reads = ("durations", "prefixes", "palette")
    columns = (
        Column("prefix", "Prefix", "key"),
        Column("seconds", "Thread time", "seconds", share_of="sum"),
        Column("count", "Tasks recorded", "count"),
        Column("mean_s", "Mean of a task", "seconds", adds=False),
        Column("median_s", "Median of a task", "seconds", adds=False),
    )
    parts = (Part("seconds"),)

    def rows(self) -> Rows:
        """Return a row for each prefix that was computed, longest first."""
        durations = self.store.extras["durations"]
        computed = (durations["action"] == "compute") & (durations["seconds"] > 0)
        at = np.flatnonzero(computed)
        at = at[np.argsort(-durations["seconds"][at], kind="stable")]
        names = durations["prefix"][at].tolist()
        recorded = [self.store.durations.of(name) for name in names]
        return {
            "prefix": names,
            "seconds": durations["seconds"][at],
            "count": np.array([one.count for one in recorded], dtype=np.int64),
            "mean_s": np.array([one.mean_s for one in recorded], dtype=np.float64),
            "median_s": np.array([one.median_s for one in recorded], dtype=np.float64),
            "color": self.prefix_colors(names),
        }

    def headline(self) -> str:
        """Return the sum of all; see `DataPlot.headline`."""
        total = fmt.duration(float(np.sum(self.rows()["seconds"])))
        return f"Compute time per key: {total} of thread time"

    def why_empty(self) -> str:
        """Return whether there will be times; see `DataPlot.why_empty`."""
        return NO_TIME if self.store.extras["durations"].is_known else WAITING


@register_plot
class AggregateTimePerAction(BarPlot):
    """Seconds that threads spent on each kind of action: computing, transfers, disk."""

    name = "aggregate-time-per-action"
    title = "Aggregate Time per Action"
    group = "Tasks"
    description = "How much thread time went into computing, moving data and disk."
    help = (
        "One bar for each action, summed up over all workers since the scheduler started.\n"
        "- point at a bar: the functions that it was most for\n"
        "- healthy: compute is by far the longest\n"
        "- long transfer: tasks need much data from other workers\n"
        "- disk: Dask says so of anything that keeps a worker's store busy for more than 5 ms, "
        "which needs no disk on a busy machine\n"
        "- long disk bars, and spilled memory in Cluster Memory: workers are short of memory"
    )
    keywords = ("transfer", "disk", "spill", "deserialize", "communication", "overhead", "sum")

    reads = ("durations",)
    columns = (
        Column("action", "Action"),
        Column("seconds", "Time", "seconds", share_of="sum"),
        Column("most_for", "Most for"),
    )
    parts = (Part("seconds"),)
    noun = "action"
    label = key = "action"
    order = "size"
    merges = "sum"

    def rows(self) -> Rows:
        """Return a row for each action, longest first."""
        durations = self.store.extras["durations"]
        sums: defaultdict[str, dict[str, float]] = defaultdict(dict)
        columns = (durations[name].tolist() for name in ("action", "prefix", "seconds"))
        for action, prefix, seconds in zip(*columns, strict=True):
            if seconds > 0:
                sums[action][prefix] = sums[action].get(prefix, 0.0) + seconds
        actions = sorted(sums, key=lambda action: -sum(sums[action].values()))
        return {
            "action": actions,
            "seconds": np.array([sum(sums[action].values()) for action in actions]),
            "most_for": [_largest(sums[action]) for action in actions],
            "color": [self._action_color(action) for action in actions],
        }

    def headline(self) -> str:
        """Return the sum of all; see `DataPlot.headline`."""
        total = fmt.duration(float(np.sum(self.rows()["seconds"])))
        return f"Aggregate time per action: {total} in all"

    def why_empty(self) -> str:
        """Return whether there will be times; see `DataPlot.why_empty`."""
        return NO_TIME if self.store.extras["durations"].is_known else WAITING

    def table(self) -> Table:
        """Return one row for each action and prefix, as the scheduler counts them."""
        durations = self.store.extras["durations"]
        columns: dict[str, list[Any]] = {  # texts and numbers
            name: durations[name].tolist() for name in ("action", "prefix", "seconds")
        }
        return Table(columns, {"seconds": "s"})

    def _action_color(self, action: str) -> str:
        """Return the colour that the action has in the task stream."""
        colors = data_colors(self.look)
        known = {
            "transfer": colors.transfer,
            "disk-read": colors.disk,
            "disk-write": colors.disk,
            "deserialize": colors.deserialize,
            "compute": colors.load_normal,
        }
        return known.get(action, colors.gone)


def _largest(seconds: dict[str, float]) -> str:
    """Return the prefixes that took most of an action's time."""
    parts = sorted(seconds.items(), key=lambda item: -item[1])
    shown = [f"{fmt.elide(name, 40)} {fmt.duration(took)}" for name, took in parts[:MOST_NAMED]]
    more = [f"{fmt.count(len(parts) - MOST_NAMED)} more"] if len(parts) > MOST_NAMED else []
    return ", ".join([*shown, *more])
