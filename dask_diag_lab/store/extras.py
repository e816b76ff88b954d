"""The tables of `schema.EXTRAS`: sent only while somebody looks at a plot that needs them."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Change, TableSchema
from dask_diag_lab.schema.columns import arrays, empty

ExtraColumn = npt.NDArray[Any]  # dtypes differ; text and tuples are object arrays


class ExtraTable:
    """One extra table, as columns of equal length.

    Attributes
    ----------
    version : int
        Moves when the content changed.
    is_known : bool
        Whether anything arrived yet; a table may well be known and empty.
    updated_at : float
        Scheduler's clock when the content was as it is here, NaN before. Nothing is sent while
        nobody looks, so that may be long ago.
    columns : mapping of str to ndarray
        By the names of the table; dtype object for text and tuples.
    dropped : int
        Rows of a log that were lost, here or on the scheduler; of another table, rows that are
        not here because there are too many.
    """

    SAVED = ("is_known", "updated_at", "dropped", "columns")

    def __init__(self, table: TableSchema) -> None:
        self.table = table
        self._is_log = table.sent == "log"
        self.version = 0
        self.is_known = False
        self.updated_at = nan
        self.dropped = 0
        self.columns: dict[str, ExtraColumn] = empty(table)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> ExtraColumn:
        return self.columns[name]

    def apply(self, change: Change, time: float) -> None:
        """Append the rows of a log, or replace those of another table; ``time`` as `updated_at`."""
        new = arrays(self.table, change.columns)
        self.dropped = change.dropped + (self.dropped if self._is_log else 0)
        if self._is_log and self.is_known:
            before = self.columns
            new = {name: np.concatenate([before[name], new[name]]) for name in before}
        n = len(next(iter(new.values())))
        if n > self.table.max_rows:
            self.dropped += n - self.table.max_rows
            new = {name: column[-self.table.max_rows :] for name, column in new.items()}
        self.columns = new
        self.updated_at = time
        self.is_known = True
        self.version += 1

    def clear(self) -> None:
        """Forget all rows: they belong to a collector that is gone."""
        if self.is_known:
            self.columns = empty(self.table)
            self.is_known = False
            self.updated_at = nan
            self.dropped = 0
            self.version += 1
