"""How full each worker is and how much it has to do: memory, tasks, seconds of work, CPU and GPU.

Colours of memory follow ``distributed.dashboard.components.scheduler.MemoryColor``: it judges
*process* memory, so orange means that the worker may be spilling, not that it is. GPU metrics are
as `distributed.system_monitor` and `distributed.diagnostics.rmm` name them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import Floats, Ints
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Level, Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.workers.common import (
    GPU_MEMORY,
    GPU_MEMORY_TOTAL,
    RMM_TOTAL,
    RMM_USED,
    WORKER,
    WorkerBars,
    WorkerPlot,
    metric,
    shared_note,
)

# --- memory

RUNNING: Final = "running"

CRITICAL: Final = 2
PAUSED: Final = 3
LEVEL_NAMES: Final = ("ok", "may spill", "critical", "paused")
REMARKS: Final = ("", "may spill to disk", "at its memory limit")
PARTS: Final = ("memory", "managed", "unmanaged_old", "unmanaged_recent", "spilled")


class MemoryBars(WorkerPlot, BarPlot):
    """Bars where a colour is a level and a shade of it is a part.

    The parts but for the last add up to the resident set size of the process, or to the part of it
    that each of several workers has.
    """

    parts = (
        Part("managed", "managed"),
        Part("unmanaged_old", "unmanaged, old", alpha=0.7),
        Part("unmanaged_recent", "unmanaged, recent", alpha=0.4),
        Part("spilled", "spilled to disk", "spilled"),
    )
    levels = (
        *(Level("memory_ok"), Level("memory_near", "▴"), Level("memory_over", "‼")),
        Level("memory_over", "‖", "paused: begins no task", "|"),
    )
    merged_level = "worst"
    columns: Sequence[Column] = (
        Column("memory", "Process memory", "bytes", share_of="memory_limit"),
        Column("managed", "Managed", "bytes", share_of="memory_limit"),
        Column("unmanaged_old", "Unmanaged, old", "bytes", share_of="memory_limit"),
        Column("unmanaged_recent", "Unmanaged, recent", "bytes", share_of="memory_limit"),
        Column("spilled", "Spilled to disk", "bytes", share_of="memory_limit"),
        Column("memory_limit", "Memory limit", "bytes"),
    )
    value = ("memory",)
    limit = "memory_limit"

    def memory_levels(self) -> npt.NDArray[np.uint8]:
        """Return the index in `LEVEL_NAMES` of each worker, and set the marks of the thresholds.

        Orange begins at the lower one of target and spill, red at terminate or with another status;
        a paused worker has a pattern as well.
        Without a limit only the status can turn a worker red. Thresholds are shares of the limit;
        one that is off is None.
        """
        workers, scheduler = self.history.workers, self.history.scheduler
        thresholds = scheduler.thresholds if scheduler else {}
        on = {name: share for name, share in thresholds.items() if share}
        self.marks = sorted((mark for mark in on.items() if mark[1] < 1), key=lambda mark: mark[1])
        used = workers.memory / np.where(workers.memory_limit > 0, workers.memory_limit, np.inf)
        may_spill = used >= min(on.get("target", np.inf), on.get("spill", np.inf))
        levels = np.where(used >= min(on.get("terminate", 1.0), 1.0), CRITICAL, may_spill)
        of_status = {RUNNING: 0, "paused": PAUSED}
        status = [of_status.get(status, CRITICAL) for status in workers.status]
        return np.maximum(levels, np.array(status, dtype=np.int64)).astype(np.uint8)

    def headline(self) -> str:
        """Return the memory of all processes; see `DataPlot.headline`."""
        totals = self.history.workers.totals()
        more = f" + {fmt.binary(totals.spilled)} spilled to disk" if totals.spilled else ""
        return f"Process memory: {fmt.binary(totals.memory)}{more}"

    def note(self) -> str:
        """Return who shares a process; see `DataPlot.note`."""
        return shared_note(self.history.workers)


def _known_limits(limits: Ints) -> Floats:
    """Return limits with NaN for none: the bars write "no limit", and a table nothing."""
    return np.where(limits > 0, limits, np.nan)


@register_plot
class WorkersMemory(MemoryBars, WorkerBars):
    """Memory of each worker by use, against its limit and thresholds."""

    name = "workers-memory"

    columns = (
        *WORKER,
        Column("status", shown=False),
        Column("level", shown=False),
        *MemoryBars.columns,
    )
    sort_by = "memory"

    def derived(self) -> Rows:
        """Return the levels, and what they mean; see `WorkerBars.derived`."""
        workers, levels = self.history.workers, self.memory_levels()
        return {
            "memory_limit": _known_limits(workers.memory_limit),
            "level": [LEVEL_NAMES[level] for level in levels.tolist()],
            "level_index": levels,
            "remark": [
                REMARKS[level] if status == RUNNING else status.replace("_", " ")
                for level, status in zip(levels.tolist(), workers.status, strict=True)
            ],
        }

    def headline(self) -> str:
        """Return the memory of all processes; see `DataPlot.headline`."""
        return f"{super().headline()} · {fmt.plural(len(self.history.workers), 'worker')}"


@register_plot
class ClusterMemory(MemoryBars):
    """Memory of all workers together by use, in the colour of the worst worker."""

    name = "cluster-memory"

    columns = (*MemoryBars.columns, Column("workers", "Workers", "count"))
    noun = "cluster"
    label = "label"

    def rows(self) -> Rows:
        """Return one row; none without workers."""
        workers = self.history.workers
        if not len(workers):
            return {"label": [], **{column.name: [] for column in self.columns}}
        totals, levels = workers.totals(), self.memory_levels()
        n_critical = fmt.plural(int((levels >= CRITICAL).sum()), "worker")
        remarks = (*REMARKS[:2], *[f"{n_critical} paused or at the limit"] * 2)
        return {
            "label": [""],
            **{name: np.array([getattr(totals, name)]) for name in PARTS},
            "memory_limit": _known_limits(np.array([totals.memory_limit])),
            "workers": [len(workers)],
            "level_index": np.array([levels.max()], dtype=np.uint8),
            "remark": [remarks[int(levels.max())]],
        }

    def headline(self) -> str:
        """Return the memory of all processes and its share; see `DataPlot.headline`."""
        totals = self.history.workers.totals()
        limit, share = totals.memory_limit, fmt.percent(totals.memory / max(totals.memory_limit, 1))
        return super().headline() + (f" · {share} of {fmt.binary(limit)}" if limit else "")


# --- load

LOADS: Final = ("normal", "saturated", "idle")


class LoadBars(WorkerBars):
    """Bars in the colour of the worker's load, as the scheduler judges it."""

    levels = (
        Level("load_normal", label="normal"),
        Level("load_saturated", "▴", "saturated"),
        Level("load_idle", "▿", "idle"),
    )

    def worker_rows(self, picked: Ints | None = None) -> dict[str, Any]:
        """Return the load of each worker as well; idle wins, as in Dask."""
        workers = self.history.workers
        level = np.where(workers.is_idle, 2, np.where(workers.is_saturated, 1, 0))
        load = [LOADS[index] for index in level.tolist()]
        remark = ["" if load == LOADS[0] else load for load in load]
        shown = {"level_index": level.astype(np.uint8), "load": load, "remark": remark}
        return super().worker_rows(picked) | shown


