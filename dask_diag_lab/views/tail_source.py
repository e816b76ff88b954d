"""Columns over time of which only the end changes: only that end is sent.

Knows Bokeh; knows nothing of the store or of any one plot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from bokeh.models import ColumnDataSource

Values = npt.NDArray[np.float64] | Sequence[str]


class TailSource:
    """A column source; rows before the first that differs are not sent again.

    Parameters
    ----------
    *columns : str
    tolerance : float
        A number that differs by no more is the same: nobody could see it.

    Attributes
    ----------
    model : ColumnDataSource
        For the renderers.
    sent_rows : int
        Rows assigned, patched or streamed so far.
    """

    def __init__(self, *columns: str, tolerance: float = 0.0) -> None:
        self.model = ColumnDataSource(data={name: [] for name in columns})
        self.sent_rows = 0
        self._tolerance = tolerance
        self._kept: dict[str, Values] = {name: [] for name in columns}

    def set(self, columns: Mapping[str, Values]) -> bool:
        """Show these columns, of equal lengths; return whether anything was sent."""
        before, now = (len(next(iter(c.values()))) for c in (self._kept, columns))
        first = min(
            _first_difference(self._kept[name], columns[name], self._tolerance) for name in columns
        )
        if first == before == now:
            return False
        self.sent_rows += now - min(first, now)
        if 2 * first < now or now < before:
            self._kept = dict(columns)
            self.model.data = dict(columns)
            return True
        if first < before:
            self.model.patch(
                {name: [(slice(first, before), c[first:before])] for name, c in columns.items()}
            )
        if now > before:
            self.model.stream({name: c[before:] for name, c in columns.items()})
        # What is left unsent for being too small to see must not add up.
        self._kept = {name: _joined(self._kept[name], c, first) for name, c in columns.items()}
        return True


def _first_difference(old: Values, new: Values, tolerance: float) -> int:
    """Return how many rows of the beginning are the same."""
    n = min(len(old), len(new))
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        # `np.isclose` takes five times as long for columns as short as those of a picture.
        some, others = old[:n], new[:n]
        is_same = (some == others) | (np.isnan(some) & np.isnan(others))
        if tolerance:
            with np.errstate(invalid="ignore"):  # of infinities
                is_same |= np.abs(some - others) <= tolerance
        return n if is_same.all() else int(np.argmin(is_same))
    return next((i for i in range(n) if old[i] != new[i]), n)


def _joined(old: Values, new: Values, first: int) -> Any:  # of the type of both
    if isinstance(old, np.ndarray):
        return np.concatenate([old[:first], new[first:]])
    return new
