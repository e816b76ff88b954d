"""When anything ran at all: the times in which idle threads are worth a word."""

from __future__ import annotations

from typing import Final

import numpy as np

from dask_diag_lab.store.arrays import Floats, Ints

LEAST_GAP_S: Final = 0.5
"""Shorter pauses between tasks count as time in which something ran."""


class BusyTimes:
    """Stretches of time in which at least one thread computed or moved data.

    Attributes
    ----------
    start, stop : ndarray of float64
        Seconds since the epoch on the scheduler's clock, ascending and disjoint.
    """

    def __init__(self) -> None:
        self.start: Floats = np.empty(0)
        self.stop: Floats = np.empty(0)

    def add(self, start: Floats, stop: Floats) -> None:
        """Take over the starts and stops of actions, in any order."""
        if not len(start):
            return
        n_before = int(np.searchsorted(self.stop, start.min() - LEAST_GAP_S))
        start = np.concatenate((self.start[n_before:], start))
        stop = np.concatenate((self.stop[n_before:], stop))
        order = np.argsort(start, kind="stable")
        start, stop = start[order], np.maximum.accumulate(stop[order])
        is_first = np.append(True, start[1:] - stop[:-1] > LEAST_GAP_S)
        is_last = np.append(is_first[1:], True)
        self.start = np.concatenate((self.start[:n_before], start[is_first]))
        self.stop = np.concatenate((self.stop[:n_before], stop[is_last]))

    def thread_seconds(self, times: Floats, nthreads: Ints) -> float:
        """Return how long all threads together were there while something ran.

        Parameters
        ----------
        times : ndarray of float64
            When the number of threads changed, ascending.
        nthreads : ndarray of int64
            How many there were from each of `times` on.
        """
        if not len(times):
            return 0.0
        until = np.append(0.0, np.cumsum(np.diff(times) * nthreads[:-1]))

        def thread_seconds_until(moments: Floats) -> Floats:
            at = np.searchsorted(times, moments, side="right") - 1
            known: Floats = until[at] + nthreads[at] * (moments - times[at])
            return np.where(at >= 0, known, 0.0)

        return float((thread_seconds_until(self.stop) - thread_seconds_until(self.start)).sum())
