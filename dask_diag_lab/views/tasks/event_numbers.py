"""Which marks of the timeline have room for their number beside them, in pixels.

Pure NumPy; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.tasks.event_marks import Floats, Ints, Marks
from dask_diag_lab.views.text_room import text_px

OFFSET_PX: Final = 11
"""From the middle of a mark to where its number begins."""


def number_words(numbers: Ints) -> list[str]:
    """Return what each mark would say: nothing where it is of one event."""
    return [fmt.count(number) if number > 1 else "" for number in numbers.tolist()]


def fitting_numbers(marks: Marks, size_px: Floats, second_px: float, font_px: float) -> list[str]:
    """Return the number beside each mark, '' where it would lie on the next mark of the row.

    Parameters
    ----------
    marks : Marks
    size_px : ndarray of float64
        How wide each mark is.
    second_px : float
        How wide a second is.
    font_px : float
    """
    words = number_words(marks.number)
    x_px, row = marks.begin * second_px, marks.row
    end_px = x_px + OFFSET_PX + [text_px(word, font_px) for word in words]
    fits = np.ones(len(row), dtype=np.bool_)
    fits[:-1] = (row[1:] != row[:-1]) | (end_px[:-1] <= (x_px - size_px / 2)[1:])
    return [word if is_fit else "" for word, is_fit in zip(words, fits.tolist(), strict=True)]
