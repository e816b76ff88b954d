"""Stretches of work without a long pause, kept up to date as actions come."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, nan
from typing import Final

import numpy as np

from dask_diag_lab.store.arrays import Floats

GAP_S: Final = 10.0
"""Work after a pause longer than this is a new burst; the stock task stream resets so as well."""
MAX_BURSTS: Final = 100

Span = tuple[float, float]


class Bursts:
    """The newest bursts of activity of one log."""

    def __init__(self) -> None:
        self._spans: list[Span] = []

    def add(self, starts: Floats, stops: Floats) -> None:
        """Take over the starts and stops of some actions, in any order, at least of one."""
        order = np.argsort(starts, kind="stable")
        begin, until = starts[order], np.maximum.accumulate(stops[order])
        breaks = np.flatnonzero(begin[1:] > until[:-1] + GAP_S)
        first, last = np.append(0, breaks + 1), np.append(breaks, len(begin) - 1)
        new = zip(begin[first].tolist(), until[last].tolist(), strict=True)
        self._spans = _merged([*self._spans, *new])[-MAX_BURSTS:]

    def last_start(self, running: Floats) -> float:
        """Return the start of the last burst; NaN while nothing was ever done.

        Parameters
        ----------
        running : ndarray of float64
            Starts of the tasks that run now: a straggler bridges a pause in what finishes.
        """
        spans = self._spans
        if running.size:
            spans = _merged([*spans, (float(running.min()), inf)])
        return spans[-1][0] if spans else nan


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those joined that have no long pause in between."""
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1] + GAP_S:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged
