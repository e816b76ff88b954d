"""How many tasks each worker has been given and not finished, and who is saturated or idle."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.series_unit import TICKS
from dask_diag_lab.views.workers.bar_measure import Measure, Words
from dask_diag_lab.views.workers.worker_load import LoadBars, load_counts, load_levels


class TasksProcessing(LoadBars):
    """Tasks assigned to each worker."""

    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(TICKS["count"])
    sorted_by = "assigned tasks"
    value_characters = 14

    def measure(self) -> Measure:
        """Return what to draw now; see `WorkerBars.measure`."""
        workers = self.store.workers
        processing = workers.processing
        end = self.axis_end.at_least(float(max(processing.max(), workers.nthreads.max(), 1)))
        total = fmt.plural(int(processing.sum()), "task")
        return Measure(
            title=f"Tasks processing: {total} · {load_counts(workers)}",
            short_title=f"Processing: {total}",
            order_by=processing,
            lengths=[processing],
            level=load_levels(workers),
            track=np.full(len(processing), end),
            end=end,
        )

    def words_of(self, worker: int) -> Words:
        """Return what is said about one worker."""
        workers = self.store.workers
        number, nthreads = int(workers.processing[worker]), int(workers.nthreads[worker])
        running = fmt.count(int(workers.executing[worker]))
        exact = f"{fmt.plural(number, 'task')} assigned, {running} running"
        return self.load_words(worker, fmt.count(number), exact, fmt.plural(nthreads, "thread"))

    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about a group of workers."""
        number = self.store.workers.processing[members]
        return Words(
            fmt.significant(float(number.mean())),
            "",
            (
                f"{fmt.count(number.min())} to {fmt.count(number.max())} tasks each",
                self.group_words(members),
            ),
        )

    def table(self) -> Table:
        """Return one row a worker."""
        return Table(self.load_table("processing", "executing", "nthreads"))
