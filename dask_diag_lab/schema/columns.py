"""Columns as arrays: made from a declaration, and checked once when they arrive.

The other end is `collector.wire`, which packs them without NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema.tables import Column, Table

Columns = Mapping[str, npt.NDArray[Any]]  # dtypes differ from column to column

_SCALARS: Final = (str, int, float, bool, type(None))


class WireError(ValueError):
    """An answer is not what this version understands; the text names the field."""


def wire_error(field: str, wanted: str, value: object) -> WireError:
    """Return an error that names the field, what was wanted and what came."""
    return WireError(
        f"field {field!r}: expected {wanted}, got {type(value).__name__} {value!r:.80}"
    )


def arrays(
    table: Table, columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Return columns as arrays of the declared dtypes; those that are so already as they are."""
    return {column.name: _array(column, columns[column.name]) for column in table.columns}


def columns_of(
    table: Table, rows: Iterable[Mapping[str, Any] | Sequence[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Return rows, each a mapping by column names or a sequence in their order, as columns."""
    names = [column.name for column in table.columns]
    tuples = [[row[n] for n in names] if isinstance(row, Mapping) else row for row in rows]
    return arrays(table, {name: [row[i] for row in tuples] for i, name in enumerate(names)})


def empty(table: Table) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a table without rows."""
    return columns_of(table, ())


def default_row(table: Table) -> dict[str, Any]:
    """Return a row of a table in which all is zero or empty."""
    row: dict[str, Any] = {}
    for column in table.columns:
        value: object = {"text": "", "texts": (), "ints": (), "pairs": {}}.get(column.dtype, 0)
        row[column.name] = [0] * column.size if column.size > 1 else value
    return row


def decoded(table: Table, value: object) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a table as a collector packed them.

    Raises
    ------
    WireError
        Naming the column that is missing or wrong.
    """
    if not isinstance(value, Mapping):
        raise wire_error(table.name, "columns", value)
    columns: dict[str, npt.NDArray[Any]] = {}
    for column in table.columns:
        field = f"{table.name}.{column.name}"
        if column.name not in value:
            raise WireError(f"field {field!r} is missing")
        columns[column.name] = _read(column, value[column.name], field)
    if len({len(column) for column in columns.values()}) > 1:
        sizes = {name: len(column) for name, column in columns.items()}
        raise WireError(f"table {table.name!r}: columns differ in length: {sizes}")
    return columns


def _array(column: Column, values: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    if column.is_number:
        array = np.asarray(values, dtype=column.dtype)
        return array.reshape(-1, column.size) if column.size > 1 else array
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values
    is_plain = column.dtype in ("text", "pairs")
    cells = values if is_plain else (tuple(cell) for cell in values)
    return np.fromiter(cells, dtype=object, count=len(values))


def _read(column: Column, value: object, field: str) -> npt.NDArray[Any]:
    if column.is_number:
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise wire_error(field, "bytes", value)
        dtype = np.dtype(column.dtype)
        if len(value) % (dtype.itemsize * column.size):
            raise WireError(f"field {field!r}: {len(value)} bytes are no whole rows")
        return _array(column, np.frombuffer(value, dtype=dtype))
    if not isinstance(value, (list, tuple)):
        raise wire_error(field, "a list", value)
    check = _CHECKS[column.dtype]
    for cell in value:
        if not check(cell):
            raise wire_error(field, column.dtype, cell)
    if column.dtype == "pairs":
        value = [dict(cell) for cell in value]
    return _array(column, value)


def _is_pairs(cell: object) -> bool:
    pairs = cell if isinstance(cell, (list, tuple)) else [None]
    return all(
        isinstance(pair, (list, tuple))
        and len(pair) == 2
        and type(pair[0]) is str
        and isinstance(pair[1], _SCALARS)
        for pair in pairs
    )


def _is_all(kind: type) -> Callable[[object], bool]:
    return lambda cell: isinstance(cell, (list, tuple)) and all(type(x) is kind for x in cell)


_CHECKS: Final[Mapping[str, Callable[[object], bool]]] = {
    "text": lambda cell: type(cell) is str,
    "texts": _is_all(str),
    "ints": _is_all(int),
    "pairs": _is_pairs,
}
