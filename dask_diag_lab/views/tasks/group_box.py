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
_SHARE, _SMALL_SHARE = (0.84, 0.76), 0.92
"""Of a cell's width and height that its box takes; the second one of small cells."""
_SMALL_PX: Final = (15.6, 33.0)
"""Width and height that a box of a small cell has before it leaves more room beside it."""
_TEXT_SHARE: Final = 0.56
_SMALL_TEXT_PX: Final = 30.0
"""Height that is left above the strip: of rows, and of low ones at most."""
_STRIP_PX: Final = (2.0, 3.0, 22.0)
"""Height of the progress strip: in the lowest rows, in low ones, and at most."""
_LOWEST_PX: Final = (13.0, 17.0)
"""The lowest rows, and from where on they are but low."""
_TIGHT_PX: Final = 17
"""Cells less wide or less high than that have but room for the smallest text."""
_OUTLINE_PX, _TIGHT_OUTLINE_PX = (1.5, 4.0), (1.0, 2.5)
"""Outline of a group without and with tasks that are processing."""
_INK: Final = (0.2, 0.86)
"""From the top of a line to that of its letters, and how high these are, in sizes of the font.

With half of what hangs below the line: most letters have nothing there.
"""
_NARROW_PX: Final = 44
"""Boxes less wide than that have their text upright, where that leaves more room for it."""
LINE: Final = 1.27
"""Height of a line, in sizes of the font."""
_SMALLEST_PX: Final = 8.0
"""Size below which text cannot be read."""
_CLEAR_PX: Final = 9.0
"""Room for a line of it between two outlines, without touching them."""
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
    outline_px : tuple of float
        Of a group without and with tasks that are processing.
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
    outline_px: tuple[float, float]

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
    wide = _box_px(width_px, 0)
    high, tall = _box_px(height_px, 1), _text_px(height_px)
    is_turned = wide < _NARROW_PX and tall > wide
    along, across = (tall, wide) if is_turned else (wide, tall)
    is_tight = min(width_px, height_px) < _TIGHT_PX
    text_px = max(along - 2 * PADDING_PX, 0.0)
    # Whole halves of a pixel: a hair's breadth of zoom must not send a new size.
    size = min(font_px, int((across - PADDING_PX / 2) / LINE * 2) / 2)
    if size < _SMALLEST_PX and across >= _CLEAR_PX:
        size = _SMALLEST_PX  # The room between lines may be that between boxes.
    if text_px < _FIGURES_PX:
        size = min(size, max(round(text_px / _LETTERS), _SMALLEST_PX))
    n_lines = name_lines = 0
    if size >= _SMALLEST_PX and text_px >= _LEAST * size:
        n_lines = max(int((across - PADDING_PX) / (size * LINE)), 1)
        name_lines = 1 if text_px >= _FIGURES_PX else n_lines
    line_px = round(max(size, _SMALLEST_PX) * LINE, 1)
    above, letters = _INK
    ink_px = max(n_lines - 1, 0) * line_px + letters * size
    spare_px = round(2 * (across - ink_px) - 4 * above * size) / 4
    return Box(
        half_width=wide / 2 / width_px,
        half_height=high / 2 / height_px,
        strip=(high - tall) / height_px,
        text_px=text_px,
        name_lines=name_lines,
        n_lines=n_lines,
        font_px=max(size, _SMALLEST_PX),
        line_px=line_px,
        before_px=spare_px if is_turned else min(spare_px, PADDING_PX),
        is_turned=is_turned,
        row_px=height_px,
        outline_px=_TIGHT_OUTLINE_PX if is_tight else _OUTLINE_PX,
    )


def _box_px(cell_px: float, axis: int) -> float:
    """Return the width (axis 0) or height (axis 1) of the box in a cell; never less in a larger."""
    return max(cell_px * _SHARE[axis], min(cell_px * _SMALL_SHARE, _SMALL_PX[axis]))


def _text_px(row_px: float) -> float:
    """Return the height of a box above its strip; never less in a higher row."""
    lowest_px, low_px, most_px = _STRIP_PX
    strip_px = float(np.interp(row_px, _LOWEST_PX, (lowest_px, low_px)))
    left_px = max(row_px * _SMALL_SHARE - strip_px, row_px * _SMALL_SHARE / 2)
    high_px = _box_px(row_px, 1)
    return max(row_px * _TEXT_SHARE, min(left_px, _SMALL_TEXT_PX), high_px - most_px)
