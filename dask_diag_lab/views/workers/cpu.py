"""How much CPU each worker's process uses; 100 % is one core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.palette import DataColors
from dask_diag_lab.views.worker_names import name_in_words
from dask_diag_lab.views.workers.bar_measure import Measure, Words
from dask_diag_lab.views.workers.process_bars import ProcessBars


def _core_ticks(end: float, wanted: int) -> list[float]:
    """Return whole cores where there are several, else tenths of one."""
    if end <= 150:
        return [tick for tick in (0.0, 50.0, 100.0) if tick <= end]
    return [tick * 100 for tick in fmt.number_ticks(end / 100, wanted, whole=True)]


class Cpu(ProcessBars):
    """CPU use of each worker, on a scale that ends at all its threads at work."""

    unit = "percent"
    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(_core_ticks)
    sorted_by = "CPU use"
    rule = "100 % is one core"
    value_characters = 7

    def measure(self) -> Measure:
        """Return what to draw now; see `WorkerBars.measure`."""
        workers = self.store.workers
        cpu, full = workers.cpu, workers.nthreads * 100
        total, possible = workers.totals().cpu, int(full.sum())
        share = fmt.percent(total / possible) if possible else ""
        return Measure(
            title=f"CPU: {fmt.count(total)} % of {fmt.count(possible)} %"
            + (f" · {share} in use" if share else ""),
            short_title=f"CPU: {share or fmt.count(total) + ' %'}",
            order_by=cpu,
            lengths=[cpu],
            level=np.zeros(len(cpu), dtype=np.uint8),
            track=full,
            end=float(max(full.max(), cpu.max(), 100)),
        )

    def words_of(self, worker: int) -> Words:
        """Return what is said about one worker."""
        workers = self.store.workers
        cpu, nthreads = float(workers.cpu[worker]), int(workers.nthreads[worker])
        share = f" · {fmt.percent(cpu / nthreads / 100)} of it" if nthreads else ""
        return Words(
            f"{fmt.count(cpu)} %",
            "",
            (
                name_in_words(workers.name[worker]),
                f"{fmt.significant(cpu)} % CPU",
                f"{fmt.plural(nthreads, 'thread')}: {fmt.count(nthreads * 100)} %{share}",
                str(workers.address[worker]),
            ),
        )

    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about a group of workers."""
        cpu = self.store.workers.cpu[members]
        mean = f"{fmt.count(float(cpu.mean()))} %"
        return Words(
            mean, "", (f"{mean} CPU, {fmt.count(cpu.min())} to {fmt.count(cpu.max())} % each",)
        )

    def level_colors(self, colors: DataColors) -> Sequence[str]:
        """Return the one colour there is."""
        return (colors.load_normal,)

    def table(self) -> Table:
        """Return one row a worker."""
        workers = self.store.workers
        columns: dict[str, Sequence[object]] = {
            "worker": list(workers.address),
            "name": list(workers.name),
            "cpu": workers.cpu.tolist(),
            "nthreads": workers.nthreads.tolist(),
        }
        return Table(columns, {"cpu": "%"})
