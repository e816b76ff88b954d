"""How long the remaining tasks will take, and how much of that is not known.

Pure NumPy; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from dask_diag_lab.views.tasks import progress_bars as bars
from dask_diag_lab.views.tasks.progress_bars import Floats, Ints

MAX_OVERHEAD_S: Final = 0.05
"""What a thread can lose on a task beside computing it: scheduling takes milliseconds. More is not
overhead but want of work, such as a pause before these tasks began."""


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


def estimate(
    states: Ints, duration: Floats, rate: Floats, nthreads: int, begun: Begun | None = None
) -> Estimate:
    """Return an estimate from the time that a task has cost a thread lately.

    A task costs its mean duration and, beside that, what the observed rate shows: threads that
    end ``rate`` tasks a second and compute for ``rate * duration`` of it lose the rest between
    tasks. For tasks of microseconds that is nearly all; without it the estimate would be far too
    short.

    Parameters
    ----------
    states : ndarray of int64, one row a prefix
        Tasks in each of `STATES`.
    duration : ndarray of float64
        Mean seconds of each prefix; NaN while unknown.
    rate : ndarray of float64
        Tasks of each prefix that ended in a second, lately; NaN or 0 when none did.
    nthreads : int
    begun : Begun, optional
        What they have behind them is taken off.

    Returns
    -------
    Estimate
        Without seconds when nothing remains, when none of what remains has a known duration, when
        tasks have no worker that may run them, and without threads.
    """
    left = bars.remaining(states)
    is_left = left > 0
    is_known = np.isfinite(duration)
    n_unknown = int((is_left & ~is_known).sum())
    counted = is_left & is_known
    if nthreads <= 0 or not counted.any() or bars.counts(states, "no-worker").any():
        return Estimate(math.nan, n_unknown)
    cost = duration[counted] + overhead_s(duration[is_left], rate[is_left], nthreads)
    done_s, rest_s = _behind(begun, left, duration)
    seconds = float((left[counted] * cost).sum() - done_s[counted].sum()) / nthreads
    # However many threads there are, a task takes its time.
    return Estimate(max(seconds, float(rest_s[counted].max())), n_unknown)


def _behind(begun: Begun | None, left: Ints, duration: Floats) -> tuple[Floats, Floats]:
    """Return for each prefix what its running tasks have done, and the longest that one needs."""
    n = len(duration)
    if begun is None or not len(begun.prefix):
        return np.zeros(n), duration
    done_s = np.fmin(begun.elapsed_s, MOST_DONE * duration[begun.prefix])
    n_begun = np.bincount(begun.prefix, minlength=n)
    least_s = np.full(n, np.inf)
    np.minimum.at(least_s, begun.prefix, done_s)
    rest_s = duration - np.where(left > n_begun, 0.0, np.where(n_begun > 0, least_s, 0.0))
    return np.bincount(begun.prefix, done_s, n).astype(np.float64), rest_s


def overhead_s(duration: Floats, rate: Floats, nthreads: int) -> float:
    """Return the seconds that a task costs a thread beside its computing, by the observed rates.

    Only prefixes with work left are to be given: what ended long ago tells nothing of now.
    """
    seen = np.isfinite(rate) & (rate > 0) & np.isfinite(duration)
    ended = float(rate[seen].sum())
    if ended <= 0:
        return 0.0
    busy = float((rate[seen] * duration[seen]).sum())
    return min(max((nthreads - busy) / ended, 0.0), MAX_OVERHEAD_S)
