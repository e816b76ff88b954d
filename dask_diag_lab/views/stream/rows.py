"""The rows of a task stream: which lanes are visible, how they are labelled and divided.

Pure: knows neither Bokeh nor time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.format import elide
from dask_diag_lab.views.worker_names import name_in_words

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

MIN_ROW_PX: Final = 4
"""Rows are never thinner than this: those that do not fit are reached by scrolling."""
THREAD_LABEL_PX: Final = 14
LABEL_PX: Final = 14
NARROWEST_LABELLED_PX: Final = 240
PX_PER_CHARACTER: Final = 6.5
LABEL_SHARE: Final = 0.22
"""Labels take at most this share of the picture's width."""


@dataclass(frozen=True, slots=True)
class WorkerRows:
    """Adjacent rows of one worker; ``ended`` is NaN while it is alive.

    ``first`` is its first row: of the lane table, or of what is shown of it.
    """

    label: str
    first: int
    count: int
    ended: float
    joined: float = -np.inf
    address: str = ""

    @property
    def is_alive(self) -> bool:
        return isnan(self.ended)

    @property
    def middle(self) -> float:
        return self.first + (self.count - 1) / 2


def worker_rows(store: Store) -> list[WorkerRows]:
    """Return the workers with their rows, top to bottom."""
    lanes = store.lanes
    if not lanes.count:
        return []
    worker = np.asarray(lanes.worker)
    firsts = np.flatnonzero(np.concatenate(([True], worker[1:] != worker[:-1])))
    counts = np.diff(np.append(firsts, lanes.count))
    return [
        WorkerRows(
            label=name_in_words(lanes.label[first].removesuffix(" · 1" if count > 1 else "")),
            first=int(first),
            count=int(count),
            ended=float(lanes.ended[first]),
            joined=float(lanes.joined[first]),
            address=store.strings[int(worker[first])],
        )
        for first, count in zip(firsts, counts, strict=True)
    ]


def rows_that_fit(n_rows: int, height_px: float) -> int:
    """Return how many rows are shown at once in a frame this high."""
    return max(min(n_rows, int(height_px // MIN_ROW_PX)), 1)


def label_width(width_px: float) -> int:
    """Return how many characters a label may have in a picture this wide; 0: no labels."""
    if width_px < NARROWEST_LABELLED_PX:
        return 0
    return max(int(width_px * LABEL_SHARE / PX_PER_CHARACTER), 4)


def row_labels(workers: Sequence[WorkerRows], row_px: float, characters: int) -> dict[float, str]:
    """Return the label of each row that gets one, by its position on the axis.

    Threads are numbered when rows are high enough; else a worker's name stands once in the
    middle of its rows; else only every so many workers have their name.
    """
    if not characters or not workers:
        return {}
    if row_px >= THREAD_LABEL_PX:
        return _thread_labels(workers, characters)
    names: dict[float, str] = {}
    free_from = -np.inf
    for worker in workers:
        position = worker.middle * row_px
        if position >= free_from:
            names[worker.middle] = _name(worker, characters)
            free_from = position + LABEL_PX
    return names


def _thread_labels(workers: Sequence[WorkerRows], characters: int) -> dict[float, str]:
    labels: dict[float, str] = {}
    for worker in workers:
        if worker.count == 1:
            labels[float(worker.first)] = _name(worker, characters)
            continue
        for slot in range(worker.count):
            thread = str(slot + 1)
            name = f"{_name(worker, characters - 4)} · " if slot == 0 else ""
            labels[float(worker.first + slot)] = name + thread
    return labels


def _name(worker: WorkerRows, characters: int) -> str:
    mark = "" if worker.is_alive else "✕ "
    room = max(characters - len(mark), 1)
    label = worker.label if len(worker.label) <= room else worker.label.removeprefix("worker ")
    return mark + elide(label, room)


def separators(workers: Sequence[WorkerRows]) -> list[float]:
    """Return the positions of the lines between workers."""
    return [worker.first - 0.5 for worker in workers[1:]]


def visible_lanes(top: float, bottom: float, n_rows: int) -> npt.NDArray[np.int64] | None:
    """Return the rows between two positions and a page more each way; None when that is all."""
    page = bottom - top
    first = max(int(np.floor(top - page)), 0)
    last = min(int(np.ceil(bottom + page)), n_rows)
    if first == 0 and last >= n_rows:
        return None
    return np.arange(first, last, dtype=np.int64)


class ThreadTime:
    """How long the threads of some workers existed.

    Parameters
    ----------
    workers : sequence of WorkerRows
    """

    def __init__(self, workers: Sequence[WorkerRows]) -> None:
        self._first = np.array([worker.first for worker in workers], dtype=np.int64)
        self._end = self._first + np.array([worker.count for worker in workers], dtype=np.int64)
        self._joined = np.array([worker.joined for worker in workers], dtype=np.float64)
        ended = np.array([worker.ended for worker in workers], dtype=np.float64)
        self._ended = np.where(np.isnan(ended), np.inf, ended)

    def count(self, begin: float, top: float = -np.inf, bottom: float = np.inf) -> int:
        """Return how many threads between two positions there still were after ``begin``."""
        return int(self._overlap(top, bottom)[self._ended > begin].sum())

    def seconds(self, begin: float, end: float, top: float, bottom: float) -> float:
        """Return the seconds that the threads between two positions existed, added up."""
        existed_s = np.minimum(self._ended, end) - np.maximum(begin, self._joined)
        return float(self._overlap(top, bottom) @ np.maximum(existed_s, 0.0))

    def _overlap(self, top: float, bottom: float) -> npt.NDArray[np.float64]:
        """Return how many rows of each worker are between two positions."""
        first = np.maximum(self._first, np.ceil(top))
        overlap: npt.NDArray[np.float64] = np.minimum(self._end, np.floor(bottom) + 1) - first
        return np.maximum(overlap, 0.0)


def gone_columns(
    gone: Sequence[WorkerRows], zero: float, until: float
) -> Mapping[str, npt.NDArray[np.float64]]:
    """Return one band for each of some workers that left: from its end to ``until``."""
    return {
        "left": np.array([worker.ended - zero for worker in gone]),
        "right": np.array([max(until, worker.ended) - zero for worker in gone]),
        "top": np.array([worker.first - 0.5 for worker in gone]),
        "bottom": np.array([worker.first + worker.count - 0.5 for worker in gone]),
        "middle": np.array([worker.middle for worker in gone]),
        "lane": np.array([float(worker.first) for worker in gone]),
    }
