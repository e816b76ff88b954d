"""What of a task stream is not drawn as large as it was: too short to be seen, or widened for it.

Pure NumPy over an answer of the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.records import Kind, Outcome

if TYPE_CHECKING:
    from dask_diag_lab.store.lod import LevelOfDetail

FAINT: Final = 0.5
"""Transfers and the like that fill less of a pixel's width than this are hard to see."""
THIN_PX: Final = 1 / 3
"""Tasks narrower than this are drawn a pixel wide; full buckets are half a pixel or more."""
MARKED_PX: Final = 3
"""The rim of a small failed task makes it this wide."""


@dataclass(frozen=True, slots=True)
class Unlike:
    """What is not to be seen in a picture as it was in time.

    Attributes
    ----------
    faint : int
        Transfers, disk accesses and (de)serializations too short to be seen well.
    marked, widened : int
        Failed or killed tasks, and others, in blocks that are drawn wider than they are.
    """

    faint: int = 0
    marked: int = 0
    widened: int = 0


def unlike(centre: LevelOfDetail, pixel_s: float) -> Unlike:
    """Return what of a window is drawn fainter or wider than it is, ``pixel_s`` to a pixel."""
    span = np.maximum(centre.stop - centre.start, 1e-12)
    is_work, is_ok = centre.kind == Kind.COMPUTE, centre.outcome == Outcome.OK
    ink = np.minimum(span / pixel_s, 1.0) * np.minimum(centre.busy_s / span, 1.0)
    kinds = (
        ~is_work & (ink < FAINT),
        is_work & ~is_ok & (span < MARKED_PX * pixel_s),
        is_work & is_ok & (span < THIN_PX * pixel_s),
    )
    return Unlike(*(int(centre.count[rows].sum()) for rows in kinds))
