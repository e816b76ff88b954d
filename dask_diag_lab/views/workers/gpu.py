"""GPU use and memory of the workers that report them.

Metrics as `distributed.diagnostics.nvml` and ``rmm`` name them, the older names as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.workers.common import (
    GPU_MEMORY,
    GPU_MEMORY_TOTAL,
    RMM_TOTAL,
    RMM_USED,
    WORKER,
    WorkerBars,
    metric,
)

TOTAL: Final = (GPU_MEMORY_TOTAL, "gpu_memory_total", "gpu.memory-total")


class GpuBars(WorkerBars):
    """Bars of the workers that report the first of `metrics`.

    Attributes
    ----------
    metrics : sequence of (str, sequence of str)
        Columns, and the names that each has as a metric.
    """

    metrics: ClassVar[Sequence[tuple[str, Sequence[str]]]] = ()
    empty = (
        "No worker reports a GPU. Workers do when they run on a host with an NVIDIA GPU, pynvml is "
        "installed there and distributed.diagnostics.nvml is on."
    )
    unavailable = empty

    def rows(self) -> Rows:
        """Return a row for each worker that reports; see `BarPlot.rows`."""
        workers = self.history.workers
        found = {
            column: np.fmax.reduce([metric(workers, name) for name in names])
            for column, names in self.metrics
        }
        picked = np.flatnonzero(np.isfinite(next(iter(found.values()))))
        return {**self.worker_rows(picked), **{name: row[picked] for name, row in found.items()}}

    def of_workers(self) -> str:
        """Return of how many workers this is, for the end of a headline."""
        every = fmt.plural(len(self.history.workers), "worker")
        picked = len(self.rows()["name"])
        return f" · {every if picked == len(self.history.workers) else f'{picked} of {every}'}"

    def total(self, column: str) -> str:
        """Return the sum of a column of bytes."""
        return fmt.binary(float(np.sum(self.rows()[column])))


@register_plot
class GpuUtilization(GpuBars):
    """How busy each GPU is."""

    name = "gpu-utilization"

    metrics = (("gpu_utilization", ("gpu_utilization", "gpu.utilization")),)
    columns = (*WORKER, Column("gpu_utilization", "GPU's time in use", "percent"))
    parts = (Part("gpu_utilization"),)
    sort_by = "gpu_utilization"
    end = 100.0

    def headline(self) -> str:
        """Return the mean; see `DataPlot.headline`."""
        mean = fmt.percent(float(np.mean(self.rows()["gpu_utilization"])) / 100)
        return f"GPU use: {mean} on average{self.of_workers()}"


@register_plot
class GpuMemory(GpuBars):
    """How full the memory of each GPU is."""

    name = "gpu-memory"

    metrics = (("gpu_memory_used", (GPU_MEMORY, "gpu.memory-used")), ("gpu_memory_total", TOTAL))
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
        return f"GPU memory: {sums}{self.of_workers()}"


@register_plot
class RmmMemory(GpuBars):
    """What RMM has given out and what it holds in its pool, of the memory of each GPU."""

    name = "rmm-memory"

    metrics = (("rmm_used", (RMM_USED,)), ("rmm_pool", (RMM_TOTAL,)), ("gpu_memory_total", TOTAL))
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
        return f"RMM memory: {sums} in the pool{self.of_workers()}"
