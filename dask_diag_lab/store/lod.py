"""The level-of-detail query: what of many actions can be told apart in a picture this wide.

A query holds all that its answer is made of. None of that changes, but for caches that are made for
several threads (`Recent`), so any thread may answer it while the log grows.

Buckets of time are a power of two long and aligned to the epoch, so nothing shimmers when the
window pans. A bucket keeps its longest action; classes that must stay visible (transfers beside
tasks, erred and killed ones beside all) are merged separately.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from math import ceil, floor, inf, log2
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import Floats, Ints, Recent, frozen, narrow
from dask_diag_lab.store.block import FINEST, LEAST_MERGE, N_FAMILIES, Block, longest

COARSEST = 60
"""``2**60`` seconds: all that ever happened is in one bucket."""
FEWEST_BUCKETS = 8
"""With fewer in a window, kinds of actions are merged rather than time."""
# Buckets so much older than the window are one: the sort key stays within 63 bits.
MAX_BUCKETS = 1 << 40


@dataclass(slots=True)
class Rects:
    """One rectangle a row.

    Attributes
    ----------
    track : ndarray of int64
        What may be merged: class × slots + position of the slot.
    bucket : ndarray of int64
        Which bucket of time it starts in, counted from the epoch.
    block, row : ndarray of int64
        The longest of its actions.
    count : ndarray of int64
    start, stop, busy_s, duration_s : ndarray of float64
        Span of its actions, sum of their durations, duration of the longest.
    """

    track: Ints
    bucket: Ints
    block: Ints
    row: Ints
    count: Ints
    start: Floats
    stop: Floats
    busy_s: Floats
    duration_s: Floats

    def __len__(self) -> int:
        return len(self.track)

    @property
    def is_merged(self) -> bool:
        """Whether a rect holds more than one action."""
        return len(self) > 0 and int(self.count.max()) > 1

    def size(self, by: int) -> int:
        """Return how many rects are left when sorted buckets are merged by ``2**by``."""
        bucket = self.bucket >> by
        is_new = (bucket[1:] != bucket[:-1]) | (self.track[1:] != self.track[:-1])
        return 1 + int(np.count_nonzero(is_new)) if len(self) else 0


def nothing() -> Rects:
    """Return no rects."""
    none, never = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
    return Rects(none, none, none, none, none, never, never, never, never)


def merge(parts: Sequence[Rects]) -> Rects:
    """Return the rects of all parts, sorted by track and bucket, one for each such pair."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return nothing()
    joined = Rects(
        *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Rects))
    )
    newest = joined.bucket.max()
    age = np.minimum(newest - joined.bucket, MAX_BUCKETS)
    key = joined.track * (age.max() + 1) - age
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    leader = order[first]
    best = order[longest(joined.duration_s[order], first)]
    return Rects(
        joined.track[leader],
        joined.bucket[leader],
        joined.block[best],
        joined.row[best],
        np.add.reduceat(joined.count[order], first),
        np.minimum.reduceat(joined.start[order], first),
        np.maximum.reduceat(joined.stop[order], first),
        np.add.reduceat(joined.busy_s[order], first),
        joined.duration_s[best],
    )


KEPT: Final = 8
"""Of 9 columns of some thousand rects each: together some megabytes at most."""


class Settled:
    """Rects of the first blocks of an answer, by question, those used last, for any thread."""

    def __init__(self) -> None:
        self._kept: Recent[Hashable, tuple[tuple[int, ...], Rects]] = Recent(KEPT)

    def longest(self, questions: Sequence[Hashable], blocks: Sequence[Block]) -> tuple[int, Rects]:
        """Return the rects of as many of the first ``blocks`` as are known, and of how many.

        They belong to all who ask: nobody may write into them.
        """
        serials = tuple(block.serial for block in blocks)
        best: tuple[int, Rects] = (0, nothing())
        for question in questions:
            known, rects = self._kept.get(question) or ((), best[1])
            if known and serials[: len(known)] == known:
                best = max(best, (len(known), rects), key=lambda found: found[0])
        return best

    def keep(self, question: Hashable, blocks: Sequence[Block], rects: Rects) -> None:
        """Remember the rects of some blocks, in place of what was known of the question."""
        self._kept.keep(question, (tuple(block.serial for block in blocks), rects))


