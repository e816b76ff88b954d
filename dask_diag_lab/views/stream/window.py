"""Which stretch of time a task stream shows: the live burst, or where its reader put it.

Pure: knows neither Bokeh nor how anything is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from dask_diag_lab.store.actions import ActionLog

GAP_S: Final = 10.0
"""Work after a pause this long is a new burst; the stock task stream resets by the same rule."""

MARGIN: Final = 0.01
"""Of what is followed so much is left free before the first task."""

_GROWTH: Final = 1.25
_SHORTEST_S: Final = 0.02
_BUCKET_S: Final = GAP_S / 4
"""Resolution of the search for a burst: fine enough to see a pause of GAP_S."""
_STRETCH_S: Final = 20_000.0
"""How much is searched at once, from the end backwards."""


def roomy_span(needed_s: float) -> float:
    """Return the width of a window for ``needed_s`` of data, in steps of a quarter.

    Steps, so that a growing picture stays where it is and only its right end fills up.
    """
    steps = ceil(log(max(needed_s, _SHORTEST_S) * 1.02 / _SHORTEST_S, _GROWTH) - 1e-9)
    return float(_SHORTEST_S * _GROWTH ** max(steps, 0))


def last_burst(
    starts: npt.NDArray[np.float64], stops: npt.NDArray[np.float64], gap_s: float = GAP_S
) -> float:
    """Return the start of the last stretch of activity without a pause longer than ``gap_s``.

    Parameters
    ----------
    starts, stops : ndarray of float64
        Seconds, in any order, equal lengths, not empty.
    """
    order = np.argsort(starts, kind="stable")
    begins = starts[order]
    busy_until = np.maximum.accumulate(stops[order])
    breaks = np.flatnonzero(begins[1:] > busy_until[:-1] + gap_s)
    return float(begins[breaks[-1] + 1] if breaks.size else begins[0])


class Burst:
    """The start of the current burst of activity, kept up to date cheaply.

    Looks into the log only after its last stop moved by more than `GAP_S` between two looks:
    otherwise there was no pause to find.
    """

    def __init__(self) -> None:
        self.start = np.nan
        self._last_stop = np.nan

    def advance(self, actions: ActionLog, running: npt.NDArray[np.float64]) -> float:
        """Return the start of the burst, NaN while nothing was ever done.

        Parameters
        ----------
        actions : ActionLog
        running : ndarray of float64
            Starts of the tasks that run now: a straggler bridges a pause in what finishes.
        """
        earliest = float(running.min()) if running.size else np.nan
        last = float(actions.last_stop) if actions.count else np.nan
        if not np.isnan(last):
            before = self._last_stop
            is_bridged = running.size and earliest <= before + GAP_S
            if np.isnan(before) or (last > before + GAP_S and not is_bridged):
                begin = float(actions.first_start) if np.isnan(before) else before
                self._search(actions, begin, last)
            self._last_stop = last
        if running.size and not earliest <= last + GAP_S:
            self.start = earliest  # all that runs began after a pause
        elif running.size and not self.start <= earliest:
            self.start = earliest
        return float(self.start)

    def _search(self, actions: ActionLog, begin: float, end: float) -> None:
        """Look for a pause from the end backwards, in windows fine enough to see one."""
        found = end
        while True:
            left = max(begin, found - _STRETCH_S)
            buckets = ceil(max(end - left, _BUCKET_S) / _BUCKET_S)
            seen = actions.query(left, end, None, buckets, max_rects=1_000_000).answer()
            if not seen.start.size:
                return
            earlier = max(last_burst(seen.start, seen.stop), begin)
            if earlier > left + GAP_S or left <= begin or earlier >= found:
                break
            found = end = earlier
        is_new = np.isnan(self.start) or earlier > begin + GAP_S
        if is_new:
            self.start = earlier


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
    def has_margin(self) -> bool:
        """Whether it begins a little before the first task, as one that follows, or did, does."""
        return 0 <= self.zero - self.start <= 2 * MARGIN * self.width

    @property
    def is_frozen(self) -> bool:
        return not np.isnan(self.frozen_at)

    def follow(self, burst_start: float, live: float) -> None:
        """Show the burst up to the live end, if following."""
        if not self.is_following or np.isnan(burst_start):
            return
        first = max(burst_start, self.cleared_at)
        span = roomy_span(max(live - first, 0.0))
        self.zero = first
        self.start, self.end = first - MARGIN * span, first + span

    def hold(self, start: float, end: float) -> None:
        """Stay exactly here until told otherwise."""
        self.start, self.end = min(start, end), max(start, end)
        self.is_following = False

    def release(self) -> None:
        """Follow live data again."""
        self.is_following = True
        self.frozen_at = np.nan

    def freeze(self, live: float) -> None:
        """Keep the picture as it is now, or let go of it when it is frozen."""
        if self.is_frozen:
            self.release()
            return
        self.is_following = False
        self.frozen_at = live

    def zoom(self, factor: float) -> None:
        """Show ``factor`` times as much around the middle."""
        middle, half = (self.start + self.end) / 2, self.width * factor / 2
        self.hold(middle - half, middle + half)

    def pan(self, share: float) -> None:
        """Move by ``share`` of the width."""
        step = self.width * share
        self.hold(self.start + step, self.end + step)

    def behind(self, live: float) -> float:
        """Return the seconds by which live data is ahead of what is shown."""
        if self.is_following or np.isnan(live):
            return 0.0
        shown = min(self.end, self.frozen_at) if self.is_frozen else self.end
        return max(float(live - shown), 0.0)
