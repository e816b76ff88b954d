"""When anything ran at all, and how many threads there were."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dask_diag_lab.store.arrays import Bools, Floats, Ints

LEAST_GAP_S: Final = 0.5
"""Shorter pauses between tasks count as time in which something ran."""
BURST_GAP_S: Final = 10.0
"""Work after a pause longer than this is a new burst; the stock task stream resets so as well."""
MAX_THREAD_STEPS: Final = 100_000
LATELY_S: Final = 20.0
"""So far back it is looked for how many threads are at work."""


class BusyTimes:
    """Stretches of time in which at least one thread computed or moved data.

    Attributes
    ----------
    start, stop : ndarray of float64
        Seconds since the epoch on the scheduler's clock, ascending and disjoint.
    """

    SAVED = ("start", "stop", "_lately")

    def __init__(self) -> None:
        self._lately: deque[tuple[float, float]] = deque()  # latest stop and seconds held of each
        self.start: Floats = np.empty(0)
        self.stop: Floats = np.empty(0)

    def add(self, start: Floats, stop: Floats, is_task: Bools) -> None:
        """Take over the starts and stops of actions, in any order, at least of one."""
        last = float(stop.max())
        late = is_task & (stop > last - LATELY_S)
        self._lately.append((last, float((stop - start)[late].clip(max=LATELY_S).sum())))
        while self._lately[0][0] < last - LATELY_S:
            self._lately.popleft()
        n_before = int(np.searchsorted(self.stop, start.min() - LEAST_GAP_S))
        start = np.concatenate((self.start[n_before:], start))
        stop = np.concatenate((self.stop[n_before:], stop))
        order = np.argsort(start, kind="stable")
        start, stop = start[order], np.maximum.accumulate(stop[order])
        is_first = np.append(True, start[1:] - stop[:-1] > LEAST_GAP_S)
        is_last = np.append(is_first[1:], True)
        self.start = np.concatenate((self.start[:n_before], start[is_first]))
        self.stop = np.concatenate((self.stop[:n_before], stop[is_last]))

    def burst_start(self, running: Floats) -> float:
        """Return since when there was work without a long pause; NaN while nothing was ever done.

        Parameters
        ----------
        running : ndarray of float64
            Starts of the tasks that run now: a straggler bridges a pause in what finishes.
        """
        start, stop = self.start, self.stop
        if running.size:
            begin = float(running.min())
            n_before = int(np.searchsorted(start, begin))
            start = np.append(start[:n_before], begin)
            stop = np.append(stop[:n_before], np.inf)
        is_first = np.append(True, start[1:] - stop[:-1] > BURST_GAP_S)
        return float(start[is_first[: len(start)]].max()) if len(start) else np.nan

    def threads_lately(self, now: float) -> float:
        """Return how many threads were held on average by the tasks that have ended of late.

        Since the begin of the burst, where that is not as long ago.
        """
        begin = max(now - LATELY_S, float(self.burst_start(np.empty(0))))
        held_s = sum(held for stop, held in self._lately if stop > begin)
        return held_s / (now - begin) if now > begin else 0.0


def seconds_until(moments: Floats, times: Floats, nthreads: Ints) -> Floats:
    """Return how long all threads together had been there at each moment."""
    if not len(times):
        return np.zeros(len(moments))
    until = np.append(0.0, np.cumsum(np.diff(times) * nthreads[:-1]))
    at = np.searchsorted(times, moments, side="right") - 1
    known: Floats = until[at] + nthreads[at] * (moments - times[at])
    return np.where(at >= 0, known, 0.0)


class ThreadHistory:
    """Steps of the total thread count: from ``times[i]`` on there were ``values[i]``."""

    SAVED = ("times", "values")

    def __init__(self) -> None:
        self.version = 0
        self.times: Floats = np.empty(0)
        self.values: Ints = np.empty(0, dtype=np.int64)

    def extend(self, columns: Mapping[str, Any]) -> None:
        """Append rows of `NTHREADS`.

        A collector that starts anew sends the scheduler's whole history again: what is known of
        that time is replaced.
        """
        times, values = columns["time"], columns["nthreads"]
        n_before = int(np.searchsorted(self.times, times[:1].min(initial=np.inf)))
        times = np.append(self.times[:n_before], times)[-MAX_THREAD_STEPS:]
        values = np.append(self.values[:n_before], values)[-MAX_THREAD_STEPS:]
        if not (np.array_equal(times, self.times) and np.array_equal(values, self.values)):
            self.times, self.values = times, values
            self.version += 1

    def mean(self, edges: Floats) -> Floats:
        """Return how many threads there were on average between each two moments."""
        mean: Floats = np.diff(seconds_until(edges, self.times, self.values)) / np.diff(edges)
        return mean
