"""The newest actions, which do not fill a block yet; knows no lanes, keys or questions."""

from __future__ import annotations

from itertools import count
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.records import ACTIONS
from dask_diag_lab.store.arrays import Columns, Ints
from dask_diag_lab.store.block import Block, Rows
from dask_diag_lab.store.keys import PAGE_BITS

PART_ROWS: Final = 8192
"""A block that is being filled is sorted in parts: a look at a live log sorts the last one."""

# `worker` is known from the lane.
_KEPT: Final[dict[str, npt.DTypeLike]] = {
    **{column.name: column.dtype for column in ACTIONS if column.name != "worker"},
    "lane": "<u4",
}

_NO_PAGES: Final = np.empty(0, dtype=np.int64)


class OpenBlock:
    """A block that is being filled, again and again.

    Parameters
    ----------
    size : int
        Rows that fill a block.

    Attributes
    ----------
    n : int
        Rows it has.
    part_rows : int
        Rows of a part that does not grow any more.
    """

    def __init__(self, size: int) -> None:
        self.n = 0
        self.part_rows = min(PART_ROWS, size)
        self._size = size
        self._columns: Columns = {}
        self._parts: list[Block] = []
        self._serials = count(1)

    @property
    def nbytes(self) -> int:
        """Bytes held, with the room for rows to come."""
        columns = sum(column.nbytes for column in self._columns.values())
        return columns + sum(part.nbytes for part in self.parts())

    @property
    def is_full(self) -> bool:
        return self.n == self._size

    def take(self, rows: Rows, first: int) -> int:
        """Append rows from ``first`` on, as many as fit; return how many that were."""
        if not self._columns:
            self._columns = {k: np.empty(self._size, dtype=d) for k, d in _KEPT.items()}
        n = min(len(rows["start"]) - first, self._size - self.n)
        for name, column in self._columns.items():
            column[self.n : self.n + n] = rows[name][first : first + n]
        self.n += n
        return n

    def parts(self) -> list[Block]:
        """Return what there is as blocks; those of before where they did not grow."""
        size, parts = self.part_rows, self._parts
        for first in range(0, self.n, size):
            n = min(self.n - first, size)
            if first // size < len(parts) and parts[first // size].n == n:
                continue
            parts[first // size :] = [self._block(first, first + n)]
        return parts

    def seal(self) -> Block:
        """Return all rows as one block, and begin anew."""
        block = self._block(0, self.n)
        self.n = 0
        self._parts = []
        return block

    def key_pages(self) -> Ints:
        """Return the distinct pages of the key table that the tasks are in."""
        return np.unique(self._columns["task"][: self.n] >> PAGE_BITS) if self.n else _NO_PAGES

    def _block(self, first: int, stop: int) -> Block:
        rows = {name: column[first:stop] for name, column in self._columns.items()}
        return Block(rows, next(self._serials))
