"""Everything of a profile that is drawn, worked out of a reading and of what the user chose.

Pure, and slow where a profile is large: not for the loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.views.profile import rows
from dask_diag_lab.views.profile.boxes import MAX_CALLERS, Columns, Scene, columns
from dask_diag_lab.views.profile.icicle import LEAST_SHARE, lay_out, matched_samples

if TYPE_CHECKING:
    from dask_diag_lab.views.look import Look
    from dask_diag_lab.views.profile.frames import Flags, Frames
    from dask_diag_lab.views.profile.reading import Reading

MAX_LISTED: Final = 500
"""Functions in the table beside the picture; the exports have all."""
LEAST_PX: Final = 2.0
"""A box narrower than this cannot be told from its edge."""
TRUNK_SHARE: Final = 0.95
"""Of all samples; rows of the loop itself, above what it does, have more than that."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be seen.

    Attributes
    ----------
    reading : Reading
    focus : tuple of str, or None
        `Frames.path` of the frame that fills the width; None for the one to begin with.
    search : str
        In small letters; '' for no search.
    width_px : float
        Width of the flame graph.
    is_low : bool
        Whether it has room for few rows only.
    look : Look
    is_listed : bool
        Whether the table is seen instead of the flame graph.
    """

    reading: Reading
    focus: tuple[str, ...] | None
    search: str
    width_px: float
    is_low: bool
    look: Look
    is_listed: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found.

    Attributes
    ----------
    functions : int
        Functions that match.
    certain, possible : int
        Samples in them and in what they called, each once: without and with those of which it is
        not known whether they were in a function that matches.
    """

    functions: int
    certain: int
    possible: int


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What is drawn.

    Attributes
    ----------
    reading : Reading
    scene : Scene or None
        None of a profile without samples.
    boxes, labels : dict
        Columns of the flame graph; empty while the table is seen.
    listing : dict or None
        Columns of the table; None while it is not seen.
    unlisted : int
        Functions that the table leaves out for want of room.
    found : Found or None
        None without a search.
    """

    reading: Reading
    scene: Scene | None
    boxes: Columns
    labels: Columns
    listing: Columns | None
    unlisted: int
    found: Found | None

    @property
    def is_uncertain(self) -> bool:
        """Whether samples are seen of which it is not known in which function they were."""
        if self.scene is None or self.listing is not None:
            return self.reading.is_uncertain
        icicle = self.scene.icicle
        return bool(self.reading.frames.is_unclear[icicle.node[icicle.merged == 0]].any())


def paint(wish: Wish) -> Picture:
    """Return what is drawn of a wish."""
    reading, frames = wish.reading, wish.reading.frames
    if not frames.samples:
        return Picture(reading, None, {}, {}, {} if wish.is_listed else None, 0, None)
    matches = frames.matches(wish.search) if wish.search else None
    beginning = _beginning(frames)
    focus = beginning if wish.focus is None else frames.find(wish.focus)
    least_share = max(LEAST_SHARE, LEAST_PX / wish.width_px)
    scene = Scene(
        frames=frames,
        icicle=lay_out(frames, focus, least_share),
        callers=frames.ancestors(focus),
        interval_s=reading.interval_s,
        is_match=None if matches is None else matches[frames.function],
        width_px=wish.width_px,
        is_zoomed=focus != beginning,
        is_low=wish.is_low,
    )
    entries = [e for e in reading.entries if matches is None or matches[e.function]]
    boxes, labels = ({}, {}) if wish.is_listed else columns(scene, wish.look)
    listed = rows.table(entries[:MAX_LISTED], frames.samples, reading.interval_s).columns
    return Picture(
        reading=reading,
        scene=scene,
        boxes=boxes,
        labels=labels,
        listing={name: list(listed[name]) for name in listed} if wish.is_listed else None,
        unlisted=max(len(entries) - MAX_LISTED, 0),
        found=None if scene.is_match is None else _found(frames, scene.is_match, len(entries)),
    )


def _beginning(frames: Frames) -> int:
    """Return the frame to begin with: where stacks part, below many rows of nearly all samples."""
    trunk = np.flatnonzero(frames.total >= TRUNK_SHARE * frames.samples)
    last = int(trunk[-1])
    is_parting = np.count_nonzero((frames.parent == last) & (frames.total > 0)) > 1
    return last if is_parting and frames.depth[last] > MAX_CALLERS else 0


def _found(frames: Frames, is_match: Flags, n_functions: int) -> Found:
    is_certain = np.asarray(is_match & ~frames.is_unclear)
    certain, possible = (matched_samples(frames, flags) for flags in (is_certain, is_match))
    return Found(n_functions, certain, possible)
