"""Rectangles half-way through a merge: columns of equal length; knows no colours or keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from dask_diag_lab.store.arrays import Floats, Ints
from dask_diag_lab.store.block import longest

# Buckets so much older than the window are one: the sort key stays within 63 bits.
MAX_BUCKETS = 1 << 40


@dataclass(slots=True)
class Rects:
    """One rectangle a row.

    Attributes
    ----------
    track : ndarray of int64
        What may be merged: class × lanes + position of the lane.
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
