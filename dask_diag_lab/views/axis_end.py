"""Where an axis ends when nobody knows the largest value to come: grows at once, shrinks late."""

from __future__ import annotations

import math
from typing import Final

_SHRINK_BELOW: Final = 0.35
"""Share of the axis that the data must fall below; less room moves the picture too often."""

_ROUND: Final = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


class AxisEnd:
    """A round number that holds the data and moves rarely."""

    def __init__(self, smallest: float) -> None:
        self._smallest = smallest
        self._end = 0.0

    def at_least(self, value: float) -> float:
        """Return the end of an axis that has to reach ``value`` now."""
        value = max(value, self._smallest)
        if value > self._end or value < self._end * _SHRINK_BELOW:
            self._end = _round_up(value)
        return self._end


def _round_up(value: float) -> float:
    base = 10.0 ** math.floor(math.log10(value))
    return next(step * base for step in _ROUND if step * base >= value * (1 - 1e-9))
