"""A table of named rows that can tell what has changed since a version.

Must not look at the scheduler.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final, NamedTuple

from dask_diag_lab.collector.strings import key_text

Row = tuple[Any, ...]  # columns differ in type: those of a table in `records`

MAX_REMOVALS: Final = 10_000
"""Removed names remembered; whoever is further behind gets the whole table."""


class Difference(NamedTuple):
    """What a table has to say to somebody who knows version ``cursor``.

    Attributes
    ----------
    is_full : bool
        ``rows`` is the whole table: what is missing there is gone.
    rows : tuple of tuple
        New or changed rows, the latest change last.
    removed : tuple of str
    """

    is_full: bool
    rows: tuple[Row, ...]
    removed: tuple[str, ...]


class Changes:
    """Rows by name, in order of their last change; `version` counts the changes."""

    def __init__(self) -> None:
        self.version = 0
        self._rows: dict[str, tuple[int, Row]] = {}
        self._removed: deque[tuple[int, str]] = deque()
        self._forgotten_removal = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def names(self) -> tuple[str, ...]:
        return tuple(self._rows)

    def get(self, name: str) -> Row | None:
        entry = self._rows.get(name)
        return None if entry is None else entry[1]

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

    def since(self, cursor: int) -> Difference | None:
        """Return what changed after ``cursor``, None where nothing did.

        The cost grows with the number of changes, not with the table.
        """
        if cursor == self.version:
            return None
        if not self._forgotten_removal <= cursor < self.version or cursor == 0:
            return Difference(True, tuple(row for _, row in self._rows.values()), ())
        rows: list[Row] = []
        for version, row in reversed(self._rows.values()):
            if version <= cursor:
                break
            rows.append(row)
        removed: list[str] = []
        for version, name in reversed(self._removed):
            if version <= cursor:
                break
            if name not in self._rows:
                removed.append(key_text(name))
        return Difference(False, tuple(reversed(rows)), tuple(reversed(removed)))
