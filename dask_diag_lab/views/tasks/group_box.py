"""The box of a group: how much of its cell it takes, and what can be written into it.

Pure; knows neither groups nor Bokeh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

PADDING_PX: Final = 4
"""Between the edges of a box and its text."""
_HALF_WIDTH: Final = 0.42
_HALF_HEIGHT, _LOW_HALF_HEIGHT = 0.38, 0.46
"""Of a box, in rows; the second one of rows so low that a name needs nearly all of it."""
_STRIP: Final = 0.2
_STRIP_PX: Final = (3, 22)
"""Height of the progress strip: in rows, in low rows, and at most."""
_LOW_PX: Final = 36
_NARROW_PX: Final = 44
"""Boxes less wide than that have their text upright, where that leaves more room for it."""
LINE: Final = 1.27
"""Height of a line, in sizes of the font."""
_SMALLEST_PX: Final = 8.0
"""Size below which text cannot be read."""
_LETTERS: Final = 3.2
"""Text gets smaller where there is no room for so many sizes of it, in favour of more letters."""
_LEAST: Final = 2.2
"""Room for two letters and an ellipsis, in sizes of the font: less would tell nothing."""
_FIGURES_PX: Final = 60
"""Room from which on more than the name is written: figures that are cut off tell lies."""
_UPRIGHT_PX: Final = 90
"""Room for upright text, where there is so much: shorter names do not make boxes lower."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Box:
    """How boxes are drawn now; sizes without a unit are in layers and rows.

    Attributes
    ----------
    half_width, half_height : float
    strip : float
        Height of the strip at the bottom.
    text_px : float
        Room for a line of text.
    name_lines, n_lines : int
        Lines that a name may take, and with what else is written; 0 where nothing can be read.
    font_px, line_px : float
        Size of the text, and the distance between lines.
    before_px : float
        Room before the first line.
    is_turned : bool
        Whether text goes from the bottom to the top.
    row_px : float
        Height of a row.
    """

    half_width: float
    half_height: float
    strip: float
    text_px: float
    name_lines: int
    n_lines: int
    font_px: float
    line_px: float
    before_px: float
    is_turned: bool
    row_px: float

    def reaches(self, places: Floats, wanted_px: float) -> tuple[Floats, Floats]:
        """Return how far each box goes up and down: upright text takes what it needs and finds.

        Parameters
        ----------
        places : ndarray of float, shape (n, 2)
        wanted_px : float
            Room for a line of text from which on boxes need not be taller.
        """
        usual = np.full(len(places), self.half_height)
        if not self.is_turned or not self.n_lines:
            return usual, usual
        more_px = max(wanted_px, _UPRIGHT_PX) - self.text_px
        wanted = 2 * self.half_height + more_px / self.row_px
        most_up, most_down = (2 * self.half_height * free for free in free_rows(places))
        down = np.minimum(wanted / 2, most_down)
        up = np.minimum(wanted - down, most_up)
        return up, np.minimum(wanted - up, most_down)

    def rooms_px(self, heights: Floats) -> list[float]:
        """Return the room for a line of text in boxes of such heights, in rows."""
        more_px = (heights - 2 * self.half_height) * self.row_px if self.is_turned else 0 * heights
        rooms: list[float] = (self.text_px + more_px).tolist()
        return rooms


def free_rows(places: Floats) -> tuple[Floats, Floats]:
    """Return how many rows above and below each place are its own, at least half a row.

    Up to halfway to its neighbour in its layer, or to the edge of the graph.
    """
    above, below = np.full(len(places), 0.5), np.full(len(places), 0.5)
    if not len(places):
        return above, below
    y = places[:, 1]
    top, bottom = float(y.min()) - 0.5, float(y.max()) + 0.5
    for layer in np.unique(places[:, 0]):
        members = np.flatnonzero(places[:, 0] == layer)
        members = members[np.argsort(y[members])]
        halfway = (y[members][1:] + y[members][:-1]) / 2
        above[members] = y[members] - np.concatenate([[top], halfway])
        below[members] = np.concatenate([halfway, [bottom]]) - y[members]
    return np.maximum(above, 0.5), np.maximum(below, 0.5)


def box_of(cell_px: tuple[float, float], font_px: float) -> Box:
    """Return the boxes for cells of a width and a height, with text of at most that size."""
    width_px, height_px = cell_px
    is_low = height_px < _LOW_PX
    half_height = _LOW_HALF_HEIGHT if is_low else _HALF_HEIGHT
    least_px, most_px = _STRIP_PX
    strip = least_px / max(height_px, 2 * least_px) if is_low else min(_STRIP, most_px / height_px)
    wide = width_px * 2 * _HALF_WIDTH
    tall = height_px * (2 * half_height - strip)
    is_turned = wide < _NARROW_PX and tall > wide
    along, across = (tall, wide) if is_turned else (wide, tall)
    text_px = max(along - 2 * PADDING_PX, 0.0)
    # Whole halves of a pixel: a hair's breadth of zoom must not send a new size.
    size = min(font_px, int((across - PADDING_PX / 2) / LINE * 2) / 2)
    if size < _SMALLEST_PX <= across:
        size = _SMALLEST_PX  # The room between lines may be that between boxes.
    if text_px < _FIGURES_PX:
        size = min(size, max(round(text_px / _LETTERS), _SMALLEST_PX))
    n_lines = name_lines = 0
    if size >= _SMALLEST_PX and text_px >= _LEAST * size:
        n_lines = max(int((across - PADDING_PX) / (size * LINE)), 1)
        name_lines = 1 if text_px >= _FIGURES_PX else n_lines
    line_px = round(max(size, _SMALLEST_PX) * LINE, 1)
    spare_px = round(max((across - n_lines * line_px) / 2, 1.0 if across > line_px else -1.0))
    return Box(
        half_width=_HALF_WIDTH,
        half_height=half_height,
        strip=strip,
        text_px=text_px,
        name_lines=name_lines,
        n_lines=n_lines,
        font_px=max(size, _SMALLEST_PX),
        line_px=line_px,
        before_px=spare_px if is_turned else min(spare_px, PADDING_PX),
        is_turned=is_turned,
        row_px=height_px,
    )
