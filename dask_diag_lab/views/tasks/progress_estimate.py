"""How long the remaining tasks will take, and how much of that is not known.

Pure NumPy; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from dask_diag_lab.views.tasks import task_counts as tasks
from dask_diag_lab.views.tasks.task_counts import Floats, Ints

LONG_S: Final = 1.0
"""Tasks that take longer are seen to run by heartbeats; of shorter ones only how many end tells."""

MOST_DONE: Final = 0.9
"""Share of the mean that a running task has behind it at most: when a late one ends is unknown."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Tasks that run now.

    Attributes
    ----------
    prefix : ndarray of int64
        Index of the prefix of each.
    elapsed_s : ndarray of float64
        For how long each has run.
    """

    prefix: Ints
    elapsed_s: Floats


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is left.

    Attributes
    ----------
    seconds : float
        Estimated time until the prefixes are done whose speed is known; NaN when there is no
        ground for an estimate.
    n_unknown : int
        Prefixes with work left of which no task has ended yet: they come on top of it.
    """

    seconds: float
    n_unknown: int = 0


def estimate(states: Ints, duration: Floats, rate: Floats, nthreads: int, begun: Begun) -> Estimate:
    """Return an estimate: the work that is left by the threads that are really at work.

    Tasks that end at ``rate`` and take ``duration`` keep ``rate * duration`` threads busy. That is
    all threads where there is enough to do; fewer where tasks wait for each other; and far fewer
    with tasks of microseconds, of which threads spend most of their time between two.

    Parameters
    ----------
    states : ndarray of int64, one row a prefix
        Tasks in each of `STATES`.
    duration : ndarray of float64
        Mean seconds of the tasks of each prefix, as recorded; NaN while unknown.
    rate : ndarray of float64
        Tasks of each prefix that ended in a second, lately; NaN or 0 when none did.
    nthreads : int
    begun : Begun
        What they have behind them is taken off.

    Returns
    -------
    Estimate
        Without seconds when nothing remains, when none of what remains has a known duration, when
        tasks have no worker that may run them, and without threads.
    """
    left = tasks.remaining(states)
    is_known = np.isfinite(duration)
    n_unknown = int(((left > 0) & ~is_known).sum())
    counted = (left > 0) & is_known
    if nthreads <= 0 or not counted.any() or tasks.counts(states, "no-worker").any():
        return Estimate(math.nan, n_unknown)
    n_begun = np.bincount(begun.prefix, minlength=len(left))
    done_s = np.fmin(begun.elapsed_s, MOST_DONE * duration[begun.prefix])
    behind_s = np.bincount(begun.prefix, done_s, len(left))
    left_s = float((left * duration - behind_s)[counted].sum())
    # However many threads there are, a task takes its time: the one that began last, or another.
    least_s = np.full(len(left), np.inf)
    np.minimum.at(least_s, begun.prefix, done_s)
    longest_s = duration - np.where(left > n_begun, 0.0, np.where(n_begun > 0, least_s, 0.0))
    busy = _busy_threads(duration, rate, np.where(left > 0, n_begun, 0))
    threads = min(busy, nthreads) if busy > 0 else nthreads
    return Estimate(max(left_s / threads, float(longest_s[counted].max())), n_unknown)


def _busy_threads(duration: Floats, rate: Floats, n_begun: Ints) -> float:
    """Return how many threads have computed lately: by tasks that ended, or that run for long."""
    ended = np.nan_to_num(rate * duration)
    running = np.where(np.nan_to_num(duration, nan=math.inf) >= LONG_S, n_begun, 0)
    return float(np.maximum(ended, running).sum())
