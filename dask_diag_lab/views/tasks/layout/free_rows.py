"""What is free in one layer of a graph, and which free row is nearest to the one wanted.

Pure; knows neither nodes nor Bokeh.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise


class FreeRows:
    """What is free in one layer, as the runs of rows that leave no room between them.

    Two runs are at least 2 apart, so a node fits at either end of each.
    """

    def __init__(self, taken: Sequence[float]) -> None:
        self._low: list[float] = []
        self._high: list[float] = []
        if taken:
            cuts = [(a, b) for a, b in pairwise(taken) if b - a >= 2]
            self._low = [taken[0], *(b for _, b in cuts)]
            self._high = [*(a for a, _ in cuts), taken[-1]]

    def take(self, wanted: float) -> float:
        """Return and take the free row nearest to ``wanted``."""
        # The first run that ends above wanted - 1 is the only one that can be in the way.
        run = bisect_left(self._high, wanted - 1 + 1e-9)
        row = wanted
        if run < len(self._low) and self._low[run] < wanted + 1 - 1e-9:
            above, below = self._low[run] - 1, self._high[run] + 1
            row = above if wanted - above < below - wanted else below
        self._insert(row)
        return row

    def _insert(self, row: float) -> None:
        at = bisect_left(self._low, row)
        self._low.insert(at, row)
        self._high.insert(at, row)
        for left in (at, at - 1):
            if 0 <= left < len(self._low) - 1 and self._low[left + 1] - self._high[left] < 2:
                self._high[left] = self._high.pop(left + 1)
                self._low.pop(left + 1)
