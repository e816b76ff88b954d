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

from dask_diag_lab.store.arrays import Columns, Floats, Ints, joined
from dask_diag_lab.store.block import COARSEST, FINEST, Block, representatives

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
            total=int(rects["count"].sum()),
        )
