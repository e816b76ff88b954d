"""Takes out of times of tasks what overlaps on one thread, which computes one after the other.

Pure NumPy; knows neither Bokeh nor the store. Workers add to their times how far they believe
that their clock is behind the scheduler's. That differs from heartbeat to heartbeat by tens of
milliseconds where a machine is busy: without this more threads would seem to compute than are.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.thread_bins import Floats, Ints

MOST_SHIFT_S: Final = 1.0
"""What ended longer before the end of its thread's last task than that has come late."""
MOST_THREADS: Final = 20_000
"""Tasks that left their thread were on ever new ones: those that ended first are forgotten."""


_MIX: Final = np.int64(0x1E3779B97F4A7C15)
"""Makes one number of a worker and its thread; odd, so that no two workers have the same."""


class ThreadEnds:
    """Up to when each thread computed, as tasks that ended come."""

    def __init__(self) -> None:
        self._threads: Ints = np.empty(0, dtype=np.int64)  # ascending
        self._until: Floats = np.empty(0)

    def cut(self, worker: Ints, thread: Ints, start: Floats, stop: Floats) -> Floats:
        """Return the starts of tasks, none before the end of what its thread did before.

        Parameters
        ----------
        worker, thread : ndarray of int64
            A thread that is 0 is not known: its tasks stay as they are.
        start, stop : ndarray of float64
            Seconds since the epoch.
        """
        known = np.flatnonzero(thread != 0)
        if not len(known):
            return start
        of = worker[known] * _MIX + thread[known]  # goes round, as it may
        by_thread = np.lexsort((start[known], of))
        order, of = known[by_thread], of[by_thread]
        is_first = np.append(True, of[1:] != of[:-1])
        first = np.flatnonzero(is_first)
        before = self._until_of(of[first])
        until = _running_max(stop[order], is_first)
        earlier = np.append(-np.inf, until[:-1])
        earlier[first] = -np.inf
        earlier = np.maximum(earlier, before[np.cumsum(is_first) - 1])
        begin, end = start[order], np.maximum(start[order], stop[order])
        is_late = end < earlier - MOST_SHIFT_S
        cut = start.copy()
        cut[order] = np.where(is_late, begin, np.minimum(np.maximum(begin, earlier), end))
        last = np.maximum(until[np.append(first[1:], len(order)) - 1], before)
        self._keep(of[first], last)
        return cut

    def _until_of(self, threads: Ints) -> Floats:
        """Return up to when some threads computed, -inf for those not seen yet."""
        place, is_known = self._find(threads)
        until = np.full(len(threads), -np.inf)
        until[is_known] = self._until[place[is_known]]
        return until

    def _find(self, threads: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Return where threads are among those that were seen, or would be, and which are."""
        place = np.searchsorted(self._threads, threads)
        found = np.append(self._threads, 0)[place] == threads
        return place, found & (place < len(self._threads))

    def _keep(self, threads: Ints, until: Floats) -> None:
        place, is_known = self._find(threads)
        self._until[place[is_known]] = until[is_known]
        if is_known.all():
            return
        is_new = ~is_known
        self._threads = np.insert(self._threads, place[is_new], threads[is_new])
        self._until = np.insert(self._until, place[is_new], until[is_new])
        if len(self._threads) > MOST_THREADS:
            newest = np.sort(np.argpartition(self._until, -MOST_THREADS // 2)[-MOST_THREADS // 2 :])
            self._threads, self._until = self._threads[newest], self._until[newest]


def _running_max(values: Floats, is_first: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return the largest value so far, in each group that begins where ``is_first``."""
    least = values.min()
    group = (np.cumsum(is_first) - 1) * (values.max() - least + 1.0)
    largest: Floats = np.maximum.accumulate(values - least + group) - group + least
    return largest
