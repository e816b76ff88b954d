"""GPU use and memory of the workers that report them.

Metrics as `distributed.diagnostics.nvml` and ``rmm`` name them, the older names as well.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.palette import DataColors
from dask_diag_lab.views.small_legend import Entry
from dask_diag_lab.views.worker_names import name_in_words
from dask_diag_lab.views.workers import worker_metrics as wm
from dask_diag_lab.views.workers.bar_measure import Measure, Part, Words
from dask_diag_lab.views.workers.worker_bars import WorkerBars
from dask_diag_lab.views.workers.worker_hosts import Hosts

Floats = npt.NDArray[np.float64]

NO_GPU: Final = (
    "No worker reports a GPU. Workers do when they run on a host with an NVIDIA GPU, pynvml is "
    "installed there and distributed.diagnostics.nvml is on."
)
NO_RMM: Final = (
    "No worker reports memory of RMM. Workers do when they run with RMM as the allocator of "
    "their GPU's memory, for example from dask-cuda with --rmm-pool-size."
)
NO_UTILIZATION: Final = (
    "The GPUs of these workers cannot tell how busy they are. Their memory is shown by GPU Memory."
)
UTILIZATION: Final = (wm.GPU_UTILIZATION, "gpu.utilization")
USED: Final = (wm.GPU_MEMORY, "gpu.memory-used")
TOTAL: Final = (wm.GPU_MEMORY_TOTAL, "gpu_memory_total", "gpu.memory-total")


class GpuBars(WorkerBars):
    """Bars of the workers that report the first of `metrics`."""

    metrics: ClassVar[Sequence[Sequence[str]]] = ()
    """Names of each metric, the usual one first."""
    columns: ClassVar[Sequence[str]] = ()
    """Name of each metric in the table."""
    missing: ClassVar[str] = NO_GPU
    unit = "bytes"
    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(fmt.binary_ticks)
    hover_lines = 5
    _known: tuple[int, npt.NDArray[np.int64], list[Floats]] | None = None

    def values(self) -> list[Floats]:
        """Return each metric for the workers that have a bar; NaN where it is not reported."""
        return self._reported()[1]

    def _reported(self) -> tuple[npt.NDArray[np.int64], list[Floats]]:
        workers = self.store.workers
        if self._known is None or self._known[0] != workers.version:
            found = []
            for names in self.metrics:
                value = np.full(len(workers), np.nan)
                for name in names:
                    if np.isfinite(value).all() and len(value):
                        break
                    value = np.where(np.isnan(value), wm.metric(workers, name), value)
                found.append(value)
            rows = np.flatnonzero(np.isfinite(found[0]))
            self._known = (workers.version, rows, [value[rows] for value in found])
        return self._known[1:]

    def empty_words(self) -> str:
        """Return why there is nothing to draw; see `WorkerBars.empty_words`."""
        return super().empty_words() or ("" if len(self._reported()[0]) else self.missing)

    def names(self) -> Sequence[str]:
        """Return the names of the workers that have a bar."""
        names = super().names()
        return [names[row] for row in self._reported()[0].tolist()]

    def hosts(self) -> Hosts:
        """Return the hosts of the workers that have a bar."""
        return Hosts.of([self.store.workers.host[row] for row in self._reported()[0].tolist()])

    def open_one(self, worker: int) -> None:
        """Open the page of a worker."""
        self.open("worker", worker=self.store.workers.address[self._reported()[0][worker]])

    @abstractmethod
    def lines(self, members: Sequence[int] | npt.NDArray[np.int64]) -> tuple[str, Sequence[str]]:
        """Return the value beside a bar and the lines of its hover: means over ``members``."""

    def words_of(self, worker: int) -> Words:
        """Return what is said about one worker."""
        row, workers = int(self._reported()[0][worker]), self.store.workers
        value, lines = self.lines([worker])
        return Words(value, "", (name_in_words(workers.name[row]), *lines, workers.address[row]))

    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about a group of workers."""
        value, lines = self.lines(members)
        return Words(value, "", [f"mean {line}" for line in lines])

    def level_colors(self, colors: DataColors) -> Sequence[str]:
        """Return the one colour there is."""
        return (colors.load_normal,)

    def _more_title(self) -> str:
        number, all_workers = len(self._reported()[0]), len(self.store.workers)
        more = "" if number == all_workers else f" of {fmt.count(all_workers)}"
        return f" · {fmt.count(number)}{more} {'worker' if all_workers == 1 else 'workers'}"

    def redraw(self) -> None:
        """Draw the bars, and say of how many workers where the title does not."""
        super().redraw()
        missing = len(self.store.workers) - len(self._reported()[0])
        if missing and not self.notice.empty and not self._is_title_whole:
            words = f"{fmt.plural(missing, 'worker')} without a value"
            note = " · ".join(part for part in (self.notice.note, words) if part)
            self.notice = replace(self.notice, note=note)

    def table(self) -> Table:
        """Return one row for each worker that reports a GPU."""
        rows, values = self._reported()
        workers = self.store.workers
        columns: dict[str, Sequence[object]] = {
            "worker": [workers.address[row] for row in rows.tolist()],
            "name": [workers.name[row] for row in rows.tolist()],
        }
        for name, value in zip(self.columns, values, strict=True):
            columns[name] = [cell if np.isfinite(cell) else None for cell in value.tolist()]
        return Table(columns, dict.fromkeys(self.columns, "%" if self.unit == "percent" else "B"))


