"""The log of actions, and the keys of their tasks by ordinal.

Appended to in order of arrival, asked by window or by cursor. Bounded by rows: the oldest are given
up a block at a time, and counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from math import nan
from typing import Any, Final
from zlib import crc32

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Kind
from dask_diag_lab.schema.tables import ACTIONS
from dask_diag_lab.store.arrays import Columns, Floats, Ints, Objects, joined, narrow
from dask_diag_lab.store.lod import Block, WindowQuery
from dask_diag_lab.store.slots import SlotRows, SlotTable
from dask_diag_lab.store.sums import (
    ALL,
    BY,
    VALUES,
    Sums,
    Window,
    block_sums,
    grouped,
    thread_time,
)

SEGMENT_KEYS: Final = 4_096
"""Keys that are packed together, in 10 ms; those that came last are not packed yet."""

_TOKEN: Final = re.compile("([0-9a-f]{32})")
"""What Dask puts into most keys: 16 bytes."""


def _hash(key: str) -> int:
    """Return two bytes that are the same in each process, for recordings."""
    return crc32(key.encode(errors="surrogatepass")) & 0xFFFF


class Segment:
    """Keys of consecutive ordinals, packed: as one `str` each they would take four times as much.

    A key is taken apart at its first token, as ``('sum-<32 digits>', 12, 3)`` is: what is before it
    and the token itself are kept once, and what is after it is in one text.
    """

    SAVED = (
        *("first", "stop", "_heads", "_tokens", "_text", "_head", "_token", "_begins"),
        "_hashes",
    )

    def __init__(self, first: int, keys: Sequence[str]) -> None:
        self.first, self.stop = first, first + len(keys)
        heads, tokens = {"": 0}, {"": 0}
        head_of, token_of, tails = list[int](), list[int](), list[str]()
        for key in keys:
            parts = _TOKEN.split(key, 1)
            head, token, tail = parts if len(parts) == 3 else ("", "", key)
            head_of.append(heads.setdefault(head, len(heads)))
            token_of.append(tokens.setdefault(token, len(tokens)))
            tails.append(tail)
        self._heads = list(heads)
        self._tokens = bytes.fromhex("".join(tokens))
        self._text = "".join(tails)
        self._head, self._token = narrow(np.array(head_of)), narrow(np.array(token_of))
        self._begins = narrow(np.cumsum([0, *map(len, tails)]))
        self._hashes = np.fromiter(map(_hash, keys), np.uint16, len(keys))

    def take(self, ordinals: Ints) -> list[str]:
        rows = ordinals - self.first
        columns = (self._head[rows], self._token[rows], self._begins[rows], self._begins[rows + 1])
        return [
            f"{self._heads[head]}{self._tokens[16 * (token - 1) : 16 * token].hex()}"
            f"{self._text[begin:end]}"
            for head, token, begin, end in zip(*(c.tolist() for c in columns), strict=True)
        ]

    def find(self, key: str) -> list[int]:
        """Return the ordinals that have a key."""
        alike = self.first + np.flatnonzero(self._hashes == _hash(key))
        found = zip(alike.tolist(), self.take(alike), strict=True)
        return [ordinal for ordinal, text in found if text == key]


class KeyTable:
    """The key of each task ordinal, in half of its text."""

    SAVED = ("_segments", "_open", "stop")

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._open: list[str] = []
        self.stop = 0
        """Ordinal after the last one."""

    def extend(self, first: int, keys: Sequence[str]) -> None:
        """Add the keys of ordinals ``first``, ``first + 1``, …; known ones are left as they are."""
        new = keys[max(self.stop - first, 0) :]
        if not new:
            return
        if first > self.stop:
            self._pack(len(self._open))
            self.stop = first
        self._open += new
        self.stop += len(new)
        while len(self._open) >= SEGMENT_KEYS:
            self._pack(SEGMENT_KEYS)

    def _pack(self, n: int) -> None:
        if n:
            self._segments.append(Segment(self.stop - len(self._open), self._open[:n]))
            del self._open[:n]

    def __getitem__(self, ordinal: int) -> str:
        """Return the key of a task, ``''`` where it is not known (any more)."""
        newest = ordinal - self.stop + len(self._open)
        if newest >= 0:
            return self._open[newest] if ordinal < self.stop else ""
        key: str = self.take(np.array([ordinal]))[0]
        return key

    def take(self, ordinals: Ints) -> Objects:
        """Return the keys of many tasks, in their order; ``''`` where one is not known."""
        found: Objects = np.full(len(ordinals), "", dtype=np.object_)
        if not len(ordinals):
            return found
        low, high = int(ordinals.min()), int(ordinals.max())
        begin = bisect_right(self._segments, low, key=lambda segment: segment.stop)
        for segment in self._segments[begin:]:
            if segment.first > high:
                break
            rows = np.flatnonzero((ordinals >= segment.first) & (ordinals < segment.stop))
            if len(rows):
                found[rows] = segment.take(ordinals[rows])
        first = self.stop - len(self._open)
        for row in np.flatnonzero((ordinals >= first) & (ordinals < self.stop)).tolist():
            found[row] = self._open[int(ordinals[row]) - first]
        return found

    def copy(self) -> KeyTable:
        """Return one that does not grow."""
        table = KeyTable()
        table._segments, table._open, table.stop = self._segments[:], self._open[:], self.stop
        return table

    def find(self, key: str) -> Ints:
        """Return the ordinals of the tasks that have a key: more than one if it ran again.

        Takes some milliseconds a million keys.
        """
        first = self.stop - len(self._open)
        tasks = [task for segment in self._segments for task in segment.find(key)]
        tasks += [first + row for row, known in enumerate(self._open) if known == key]
        return np.array(tasks, np.int64)

    def forget_before(self, ordinal: int) -> None:
        """Forget the segments of tasks that all came before one."""
        self._segments = [segment for segment in self._segments if segment.stop > ordinal]


BLOCK_ROWS: Final = 65_536
MAX_ROWS: Final = 2_000_000
PART_ROWS: Final = 8192
"""A block that is being filled is sorted in parts: a look at a live log sorts the last one."""

_DTYPES: Final = {column.name: np.dtype(column.dtype) for column in ACTIONS.columns} | {
    "slot": np.dtype(np.int64)
}
NAMES: Final = tuple(_DTYPES)


def _read(
    block: Block, rows: Ints | slice, slots: SlotRows, names: Collection[str] = NAMES
) -> Columns:
    """Return some rows of a block: columns of `ACTIONS`, and ``slot``, row of the slot table."""
    slot = block.columns["slot"][rows]

    def values(name: str) -> npt.NDArray[Any]:  # dtypes differ
        if name in ("worker", "slot"):
            of_slot = slots.worker_of_id if name == "worker" else slots.position
            return of_slot[slot]
        column = block.columns[name][rows]
        return block.threads[column] if name == "thread" else column

    return {name: values(name).astype(_DTYPES[name], copy=False) for name in names}


def _joined(parts: list[Columns], names: Collection[str] = NAMES) -> Columns:
    return joined([{name: np.empty(0, dtype=_DTYPES[name]) for name in names}, *parts])


def _by_start(rows: Columns) -> Columns:
    order = np.argsort(rows["start"], kind="stable")
    return {name: column[order] for name, column in rows.items()}


class ActionLog:
    """What worker threads did, newest last.

    Parameters
    ----------
    slots : SlotTable
    keys : KeyTable
    max_rows : int
        Rows kept at most.

    Attributes
    ----------
    total, dropped, evicted : int
        Actions that came, that were lost before they came here, and that were given up.
    details : dict of int to bytes
        `Batch.details`, by the history's ordinals.
    """

    SAVED = ("dropped", "evicted", "details", "_evicted_sums")

    def __init__(self, slots: SlotTable, keys: KeyTable, max_rows: int = MAX_ROWS) -> None:
        self.version = self.total = self.dropped = self.evicted = 0
        self.details: dict[int, bytes] = {}
        self._slots = slots
        self._keys = keys
        self._max_rows = max_rows
        size = min(BLOCK_ROWS, max(max_rows // 16, 1))
        self._blocks: list[Block] = []
        # The block that is being filled: its columns, and its first rows as blocks.
        self._open = {n: np.empty(size, d) for n, d in _DTYPES.items() if n != "worker"}
        self._n_open = 0
        self._parts: list[Block] = []
        self._evicted_sums: list[Columns] = []

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

    def append(self, rows: Columns) -> None:
        """Append rows, at least one: columns of `ACTIONS`, and ``slot``, the ids of the slots."""
        n, done, size = len(rows["start"]), 0, len(self._open["start"])
        while done < n:
            count = min(n - done, size - self._n_open)
            for name, column in self._open.items():
                column[self._n_open : self._n_open + count] = rows[name][done : done + count]
            self._n_open, done = self._n_open + count, done + count
            if self._n_open == size:
                self._blocks.append(Block(self._open))
                self._n_open, self._parts = 0, []
        self.total += n
        self.version += 1
        self._evict()

    def sums(self, window: Window = ALL, by: Sequence[str] = BY) -> Callable[[], Sums]:
        """Return what adds up the actions in a window, in any thread; see `sums.block_sums`.

        ``by`` may have ``worker``, the string id of the address. Of all time, by `BY`, the sums
        have those that were given up, too.
        """
        blocks = [block for block in self._all() if block.touches(*window)]
        given_up = self._evicted_sums if window == ALL and by == BY else []
        slots, of_blocks = self._slots.rows, ["slot" if name == "worker" else name for name in by]

        def make() -> Sums:
            empty = dict.fromkeys((*of_blocks, *VALUES), np.empty(0))
            parts = [block_sums(block, window, of_blocks) for block in blocks]
            columns = joined([empty, *given_up, *parts])
            if "worker" in by:
                columns["worker"] = slots.worker_of_id[columns["slot"].astype(np.int64)]
            return Sums(grouped(columns, by))

        return make

    def thread_time(
        self,
        window: Window,
        running: tuple[Ints, Floats],
        now: float,
        only: Ints | None = None,
    ) -> Callable[[], dict[str, float]]:
        """Return what works out `sums.thread_time` of a window, and of what runs, in any thread.

        Parameters
        ----------
        window : Window
        running : (ndarray of int64, ndarray of float64)
            Row of the slot and start of each task that runs until ``now``.
        only : ndarray of int64, optional
            Rows of the slots that count; all by default.
        """
        blocks, slots = [b for b in self._all() if b.touches(*window)], self._slots.rows
        workers, worker_of = np.unique(slots.worker, return_inverse=True)
        threads = np.zeros(len(workers), dtype=np.int64)
        threads[worker_of] = slots.threads
        counts = np.ones(slots.count + 1, dtype=np.bool_)
        counts[-1] = False  # of what is in no slot
        if only is not None:
            counts[:] = False
            counts[only] = True
            threads = np.minimum(threads, np.bincount(worker_of[only], minlength=len(threads)))
        names = ("slot", "kind", "start", "stop")

        def part(columns: Columns) -> Columns:
            its = np.flatnonzero(counts[columns["slot"]])
            return {name: columns[name][its] for name in names}

        def read(block: Block) -> Columns:
            return part({**block.columns, "slot": slots.position[block.columns["slot"]]})

        def make() -> dict[str, float]:
            slot, start = running
            runs = {"kind": np.full(len(slot), Kind.COMPUTE), "stop": np.full(len(slot), now)}
            rows = joined([*map(read, blocks), part({**runs, "slot": slot, "start": start})])
            slot, kind, start, stop = (rows[n] for n in names)
            return thread_time(worker_of[slot], kind, start, stop, threads, window)

        return make

    def snapshot(self) -> Callable[[], Columns]:
        """Return what returns all rows as `append` takes them, in any thread."""
        blocks = self._all()

        def read() -> Columns:
            parts = []
            for block in blocks:
                rows = block.in_arrival_order()
                part = {name: block.columns[name][rows] for name in self._open}
                parts.append({**part, "thread": block.threads[part["thread"]]})
            empty = {name: column[:0] for name, column in self._open.items()}
            read = joined([empty, *parts])
            return {n: column.astype(_DTYPES[n], copy=False) for n, column in read.items()}

        return read

    def refill(self, rows: Columns) -> None:
        """Take over what `snapshot` has read, into a log in which there is nothing yet."""
        self._max_rows = max(self._max_rows, len(rows["start"]))
        self.total = self.evicted
        if len(rows["start"]):
            self.append(rows)

    def drop(self, n: int) -> None:
        """Count actions that were lost before they came here."""
        self.dropped += n
        self.version += n > 0

    def key(self, task: int) -> str:
        """Return the key of a task; ``''`` when it was given up with its actions."""
        return self._keys[task]

    def keys(self, tasks: Ints) -> Objects:
        """Return the keys of many tasks, as `key` does."""
        return self._keys.take(tasks)

    def keys_of(self) -> Callable[[Ints], Objects]:
        """Return what returns the keys of many tasks of now, in any thread, as `keys` does."""
        return self._keys.copy().take

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
        slots = self._slots.rows

        def read() -> tuple[Columns, int]:
            parts = [_read(block, block.between(t0, t1), slots) for block in blocks]
            rows = _by_start(_joined(parts))
            total = len(rows["start"])
            begin = 0 if limit is None else max(total - limit, 0)
            return {name: column[begin:] for name, column in rows.items()}, total

        return read

    def of_window(self, window: Window, names: Collection[str]) -> Callable[[], Columns]:
        """Return what reads columns of the actions in a window, in no order and any thread.

        Those as well whose task was ready, or waited to be reported, in the window.
        """
        blocks, slots = self._all(), self._slots.rows
        blocks = [b for b in blocks if b.min_ready <= window.stop and b.max_reported > window.start]

        def read() -> Columns:
            return _joined([_read(b, b.waiting(*window), slots, names) for b in blocks], names)

        return read

    def first(self, name: str, least: float) -> tuple[int, int]:
        """Return the first action to have arrived with at least so much in a column.

        Returns
        -------
        cursor, task : int
            Its own, and the ordinal of its task; where there is none, those that come next.
        """
        cursor, task = self.evicted, 0
        for block in self._all():
            column, tasks = block.columns[name], block.columns["task"]
            if column.max() >= least:
                rows = block.in_arrival_order()
                index = int(np.argmax(column[rows] >= least))
                return cursor + index, int(tasks[rows[index]])
            cursor, task = cursor + block.n, int(tasks.max()) + 1
        return cursor, task

    def of_key(self, key: str) -> Columns:
        """Return the actions of the tasks with a key, by their start, as `since` returns them."""
        tasks, slots = self._keys.find(key), self._slots.rows
        blocks = self._all() if len(tasks) else []
        return _by_start(_joined([_read(b, b.of_tasks(tasks), slots) for b in blocks]))

    def since(
        self,
        cursor: int,
        limit: int | None = None,
        names: Collection[str] = NAMES,
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
            The columns of `ACTIONS` with the history's string ids and task ordinals, and
            ``slot``: row of the slot table. Fewer than the cursors' difference where actions
            were evicted in between.
        """
        first = max(cursor, self.evicted)
        stop = self.total if limit is None else min(self.total, first + limit)
        slots, begin, parts = self._slots.rows, self.evicted, []
        for block in self._all():
            if begin < stop and begin + block.n > first:
                rows = block.in_arrival_order()[max(first - begin, 0) : stop - begin]
                parts.append(_read(block, rows, slots, names))
            begin += block.n
        return stop, _joined(parts, names)

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
        """
        known = self._slots.rows
        positions, share = known.positions(slots)
        blocks = tuple(block for block in self._all() if block.touches(t0, t1))
        asked = None if slots is None else slots.tobytes()
        question = (t0, t1, asked, known.version, width_px, max_rects, blocks)
        return WindowQuery(blocks, t0, t1, positions, share, width_px, max_rects, question)

    def _all(self) -> list[Block]:
        """Return the blocks in order of arrival, then the parts of the one being filled."""
        size = min(PART_ROWS, len(self._open["start"]))
        for first in range(0, self._n_open, size):
            rows, index = slice(first, min(first + size, self._n_open)), first // size
            if index == len(self._parts) or self._parts[index].n < rows.stop - first:
                part = Block({name: column[rows] for name, column in self._open.items()})
                self._parts[index:] = [part]
        return [*self._blocks, *self._parts]

    def _evict(self) -> None:
        if self.count <= self._max_rows:
            return
        while self.count > self._max_rows:
            block = self._blocks.pop(0)
            self.evicted += block.n
            self._evicted_sums = [grouped(joined([*self._evicted_sums, block_sums(block)]))]
        # Ordinals ascend in the order of arrival.
        blocks = self._all()
        if blocks:
            first = int(blocks[0].columns["task"].min())
            self._keys.forget_before(first)
            self.details = {task: packed for task, packed in self.details.items() if task >= first}
        self._slots.forget_before(self.first_start)
