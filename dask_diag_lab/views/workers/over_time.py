"""Quantities of the workers over time: mean and band from lowest to highest, or the sum of all.

Recorded since the diagnostics began, whether anybody looked or not; traffic once for each host.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dask_diag_lab.store.arrays import Floats
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.names import no_workers
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.series import Line, Points, SeriesPlot
from dask_diag_lab.views.workers import common

LOOK_BACK_S: Final = 30.0
"""What rises is looked at so far back."""
LOOK_AHEAD_S: Final = 600.0
"""Of what comes later a straight line knows nothing."""
LEAST_POINTS: Final = 20
LEAST_R: Final = 0.95
"""Correlation of values and time from which on a slope is clear."""


def seconds_until(limit: float, times: Floats, values: Floats) -> float:
    """Return when what rises reaches a limit, in seconds after its newest value; NaN if unclear.

    A straight line through the values of the last `LOOK_BACK_S` tells, where these lie on one.
    """
    is_new = np.isfinite(values) & (times >= times.max(initial=0.0) - LOOK_BACK_S)
    times, values = times[is_new], values[is_new]
    if len(times) < LEAST_POINTS or not np.ptp(values) or values[-1] >= limit:
        return float("nan")
    if np.corrcoef(times, values)[0, 1] < LEAST_R:
        return float("nan")
    slope, _ = np.polyfit(times - times[-1], values, 1)
    seconds = float((limit - values[-1]) / slope)
    return seconds if seconds <= LOOK_AHEAD_S else float("nan")


class WorkerSeries(SeriesPlot):
    """Lines of ``history.series``."""

    reads = ("series", "workers")

    def why_empty(self) -> str:
        """Return why there is nothing; see `SeriesPlot.why_empty`."""
        return self.empty if len(self.history.series) else no_workers(self.history)


@register_plot
class CpuSeries(WorkerSeries):
    """CPU of the worker processes over time."""

    name = "workers-cpu-timeseries"

    lines = (Line("cpu", "CPU", "load_normal"),)
    unit = "percent"


@register_plot
class MemorySeries(WorkerSeries):
    """Memory of the worker processes and what they spilled, over time."""

    name = "workers-memory-timeseries"

    lines = (Line("memory", "process memory", "memory_ok"), Line("spilled", "spilled", "spilled"))
    unit = "bytes"

    def headline(self) -> str:
        """Return when a worker will pause, where that is clear, before the newest means."""
        scheduler, limits = self.history.scheduler, self.history.workers.memory_limit
        share = scheduler.thresholds.get("pause") if scheduler else None
        least = min((limit for limit in limits if limit > 0), default=0)
        if not (share and least) or self.live.feed_state.state != "live":
            return super().headline()
        of = self.points("memory")
        left_s = seconds_until(share * least, of.times, of.high)
        soon = f"a worker pauses in about {fmt.duration(left_s)} · " if np.isfinite(left_s) else ""
        return soon + super().headline()


@register_plot
class ResultsSeries(WorkerSeries):
    """Results that all workers hold together, over time."""

    name = "results-in-memory"

    lines = (Line("in_memory", "results", "memory_ok"),)
    unit = "count"
    has_band = False

    def points(self, name: str) -> Points:
        """Return the sum over the workers, whole though a point may have several samples."""
        of = self.history.series.get(name)
        total = np.rint(of.total)
        return Points(of.times, total, total, total)

    def note(self) -> str:
        """Return which moment 0 is, and what is counted; see `SeriesPlot.note`."""
        return f"{super().note()} · copies of a result included"


@register_plot
class NetworkSeries(WorkerSeries):
    """Network traffic of the hosts over time."""

    name = "workers-network-timeseries"

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

    lines = (
        Line(common.DISK_READ, "read", "incoming"),
        Line(common.DISK_WRITE, "written", "outgoing"),
    )
    unit = "rate"
    empty = common.NO_DISK