class GpuUtilization(GpuBars):
    """How busy each GPU is."""

    metrics = (UTILIZATION,)
    columns = ("gpu_utilization",)
    unit = "percent"
    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(fmt.number_ticks)
    sorted_by = "GPU use"
    value_characters = 7

    def empty_words(self) -> str:
        """Return why there is nothing to draw; some GPUs report their memory alone."""
        empty, workers = super().empty_words(), self.store.workers
        has_memory = any(np.isfinite(wm.metric(workers, name)).any() for name in USED)
        return NO_UTILIZATION if empty == NO_GPU and has_memory else empty

    def measure(self) -> Measure:
        """Return what to draw now; see `WorkerBars.measure`."""
        (use,) = self.values()
        mean = fmt.percent(float(use.mean()) / 100)
        return Measure(
            title=f"GPU use: {mean} on average{self._more_title()}",
            short_title=f"GPU: {mean}",
            order_by=use,
            lengths=[use],
            level=np.zeros(len(use), dtype=np.uint8),
            track=np.full(len(use), 100.0),
            end=100.0,
        )

    def lines(self, members: Sequence[int] | npt.NDArray[np.int64]) -> tuple[str, Sequence[str]]:
        """Return what is said; see `GpuBars.lines`."""
        use = float(self.values()[0][members].mean())
        return f"{fmt.count(use)} %", (f"{fmt.significant(use)} % of the GPU's time in use",)


class GpuMemory(GpuBars):
    """How full the memory of each GPU is."""

    metrics = (USED, TOTAL)
    columns = ("gpu_memory_used", "gpu_memory_total")
    sorted_by = "GPU memory"
    value_characters = 11

    def measure(self) -> Measure:
        """Return what to draw now; see `WorkerBars.measure`."""
        used, total = self.values()
        track = np.nan_to_num(total)
        most = np.where(track > 0, track, np.nan)
        of = f" of {fmt.binary(float(track.sum()))}" if (track > 0).all() else ""
        return Measure(
            title=f"GPU memory: {fmt.binary(float(used.sum()))}{of}{self._more_title()}",
            short_title=f"GPU: {fmt.binary(float(used.sum()))}{of}",
            order_by=used,
            lengths=[used],
            level=np.zeros(len(used), dtype=np.uint8),
            track=track,
            end=float(max(track.max(), used.max(), 1.0)),
            marks=[most],
        )

    def lines(self, members: Sequence[int] | npt.NDArray[np.int64]) -> tuple[str, Sequence[str]]:
        """Return what is said; see `GpuBars.lines`."""
        used, total = (float(value[members].mean()) for value in self.values())
        share = f" · {fmt.percent(used / total)}" if total > 0 else ""
        of = f"of {fmt.binary(total)}" if total > 0 else "The size of its memory is not reported"
        return fmt.binary(used), (f"{fmt.binary(used)} GPU memory in use{share}", of)


class RmmMemory(GpuBars):
    """What RMM has given out and what it holds in its pool, of the memory of each GPU."""

    metrics = ((wm.RMM_USED,), (wm.RMM_TOTAL,), TOTAL)
    columns = ("rmm_used", "rmm_pool", "gpu_memory_total")
    missing = NO_RMM
    parts = (Part("in use"), Part("free in the pool", 0.4))
    sorted_by = "memory of RMM in use"
    value_characters = 11

    def measure(self) -> Measure:
        """Return what to draw now; see `WorkerBars.measure`."""
        used, pool, total = self.values()
        pool, track = np.fmax(pool, used), np.nan_to_num(total)
        sums = f"{fmt.binary(float(used.sum()))} of {fmt.binary(float(pool.sum()))}"
        return Measure(
            title=f"RMM memory: {sums} in the pool{self._more_title()}",
            short_title=f"RMM: {sums}",
            order_by=used,
            lengths=[used, pool - used],
            level=np.zeros(len(used), dtype=np.uint8),
            track=track,
            end=float(max(track.max(), pool.max(), 1.0)),
            marks=[np.where(track > 0, track, np.nan)],
        )

    def lines(self, members: Sequence[int] | npt.NDArray[np.int64]) -> tuple[str, Sequence[str]]:
        """Return what is said; see `GpuBars.lines`."""
        used, pool, total = (float(value[members].mean()) for value in self.values())
        share = f" · {fmt.percent(used / pool)}" if pool > 0 else ""
        gpu = f"of a GPU of {fmt.binary(total)}" if total > 0 else ""
        return fmt.binary(used), (
            f"{fmt.binary(used)} in use{share}",
            f"of {fmt.binary(pool)} in the pool",
            gpu,
        )

    def legend_entries(self, colors: DataColors) -> Sequence[Entry]:
        """Return the parts of a bar."""
        return [Entry(part.name, colors.load_normal, alpha=part.alpha) for part in self.parts]
