"""What a bar plot of workers is told to draw: parts of a bar, words beside it, numbers per worker.

Knows neither Bokeh nor the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt

Numbers = npt.NDArray[Any]  # int64 or float64, one value per worker


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar.

    Attributes
    ----------
    name : str
    alpha : float
    color : str
        Attribute of `DataColors` that it always has; '' for the colour of the row.
    """

    name: str
    alpha: float = 1.0
    color: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """What is said about one row: beside the bar (``sign`` where room is short) and in the hover.

    The first of ``hover`` is the headline.
    """

    value: str
    sign: str
    hover: Sequence[str]


@dataclass(frozen=True, slots=True)
class Measure:
    """What one update draws, one value per worker in each array.

    Attributes
    ----------
    title, short_title : str
        The line above the plot, and what of it is said in a narrow pane.
    order_by : ndarray
        What groups of many workers are sorted by.
    lengths : sequence of ndarray
        Length of each part of the bar, in the axis' unit; NaN where it is not known.
    level : ndarray of uint8
        Index into `WorkerBars.level_colors`.
    track : ndarray
        How far the empty bar behind goes.
    end : float
        Largest value of the axis.
    marks : sequence of ndarray
        Positions of short lines across each bar; NaN where there is none. The first is strong.
    """

    title: str
    short_title: str
    order_by: Numbers
    lengths: Sequence[Numbers]
    level: npt.NDArray[np.uint8]
    track: Numbers
    end: float
    marks: Sequence[Numbers] = field(default=())

    def title_in(self, room: int) -> str:
        """Return what of the title fits in so many characters: words give way before figures."""
        figures = self.short_title.partition(": ")[2] or self.short_title
        said = (self.title, self.short_title, figures)
        return next((text for text in said if len(text) <= room), fmt.elide(figures, room))
