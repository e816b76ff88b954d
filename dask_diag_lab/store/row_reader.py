"""Rows of a block as the log hands them out: typed columns, in the store's ids and lane rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.records import ACTIONS
from dask_diag_lab.store.arrays import Columns, Ints
from dask_diag_lab.store.block import Block
from dask_diag_lab.store.lanes import LaneTable

LANE: Final = "lane"
NAMES: Final = (*(column.name for column in ACTIONS), LANE)
_DTYPES: Final = {column.name: np.dtype(column.dtype) for column in ACTIONS} | {
    LANE: np.dtype(np.int64)
}

Column = npt.NDArray[Any]  # dtypes differ from column to column


class RowReader:
    """Reads blocks.

    Parameters
    ----------
    lanes : LaneTable
        Knows the worker and the row of each lane id.
    """

    def __init__(self, lanes: LaneTable) -> None:
        self._read: Mapping[str, Callable[[Block, Ints], Column]] = {
            "start": lambda block, rows: block.start[rows],
            "stop": lambda block, rows: block.stop[rows],
            "kind": lambda block, rows: block.kind[rows],
            "outcome": lambda block, rows: block.outcome[rows],
            "worker": lambda block, rows: lanes.workers_of(_lane_ids(block, rows)),
            "thread": lambda block, rows: block.thread(rows),
            "source": lambda block, rows: block.source[rows],
            "prefix": lambda block, rows: block.prefix[rows],
            "task": lambda block, rows: block.task(rows),
            "nbytes": lambda block, rows: block.nbytes_of(rows),
            LANE: lambda block, rows: lanes.position[_lane_ids(block, rows)],
        }

    def rows(self, block: Block, rows: Ints, names: Collection[str] = NAMES) -> Columns:
        """Return columns of some rows: those of `ACTIONS`, and ``lane``, row of the lane table."""
        return {n: self._read[n](block, rows).astype(_DTYPES[n], copy=False) for n in names}

    @staticmethod
    def nothing(names: Collection[str] = NAMES) -> Columns:
        """Return columns without rows."""
        return {name: np.empty(0, dtype=_DTYPES[name]) for name in names}


def joined(parts: Sequence[Columns]) -> Columns:
    """Return the rows of one or more parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def by_start(parts: Sequence[Columns]) -> Columns:
    """Return the rows of one or more parts together, in the order of their starts."""
    rows = joined(parts)
    order = np.argsort(rows["start"], kind="stable")
    return {name: column[order] for name, column in rows.items()}


def _lane_ids(block: Block, rows: Ints) -> Ints:
    return block.lane[rows].astype(np.int64)
