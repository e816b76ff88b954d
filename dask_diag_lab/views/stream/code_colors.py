"""The colours behind the colour codes of a task stream, for one look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dask_diag_lab.views.palette import data_colors, mixed, prefix_palette
from dask_diag_lab.views.stream.rects import PREFIX_CODES

if TYPE_CHECKING:
    from dask_diag_lab.views.look import Look


def code_colors(look: Look) -> tuple[list[str], list[str]]:
    """Return fill and outline of every colour code; the outline keeps thin tasks visible."""
    prefixes = prefix_palette(look)
    colors = data_colors(look)
    fill = [prefixes[code % len(prefixes)] for code in range(PREFIX_CODES)]
    fill += [colors.transfer, colors.disk, colors.deserialize, colors.erred, colors.killed]
    toward = look.background
    edge = [mixed(color, toward, 0.35) for color in fill[:-2]]
    return fill, [*edge, colors.erred_mark, colors.killed_mark]