@register_plot
class TasksProcessing(LoadBars):
    """Tasks assigned to each worker."""

    name = "nprocessing"

    columns = (
        *WORKER,
        Column("processing", "Assigned tasks", "count"),
        Column("executing", "Running", "count"),
        Column("nthreads", "Threads", "count"),
        Column("load", shown=False),
    )
    parts = (Part("processing"),)
    sort_by = "processing"

    def headline(self) -> str:
        """Return how many tasks, and who is saturated; see `DataPlot.headline`."""
        workers, loads = self.history.workers, self.worker_rows()["load"]
        counted = [f"{loads.count(load)} {load}" for load in LOADS[1:] if load in loads]
        total = fmt.plural(int(workers.processing.sum()), "task")
        known = ", ".join([fmt.plural(len(workers), "worker"), *counted])
        return f"Tasks processing: {total} · {known}"


@register_plot
class TasksInMemory(WorkerBars):
    """Results that each worker holds."""

    name = "tasks-in-memory"

    columns = (
        *WORKER,
        Column("in_memory", "Results", "count", share_of="sum"),
        Column("managed", "Their size in memory", "bytes"),
    )
    parts = (Part("in_memory"),)
    sort_by = "in_memory"

    def headline(self) -> str:
        """Return how many results there are on how many workers; see `DataPlot.headline`."""
        workers = self.history.workers
        total = fmt.plural(int(workers.in_memory.sum()), "result")
        known = fmt.plural(len(workers), "worker")
        return f"Tasks in memory: {total}, copies included · {known}"


@register_plot
class Occupancy(LoadBars):
    """Expected seconds of assigned work of each worker.

    Bars have their true length; the stock dashboard's are centred on half of it.
    """

    name = "occupancy"

    columns = (
        *WORKER,
        Column("occupancy", "Expected work", "seconds"),
        Column("wall", "On its threads about", "seconds", in_table=False),
        Column("nthreads", "Threads", "count"),
        Column("processing", "Tasks", "count", in_table=False),
        Column("load", shown=False),
    )
    parts = (Part("occupancy"),)
    sort_by = "occupancy"

    def derived(self) -> Rows:
        """Return how long the work takes; see `WorkerBars.derived`."""
        workers = self.history.workers
        return {"wall": workers.occupancy / np.maximum(workers.nthreads, 1)}

    def headline(self) -> str:
        """Return how much work there is, and how long it takes; see `DataPlot.headline`."""
        workers = self.history.workers
        total, n_threads = float(workers.occupancy.sum()), int(workers.nthreads.sum())
        wall, threads = fmt.duration(total / max(n_threads, 1)), fmt.plural(n_threads, "thread")
        return f"Occupancy: {fmt.duration(total)} of work · about {wall} on {threads}"


