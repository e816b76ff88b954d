"""Rows on their way out: made from a table's declaration, packed as columns, found by cursor.

The other end is `schema.columns`. Must not look at the scheduler.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from dask_diag_lab.collector.strings import key_text
from dask_diag_lab.schema.tables import Column, Table

Row = tuple[Any, ...]  # one cell for each column of a table: types differ
Sent = dict[str, Any]  # wire form of `schema.Change`
Answer = tuple[Sent | None, int]  # what changed, None if nothing did, and the next cursor

CODES: Final = {"<f8": "d", "<i8": "q", "<u8": "Q", "<u4": "I", "<u1": "B", "?": "?"}
"""Of `struct`, by dtype."""

MAX_REMOVALS: Final = 10_000
"""Removed names remembered; whoever is further behind gets the whole table."""


def pack(table: Table, rows: Sequence[Row]) -> dict[str, Any]:
    """Return rows as columns by name: numbers as little-endian bytes, all else as tuples."""
    cells = zip(*rows, strict=True) if rows else [()] * len(table.columns)
    return {c.name: _pack(c, values) for c, values in zip(table.columns, cells, strict=True)}


def sent(table: Table, rows: Sequence[Row], dropped: int = 0) -> Sent:
    """Return the wire form of new or of all rows of a table."""
    return {"columns": pack(table, rows), "dropped": dropped, "removed": (), "is_full": False}


def row_maker(table: Table) -> Callable[[Any], Row]:
    """Return what makes a row from the facts that the columns' `Column.fill` take."""
    fills = [(column.fill, _coerce(column)) for column in table.columns]

    def row(facts: object) -> Row:
        return tuple(coerce(fill(facts)) for fill, coerce in fills if fill is not None)

    return row


def _coerce(column: Column) -> Callable[[Any], Any]:
    if column.dtype == "text":
        return key_text
    if column.size > 1 or not column.is_number:
        return tuple
    return float if column.dtype == "<f8" else bool if column.dtype == "?" else int


def _pack(column: Column, values: Sequence[Any]) -> bytes | tuple[Any, ...]:
    if not column.is_number:
        return tuple(values)
    if column.size > 1:
        values = tuple(chain.from_iterable(values))
    return struct.pack(f"<{len(values)}{CODES[column.dtype]}", *values)


class NamedRows:
    """Rows by name, in order of their last change; `version` counts the changes."""

    def __init__(self, table: Table) -> None:
        self.version = 0
        self.table = table
        self._rows: dict[str, tuple[int, Row]] = {}
        self._removed: deque[tuple[int, str]] = deque()
        self._forgotten_removal = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def names(self) -> tuple[str, ...]:
        return tuple(self._rows)

    def rows(self) -> Mapping[str, Row]:
        """Return all rows by name."""
        return {name: row for name, (_, row) in self._rows.items()}

    def put(self, name: str, row: Row) -> None:
        """Set a row; an equal one changes nothing."""
        entry = self._rows.get(name)
        if entry is not None:
            if entry[1] == row:
                return
            del self._rows[name]
        self.version += 1
        self._rows[name] = (self.version, row)

    def remove(self, name: str) -> None:
        if self._rows.pop(name, None) is None:
            return
        self.version += 1
        self._removed.append((self.version, name))
        if len(self._removed) > MAX_REMOVALS:
            self._forgotten_removal = self._removed.popleft()[0]

    def since(self, cursor: int) -> Answer:
        """Return what changed after ``cursor``: the cost grows with that, not with the table."""
        if cursor == self.version:
            return None, cursor
        if cursor == 0 or not self._forgotten_removal <= cursor < self.version:
            rows = [row for _, row in self._rows.values()]
            return {**sent(self.table, rows), "is_full": True}, self.version
        rows, removed = [], []
        for version, row in reversed(self._rows.values()):
            if version <= cursor:
                break
            rows.append(row)
        for version, name in reversed(self._removed):
            if version <= cursor:
                break
            if name not in self._rows:
                removed.append(key_text(name))
        rows.reverse()
        return {**sent(self.table, rows), "removed": tuple(removed)}, self.version
