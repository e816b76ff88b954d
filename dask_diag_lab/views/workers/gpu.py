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
from dask_diag_lab.views.workers import common
from dask_diag_lab.views.workers.common import WORKER, Floats, Ints, WorkerBars, metric

UTILIZATION: Final = ("gpu_utilization", "gpu.utilization")
USED: Final = (common.GPU_MEMORY, "gpu.memory-used")
TOTAL: Final = (common.GPU_MEMORY_TOTAL, "gpu_memory_total", "gpu.memory-total")


class GpuBars(WorkerBars):
    """Bars of the workers that report the first of `metrics`.

    Attributes
    ----------
    metrics : sequence of sequence of str
        Names of each metric, the usual one first; columns of the rows in their order.
    """

    metrics: ClassVar[Sequence[Sequence[str]]] = ()
    empty = (
        "No worker reports a GPU. Workers do when they run on a host with an NVIDIA GPU, pynvml is "
        "installed there and distributed.diagnostics.nvml is on."
    )

    def reported(self) -> tuple[Ints, list[Floats]]:
        """Return which workers report the first metric, and all metrics of these; NaN: none."""
        workers = self.store.workers
        found = []
        for names in self.metrics:
            value = np.full(len(workers), np.nan)
            for name in names:
                value = np.where(np.isnan(value), metric(workers, name), value)
            found.append(value)
        rows = np.flatnonzero(np.isfinite(found[0]))
        return rows, [value[rows] for value in found]

    def rows(self) -> Rows:
        """Return a row for each worker that reports; see `BarPlot.rows`."""
        picked, values = self.reported()
        names = [column.name for column in self.columns if column not in WORKER]
        return {**self.worker_rows(picked), **dict(zip(names, values, strict=True))}

    def of_workers(self) -> str:
        """Return of how many workers this is, for the end of a headline."""
        picked, every = len(self.reported()[0]), fmt.plural(len(self.store.workers), "worker")
        return f" · {every if picked == len(self.store.workers) else f'{picked} of {every}'}"


@register_plot
class GpuUtilization(GpuBars):
    """How busy each GPU is."""

    name = "gpu-utilization"
    title = "GPU Utilization"
    group = "Workers"
    description = "How busy the GPU of each worker is."
    help = (
        "One bar for each worker that reports a GPU: the share of time in which the GPU did "
        "something.\n"
        "- healthy while GPU tasks run: long bars\n"
        "- short bars: the GPU waits for data or for Python; use larger pieces, or more "
        "threads\n"
        "- nothing here: no worker reports a GPU"
    )
    keywords = ("cuda", "nvidia", "nvml", "graphics card")
    only_with = ("gpu",)

    metrics = (UTILIZATION,)
    columns = (*WORKER, Column("gpu_utilization", "GPU's time in use", "percent"))
    parts = (Part("gpu_utilization"),)
    sort_by = "gpu_utilization"
    end = 100.0

    def headline(self) -> str:
        """Return the mean; see `DataPlot.headline`."""
        mean = fmt.percent(float(self.reported()[1][0].mean()) / 100)
        return f"GPU use: {mean} on average{self.of_workers()}"


@register_plot
class GpuMemory(GpuBars):
    """How full the memory of each GPU is."""

    name = "gpu-memory"
    title = "GPU Memory"
    group = "Workers"
    description = "How full the memory of each worker's GPU is."
    help = (
        "One bar for each worker that reports a GPU: memory of the GPU in use by all "
        "programs, up to all that it has.\n"
        "- healthy: room to the right\n"
        "- full: the next allocation fails; use smaller pieces, or let dask-cuda spill to "
        "the host"
    )
    keywords = ("cuda", "nvidia", "nvml", "vram", "graphics card", "out of memory")
    only_with = ("gpu",)

    metrics = (USED, TOTAL)
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
        used, total = self.reported()[1]
        sums = f"{fmt.binary(float(used.sum()))} of {fmt.binary(float(total.sum()))}"
        return f"GPU memory: {sums}{self.of_workers()}"


@register_plot
class RmmMemory(GpuBars):
    """What RMM has given out and what it holds in its pool, of the memory of each GPU."""

    name = "rmm-memory"
    title = "RMM Memory"
    group = "Workers"
    description = "Memory that RMM has given out and holds in its pool on each GPU."
    help = (
        "One bar for each worker that reports RMM; its line ends at what the GPU has.\n"
        "- solid: memory in use\n"
        "- lighter: free in the pool\n"
        "- healthy: solid below the pool\n"
        "- a full pool: allocations get slow or fail; make the pool larger or the pieces "
        "smaller"
    )
    keywords = ("cuda", "rapids", "pool", "allocator", "gpu", "vram")
    only_with = ("rmm",)

    metrics = ((common.RMM_USED,), (common.RMM_TOTAL,), TOTAL)
    empty = (
        "No worker reports memory of RMM. Workers do when they run with RMM as the allocator of "
        "their GPU's memory, for example from dask-cuda with --rmm-pool-size."
    )
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
        return {**rows, "rmm_free": np.fmax(rows["rmm_pool"], rows["rmm_used"]) - rows["rmm_used"]}

    def headline(self) -> str:
        """Return the sums; see `DataPlot.headline`."""
        used, pool, _ = self.reported()[1]
        whole = float(np.fmax(pool, used).sum())
        sums = f"{fmt.binary(float(used.sum()))} of {fmt.binary(whole)}"
        return f"RMM memory: {sums} in the pool{self.of_workers()}"
