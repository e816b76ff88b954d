"""The level-of-detail query: what of many actions can be told apart in a picture this wide.

A query holds all that its answer is made of, and none of that changes, so any thread may answer it
while the log grows.

Buckets of time are a power of two long and aligned to the epoch, so nothing shimmers when the
window pans. A bucket keeps the longest action of one function, and functions take turns at that
by their shares of the time; families that must stay visible (transfers beside
tasks, erred and killed ones beside all) are merged separately.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import floor, log2
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Kind
from dask_diag_lab.store.arrays import Columns, Floats, Ints, joined, narrow

FINEST = -20
"""Buckets of time are ``2**level`` seconds long, from this level on (1 µs)."""
COARSEST = 60
"""``2**60`` seconds: all that ever happened is in one bucket."""
# What is painted later lies on top: short red transfers over long tasks.
_ORDER_OF_KIND = np.array(
    [{Kind.COMPUTE: 0, Kind.TRANSFER: 2}.get(kind, 1) for kind in Kind], dtype=np.uint8
)
_MAX_LEVELS = 3
_MAX_PREFIXES = 64
# Irrational numbers as fractions of 2**64, where products wrap: the golden ratio, and sqrt(2) - 1
# by which tracks differ, lest all have one colour at a time.
_GOLDEN, _SILVER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x6A09E667F3BCC908)
_LEAST_MERGE = 4
"""A level is kept only if it has this many times fewer rects than the block has rows."""


def longest(duration_s: Floats, first: Ints) -> Ints:
    """Return the index of the longest row in each run of rows; the earlier one of equals.

    Parameters
    ----------
    duration_s : ndarray of float64
        Not negative.
    first : ndarray of int
        Begin of each run, ascending from 0.
    """
    # Non-negative floats sort like their bits; the low bits make room for the row, so one
    # reduction gives both (durations that differ by less than 1e-9 of themselves are equal).
    mask = (1 << len(duration_s).bit_length()) - 1
    packed = duration_s.view(np.int64) & ~mask
    packed |= mask - np.arange(len(duration_s))
    return mask - (np.maximum.reduceat(packed, first) & mask)


def representatives(seconds: Floats, prefix: Ints, first: Ints, bucket: Ints, track: Ints) -> Ints:
    """Return the row that stands for each run: the longest of one prefix.

    Prefixes take turns at that by their shares of the runs' time, so colours are in proportion. It
    is error diffusion without memory: a run's place in the sequence of multiples of the golden
    ratio says which part of its own time counts, hence nothing changes when the window moves.

    Parameters
    ----------
    seconds : ndarray of float64
        Not negative.
    prefix : ndarray of int
        Those after the first 63 count as one.
    first : ndarray of int
        Begin of each run, ascending from 0.
    bucket, track : ndarray of int64
        Place of each run.
    """
    if len(first) == len(seconds):
        return first
    number = np.minimum(np.cumsum(np.bincount(prefix) > 0) - 1, _MAX_PREFIXES - 1)[prefix]
    n = int(number.max()) + 1
    run = np.repeat(np.arange(len(first)), np.diff(first, append=len(seconds)))
    cells = np.bincount(run * n + number, weights=seconds, minlength=len(first) * n)
    until = cells.reshape(-1, n).cumsum(axis=1)
    place = bucket.astype(np.uint64) * _GOLDEN + track.astype(np.uint64) * _SILVER
    at = (place >> np.uint64(11)) * 2.0**-53 * until[:, -1]
    chosen = (until <= at[:, np.newaxis]).sum(axis=1)
    return longest(np.where(number == chosen[run], seconds, 0.0), first)


class Block:
    """Actions of all slots, immutable: any thread may read them.

    Parameters
    ----------
    rows : dict of str to ndarray
        The columns of `ACTIONS`, ``slot`` (ids) in place of ``worker``, in order of arrival; at
        least one row.

    Attributes
    ----------
    columns : dict of str to ndarray
        The same in the order of the block, in the smallest types, ``thread`` as indices of
        `threads`; and ``family``: what is merged only with its like, by outcome first, then by
        kind.
    threads : ndarray of uint64
        Thread identifiers: a few thousand at most, of 8 bytes each.
    sums : dict of tuple to dict
        What `sums.block_sums` returned of all of it, by what they are by.
    """

    def __init__(self, rows: Columns) -> None:
        self.n = len(rows["start"])
        family = 3 * rows["outcome"] + _ORDER_OF_KIND[rows["kind"]]
        track = family.astype(np.int64) * (int(rows["slot"].max()) + 1) + rows["slot"]
        order = np.argsort(rows["start"], kind="stable")
        # 16-bit keys are sorted by radix: 10 times faster than a comparison.
        order = order[np.argsort(narrow(track)[order], kind="stable")]
        self.threads, thread = np.unique(rows["thread"], return_inverse=True)
        self.columns: Columns = {
            name: column[order] if column.dtype.kind == "f" else narrow(column[order])
            for name, column in {**rows, "thread": thread, "family": family}.items()
        }
        self._arrival = narrow(order)
        self.start: Floats = self.columns["start"]
        self.stop: Floats = self.columns["stop"]
        self.min_start, self.max_start = float(self.start.min()), float(self.start.max())
        self.max_stop = float(self.stop.max())
        ready, delay = (np.nan_to_num(self.columns[n]) for n in ("ready", "report_delay"))
        self.min_ready = float((self.start - ready).min())
        self.max_reported = float((self.stop + delay).max())
        self._sizes = self._count(track[order])
        self._levels: dict[int, Columns] = {}
        self.sums: dict[tuple[str, ...], Columns] = {}

    def _count(self, track: Ints) -> Ints:
        """Return how many rects there are at each level from `FINEST` on."""
        bucket = np.floor(self.start * 2.0**-FINEST).astype(np.int64)
        # Two buckets are one from the level on that is above their highest different bit.
        bits = np.frexp((bucket[1:] ^ bucket[:-1]).astype(np.float64))[1]
        bits[track[1:] != track[:-1]] = 255
        return self.n - np.cumsum(np.bincount(bits, minlength=256))

    def sizes(self, finest: int) -> Floats:
        """Return how many rects the block has at each level from ``finest`` to `COARSEST`."""
        return self._sizes[finest - FINEST : COARSEST - FINEST + 1].astype(np.float64)

    def touches(self, begin: float, end: float) -> bool:
        """Tell whether an action may lie between two times, the latter included."""
        return self.min_start <= end and (self.max_stop > begin or self.max_start >= begin)

    def between(self, begin: float, end: float) -> Ints:
        """Return the rows that are between two times at least partly, as a window has them."""
        is_in = self.start <= end
        is_in &= (self.start >= begin) | (self.stop > begin)
        return np.flatnonzero(is_in)

    def waiting(self, begin: float, end: float) -> Ints | slice:
        """Return the rows between two times, and those ready, or to be reported, between them."""
        if begin < self.min_start and self.max_start <= end:
            return slice(None)
        ready, delay = (np.nan_to_num(self.columns[n]) for n in ("ready", "report_delay"))
        return np.flatnonzero((self.start - ready <= end) & (self.stop + delay > begin))

    def of_tasks(self, tasks: Ints) -> Ints:
        """Return the rows of some tasks, by their ordinals."""
        return np.flatnonzero(np.isin(self.columns["task"], tasks))

    def in_arrival_order(self) -> Ints:
        """Return the rows in order of arrival."""
        rows = np.empty(self.n, dtype=np.int64)
        rows[self._arrival] = np.arange(self.n)
        return rows

    def rects(self, level: int, begin: float, end: float) -> Columns:
        """Return what is in a window, merged into buckets of ``2**level`` seconds.

        Returns
        -------
        dict of str to ndarray
            One row a rect: ``family``, ``slot`` (id), ``bucket`` (counted from the epoch),
            ``row`` and ``prefix`` (of its representative), ``count`` of actions, their ``start``,
            ``stop`` and sum ``busy_s``, and ``longest_s``.
        """
        if not (begin <= self.min_start and self.max_start <= end):
            return self._merged(level, self.between(begin, end))
        known = self._levels.get(level)
        if known is None:
            known = self._merged(level, np.arange(self.n))
            if _LEAST_MERGE * len(known["row"]) <= self.n:
                # Replaced as a whole: other threads may read it.
                kept = list(self._levels.items())[1 - _MAX_LEVELS :]
                self._levels = dict([*kept, (level, known)])
        return known

    def _merged(self, level: int, rows: Ints) -> Columns:
        family, slot = self.columns["family"][rows], self.columns["slot"][rows]
        start, stop = self.start[rows], self.stop[rows]
        bucket = np.floor(start * 2.0**-level).astype(np.int64)
        is_first = np.ones(len(rows), dtype=np.bool_)
        is_first[1:] = bucket[1:] != bucket[:-1]
        is_first[1:] |= (slot[1:] != slot[:-1]) | (family[1:] != family[:-1])
        first = np.flatnonzero(is_first)
        duration, prefix = stop - start, self.columns["prefix"][rows]
        track = 16 * slot[first].astype(np.int64) + family[first]
        best = representatives(duration, prefix, first, bucket[first], track)
        return {
            "family": family[first],
            "slot": slot[first],
            "bucket": bucket[first],
            "row": rows[best],
            "count": np.diff(first, append=len(rows)),
            "start": start[first],
            "stop": np.maximum.reduceat(stop, first),
            "busy_s": np.add.reduceat(duration, first),
            "longest_s": np.maximum.reduceat(duration, first) if len(first) else duration,
            "prefix": prefix[best],
        }


_SUMMED: Final = {
    "count": np.add,
    "start": np.minimum,
    "stop": np.maximum,
    "busy_s": np.add,
    "longest_s": np.maximum,
}
"""What becomes of these columns of `Block.rects` when rects are merged."""
_OF_ROW: Final = {
    **dict.fromkeys(("kind", "outcome"), np.uint8),
    **dict.fromkeys(("task", "nbytes", "source"), np.int64),
}
_NO_RECTS: Final = {
    **dict.fromkeys(
        ("track", "bucket", "block", "row", "count", "prefix"), np.empty(0, dtype=np.int64)
    ),
    **dict.fromkeys(("start", "stop", "busy_s", "longest_s"), np.empty(0)),
}


def merge(rects: Columns) -> Columns:
    """Return rects sorted by track and bucket, one for each such pair."""
    bucket, track = rects["bucket"], rects["track"]
    if not len(bucket):
        return rects
    key = track * (int(np.ptp(bucket)) + 1) + (bucket - bucket.min())
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    places = bucket[order[first]], track[order[first]]
    best = order[representatives(rects["busy_s"][order], rects["prefix"][order], first, *places)]
    merged = {name: column[best] for name, column in rects.items()}
    for name, how in _SUMMED.items():
        merged[name] = how.reduceat(rects[name][order], first)
    return merged


@dataclass(frozen=True, slots=True)
class LevelOfDetail:
    """Rectangles to draw, sorted by class (errors last), slot and start.

    Attributes
    ----------
    start, stop : ndarray of float64
        Span of the actions of each rect, seconds since the epoch.
    slot : ndarray of int64
        Row of the slot table.
    kind, outcome : ndarray of uint8
    prefix, source : ndarray of int64
        String ids of the history.
    task, nbytes : ndarray of int64
        These are of the longest action of the prefix that the rect has the colour of, as are kind,
        outcome, prefix and source.
    count : ndarray of int64
        Actions in the rect; above 1 it is merged.
    busy_s, longest_s : ndarray of float64
        Sum of the durations of its actions, which is more than the span where they overlap; and
        the longest of them.
    resolution_s : float
        Length of a bucket; 0 when nothing was merged.
    """

    start: Floats
    stop: Floats
    slot: Ints
    kind: npt.NDArray[np.uint8]
    outcome: npt.NDArray[np.uint8]
    prefix: Ints
    task: Ints
    nbytes: Ints
    source: Ints
    count: Ints
    busy_s: Floats
    longest_s: Floats
    resolution_s: float


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """What is asked for, of what the log had when it was asked.

    Attributes
    ----------
    blocks : sequence of Block
        Those that touch the window.
    begin, end : float
        The window.
    positions : ndarray of int64
        Row of the slot table for each slot id, -1 where the slot is not asked for.
    share : float
        Share of all slots that is asked for.
    width_px, max_rects : int
    question : Hashable
        What queries have in common that have the same answer.
    """

    blocks: Sequence[Block]
    begin: float
    end: float
    positions: Ints
    share: float
    width_px: int
    max_rects: int
    question: Hashable

    def answer(self) -> LevelOfDetail:
        """Return what is in the window, in at most ``max_rects`` rects.

        The bound gives way only where there are more slots, times kinds and outcomes that occur.
        """
        finest = level = self._finest()
        rects = coarser = self._merged(level)
        while len(coarser["row"]) > self.max_rects and np.ptp(coarser["bucket"]) > 0:
            level += 1
            coarser = merge({**coarser, "bucket": coarser["bucket"] >> 1})
        # Made anew: what stands for a rect has the shares of its actions, not of finer rects.
        return self._finish(rects if level == finest else self._merged(level), level)

    def _merged(self, level: int) -> Columns:
        parts = [self._part(index, block, level) for index, block in enumerate(self.blocks)]
        return merge(joined([_NO_RECTS, *parts]))

    def _finest(self) -> int:
        """Return the level of a pixel, or the first one at which nearly all rects will fit.

        As many as are expected if blocks are even in time and slots.
        """
        pixel_s = (self.end - self.begin) / self.width_px
        finest = min(max(floor(log2(pixel_s)), FINEST), COARSEST) if pixel_s > 0 else FINEST
        lengths = 2.0 ** np.arange(finest, COARSEST + 1)
        expected = np.zeros(len(lengths))
        for index, block in enumerate(self.blocks):
            span = max(block.max_stop - block.min_start, lengths[0])
            overlap = min(self.end, block.max_stop) - max(self.begin, block.min_start)
            sizes = block.sizes(finest)
            if index:
                # A bucket longer than a block holds rows of the block before as well.
                sizes -= sizes[-1] * np.minimum(lengths / span, 1.0)
            expected += sizes * self.share * min(max(overlap / span, 0.0), 1.0)
        expected[-1] = 0.0
        return finest + int(np.argmax(expected <= 1.5 * self.max_rects))

    def _part(self, index: int, block: Block, level: int) -> Columns:
        """Return the rects of a block, without the slots that are not asked for."""
        rects = block.rects(level, self.begin, self.end)
        position = self.positions[rects["slot"]]
        track = rects["family"].astype(np.int64) * len(self.positions) + position
        part = {**rects, "track": track, "block": np.full(len(track), index)}
        return {name: part[name][position >= 0] for name in _NO_RECTS}

    def _finish(self, rects: Columns, level: int) -> LevelOfDetail:
        columns = {name: np.empty(len(rects["row"]), dtype) for name, dtype in _OF_ROW.items()}
        for index, block in enumerate(self.blocks):
            is_its = rects["block"] == index
            for name, column in columns.items():
                column[is_its] = block.columns[name][rects["row"][is_its]]
        names = ("start", "stop", "count", "busy_s", "longest_s", "prefix")
        return LevelOfDetail(
            **{name: rects[name] for name in names},
            **columns,
            slot=rects["track"] % max(len(self.positions), 1),
            resolution_s=2.0**level if int(rects["count"].max(initial=0)) > 1 else 0.0,
        )
