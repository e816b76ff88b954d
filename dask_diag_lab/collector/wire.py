"""What is on its way out: text of any kind, and rows, made as a table declares them.

Rows are found by cursor, sent as they are, and become columns in `schema.columns`. Names are sent
as numbers of a bounded table. Must not look at the scheduler.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from operator import attrgetter
from typing import Any, Final
from zlib import crc32

from dask_diag_lab.schema.tables import OTHER, Field, TableSchema

MAX_TEXT: Final = 500
"""Characters kept of a key or name; 10 kB keys exist."""

MAX_NAMES: Final = 50_000
"""Prefixes in a string table, never keys. Addresses of workers are not bounded."""


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """Return ``text``, cut to ``limit`` characters with a note of its length."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text)} characters)"


def encodable(value: object) -> str:
    """Return text that can be encoded: one lone surrogate must not stop a whole answer."""
    text = value if type(value) is str else str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def key_text(key: object) -> str:
    """Return a task key, which may be a str, bytes, number or nested tuple, as text.

    Long ones that begin alike stay apart.
    """
    text = encodable(key)
    return text if len(text) <= MAX_TEXT else f"{cut(text)} #{crc32(text.encode()):08x}"


class Strings:
    """Names as small integers that keep their meaning for the collector's whole life.

    Id 0 is the empty text, id 1 is `OTHER`, which every name gets once there are ``limit`` names.

    Attributes
    ----------
    ids : dict of str to int
        Read it directly on the hot path and call `add` where the name is missing.
    texts : list of str
        The text of each id.
    """

    def __init__(self, limit: int = MAX_NAMES) -> None:
        self._n_free = limit
        self.ids: dict[str, int] = {"": 0, OTHER: 1}
        self.texts: list[str] = ["", OTHER]

    def add(self, name: str) -> int:
        """Return the id of ``name``, giving it one if the table is not full."""
        if name not in self.ids:
            if not self._n_free:
                return 1
            self._n_free -= 1
        return self.add_address(name)

    def add_address(self, address: str) -> int:
        """Return the id of a worker's address, giving it one where it has none."""
        if address not in self.ids:
            self.ids[address] = len(self.texts)
            self.texts.append(key_text(address))
        return self.ids[address]


def error_text(error: Exception) -> str:
    """Return an error as text for the user."""
    return cut(f"{type(error).__name__}: {encodable(error)}")


Row = tuple[Any, ...]  # one cell for each column of a table: types differ
Sent = dict[str, Any]  # wire form of `schema.Change`
Answer = tuple[Sent | None, int]  # what changed, None if nothing did, and the next cursor

MAX_REMOVALS: Final = 20_000
"""Removed names remembered; whoever is further behind gets the whole table."""


def sent(rows: list[Row], dropped: int = 0) -> Sent:
    """Return the wire form of new or of all rows of a table."""
    return {"rows": rows, "dropped": dropped, "removed": (), "is_full": False}


LARGEST: Final = 2**63 - 1
"""What users say of the size of an object may be more than a column or a message has room for."""


def _coerce(column: Field) -> Callable[[Any], Any]:
    if column.dtype == "text":
        return key_text
    if column.size > 1 or not column.is_number:
        return tuple
    return float if column.dtype == "<f8" else bool if column.dtype == "?" else whole


def whole(value: Any) -> int:  # of several types of numbers
    """Return a whole number that a message has room for."""
    return min(max(int(value), -LARGEST), LARGEST)


def count_new(total: int, n_kept: int, cursor: int) -> tuple[int, int]:
    """Return how many kept rows of a log are new to a cursor, and how many before these are lost.

    A cursor is one more than the rows that ever were: 0 is a reader who has nothing, misses
    nothing, and is sent once even of an empty log.
    """
    n_new = total - max(cursor - 1, 0)
    n = min(n_new, n_kept)
    return n, n_new - n if cursor else 0


def log_since(
    table: TableSchema,
    total: int,
    kept: Collection[Any],
    cursor: int,
    rows: Callable[[Any], Any] = list,
) -> Answer:
    """Return what is new in a log of ``total`` entries so far, of which the newest are ``kept``.

    ``rows`` makes rows of entries.
    """
    if cursor == total + 1:
        return None, cursor
    n, dropped = count_new(total, min(len(kept), table.max_rows), cursor)
    return sent(rows(islice(kept, len(kept) - n, None)), dropped), total + 1


class WholeTable:
    """A table that is sent whole; its cursor is the number of its changes.

    Attributes
    ----------
    n_left_out : int
        Rows before the last ones that the declaration allows.
    """

    def __init__(self, table: TableSchema, fill: Callable[[], Iterable[Row]]) -> None:
        self._table = table
        self._fill = fill
        self._rows: list[Row] | None = None
        self._version = 0
        self.n_left_out = 0

    def refresh(self) -> None:
        """Fill the table anew; equal rows change nothing."""
        rows = list(self._fill())
        self.n_left_out = max(0, len(rows) - self._table.max_rows)
        del rows[: self.n_left_out]
        if rows != self._rows:
            self._rows = rows
            self._version += 1

    def since(self, cursor: int) -> Answer:
        if cursor == self._version or self._rows is None:
            return None, cursor
        return sent(self._rows, self.n_left_out), self._version


class NamedRows:
    """Rows by name, in order of their last change; `version` counts the changes."""

    def __init__(self, table: TableSchema) -> None:
        self.version = 0
        self._cells = [(attrgetter(column.source), _coerce(column)) for column in table.columns]
        self._rows: dict[Any, tuple[int, Row]] = {}  # names are text or numbers
        self._removed: deque[tuple[int, Any]] = deque(maxlen=MAX_REMOVALS)
        self._first = 1  # who is further behind gets everything

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def put(self, name: Any, facts: object) -> None:
        """Set the row made of ``facts``, which have each `Field.source`; an equal one is kept."""
        row = tuple(coerce(get(facts)) for get, coerce in self._cells)
        entry = self._rows.get(name)
        if entry is not None:
            if entry[1] == row:
                return
            del self._rows[name]
        self.version += 1
        self._rows[name] = (self.version, row)

    def remove(self, name: Any) -> None:
        if self._rows.pop(name, None) is not None:
            self.version += 1
            if len(self._removed) == MAX_REMOVALS:
                self._first = self._removed[0][0]
            self._removed.append((self.version, name))

    def clear(self) -> None:
        """Begin anew: every reader gets the whole table."""
        self._rows.clear()
        self._removed.clear()
        self.version += 1
        self._first = self.version

    def since(self, cursor: int) -> Answer:
        """Return what changed after ``cursor``: the cost grows with that, not with the table."""
        if cursor == self.version:
            return None, cursor
        if not self._first <= cursor < self.version:
            rows = [row for _, row in self._rows.values()]
            return {**sent(rows), "is_full": True}, self.version
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
        return {**sent(rows), "removed": tuple(removed)}, self.version
