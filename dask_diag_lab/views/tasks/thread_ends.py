"""Takes out of times of tasks what overlaps on one thread, which computes one after the other.

Pure NumPy; knows neither Bokeh nor the store. Workers add to their times how far they believe
that their clock is behind the scheduler's. That differs from heartbeat to heartbeat by tens of
milliseconds where a machine is busy: without this more threads would seem to compute than are.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dask_diag_lab.views.tasks.thread_bins import Floats, Ints

MOST_SHIFT_S: Final = 1.0
"""What ended longer before the end of its thread's last task than that has come late."""
MOST_THREADS: Final = 20_000
"""Tasks that left their thread were on ever new ones: those that ended first are forgotten."""


class ThreadEnds:
    """Up to when each thread computed, as tasks that ended come."""

    def __init__(self) -> None:
        self._until: dict[tuple[int, int], float] = {}

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
        order = known[np.lexsort((start[known], thread[known], worker[known]))]
        places = np.column_stack((worker[order], thread[order]))
        is_first = np.append(True, (places[1:] != places[:-1]).any(axis=1))
        first = np.flatnonzero(is_first)
        names = [(w, t) for w, t in places[first].tolist()]
        before = np.array([self._until.get(name, -np.inf) for name in names])
        until = _running_max(stop[order], is_first)
        earlier = np.append(-np.inf, until[:-1])
        earlier[first] = -np.inf
        earlier = np.maximum(earlier, before[np.cumsum(is_first) - 1])
        begin, end = start[order], np.maximum(start[order], stop[order])
        is_late = end < earlier - MOST_SHIFT_S
        cut = start.copy()
        cut[order] = np.where(is_late, begin, np.minimum(np.maximum(begin, earlier), end))
        last = np.maximum(until[np.append(first[1:], len(order)) - 1], before)
        self._keep(names, last)
        return cut

    def _keep(self, names: list[tuple[int, int]], until: Floats) -> None:
        self._until.update(zip(names, until.tolist(), strict=True))
        if len(self._until) > MOST_THREADS:
            newest = sorted(self._until.items(), key=lambda item: item[1])[-MOST_THREADS // 2 :]
            self._until = dict(newest)


def _running_max(values: Floats, is_first: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return the largest value so far, in each group that begins where ``is_first``."""
    least = values.min()
    group = (np.cumsum(is_first) - 1) * (values.max() - least + 1.0)
    largest: Floats = np.maximum.accumulate(values - least + group) - group + least
    return largest
