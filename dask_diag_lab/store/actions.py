"""The log of actions: appended to in order of arrival, asked by window or by cursor.

Bounded by rows: the oldest are given up a block at a time, and counted.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from math import isfinite, nan

import numpy as np
import numpy.typing as npt

from dask_diag_lab.records import Outcome
from dask_diag_lab.store.arrays import Columns, Ints, Objects
from dask_diag_lab.store.block import Block, Rows
from dask_diag_lab.store.keys import KeyTable
from dask_diag_lab.store.lanes import LaneTable
from dask_diag_lab.store.lod import LevelOfDetail, Query
from dask_diag_lab.store.open_block import OpenBlock
from dask_diag_lab.store.recent import Recent
from dask_diag_lab.store.row_reader import NAMES, RowReader, by_start, joined
from dask_diag_lab.store.settled import Settled

BLOCK_ROWS = 65_536
CACHED_QUERIES = 8
MAX_ROWS = 2_000_000


class ActionLog:
    """What worker threads did, newest last.

    Parameters
    ----------
    lanes : LaneTable
    keys : KeyTable
    max_rows : int
        Rows kept at most.
    """

    def __init__(self, lanes: LaneTable, keys: KeyTable, max_rows: int = MAX_ROWS) -> None:
        if max_rows < 1:
            raise ValueError(f"a log keeps at least 1 action, not {max_rows}")
        self.version = 0
        self.total = 0
        self.dropped = 0
        self.evicted = 0
        self._lanes = lanes
        self._keys = keys
        self._max_rows = max_rows
        self._block_rows = min(BLOCK_ROWS, max(max_rows // 16, 1))
        self._blocks: list[Block] = []
        self._open = OpenBlock(self._block_rows)
        self._answers: Recent[Hashable, LevelOfDetail] = Recent(CACHED_QUERIES)
        self._settled = Settled()
        self._reader = RowReader(lanes)

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
        """Append rows with the columns of `ACTIONS`, ``lane`` (ids) in place of ``worker``."""
        n = len(rows["start"])
        done = 0
        while done < n:
            done += self._open.take(rows, done)
            if self._open.is_full:
                self._blocks.append(self._open.seal())
        if n:
            self.total += n
            self._lanes.hold(rows["lane"])
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

    def between(self, t0: float, t1: float, limit: int | None = None) -> tuple[Columns, int]:
        """Return the actions that are in a window at least partly, by their start.

        Parameters
        ----------
        t0, t1 : float
            Seconds since the epoch; infinite ones for all.
        limit : int, optional
            Rows returned at most: those that started last.

        Returns
        -------
        rows : dict of str to ndarray
            As `since` returns them.
        total : int
            How many there are.
        """
        blocks = [block for block in self._all() if block.touches(t0, t1)]
        if not blocks:
            return self._reader.nothing(), 0
        parts = [self._reader.rows(block, block.between(t0, t1)) for block in blocks]
        rows = by_start(parts)
        total = len(rows["start"])
        begin = 0 if limit is None else max(total - limit, 0)
        return {name: column[begin:] for name, column in rows.items()}, total

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
            ``lane``: row of the lane table. Fewer than the cursors' difference where actions
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
        lanes: npt.NDArray[np.integer] | None = None,
        width_px: int = 1200,
        max_rects: int = 10_000,
    ) -> Query:
        """Return the question what to draw between two times, which any thread may answer.

        Parameters
        ----------
        t0, t1 : float
            Seconds since the epoch.
        lanes : ndarray of int, optional
            Rows of the lane table that are wanted; all when None.
        width_px : int
            Width of the window on the screen: what is closer than a pixel is merged.
        max_rects : int
            Merge further until there are no more than these.

        Raises
        ------
        ValueError
            For a window that is not finite or ends before it begins, no width, no rects, or a
            lane that does not exist.
        """
        _check_window(t0, t1, width_px, max_rects)
        positions, share = self._lanes.positions(lanes)
        blocks = tuple(block for block in self._all() if block.touches(t0, t1))
        asked = None if lanes is None else np.asarray(lanes, dtype=np.int64).tobytes()
        place = (t0, t1, asked, self._lanes.version)
        return Query(
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
            self._lanes.release(*block.lanes())
            gone += 1
        if gone:
            del self._blocks[:gone]
            pages = [block.key_pages() for block in self._blocks]
            pages.append(self._open.key_pages())
            self._keys.retain(np.unique(np.concatenate(pages)))
            self._lanes.forget_unused()


def _check_window(t0: float, t1: float, width_px: int, max_rects: int) -> None:
    if not (isfinite(t0) and isfinite(t1) and t0 <= t1):
        raise ValueError(f"a window has a begin and a later end, not {t0} and {t1}")
    if width_px < 1 or max_rects < 1:
        raise ValueError(f"width {width_px} px and {max_rects} rects: both must be above 0")
