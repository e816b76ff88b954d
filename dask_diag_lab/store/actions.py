"""The log of actions: appended to in order of arrival, asked by window or by cursor.

Bounded by rows: the oldest are given up a block at a time, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from itertools import count
from math import isfinite, nan
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import ACTIONS, Outcome
from dask_diag_lab.store.arrays import Columns, Ints, Objects, Recent
from dask_diag_lab.store.block import Block, Rows
from dask_diag_lab.store.bursts import Bursts
from dask_diag_lab.store.keys import PAGE_BITS, KeyTable
from dask_diag_lab.store.lod import LevelOfDetail, Settled, WindowQuery
from dask_diag_lab.store.slots import SlotSnapshot, SlotTable

BLOCK_ROWS = 65_536
CACHED_QUERIES = 8
MAX_ROWS = 2_000_000
PART_ROWS: Final = 8192
"""A block that is being filled is sorted in parts: a look at a live log sorts the last one."""

# `worker` is known from the slot.
_KEPT: Final[dict[str, npt.DTypeLike]] = {
    **{column.name: column.dtype for column in ACTIONS.columns if column.name != "worker"},
    "slot": "<u4",
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


SLOT: Final = "slot"
NAMES: Final = (*(column.name for column in ACTIONS.columns), SLOT)
_DTYPES: Final = {column.name: np.dtype(column.dtype) for column in ACTIONS.columns} | {
    SLOT: np.dtype(np.int64)
}

Column = npt.NDArray[Any]  # dtypes differ from column to column


class RowReader:
    """Reads blocks.

    Parameters
    ----------
    slots : SlotTable or SlotSnapshot
        Knows the worker and the row of each slot id.
    """

    def __init__(self, slots: SlotTable | SlotSnapshot) -> None:
        self._read: Mapping[str, Callable[[Block, Ints], Column]] = {
            "start": lambda block, rows: block.start[rows],
            "stop": lambda block, rows: block.stop[rows],
            "kind": lambda block, rows: block.kind[rows],
            "outcome": lambda block, rows: block.outcome[rows],
            "worker": lambda block, rows: slots.workers_of(_slot_ids(block, rows)),
            "thread": lambda block, rows: block.thread(rows),
            "source": lambda block, rows: block.source[rows],
            "prefix": lambda block, rows: block.prefix[rows],
            "task": lambda block, rows: block.task(rows),
            "nbytes": lambda block, rows: block.nbytes_of(rows),
            SLOT: lambda block, rows: slots.position[_slot_ids(block, rows)],
        }

    def rows(self, block: Block, rows: Ints, names: Collection[str] = NAMES) -> Columns:
        """Return columns of some rows: those of `ACTIONS`, and ``slot``, row of the slot table."""
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


def _slot_ids(block: Block, rows: Ints) -> Ints:
    return block.slot[rows].astype(np.int64)


class ActionLog:
    """What worker threads did, newest last.

    Parameters
    ----------
    slots : SlotTable
    keys : KeyTable
    max_rows : int
        Rows kept at most.
    """

    def __init__(self, slots: SlotTable, keys: KeyTable, max_rows: int = MAX_ROWS) -> None:
        if max_rows < 1:
            raise ValueError(f"a log keeps at least 1 action, not {max_rows}")
        self.version = 0
        self.total = 0
        self.dropped = 0
        self.evicted = 0
        self.bursts = Bursts()
        self._slots = slots
        self._keys = keys
        self._max_rows = max_rows
        self._block_rows = min(BLOCK_ROWS, max(max_rows // 16, 1))
        self._blocks: list[Block] = []
        self._open = OpenBlock(self._block_rows)
        self._answers: Recent[Hashable, LevelOfDetail] = Recent(CACHED_QUERIES)
        self._settled = Settled()
        self._reader = RowReader(slots)

    @property
    def count(self) -> int:
        """Actions kept."""
        return self.total - self.evicted

    @property
    def first_start(self) -> float:
        """Earliest start of what is kept; NaN when nothing is."""
        return min((block.min_start for block in self._all()), default=nan)

    @property
    def last_stop(self) -> float:
        """Latest stop of what is kept; NaN when nothing is."""
        return max((block.max_stop for block in self._all()), default=nan)

    @property
    def nbytes(self) -> int:
        """Bytes held, without keys."""
        return sum(block.nbytes for block in self._blocks) + self._open.nbytes

    def append(self, rows: Rows) -> None:
        """Append rows with the columns of `ACTIONS`, ``slot`` (ids) in place of ``worker``."""
        n = len(rows["start"])
        done = 0
        while done < n:
            done += self._open.take(rows, done)
            if self._open.is_full:
                self._blocks.append(self._open.seal())
        if n:
            self.total += n
            self.bursts.add(rows["start"], rows["stop"])
            self._slots.hold(rows["slot"])
            self._evict()
            self.version += 1

    def drop(self, n: int) -> None:
        """Count actions that were lost before they came here."""
        if n:
            self.dropped += n
            self.version += 1

    def key(self, task: int) -> str:
        """Return the key of a task; ``''`` when it was given up with its actions."""
        return self._keys[task]

    def keys(self, tasks: Ints) -> Objects:
        """Return the keys of many tasks, as `key` does."""
        return self._keys.take(tasks)

    def between(
        self, t0: float, t1: float, limit: int | None = None
    ) -> Callable[[], tuple[Columns, int]]:
        """Return what reads the actions that are in a window at least partly, by their start.

        It may be called in any thread: reading a million takes seconds.

        Parameters
        ----------
        t0, t1 : float
            Seconds since the epoch; infinite ones for all.
        limit : int, optional
            Rows returned at most: those that started last.

        Returns
        -------
        callable
            Returns the rows, as `since` does, and how many there are without the limit.
        """
        blocks = [block for block in self._all() if block.touches(t0, t1)]
        reader = RowReader(self._slots.snapshot())

        def read() -> tuple[Columns, int]:
            if not blocks:
                return reader.nothing(), 0
            rows = by_start([reader.rows(block, block.between(t0, t1)) for block in blocks])
            total = len(rows["start"])
            begin = 0 if limit is None else max(total - limit, 0)
            return {name: column[begin:] for name, column in rows.items()}, total

        return read

    def of_key(self, key: str) -> Columns:
        """Return the actions of the tasks with a key, by their start, as `since` returns them."""
        tasks, blocks = self._keys.find(key), self._all()
        if not len(tasks) or not blocks:
            return self._reader.nothing()
        return by_start([self._reader.rows(block, block.of_tasks(tasks)) for block in blocks])

    def since(
        self, cursor: int, limit: int | None = None, names: Collection[str] = NAMES
    ) -> tuple[int, Columns]:
        """Return the actions that came at or after a cursor, in order of arrival.

        Parameters
        ----------
        cursor : int
            0 for all, else what this method returned before.
        limit : int, optional
            Rows returned at most.
        names : collection of str
            Columns returned: each one less is some time less.

        Returns
        -------
        cursor : int
            Where to go on.
        rows : dict of str to ndarray
            The columns of `ACTIONS` with the store's string ids and task ordinals, and
            ``slot``: row of the slot table. Fewer than the cursors' difference where actions
            were evicted in between.
        """
        stop = self._stop(cursor, limit)
        parts = [self._reader.rows(*arrived, names) for arrived in self._arrived(cursor, stop)]
        return stop, joined(parts) if parts else self._reader.nothing(names)

    def failed_since(self, cursor: int, names: Collection[str] = NAMES) -> tuple[int, Columns]:
        """Return those of `since` that did not end well; a long history costs little."""
        stop = self._stop(cursor, None)
        parts = [
            self._reader.rows(block, rows[block.outcome[rows] != Outcome.OK], names)
            for block, rows in self._arrived(cursor, stop)
        ]
        return stop, joined(parts) if parts else self._reader.nothing(names)

    def _stop(self, cursor: int, limit: int | None) -> int:
        if cursor < 0 or cursor > self.total:
            raise ValueError(f"cursor {cursor} is not within 0 … {self.total}")
        first = max(cursor, self.evicted)
        return self.total if limit is None else min(self.total, first + limit)

    def _arrived(self, cursor: int, stop: int) -> Iterator[tuple[Block, Ints]]:
        """Return each block that has actions from ``cursor`` to ``stop``, and their rows."""
        first, begin = max(cursor, self.evicted), self.evicted
        for block in self._all():
            if begin < stop and begin + block.n > first:
                skip = max(first - begin, 0)
                yield block, block.in_arrival_order(skip, min(stop - begin, block.n) - skip)
            begin += block.n

    def query(
        self,
        t0: float,
        t1: float,
        slots: npt.NDArray[np.integer] | None = None,
        width_px: int = 1200,
        max_rects: int = 10_000,
    ) -> WindowQuery:
        """Return the question what to draw between two times, which any thread may answer.

        Parameters
        ----------
        t0, t1 : float
            Seconds since the epoch.
        slots : ndarray of int, optional
            Rows of the slot table that are wanted; all when None.
        width_px : int
            Width of the window on the screen: what is closer than a pixel is merged.
        max_rects : int
            Merge further until there are no more than these.

        Raises
        ------
        ValueError
            For a window that is not finite or ends before it begins, no width, no rects, or a
            slot that does not exist.
        """
        _check_window(t0, t1, width_px, max_rects)
        positions, share = self._slots.positions(slots)
        blocks = tuple(block for block in self._all() if block.touches(t0, t1))
        asked = None if slots is None else np.asarray(slots, dtype=np.int64).tobytes()
        place = (t0, t1, asked, self._slots.version)
        return WindowQuery(
            blocks=blocks,
            begin=t0,
            end=t1,
            positions=positions,
            share=share,
            width_px=width_px,
            max_rects=max_rects,
            answers=self._answers,
            settled=self._settled,
            steady=self._steady(blocks),
            place=place,
        )

    def _steady(self, blocks: Sequence[Block]) -> tuple[int, int]:
        """Return how many of the first ``blocks`` are sealed, and how many do not grow."""
        sizes = [block.n for block in blocks]
        n_sealed = sizes.count(self._block_rows)
        is_growing = bool(sizes) and sizes[-1] not in (self._block_rows, self._open.part_rows)
        return n_sealed, len(sizes) - is_growing

    def _all(self) -> list[Block]:
        """Return the blocks in order of arrival, then the parts of the one being filled."""
        return [*self._blocks, *self._open.parts()]

    def _evict(self) -> None:
        gone = 0
        while self.count > self._max_rows and gone < len(self._blocks):
            block = self._blocks[gone]
            self.evicted += block.n
            self._slots.release(*block.slots())
            gone += 1
        if gone:
            del self._blocks[:gone]
            pages = [block.key_pages() for block in self._blocks]
            pages.append(self._open.key_pages())
            self._keys.retain(np.unique(np.concatenate(pages)))
            self._slots.forget_unused()


def _check_window(t0: float, t1: float, width_px: int, max_rects: int) -> None:
    if not (isfinite(t0) and isfinite(t1) and t0 <= t1):
        raise ValueError(f"a window has a begin and a later end, not {t0} and {t1}")
    if width_px < 1 or max_rects < 1:
        raise ValueError(f"width {width_px} px and {max_rects} rects: both must be above 0")
