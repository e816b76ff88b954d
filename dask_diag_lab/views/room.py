"""The size of a figure whose controls and note come and go, told so that it stays the same.

A figure grows when what is beside it goes. What decides whether that is shown must not go by the
room that the decision itself made: it would be decided the other way for ever.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import controls
from dask_diag_lab.views.pane_size import PaneSize, pane_size
from dask_diag_lab.views.text_room import font_px, text_px

if TYPE_CHECKING:
    from bokeh.models import Plot
    from bokeh.models.layouts import Row

_NOTE_EDGES_PX: Final = 8
_NOTE_SIDES_PX: Final = 20
_LINE: Final = 1.5
"""Height of a line in sizes of its font: rather too much, see `note_px`."""


def note_px(note: str, width: int, font_size: str) -> float:
    """Return how high a note is below a plot of that width, or a little more.

    Never less: then a note that comes, because something is shown for which rows give way, could
    seem to have taken the room for it.
    """
    if not note:
        return 0.0
    font = font_px(font_size)
    lines = math.ceil(text_px(note, font) / max(width - _NOTE_SIDES_PX, 1))
    return lines * font * _LINE + _NOTE_EDGES_PX


def size_among(plot: Plot, note: str, font_size: str, bar: Row | None = None) -> PaneSize:
    """Return the size of a figure, with the room that it gives to what comes and goes.

    Parameters
    ----------
    plot : Plot
    note : str
        What is said below it now.
    font_size : str
        Of the look.
    bar : Row or None
        The controls above it, whether they are shown or not.
    """
    size = pane_size(plot)
    beside_px = note_px(note, size.width, font_size)
    if bar is not None:
        # With controls, and a line of words below, there has to be as much as without.
        beside_px -= note_px("x", size.width, font_size)
        beside_px -= 0 if bar.visible else controls.bar_px(bar, size.width)
    return replace(size, beside_px=beside_px)
