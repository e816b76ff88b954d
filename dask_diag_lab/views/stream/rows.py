"""The rows of a task stream: which thread slots have one in some stretch of time.

A worker has rows where the picture shows some of its life. In a picture that follows the cluster
those that are alive have theirs in any case, so nothing moves while time passes. Pure NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.names import name_label

if TYPE_CHECKING:
    from dask_diag_lab.store import History
    from dask_diag_lab.store.slots import SlotRows

PAGE_ROWS: Final = 128
"""Of many rows only the visible pages and one on each side are asked for: the blocks of 4000
threads would have to be too coarse to be of use."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WorkerRows:
    """Adjacent rows of one worker; ``ended`` is NaN while it is there."""

    label: str
    address: str
    first: int
    count: int
    ended: float

    @property
    def is_gone(self) -> bool:
        return not isnan(self.ended)


class Rows:
    """The rows of one picture, in the order of the slot table.

    Parameters
    ----------
    history : History
    is_shown : ndarray of bool
        Which rows of its slot table are shown.

    Attributes
    ----------
    slots : ndarray of int64
        Row of the slot table that each row of the picture shows.
    row_of : ndarray of int64
        Row of the picture of each row of the slot table; -1 where there is none. One more at the
        end, of what is in no slot.
    workers, gone : list of WorkerRows
        Those that have rows; of these the ones that are not there any more.
    """

    def __init__(self, history: History, is_shown: Bools) -> None:
        table = history.slots
        self.slots: Ints = np.flatnonzero(is_shown)
        self.row_of: Ints = np.full(len(is_shown) + 1, -1, dtype=np.int64)
        self.row_of[self.slots] = np.arange(len(self.slots))
        self._joined: Floats = np.asarray(table.joined)[self.slots]
        ended = np.asarray(table.ended)[self.slots]
        self._ended: Floats = np.where(np.isnan(ended), np.inf, ended)
        shown = np.asarray(table.worker)[self.slots]
        firsts = np.flatnonzero(np.diff(shown, prepend=-1))
        counts = np.diff(firsts, append=len(shown))
        self.workers = [
            WorkerRows(
                name_label(table.label[self.slots[first]].removesuffix(" · 1" * (count > 1))),
                history.strings[int(shown[first])],
                first,
                count,
                float(ended[first]),
            )
            for first, count in zip(firsts.tolist(), counts.tolist(), strict=True)
        ]
        self.gone = [worker for worker in self.workers if worker.is_gone]

    @property
    def count(self) -> int:
        """Rows there are."""
        return len(self.slots)

    def near(self, top: float, bottom: float) -> slice:
        """Return the rows to ask for when those between two positions are visible."""
        first = max(int(max(top, 0) // PAGE_ROWS) - 1, 0) * PAGE_ROWS
        stop = (int(max(bottom, 0) // PAGE_ROWS) + 2) * PAGE_ROWS
        return slice(min(first, self.count), min(stop, self.count))

    def n_there(self, moment: float, rows: slice = slice(None)) -> int:
        """Return how many threads of some rows were still there after a moment."""
        return int(np.count_nonzero(self._ended[rows] > moment))

    def thread_s(self, begin: float, end: float, rows: slice) -> float:
        """Return the seconds that the threads of some rows existed between two times, summed."""
        existed = np.minimum(self._ended[rows], end) - np.maximum(self._joined[rows], begin)
        return float(np.maximum(existed, 0.0).sum())

    def worker_at(self, position: float) -> WorkerRows | None:
        """Return the worker whose rows hold a position on the axis."""
        at = round(position)
        found = (one for one in self.workers if one.first <= at < one.first + one.count)
        return next(found, None)


def shown_slots(table: SlotRows, begin: float, end: float, *, is_live: bool) -> Bools:
    """Return which slots have a row: those of workers that were there in some of the time.

    In a picture that follows the cluster those that are alive have theirs in any case.
    """
    is_gone = np.asarray(table.ended) < begin  # NaN of those that are alive is not
    lived = ~is_gone & (np.asarray(table.joined) <= end)
    return lived | (np.asarray(table.is_alive) & is_live)
