"""Where the frames of a profile stand: the root on top, each below its caller, wide as its share.

Pure arithmetic over `Frames`; knows nothing of colours, words or pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.profile.frames import Flags, Frames, Ints

Floats = npt.NDArray[np.float64]

LEAST_SHARE: Final = 0.001
"""A frame narrower than this share of the picture is merged with its like."""

MAX_BOXES: Final = 3000
"""Rectangles drawn: what Bokeh writes, and a browser redraws, without holding anything up."""


@dataclass(frozen=True, slots=True)
class Icicle:
    """Boxes of a frame and of all that it called, in shares of its width.

    Attributes
    ----------
    node : ndarray of int64
        Frame of each box; of a merged one the caller of what was merged.
    row : ndarray of int64
        0 for the frame that fills the width, 1 for what it called, and so on.
    left, right : ndarray of float64
        Edges, from 0 to 1.
    samples : ndarray of int64
    merged : ndarray of int64
        How many frames of one caller a box stands for; 0 for a frame of its own.
    hidden : int
        Frames that are not drawn by themselves: the merged ones and all that they called.
    least : float
        Share of the width below which frames were merged.
    """

    node: Ints
    row: Ints
    left: Floats
    right: Floats
    samples: Ints
    merged: Ints
    hidden: int
    least: float

    def __len__(self) -> int:
        return len(self.node)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.row.max()) + 1 if len(self) else 0

    def at(self, x: float, row: int) -> int:
        """Return the box at this place, -1 where there is none."""
        found = np.flatnonzero((self.row == row) & (self.left <= x) & (x < self.right))
        return int(found[0]) if len(found) else -1


def lay_out(
    frames: Frames,
    focus: int = 0,
    least_share: float = LEAST_SHARE,
    max_boxes: int = MAX_BOXES,
) -> Icicle:
    """Return the boxes of `focus` and of all it called.

    Parameters
    ----------
    frames : Frames
    focus : int
        The frame that fills the width.
    least_share : float
        Narrower frames are merged with their like.
    max_boxes : int
        At most about so many; the share below which frames are merged grows until it holds.
    """
    whole, origin = int(frames.total[focus]), int(frames.left[focus])
    if whole <= 0:
        return _none()
    inside = (
        (frames.depth >= frames.depth[focus])
        & (frames.left >= origin)
        & (frames.left + frames.total <= origin + whole)
        & (frames.total > 0)
    )
    least = _least(frames.total[inside], least_share * whole, max_boxes // 2)
    wide = inside & (frames.total >= least)
    narrow = np.flatnonzero(inside & ~wide & wide[frames.parent])
    shown = np.flatnonzero(wide)
    caller, start, samples, merged = _merge(frames, narrow)
    node = np.concatenate((shown, caller))
    left = np.concatenate((frames.left[shown], start)) - origin
    count = np.concatenate((frames.total[shown], samples))
    depth = np.concatenate((frames.depth[shown], frames.depth[caller] + 1))
    return Icicle(
        node=node,
        row=depth - frames.depth[focus],
        left=left / whole,
        right=(left + count) / whole,
        samples=count,
        merged=np.concatenate((np.zeros(len(shown), dtype=np.int64), merged)),
        hidden=int(inside.sum()) - len(shown),
        least=least / whole,
    )


def matched_samples(frames: Frames, is_match: Flags) -> int:
    """Return the samples whose stack has a frame that matches, each sample once."""
    covered = np.zeros(len(frames), dtype=np.bool_)
    for level in range(1, int(frames.depth.max(initial=0)) + 1):
        here = np.flatnonzero(frames.depth == level)
        callers = frames.parent[here]
        covered[here] = covered[callers] | is_match[callers]
    return int(frames.total[is_match & ~covered].sum())


def _least(totals: Ints, least: float, most: int) -> float:
    """Return the fewest samples of a frame that is drawn, so that at most `most` are.

    A frame has never fewer samples than what it called, so any such limit leaves a tree.
    """
    if int((totals >= least).sum()) <= most:
        return least
    return float(np.partition(totals, len(totals) - most)[len(totals) - most]) + 0.5


def _merge(frames: Frames, narrow: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return caller, left edge, samples and number of frames of each merged box."""
    callers, group = np.unique(frames.parent[narrow], return_inverse=True)
    start = np.full(len(callers), np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(start, group, frames.left[narrow])
    samples = np.bincount(group, weights=frames.total[narrow], minlength=len(callers))
    merged = np.bincount(group, minlength=len(callers))
    return callers, start, samples.astype(np.int64), merged.astype(np.int64)


def _none() -> Icicle:
    ints, floats = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float64)
    return Icicle(ints, ints, floats, floats, ints, ints, 0, LEAST_SHARE)
