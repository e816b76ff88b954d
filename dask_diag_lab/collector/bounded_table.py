"""A table that can tell what changed, with a bound: what has no row is summed up or forgotten.

Must not look at the scheduler.
"""

from __future__ import annotations

import itertools

from dask_diag_lab.collector.changes import Changes, Row
from dask_diag_lab.collector.strings import OTHER


class _Counted:
    """A row of a table, and what it adds to the row of the others where it has none."""

    __slots__ = ("is_live", "nbytes", "row", "states")

    def __init__(self, row: Row, states: tuple[int, ...], nbytes: int, *, is_live: bool) -> None:
        self.row = row
        self.states = states
        self.nbytes = nbytes
        self.is_live = is_live


class BoundedTable:
    """A table whose rows past a limit are summed up in one row called `OTHER`.

    What has no live task gives its row up to what has, the one that ended first before others.

    Parameters
    ----------
    limit : int
    n_states : int
        Counts of a row.
    head, tail : tuple
        Columns of the row of the others, before and after states and bytes.
    max_ended : int, optional
        Rows without a live task; more of them are forgotten and counted, not summed up.

    Attributes
    ----------
    n_forgotten : int
        Since the start.
    """

    def __init__(
        self, limit: int, n_states: int, head: Row, tail: Row, max_ended: int | None = None
    ) -> None:
        self.changes = Changes()
        self.n_forgotten = 0
        self._limit = limit
        self._max_ended = max_ended
        self._head = head
        self._tail = tail
        self._shown: dict[str, _Counted] = {}
        self._ended: dict[str, None] = {}  # those of the shown that may give up their row
        self._others: dict[str, _Counted] = {}
        self._waiting: dict[str, None] = {}  # those of the others that should have one
        self._states = [0] * n_states
        self._nbytes = 0

    def row(self, name: str) -> Row | None:
        """Return the row of its own that a name has, None where it has none."""
        counted = self._shown.get(name)
        return None if counted is None else counted.row

    def put(
        self, name: str, row: Row, states: tuple[int, ...], nbytes: int, *, is_live: bool
    ) -> None:
        """Set a row; ``is_live`` where some of its tasks are not forgotten."""
        counted = _Counted(row, states, nbytes, is_live=is_live)
        if name in self._shown:
            self._show(name, counted)
            return
        self._drop_other(name)
        if counted.is_live or self._max_ended is None:
            self._add_other(name, counted)
        elif len(self._shown) < self._limit:
            self._show(name, counted)
        else:
            self.n_forgotten += 1

    def remove(self, name: str) -> None:
        self._drop_other(name)
        self._shown.pop(name, None)
        self._ended.pop(name, None)
        self.changes.remove(name)

    def forget(self, name: str) -> None:
        """Take a row away, and count it as one that is not kept."""
        self.remove(name)
        self.n_forgotten += 1

    def settle(self) -> None:
        """Share out the rows and write that of the others, once after all puts and removes."""
        while self._max_ended is not None and len(self._ended) > self._max_ended:
            self._fold(next(iter(self._ended)))
        while self._waiting and (len(self._shown) < self._limit or self._ended):
            if len(self._shown) == self._limit:
                self._fold(next(iter(self._ended)))
            self._raise(next(iter(self._waiting)))
        room = self._limit - len(self._shown)
        for name in [n for n in itertools.islice(self._others, room + 1) if n != OTHER][:room]:
            self._raise(name)
        if self._others or OTHER in self.changes:
            self.changes.put(OTHER, (*self._head, tuple(self._states), self._nbytes, *self._tail))

    def _raise(self, name: str) -> None:
        counted = self._drop_other(name)
        if counted is not None:
            self._show(name, counted)

    def _fold(self, name: str) -> None:
        del self._ended[name]
        self.changes.remove(name)
        counted = self._shown.pop(name)
        if self._max_ended is None:
            self._add_other(name, counted)
        else:
            self.n_forgotten += 1

    def _show(self, name: str, counted: _Counted) -> None:
        self._shown[name] = counted
        self.changes.put(name, counted.row)
        if counted.is_live:
            self._ended.pop(name, None)
        else:
            self._ended[name] = None

    def _add_other(self, name: str, counted: _Counted) -> None:
        self._others[name] = counted
        self._count(counted, 1)
        if counted.is_live and name != OTHER:  # a name that the row of the others has already
            self._waiting[name] = None

    def _drop_other(self, name: str) -> _Counted | None:
        counted = self._others.pop(name, None)
        if counted is not None:
            self._waiting.pop(name, None)
            self._count(counted, -1)
        return counted

    def _count(self, other: _Counted, sign: int) -> None:
        self._states = [a + sign * b for a, b in zip(self._states, other.states, strict=True)]
        self._nbytes += sign * other.nbytes
