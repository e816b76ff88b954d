"""For how long each worker has work assigned, as the scheduler expects.

Bars have their true length; the stock dashboard's are centred on half of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.workers.bar_measure import Measure, Words
from dask_diag_lab.views.workers.worker_load import LoadBars, load_levels


def wall_estimate_s(occupancy: npt.NDArray[np.float64], nthreads: npt.NDArray[np.int64]) -> float:
    """Return total occupancy over all threads: the time left if work can move freely.

    NaN without threads.
    """
    threads = int(nthreads.sum())
    return float(occupancy.sum()) / threads if threads else float("nan")


class Occupancy(LoadBars):
    """Expected seconds of assigned work of each worker."""

    unit = "seconds"
    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(fmt.duration_ticks)
    sorted_by = "expected work"
    value_characters = 20

    def measure(self) -> Measure:
        """Return what to draw now; see `WorkerBars.measure`."""
        workers = self.store.workers
        occupancy = workers.occupancy
        end = self.axis_end.at_least(float(occupancy.max()))
        total = fmt.duration(float(occupancy.sum()))
        wall = fmt.duration(wall_estimate_s(occupancy, workers.nthreads))
        threads = fmt.plural(int(workers.nthreads.sum()), "thread")
        return Measure(
            title=f"Occupancy: {total} of work · about {wall} on {threads}",
            short_title=f"Occupancy: {total}, about {wall}",
            order_by=occupancy,
            lengths=[occupancy],
            level=load_levels(workers),
            track=np.full(len(occupancy), end),
            end=end,
        )

    def words_of(self, worker: int) -> Words:
        """Return what is said about one worker."""
        workers = self.store.workers
        seconds, nthreads = float(workers.occupancy[worker]), int(workers.nthreads[worker])
        wall = fmt.duration(seconds / nthreads) if nthreads else "unknown"
        tasks = fmt.plural(int(workers.processing[worker]), "task")
        amount = fmt.duration(seconds)
        more = f"about {wall} on its {fmt.plural(nthreads, 'thread')}, {tasks}"
        return self.load_words(worker, amount, f"{amount} of work expected", more)

    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about a group of workers."""
        seconds = self.store.workers.occupancy[members]
        low, high = float(seconds.min()), float(seconds.max())
        return Words(
            fmt.duration(float(seconds.mean())),
            "",
            (
                f"{fmt.duration(low)} to {fmt.duration(high)} of work each",
                self.group_words(members),
            ),
        )

    def table(self) -> Table:
        """Return one row a worker."""
        return Table(self.load_table("occupancy", "nthreads"), {"occupancy": "s"})
