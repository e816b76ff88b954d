"""Quantities of the workers over time: mean and band from lowest to highest, or the sum of all.

Recorded since the diagnostics began, whether anybody looked or not; traffic once for each host.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.names import no_workers
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.series import Line, Points, SeriesPlot
from dask_diag_lab.views.workers import common

_MOVES: Final = (
    "- 0 s below: the first heartbeat that was recorded\n"
    "- drag: pan\n"
    "- Ctrl-wheel: zoom\n"
    "- L: back to live\n"
)


class WorkerSeries(SeriesPlot):
    """Lines of ``store.series``.

    Attributes
    ----------
    nouns : str
        What the mean is over.
    """

    reads = ("series", "nthreads", "workers")
    group = "Workers"
    nouns: ClassVar[str] = "hosts"

    def headline(self) -> str:
        """Return the newest means, and of how many; see `SeriesPlot.headline`."""
        last = (self.points(line.name).n for line in self.lines)
        number = max((int(n[-1]) for n in last if n is not None and len(n)), default=0)
        is_each = self.nouns == "processes" and number == len(self.store.workers)
        nouns = "workers" if is_each else self.nouns
        of = f" · mean of {fmt.count(number)} {nouns}, band from lowest to highest"
        return super().headline() + of * (number > 1)

    def why_empty(self) -> str:
        """Return why there is nothing; see `SeriesPlot.why_empty`."""
        return self.empty if len(self.store.series) else no_workers(self.store)


@register_plot
class CpuSeries(WorkerSeries):
    """CPU of the worker processes over time."""

    name = "workers-cpu-timeseries"
    title = "CPU over Time"
    description = "CPU use of the workers over time: mean, lowest and highest."
    help = (
        "CPU of the worker processes, where 100 % is one core; recorded since the "
        "diagnostics began, also while nobody looked.\n"
        "- line: mean over all workers, where those that share a process count once: a "
        "heartbeat tells of the whole process\n"
        "- band: from the lowest to the highest of these\n"
        f"{_MOVES}"
        "- healthy while tasks run: near 100 % times the threads of a worker, with a narrow band\n"
        "- a wide band: some workers work while others wait\n"
        "- low everywhere: tasks wait for network or disk, or hold the interpreter lock"
    )
    keywords = ("history", "processor", "average", "utilization", "resources", "trend")

    lines = (Line("cpu", "CPU", "load_normal"),)
    unit = "percent"
    nouns = "processes"


@register_plot
class MemorySeries(WorkerSeries):
    """Memory of the worker processes and what they spilled, over time."""

    name = "workers-memory-timeseries"
    title = "Memory over Time"
    description = "Memory of the workers over time: mean, lowest and highest."
    help = (
        "Memory of the worker processes; recorded since the diagnostics began, also while "
        "nobody looked.\n"
        "- solid line: mean memory of a process; workers that share one count once\n"
        "- dashed line: mean of what the workers of a process spilled to disk\n"
        "- bands: from the lowest to the highest process\n"
        f"{_MOVES}- healthy: it rises and falls with the work and returns to where it began\n"
        "- rising without end: results are held, or memory leaks\n"
        "- a wide band: data is spread unevenly"
    )
    keywords = (
        *("history", "bytes stored", "ram", "rss", "average", "spill", "resources", "trend"),
        "leak",
    )

    lines = (Line("memory", "process memory", "memory_ok"), Line("spilled", "spilled", "spilled"))
    unit = "bytes"
    nouns = "processes"


@register_plot
class ResultsSeries(WorkerSeries):
    """Results that all workers hold together, over time."""

    name = "results-in-memory"
    title = "Results in Memory over Time"
    description = "How many results all workers hold together, over time."
    help = (
        "The results that the workers hold, those spilled to disk too; recorded since the "
        "diagnostics began, also while nobody looked.\n"
        "- a result that several workers have: counts on each of them\n"
        f"{_MOVES}"
        "- healthy: it rises and falls with the work and returns to where it began\n"
        "- rising without end: results are held; Clients tells by whom"
    )
    keywords = ("history", "tasks", "keys", "futures", "held", "leak", "trend")

    lines = (Line("in_memory", "results", "memory_ok"),)
    unit = "count"
    has_band = False

    def points(self, name: str) -> Points:
        """Return the sum over the workers, whole though a point may have several samples."""
        of = self.store.series.get(name)
        total = np.rint(of.total)
        return Points(of.times, total, total, total)

    def note(self) -> str:
        """Return which moment 0 is, and what is counted; see `SeriesPlot.note`."""
        return f"{super().note()} · copies of a result included"


@register_plot
class NetworkSeries(WorkerSeries):
    """Network traffic of the hosts over time."""

    name = "workers-network-timeseries"
    title = "Network over Time"
    description = "Network traffic of the hosts over time: mean, lowest and highest."
    help = (
        "Network traffic of the hosts, a host counted once however many workers it has; "
        "recorded since the diagnostics began.\n"
        "- solid line: mean of the bytes received a second\n"
        "- dashed line: mean of the bytes sent\n"
        "- bands: from the lowest to the highest host\n"
        f"{_MOVES}- healthy: below what the network can do\n"
        "- long plateaus at the same height: the network is the limit"
    )
    keywords = ("history", "bandwidth", "traffic", "average", "resources", "trend")

    lines = (
        Line(common.NETWORK_READ, "received", "incoming"),
        Line(common.NETWORK_WRITE, "sent", "outgoing"),
    )
    unit = "rate"
    empty = common.NO_NETWORK


@register_plot
class DiskSeries(WorkerSeries):
    """Disk traffic of the hosts over time."""

    name = "workers-disk-timeseries"
    title = "Disk over Time"
    description = "Disk traffic of the hosts over time: mean, lowest and highest."
    help = (
        "Disk traffic of the hosts, a host counted once however many workers it has; "
        "recorded since the diagnostics began.\n"
        "- solid line: mean of the bytes read a second\n"
        "- dashed line: mean of the bytes written\n"
        "- bands: from the lowest to the highest host\n"
        f"{_MOVES}- healthy: little, unless the work reads or writes local files\n"
        "- writing that begins when memory is near its limit: spilling"
    )
    keywords = ("history", "io", "spill", "traffic", "average", "resources", "trend")

    lines = (
        Line(common.DISK_READ, "read", "incoming"),
        Line(common.DISK_WRITE, "written", "outgoing"),
    )
    unit = "rate"
    empty = common.NO_DISK
