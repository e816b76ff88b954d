"""Which stretch of time a timeline shows: live data, or where its reader put it.

Pure: knows neither Bokeh nor how anything is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import Final

import numpy as np

from dask_diag_lab.store.sums import Window

MARGIN: Final = 0.01
"""Of what is followed so much is left free before the first task."""

_GROWTH: Final = 1.25
_SHORTEST_S: Final = 0.02


def stepped_span(needed_s: float) -> float:
    """Return the width of a window for ``needed_s`` of data, in steps of a quarter.

    Steps, so that a growing picture stays where it is and only its right end fills up.
    """
    steps = ceil(log(max(needed_s, _SHORTEST_S) * 1.02 / _SHORTEST_S, _GROWTH) - 1e-9)
    return float(_SHORTEST_S * _GROWTH ** max(steps, 0))


@dataclass(slots=True)
class TimeWindow:
    """The visible stretch of time, seconds since the epoch, and who decides about it.

    Attributes
    ----------
    start, end : float
        What is visible.
    zero : float
        The moment that the axis calls 0 s: the start of the burst that was followed last.
    is_following : bool
        Live data moves it; otherwise it stays exactly where it was put.
    frozen_at : float
        How far data was drawn when the reader froze it; NaN when it is not frozen.
    cleared_at : float
        Nothing before this is shown while following; ``-inf`` when never cleared.
    """

    start: float = 0.0
    end: float = 1.0
    zero: float = 0.0
    is_following: bool = True
    frozen_at: float = np.nan
    cleared_at: float = -np.inf

    @property
    def width(self) -> float:
        return self.end - self.start

    @property
    def chosen(self) -> Window | None:
        """The stretch that the reader has chosen; None where it follows, or is only frozen."""
        is_chosen = not self.is_following and not self.is_frozen
        return Window(self.start, self.end) if is_chosen else None

    @property
    def is_frozen(self) -> bool:
        return not np.isnan(self.frozen_at)

    def follow_burst(self, burst_start: float, live: float) -> None:
        """Show the burst up to the live end, if following."""
        if not self.is_following or np.isnan(burst_start):
            return
        first = max(burst_start, self.cleared_at)
        span = stepped_span(max(live - first, 0.0))
        self.zero = first
        self.start, self.end = first - MARGIN * span, first + span

    def follow_last(self, seconds: float, live: float) -> None:
        """Show the last ``seconds`` up to the live end, and nothing before zero, if following."""
        if self.is_following:
            self.start = max(live - seconds, self.zero)
            self.end = max(live, self.zero + seconds)

    def hold(self, start: float, end: float) -> None:
        """Stay exactly here until moved again."""
        self.start, self.end = min(start, end), max(start, end)
        self.is_following = False

    def fit(self, first: float, last: float) -> None:
        """Show all of the data and stay there."""
        margin = MARGIN * max(last - first, 0.01)
        self.cleared_at, self.frozen_at = -np.inf, np.nan
        self.zero = first
        self.hold(first - margin, last + margin)

    def release(self) -> None:
        """Follow live data again."""
        self.is_following = True
        self.frozen_at = np.nan

    def freeze(self, live: float) -> None:
        """Keep the picture as it is now, or let go of it when it is frozen."""
        if self.is_frozen:
            self.release()
        else:
            self.is_following, self.frozen_at = False, live

    def zoom(self, factor: float) -> None:
        """Show ``factor`` times as much around the middle."""
        middle, half = (self.start + self.end) / 2, self.width * factor / 2
        self.hold(middle - half, middle + half)

    def pan(self, share: float) -> None:
        """Move by ``share`` of the width."""
        step = self.width * share
        self.hold(self.start + step, self.end + step)

    def behind_s(self, live: float) -> float:
        """Return the seconds by which live data is ahead of what is shown."""
        if self.is_following or np.isnan(live):
            return 0.0
        shown = min(self.end, self.frozen_at) if self.is_frozen else self.end
        return max(float(live - shown), 0.0)
