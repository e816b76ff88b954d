"""Columns as arrays: made from a declaration, and checked once when their rows arrive.

The other end is `collector.wire`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema.tables import Field, TableSchema

Columns = Mapping[str, npt.NDArray[Any]]  # dtypes differ from column to column

MAX_ROWS: Final = 1_000_000
"""Of one table in one answer; no cluster has so many workers, nor a collector so long a log."""

_SCALARS: Final = (str, int, float, bool, type(None))
_KINDS: Final = {"f": "fi", "i": "i", "u": "iu", "?": "b"}
"""What NumPy may make of cells, by the kind of number that is declared."""


class WireError(ValueError):
    """An answer is not what this version understands; the text names the field."""


def wire_error(field: str, wanted: str, value: object) -> WireError:
    """Return an error that names the field, what was wanted and what came."""
    return WireError(
        f"field {field!r}: expected {wanted}, got {type(value).__name__} {value!r:.80}"
    )


def arrays(
    table: TableSchema, columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Return columns as arrays of the declared dtypes; those that are so already as they are."""
    return {column.name: _array(column, columns[column.name]) for column in table.columns}


def columns_of(
    table: TableSchema, rows: Iterable[Mapping[str, Any] | Sequence[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Return rows, each a mapping by column names or a sequence in their order, as columns."""
    names = [column.name for column in table.columns]
    tuples = [[row[n] for n in names] if isinstance(row, Mapping) else row for row in rows]
    return arrays(table, {name: [row[i] for row in tuples] for i, name in enumerate(names)})


def empty(table: TableSchema) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a table without rows."""
    return columns_of(table, ())


def default_row(table: TableSchema) -> dict[str, Any]:
    """Return a row of a table in which all is zero or empty."""
    row: dict[str, Any] = {}
    for column in table.columns:
        value: object = {"text": "", "texts": (), "pairs": {}}.get(column.dtype, 0)
        row[column.name] = [0] * column.size if column.size > 1 else value
    return row


def decoded(table: TableSchema, rows: object) -> dict[str, npt.NDArray[Any]]:
    """Return rows of a table, as a collector sends them, as columns.

    Raises
    ------
    WireError
        Naming the column that is wrong.
    """
    if not isinstance(rows, (list, tuple)) or len(rows) > MAX_ROWS:
        raise wire_error(table.name, f"up to {MAX_ROWS} rows", rows)
    try:
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(table.columns)
        given = list(zip(table.columns, cells, strict=True))
    except (TypeError, ValueError) as error:
        raise WireError(f"table {table.name!r}: rows of other columns ({error})") from error
    columns: dict[str, npt.NDArray[Any]] = {}
    for column, values in given:
        field = f"{table.name}.{column.name}"
        if not column.is_number:
            columns[column.name] = _objects(column, values, field)
            continue
        shape = (len(rows), column.size) if column.size > 1 else (len(rows),)
        try:
            array = np.array(values, dtype=None if values else column.dtype).reshape(shape)
        except ValueError as error:  # of unlike lengths
            raise wire_error(field, f"{column.size} numbers a row", values) from error
        if array.dtype.kind not in _KINDS[column.dtype.strip("<")[0]]:
            raise wire_error(field, column.dtype, values)
        if column.dtype[:2] == "<u" and array.size and not _fits(array, column.dtype):
            raise wire_error(field, column.dtype, int(array.min()))
        columns[column.name] = array.astype(column.dtype, copy=False)
    return columns


def _array(column: Field, values: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    if column.is_number:
        array = np.asarray(values, dtype=column.dtype)
        return array.reshape(-1, column.size) if column.size > 1 else array
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values
    is_plain = column.dtype in ("text", "pairs")
    cells = values if is_plain else (tuple(cell) for cell in values)
    return np.fromiter(cells, dtype=object, count=len(values))


def _objects(column: Field, values: Sequence[Any], field: str) -> npt.NDArray[Any]:
    check = _CHECKS[column.dtype]
    for cell in values:
        if not check(cell):
            raise wire_error(field, column.dtype, cell)
    return _array(column, [dict(cell) for cell in values] if column.dtype == "pairs" else values)


def _fits(array: npt.NDArray[Any], dtype: str) -> bool:
    return bool(array.min() >= 0 and array.max() <= np.iinfo(dtype).max)


def _is_pairs(cell: object) -> bool:
    pairs = cell if isinstance(cell, (list, tuple)) else [None]
    return all(
        isinstance(pair, (list, tuple))
        and len(pair) == 2
        and type(pair[0]) is str
        and isinstance(pair[1], _SCALARS)
        for pair in pairs
    )


_CHECKS: Final[Mapping[str, Callable[[object], bool]]] = {
    "text": lambda cell: type(cell) is str,
    "texts": lambda cell: isinstance(cell, (list, tuple)) and all(type(x) is str for x in cell),
    "pairs": _is_pairs,
}