@register_plot
class Cpu(WorkerBars):
    """CPU use of each worker, on a scale that ends at all its threads at work."""

    name = "cpu"

    columns = (
        *WORKER,
        Column("cpu", "CPU", "percent", share_of="full"),
        Column("nthreads", "Threads", "count"),
        Column("full", "All its threads", "percent", in_table=False),
    )
    parts = (Part("cpu"),)
    track = "full"
    sort_by = "cpu"

    def derived(self) -> Rows:
        """Return what all threads at work come to; see `WorkerBars.derived`."""
        return {"full": self.history.workers.nthreads * 100}

    def headline(self) -> str:
        """Return the sum, and its share of all threads; see `DataPlot.headline`."""
        workers = self.history.workers
        total, possible = workers.totals().cpu, int(workers.nthreads.sum()) * 100
        share = fmt.percent(total / max(possible, 1))
        return f"CPU: {fmt.count(total)} % of {fmt.count(possible)} % · {share} in use"

    def note(self) -> str:
        """Return who shares a process; see `DataPlot.note`."""
        return shared_note(self.history.workers)


class GpuBars(WorkerBars):
    """Bars of the workers that report the first of `metrics`.

    Attributes
    ----------
    metrics : sequence of (str, str)
        Columns, and the metric that each has.
    """

    metrics: ClassVar[Sequence[tuple[str, str]]] = ()
    empty = (
        "No worker reports a GPU. Workers do when they run on a host with an NVIDIA GPU, pynvml is "
        "installed there and distributed.diagnostics.nvml is on."
    )
    unavailable = empty

    def rows(self) -> Rows:
        """Return a row for each worker that reports; see `BarPlot.rows`."""
        workers = self.history.workers
        found = {column: metric(workers, name) for column, name in self.metrics}
        picked = np.flatnonzero(np.isfinite(next(iter(found.values()))))
        return {**self.worker_rows(picked), **{name: row[picked] for name, row in found.items()}}

    def total(self, column: str) -> str:
        """Return the sum of a column of bytes."""
        return fmt.binary(float(np.sum(self.rows()[column])))


@register_plot
class GpuUtilization(GpuBars):
    """How busy each GPU is."""

    name = "gpu-utilization"

    metrics = (("gpu_utilization", "gpu_utilization"),)
    columns = (*WORKER, Column("gpu_utilization", "GPU's time in use", "percent"))
    parts = (Part("gpu_utilization"),)
    sort_by = "gpu_utilization"
    end = 100.0

    def headline(self) -> str:
        """Return the mean; see `DataPlot.headline`."""
        mean = fmt.percent(float(np.mean(self.rows()["gpu_utilization"])) / 100)
        return f"GPU use: {mean} on average"


@register_plot
class GpuMemory(GpuBars):
    """How full the memory of each GPU is."""

    name = "gpu-memory"

    metrics = (("gpu_memory_used", GPU_MEMORY), ("gpu_memory_total", GPU_MEMORY_TOTAL))
    columns = (
        *WORKER,
        Column("gpu_memory_used", "GPU memory in use", "bytes", share_of="gpu_memory_total"),
        Column("gpu_memory_total", "Memory of the GPU", "bytes"),
    )
    parts = (Part("gpu_memory_used"),)
    limit = "gpu_memory_total"
    sort_by = "gpu_memory_used"

    def headline(self) -> str:
        """Return the sums; see `DataPlot.headline`."""
        sums = f"{self.total('gpu_memory_used')} of {self.total('gpu_memory_total')}"
        return f"GPU memory: {sums}"


@register_plot
class RmmMemory(GpuBars):
    """What RMM has given out and what it holds in its pool, of the memory of each GPU."""

    name = "rmm-memory"

    metrics = (
        *(("rmm_used", RMM_USED), ("rmm_pool", RMM_TOTAL)),
        ("gpu_memory_total", GPU_MEMORY_TOTAL),
    )
    empty = (
        "No worker reports memory of RMM. Workers do when they run with RMM as the allocator of "
        "their GPU's memory, for example from dask-cuda with --rmm-pool-size."
    )
    unavailable = empty
    columns = (
        *WORKER,
        Column("rmm_used", "In use", "bytes", share_of="rmm_pool"),
        Column("rmm_pool", "In the pool", "bytes"),
        Column("gpu_memory_total", "Memory of the GPU", "bytes"),
    )
    parts = (Part("rmm_used", "in use"), Part("rmm_free", "free in the pool", alpha=0.4))
    limit = "gpu_memory_total"
    value = ("rmm_used",)
    sort_by = "rmm_used"

    def rows(self) -> Rows:
        """Return a row for each worker that reports; see `BarPlot.rows`."""
        rows = super().rows()
        pool = np.fmax(rows["rmm_pool"], rows["rmm_used"])
        return {**rows, "rmm_pool": pool, "rmm_free": pool - rows["rmm_used"]}

    def headline(self) -> str:
        """Return the sums; see `DataPlot.headline`."""
        sums = f"{self.total('rmm_used')} of {self.total('rmm_pool')}"
        return f"RMM memory: {sums} in the pool"
