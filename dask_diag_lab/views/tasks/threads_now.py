"""How many threads compute right now, whether their tasks are long or short.

Pure NumPy; knows neither Bokeh nor the store. Heartbeats name the tasks that run, but come too
seldom for short ones: of those the mean over the last moments tells.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dask_diag_lab.views.tasks.thread_bins import Floats

NOW_S: Final = 1.0
"""What ended longer ago is not now."""


class ThreadsNow:
    """The last tasks that ended, as actions come."""

    def __init__(self) -> None:
        self._start: Floats = np.empty(0)
        self._stop: Floats = np.empty(0)

    def add(self, start: Floats, stop: Floats) -> None:
        """Take in tasks that ended, by their times in seconds since the epoch."""
        start, stop = np.concatenate([self._start, start]), np.concatenate([self._stop, stop])
        is_late = stop > stop.max(initial=-np.inf) - NOW_S
        self._start, self._stop = start[is_late], stop[is_late]

    def at(self, now: float, running: Floats) -> int:
        """Return how many threads compute, where tasks that began at ``running`` still run."""
        last = float(self._stop.max(initial=-np.inf))
        # What ended since the last action is not known yet: up to then all is.
        end = last if now - NOW_S < last else now
        start = np.concatenate([self._start, running])
        stop = np.concatenate([self._stop, np.full(len(running), end)])
        inside = np.clip(stop - np.maximum(start, end - NOW_S), 0.0, None)
        return max(len(running), round(float(inside.sum()) / NOW_S))
