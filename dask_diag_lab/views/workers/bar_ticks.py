"""The ticks below the bars of a plot: as many as have room for their words; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.pane_size import CHARACTER_PX

GAP_PX: Final = 8
"""From the words of a tick to the next, and from a name to its bar."""


def tick_labels(ticks: Sequence[float], unit: str, room_px: float) -> dict[float, str]:
    """Return the words of the ticks that are shown: all, or else the first and the last.

    See `format.tick_labels` for ``unit``.
    """
    labels = fmt.tick_labels(ticks, unit)
    needed = sum(len(label) * CHARACTER_PX + GAP_PX for label in labels.values())
    kept = labels if needed <= room_px else {*ticks[:1], *ticks[-1:]}
    return {tick: label for tick, label in labels.items() if tick in kept}