@dataclass(frozen=True, slots=True)
class LevelOfDetail:
    """Rectangles to draw, sorted by class (errors last), slot and start. Arrays are read-only.

    Attributes
    ----------
    start, stop : ndarray of float64
        Span of the actions of each rect, seconds since the epoch.
    slot : ndarray of int64
        Row of the slot table.
    kind, outcome : ndarray of uint8
    prefix, source : ndarray of int64
        String ids of the store.
    task, nbytes : ndarray of int64
        These are of the longest action of the rect, as are kind, outcome, prefix and source.
    count : ndarray of int64
        Actions in the rect; above 1 it is merged.
    busy_s, longest_s : ndarray of float64
        Sum of the durations of its actions, which is more than the span where they overlap; and
        the longest of them.
    resolution_s : float
        Length of a bucket; 0 when nothing was merged.
    total : int
        Actions of the requested slots that are in the window at least partly.
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
    total: int

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """What is asked for, of what the log had when it was asked.

    Attributes
    ----------
    blocks : tuple of Block
        Those that touch the window.
    begin, end : float
        The window.
    positions : ndarray of int64
        Row of the slot table for each slot id, -1 where the slot is not asked for.
    share : float
        Share of all slots that is asked for.
    width_px, max_rects : int
    answers : Recent
        What other queries with the same `question` were answered.
    settled : Settled
        What is known of blocks that were looked at before.
    steady : tuple of int
        How many of the first blocks stay for good, and how many do not grow.
    place : Hashable
        Tells windows and slots apart.
    """

    blocks: tuple[Block, ...]
    begin: float
    end: float
    positions: Ints
    share: float
    width_px: int
    max_rects: int
    answers: Recent[Hashable, LevelOfDetail]
    settled: Settled
    steady: tuple[int, int]
    place: Hashable

    @property
    def question(self) -> Hashable:
        """What queries have in common that have the same answer."""
        serials = tuple(block.serial for block in self.blocks)
        return self.place, self.width_px, self.max_rects, serials

    @property
    def n_rows(self) -> int:
        """Actions that must be looked at."""
        return sum(block.n for block in self.blocks)

    def answer(self) -> LevelOfDetail:
        """Return what is in the window, in at most ``max_rects`` rects: the same object again.

        Kinds share a bucket only where hardly any resolution were left otherwise. The bound gives
        way only where there are more slots, times outcomes that occur, than rects.
        """
        question = self.question
        known = self.answers.get(question)
        if known is None:
            known = self._worked_out()
            self.answers.keep(question, known)
        return known

    def _worked_out(self) -> LevelOfDetail:
        rects, level = self._fit(is_folded=False)
        if rects.is_merged and FEWEST_BUCKETS * 2.0**level > self.end - self.begin:
            folded, its_level = self._fit(is_folded=True)
            if its_level < level or len(rects) > self.max_rects:
                rects, level = folded, its_level
        return self._finish(rects, level)

    def _fit(self, is_folded: bool) -> tuple[Rects, int]:
        """Return the rects at the finest level that fits, near enough, and that level."""
        pixel_s = (self.end - self.begin) / self.width_px
        finest = min(max(floor(log2(pixel_s)), FINEST), COARSEST) if pixel_s > 0 else FINEST
        expected = self._expect(finest)
        level = finest + int(np.argmax(expected <= self.max_rects))
        rects = self._gather(level, is_folded)
        if 2 * len(rects) <= self.max_rects and level > finest:
            scale = len(rects) / max(expected[level - finest], 1.0)
            level = finest + int(np.argmax(expected * scale <= self.max_rects))
            rects = self._gather(level, is_folded)
        while len(rects) > self.max_rects and (coarser := self._coarser(rects, level)) > level:
            level = coarser
            rects = self._gather(level, is_folded)
        return rects, level

    def _expect(self, finest: int) -> Floats:
        """Return the number of rects at each level, if blocks are even in time and slots."""
        lengths = 2.0 ** np.arange(finest, COARSEST + 1)
        expected = np.zeros(len(lengths))
        for index, block in enumerate(self.blocks):
            span = block.max_stop - block.min_start
            overlap = min(self.end, block.max_stop) - max(self.begin, block.min_start)
            sizes = block.sizes(finest, COARSEST)
            if index:
                # A bucket longer than a block holds rows of the block before as well.
                sizes -= sizes[-1] * np.minimum(lengths / max(span, lengths[0]), 1.0)
            expected += sizes * (overlap / span if span > 0 else 1.0)
        expected *= self.share
        expected[-1] = 0.0
        return expected

    def _coarser(self, rects: Rects, level: int) -> int:
        """Return the first level at which so many rects fit, or at which they are fewest."""
        sizes = [rects.size(by) for by in range(COARSEST - level + 1)]
        enough = max(self.max_rects, sizes[-1])
        return level + next(by for by, size in enumerate(sizes) if size <= enough)

    def _gather(self, level: int, is_folded: bool) -> Rects:
        """Return the rects of all blocks; remember those that the next answer will have again."""
        blocks = self.blocks
        questions = [(self.place, level, is_folded, tier) for tier in range(len(self.steady))]
        done, rects = self.settled.longest(questions, blocks)
        if self.steady[-1] < len(blocks):
            for question, end in zip(questions, self.steady, strict=True):
                if done < end:
                    rects = merge([rects, *self._parts(done, end, level, is_folded)])
                    done = end
                    if len(rects) <= self.max_rects:
                        self.settled.keep(question, blocks[:end], rects)
        return merge([rects, *self._parts(done, len(blocks), level, is_folded)])

    def _parts(self, first: int, stop: int, level: int, is_folded: bool) -> list[Rects]:
        """Return the rects of some of the blocks, each block by itself."""
        length = 2.0**level
        parts: list[Rects] = []
        for index, block in enumerate(self.blocks[first:stop], first):
            # Buckets at the window's edges are made from their rows inside it.
            begin, end = ceil(self.begin / length) * length, floor(self.end / length) * length
            if self.begin <= block.min_start and block.max_start <= self.end:
                begin, end = -inf, inf
            if LEAST_MERGE * block.size(level) > block.n:
                begin, end = inf, -inf
            if begin < end:
                parts.append(self._merged(index, block, level, begin, end))
            if begin > -inf:
                parts.append(self._single(index, block, level, self._outside(block, begin, end)))
        if is_folded:
            n = len(self.positions)
            for part in parts:
                part.track -= part.track // n % N_FAMILIES * n
        return parts

    def _outside(self, block: Block, begin: float, end: float) -> Ints:
        """Return the rows that are in the window but do not start between two times."""
        rows = block.between(self.begin, self.end)
        if begin < end:
            start = block.start[rows]
            rows = rows[(start < begin) | (start >= end)]
        return rows

    def _merged(self, index: int, block: Block, level: int, begin: float, end: float) -> Rects:
        """Return the rects of a block that start between two times."""
        merged = block.level(level)
        start = block.start[merged.first]
        position = self.positions[block.slot[merged.first]]
        shown = np.flatnonzero((position >= 0) & (start >= begin) & (start < end))
        first, best = merged.first[shown], merged.best[shown].astype(np.int64)
        start = start[shown]
        return Rects(
            block.classes(first) * len(self.positions) + position[shown],
            np.floor(start / 2.0**level).astype(np.int64),
            np.full(len(shown), index),
            best,
            np.diff(merged.first, append=block.n)[shown].astype(np.int64),
            start,
            merged.stop[shown],
            merged.busy_s[shown].astype(np.float64),
            block.stop[best] - block.start[best],
        )

    def _single(self, index: int, block: Block, level: int, rows: Ints) -> Rects:
        """Return one rect for each of some rows, without the slots that are not asked for."""
        position = self.positions[block.slot[rows]]
        is_shown = position >= 0
        rows, position = rows[is_shown], position[is_shown]
        start, stop = block.start[rows], block.stop[rows]
        return Rects(
            block.classes(rows) * len(self.positions) + position,
            np.floor(start / 2.0**level).astype(np.int64),
            np.full(len(rows), index),
            rows,
            np.ones(len(rows), dtype=np.int64),
            start,
            stop,
            stop - start,
            stop - start,
        )

    def _finish(self, rects: Rects, level: int) -> LevelOfDetail:
        n = len(rects)
        columns: dict[str, npt.NDArray[np.int64]] = {
            name: np.empty(n, dtype=np.int64) for name in ("prefix", "task", "nbytes", "source")
        }
        kind, outcome = np.empty(n, dtype=np.uint8), np.empty(n, dtype=np.uint8)
        order = np.argsort(narrow(rects.block.view(np.uint64)), kind="stable")
        ends = np.cumsum(np.bincount(rects.block, minlength=len(self.blocks)))
        for block, of_block in zip(self.blocks, np.split(order, ends)[:-1], strict=True):
            rows = rects.row[of_block]
            kind[of_block], outcome[of_block] = block.kind[rows], block.outcome[rows]
            columns["prefix"][of_block] = block.prefix[rows]
            columns["source"][of_block] = block.source[rows]
            columns["task"][of_block] = block.task(rows)
            columns["nbytes"][of_block] = block.nbytes_of(rows)
        return LevelOfDetail(
            start=frozen(rects.start),
            stop=frozen(rects.stop),
            slot=frozen(rects.track % len(self.positions) if n else rects.track),
            kind=frozen(kind),
            outcome=frozen(outcome),
            **{name: frozen(column) for name, column in columns.items()},
            count=frozen(rects.count),
            busy_s=frozen(rects.busy_s),
            longest_s=frozen(rects.duration_s),
            resolution_s=2.0**level if rects.is_merged else 0.0,
            total=int(rects.count.sum()),
        )
