"""Marks of a timeline from events: what would lie on each other is one mark with a number.

Pure NumPy; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.event_words import ENDS, ROW_OF, ROWS, number_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Event = tuple[float, str, Mapping[str, Any]]  # details are of any type

CHANGING_S: Final = 60.0
"""Events older than this do not grow any more: a burst is over long before."""

LIVE_S: Final = 600.0
"""How much of the past the live picture shows."""
SPANS_S: Final = (30.0, 60.0, 120.0, 180.0, 300.0, 450.0)
"""How much it shows while it is young."""
STEPS: Final = 20
MARGIN: Final = 0.05
"""Share of the time that is left free before the first event, for the size of its mark."""


@dataclass(frozen=True, slots=True)
class EventColumns:
    """Events as columns, in order of arrival; ``row`` is the index in `ROWS`.

    ``is_end`` where an event only tells that another one is over.
    """

    time: Floats
    until: Floats
    row: Ints
    number: Ints
    is_end: Flags

    def part(self, rows: slice) -> EventColumns:
        """Return some of the rows."""
        return EventColumns(
            *(self.time[rows], self.until[rows]),
            *(self.row[rows], self.number[rows]),
            self.is_end[rows],
        )

    def followed_by(self, tail: EventColumns) -> EventColumns:
        """Return these and then the rows of ``tail``."""
        return EventColumns(
            np.concatenate([self.time, tail.time]),
            np.concatenate([self.until, tail.until]),
            np.concatenate([self.row, tail.row]),
            np.concatenate([self.number, tail.number]),
            np.concatenate([self.is_end, tail.is_end]),
        )


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks in sight.

    Attributes
    ----------
    begin, end : ndarray of float64
        Span of the events of each, seconds since the epoch.
    row : ndarray of int64
        Index in `ROWS`.
    number : ndarray of int64
        Things that happened: bursts count all of theirs. Ends are not counted beside beginnings:
        a worker that paused and went on has paused once.
    is_end : ndarray of bool
        Of which nothing but ends is told.
    members : list of ndarray of int64
        Indices of the events of each, oldest first.
    """

    begin: Floats
    end: Floats
    row: Ints
    number: Ints
    is_end: Flags
    members: list[Ints]


def event_columns(rows: Iterable[Event]) -> EventColumns:
    """Return events as columns."""
    table = [
        (
            *(time, detail.get("until", time)),
            *(ROW_OF.get(kind, len(ROWS) - 1), number_of(detail), kind in ENDS),
        )
        for time, kind, detail in rows
    ]
    times = np.array([row[:2] for row in table], dtype=np.float64).reshape(-1, 2)
    rest = np.array([row[2:] for row in table], dtype=np.int64).reshape(-1, 3)
    until = np.maximum(times[:, 1], times[:, 0])
    return EventColumns(times[:, 0], until, rest[:, 0], rest[:, 1], rest[:, 2].astype(np.bool_))


def grown(before: EventColumns, dropped: int, rows: deque[Event], total: int) -> EventColumns:
    """Return the columns of ``rows``, made anew only where they can have changed.

    Parameters
    ----------
    before : EventColumns
        The columns of before, of which ``dropped`` have been forgotten since.
    rows : deque
        The events now.
    total : int
        How many of them are new.
    """
    if total >= len(rows) or dropped > len(before.time):
        return event_columns(rows)
    since = rows[-1][0] - CHANGING_S
    tail: list[Event] = []
    for event in reversed(rows):
        if len(tail) >= total and event[0] < since:
            break
        tail.append(event)
    kept = before.part(slice(dropped, dropped + len(rows) - len(tail)))
    return kept.followed_by(event_columns(tail[::-1]))


def marks_between(events: EventColumns, begin: float, end: float, room: int) -> Marks:
    """Return the marks between two times, at most about ``room`` in a row.

    Stretches that are merged are a power of two long and aligned to the epoch, so that marks do
    not jump when the picture moves on. Two whose first events are less than half a stretch apart
    are one mark as well, or they would lie on each other; of three in a row the outer ones are
    further apart than a stretch, so that never more than two become one.
    """
    inside = np.flatnonzero((events.until >= begin) & (events.time <= end))
    length = 2.0 ** np.ceil(np.log2(max((end - begin) / max(room, 1), 1e-6)))
    place = np.floor(events.time[inside] / length).astype(np.int64)
    order = np.lexsort((events.time[inside], place, events.row[inside]))
    inside, place = inside[order], place[order]
    row = events.row[inside]
    is_new = np.ones(len(inside), dtype=np.bool_)
    is_new[1:] = (row[1:] != row[:-1]) | (place[1:] != place[:-1])
    first = np.flatnonzero(is_new)
    if not len(first):
        return Marks(np.empty(0), np.empty(0), row, row, np.empty(0, np.bool_), [])
    time = events.time[inside]
    is_apart = np.ones(len(first), dtype=np.bool_)
    is_apart[1:] = (np.diff(row[first]) != 0) | (np.diff(time[first]) >= length / 2)
    first = first[is_apart]
    number, is_end = events.number[inside], events.is_end[inside]
    is_all_ends = np.logical_and.reduceat(is_end, first)
    begun = np.add.reduceat(np.where(is_end, 0, number), first)
    return Marks(
        time[first],
        np.maximum.reduceat(events.until[inside], first),
        row[first],
        np.where(is_all_ends, np.add.reduceat(number, first), begun),
        is_all_ends,
        np.split(inside, first[1:]),
    )


def live_window(last: float, span_s: float | None) -> tuple[float, float]:
    """Return begin and end of the picture, in seconds from the first event.

    Parameters
    ----------
    last : float
        Now, in seconds from the first event.
    span_s : float or None
        How much of the past to show at most; None for all.
    """
    if span_s is None:
        whole = max(last, SPANS_S[0])
        return -MARGIN * whole, whole * (1 + MARGIN)
    span = next((s for s in SPANS_S if last <= s * 0.98 and s < span_s), span_s)
    # In steps over its width, so that a picture in which nothing happens is not sent every tick.
    step = span / STEPS
    end = max((math.floor(last / step) + 1) * step, span)
    return end - span * (1 + MARGIN), end
