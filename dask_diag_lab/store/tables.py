"""Live tables whose rows have names: columns as the collector sent them, updated row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Change, TableSchema
from dask_diag_lab.schema.columns import empty
from dask_diag_lab.store.arrays import Row, frozen

Cells = list[Any] | npt.NDArray[Any]  # the column decides


class NamedTable:
    """Rows found by their first column, in order of appearance; each column is an attribute.

    Columns of numbers are read-only arrays, those of text, tuples and mappings are lists: both of
    length n, one for each row.

    Attributes
    ----------
    version : int
        Moves with every change.
    """

    SAVED = ("_columns",)

    def __init__(self, table: TableSchema) -> None:
        self.version = 0
        self._table = table
        self._key = table.columns[0].name
        self._columns = empty(table)
        self._index: dict[str, int] = {}
        self._shown: dict[str, Cells] = {}
        self._shown_version: object = None

    def restored(self) -> None:
        """Find the rows by their names again."""
        self._index.clear()
        self._index.update((n, at) for at, n in enumerate(self._columns[self._key].tolist()))
        self.version += 1

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __getattr__(self, name: str) -> Any:  # the declaration of the column decides
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.column(name)
        except KeyError:
            raise AttributeError(f"the table {self._table.name!r} has no {name!r}") from None

    @property
    def names(self) -> list[str]:
        """Names of the rows, in the order of this table."""
        return list(self.column(self._key))

    def column(self, name: str) -> Cells:
        """Return a column by name, in the order of this table; KeyError when there is none."""
        if self._shown_version != (version := self._order_version()):
            self._shown, self._shown_version = {}, version
        if name not in self._shown:
            column = self._columns[name]
            order = self._order()
            ordered = column if order is None else column[order]
            is_object = column.dtype == object
            self._shown[name] = ordered.tolist() if is_object else frozen(ordered.copy())
        return self._shown[name]

    def row(self, name: str) -> Row | None:
        """Return a row, None where there is none of that name."""
        at = self._index.get(name)
        if at is None:
            return None
        return {
            column: values[at].tolist() if values.dtype != object else values[at]
            for column, values in self._columns.items()
        }

    def update(self, change: Change) -> None:
        """Take over rows that are new or changed, and forget those that went."""
        new = change.columns
        names: list[str] = new[self._key].tolist()
        gone = self._index.keys() - set(names) if change.is_full else change.removed
        is_changed = self._remove([name for name in gone if name in self._index])
        n = len(self._index)
        added = [name for name in dict.fromkeys(names) if name not in self._index]
        self._index.update((name, n + i) for i, name in enumerate(added))
        rows = [self._index[name] for name in names]
        if added or not all(_same(self._columns[c][rows], values) for c, values in new.items()):
            is_changed = True
            for name, column in self._columns.items():
                grown = np.empty((n + len(added), *column.shape[1:]), dtype=column.dtype)
                grown[:n] = column
                grown[rows] = new[name]
                self._columns[name] = grown
        self.version += is_changed

    def clear(self) -> None:
        """Forget all rows."""
        self.update(Change(empty(self._table), is_full=True))

    def _order(self) -> npt.NDArray[np.int64] | None:
        """Return the row of each one shown; None as they came."""
        return None

    def _order_version(self) -> object:
        """Return what moves when rows or their order changed."""
        return self.version

    def _remove(self, names: Sequence[str]) -> bool:
        if not names:
            return False
        is_kept = np.ones(len(self._index), dtype=bool)
        is_kept[[self._index[name] for name in names]] = False
        self._columns = {name: column[is_kept] for name, column in self._columns.items()}
        self._index = {name: i for i, name in enumerate(self._columns[self._key].tolist())}
        return True


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Tell whether two columns are equal, NaN being equal to NaN."""
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
