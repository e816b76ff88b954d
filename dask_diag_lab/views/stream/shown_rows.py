"""Which lanes have a row in a picture of some stretch of time, and which row.

A worker has rows where the picture shows some of its life. In a picture that follows the cluster
those that are alive have theirs in any case, so nothing moves while time passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.stream.rows import ThreadTime, WorkerRows


class ShownRows:
    """The rows of a picture, in the order of the lane table.

    Parameters
    ----------
    workers : sequence of WorkerRows
        All workers, with their first rows in the lane table.
    is_shown : ndarray of bool
        Which of them have rows.

    Attributes
    ----------
    workers : list of WorkerRows
        Those that have rows, with their first rows in the picture.
    lanes : ndarray of int64
        Row of the lane table that each row of the picture shows.
    row_of : ndarray of int64
        Row of the picture of each row of the lane table; -1 where there is none.
    gone : list of WorkerRows
        Of them, those that left.
    n_hidden : int
        Workers without rows.
    threads : ThreadTime
        Of the workers that have rows.
    """

    def __init__(self, workers: Sequence[WorkerRows], is_shown: npt.NDArray[np.bool_]) -> None:
        counts = np.array([worker.count for worker in workers], dtype=np.int64)
        self.lanes = np.flatnonzero(np.repeat(is_shown, counts))
        self.row_of = np.full(int(counts.sum()), -1, dtype=np.int64)
        self.row_of[self.lanes] = np.arange(len(self.lanes))
        shown = np.flatnonzero(is_shown)
        firsts = np.cumsum(counts[shown]) - counts[shown]
        self.workers = [
            replace(workers[index], first=int(first))
            for index, first in zip(shown.tolist(), firsts, strict=True)
        ]
        self.gone = [worker for worker in self.workers if not worker.is_alive]
        self.n_hidden = len(workers) - len(shown)
        self.threads = ThreadTime(self.workers)

    @property
    def count(self) -> int:
        """Rows there are."""
        return len(self.lanes)

    def lanes_of(self, rows: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64] | None:
        """Return the rows of the lane table behind rows of the picture; None for all there are."""
        if rows is not None:
            return self.lanes[rows]
        return self.lanes if self.n_hidden else None

    def worker_at(self, row: float) -> WorkerRows | None:
        """Return the worker whose rows hold a position on the axis."""
        firsts = [worker.first - 0.5 for worker in self.workers]
        index = int(np.searchsorted(firsts, row, "right")) - 1
        if index < 0 or row >= self.workers[index].first + self.workers[index].count - 0.5:
            return None
        return self.workers[index]


class RowChoice:
    """Chooses the rows of a picture anew when its time or the workers change.

    Parameters
    ----------
    workers : sequence of WorkerRows
        All workers.
    """

    def __init__(self, workers: Sequence[WorkerRows] = ()) -> None:
        self._workers = workers
        self._joined = np.array([worker.joined for worker in workers], dtype=np.float64)
        ended = np.array([worker.ended for worker in workers], dtype=np.float64)
        self._ended = np.where(np.isnan(ended), np.inf, ended)
        self._is_alive = np.isinf(self._ended)
        self.rows = ShownRows(workers, np.ones(len(workers), dtype=np.bool_))
        self._is_shown: npt.NDArray[np.bool_] = np.ones(len(workers), dtype=np.bool_)

    def between(self, begin: float, end: float, *, is_live: bool) -> ShownRows:
        """Return the rows for a stretch of time: the same object while they are the same."""
        is_shown = (self._joined <= end) & (self._ended >= begin)
        if is_live:
            is_shown |= self._is_alive
        if not np.array_equal(is_shown, self._is_shown):
            self._is_shown = is_shown
            self.rows = ShownRows(self._workers, is_shown)
        return self.rows
