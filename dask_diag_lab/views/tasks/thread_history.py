"""How many threads computed tasks of each prefix over time, added up as actions come.

Reads the store piece by piece; knows no Bokeh. Adding costs what is new, not what is known.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.schema import Kind
from dask_diag_lab.views.tasks.task_counts import Floats, Ints

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

MAX_BINS: Final = 240
"""When there would be more, neighbours are merged in pairs: between half as many and this."""
FINEST_S: Final = 2.0**-4
"""Width of a bin at the beginning; powers of two keep edges where they were when merged."""
MAX_LAYERS: Final = 12
"""Prefixes with a layer of their own; the others share one."""
ROWS_AT_ONCE: Final = 65_536
NOW_S: Final = 1.0
"""What ended longer ago is not now."""
MOST_SHIFT_S: Final = 1.0
"""What ended longer before the end of its thread's last task than that has come late."""
MOST_THREADS: Final = 20_000
"""Tasks that left their thread were on ever new ones: those that ended first are forgotten."""

_COLUMNS: Final = ("kind", "prefix", "start", "stop", "worker", "thread")
_MIX: Final = np.int64(0x1E3779B97F4A7C15)
"""Makes one number of a worker and its thread; odd, so that no two workers have the same."""


@dataclass(frozen=True, slots=True)
class Layers:
    """What is stacked: one row of ``threads`` a layer, from the bottom.

    Attributes
    ----------
    names : sequence of str
        Prefixes in order of appearance; '' is the layer of the others.
    threads : ndarray of float64, shape (layers, bins)
        Mean number of threads that computed in each bin.
    n_others : int
        Prefixes in the layer of the others.
    edges : ndarray of float64
        Seconds since the epoch, one more than bins; the last is now.
    """

    names: Sequence[str]
    threads: Floats
    n_others: int
    edges: Floats


class Bins:
    """A matrix of seconds: one row a prefix in order of appearance, one column a bin.

    Bins are aligned to the epoch: bin ``first + i`` begins at ``(first + i) * width_s``.

    Attributes
    ----------
    seconds : ndarray of float64, shape (prefixes, bins)
    width_s : float
    first : int
        Number of the first bin.
    rows : dict of int to int
        Row of each prefix, by string id.
    """

    def __init__(self) -> None:
        self.seconds: Floats = np.zeros((0, 0))
        self.width_s = FINEST_S
        self.first = 0
        self.rows: dict[int, int] = {}

    @property
    def edges(self) -> Floats:
        """Begin of each bin and end of the last, seconds since the epoch."""
        return (self.first + np.arange(self.seconds.shape[1] + 1)) * self.width_s

    def with_added(self, prefix: Ints, start: Floats, stop: Floats) -> Floats:
        """Return the matrix with the seconds from ``start`` to ``stop`` (since the epoch) added.

        Each interval is the difference of two ramps, and a ramp that begins in a bin fills the
        rest of that one and all that follow: two sums by bin and one running sum do.
        """
        if not len(start):
            return self.seconds
        self._cover(float(start.min()), float(stop.max()))
        row = np.array([self.rows.setdefault(p, len(self.rows)) for p in prefix.tolist()])
        missing = len(self.rows) - len(self.seconds)
        self.seconds = np.pad(self.seconds, ((0, missing), (0, 0)))
        shape = self.seconds.shape
        part, whole = np.zeros(self.seconds.size), np.zeros(self.seconds.size)
        for times, sign in ((start, 1.0), (np.maximum(start, stop), -1.0)):
            place = times / self.width_s - self.first
            cell = np.clip(np.floor(place).astype(np.int64), 0, shape[1] - 1)
            index = row * shape[1] + cell
            part += sign * np.bincount(index, weights=cell + 1 - place, minlength=len(part))
            whole += sign * np.bincount(index, minlength=len(part))
        added = part.reshape(shape)
        added[:, 1:] += np.cumsum(whole.reshape(shape), axis=1)[:, :-1]
        summed: Floats = self.seconds + np.maximum(added, 0.0) * self.width_s
        return summed

    def _cover(self, begin: float, end: float) -> None:
        """Make the bins reach from ``begin`` to ``end``, merging them where there are too many."""
        n = self.seconds.shape[1]
        if n:
            begin = min(begin, self.first * self.width_s)
            # Half a bin off the edge, where rounding cannot make it one more.
            end = max(end, (self.first + n - 0.5) * self.width_s)
        while self._number(end) - self._number(begin) >= MAX_BINS:
            is_odd = self.first % 2
            ends = (is_odd, (self.seconds.shape[1] + is_odd) % 2)
            padded = np.pad(self.seconds, ((0, 0), ends))
            self.seconds = padded[:, ::2] + padded[:, 1::2]
            self.first //= 2
            self.width_s *= 2
        n, first = self.seconds.shape[1], self._number(begin)
        before = self.first - first if n else 0
        after = self._number(end) - first + 1 - before - n
        self.seconds = np.pad(self.seconds, ((0, 0), (before, after)))
        self.first = first

    def _number(self, time_s: float) -> int:
        return math.floor(time_s / self.width_s)


class ThreadHistory:
    """The threads that tasks took, as far as the actions of a store have been read.

    Attributes
    ----------
    bins : Bins
    cursor : int
        How many actions have been read or were lost before that.
    """

    def __init__(self, store: Store) -> None:
        self.bins = Bins()
        self.cursor = 0
        self._store = store
        self._last_stop = -math.inf
        self._until: dict[int, float] = {}  # up to when each thread computed
        self._recent: tuple[Floats, Floats] = (np.empty(0), np.empty(0))

    @property
    def unread(self) -> int:
        """How many actions there are to read."""
        return self._store.actions.total - self.cursor

    @property
    def share(self) -> float:
        """What part of all actions has been read, from 0 to 1."""
        return self.cursor / max(self._store.actions.total, 1)

    def read(self, for_s: float = math.inf) -> None:
        """Read the actions that are new, or `ROWS_AT_ONCE` at a time until ``for_s`` are over."""
        begun = time.perf_counter()
        while self.unread:
            self._read_some()
            if time.perf_counter() - begun > for_s:
                return

    def _read_some(self) -> None:
        self.cursor, rows = self._store.actions.since(self.cursor, ROWS_AT_ONCE, _COLUMNS)
        is_task = rows["kind"] == Kind.COMPUTE
        start, stop = rows["start"][is_task], rows["stop"][is_task]
        worker, thread = (rows[name][is_task].astype(np.int64) for name in ("worker", "thread"))
        # Wraps around, as it may; a thread that is 0 is not known.
        start = self._without_overlap(np.where(thread, worker * _MIX + thread, 0), start, stop)
        self.bins.seconds = self.bins.with_added(rows["prefix"][is_task], start, stop)
        start, stop = (
            np.append(old, new) for old, new in zip(self._recent, (start, stop), strict=True)
        )
        self._last_stop = max(self._last_stop, float(stop.max(initial=-math.inf)))
        is_late = stop > self._last_stop - NOW_S
        self._recent = start[is_late], stop[is_late]

    def _without_overlap(self, thread: Ints, start: Floats, stop: Floats) -> Floats:
        """Return the starts of tasks, none before the end of what its thread did before.

        Workers add to their times how far they believe that their clock is behind the scheduler's.
        That differs from heartbeat to heartbeat by tens of milliseconds where a machine is busy:
        without this more threads would seem to compute than there are.
        """
        order = np.lexsort((start, thread))
        order = order[thread[order] != 0]
        if not len(order):
            return start
        of, begin, end = thread[order], start[order], np.maximum(start, stop)[order]
        is_first = np.append(True, of[1:] != of[:-1])
        distinct, number = of[is_first].tolist(), np.cumsum(is_first) - 1
        before = np.array([self._until.get(each, -math.inf) for each in distinct])
        # The running maximum of each thread: each is lifted above the one before it.
        lift = number * (float(np.ptp(end)) + 1.0)
        until = np.maximum.accumulate(end - end.min() + lift) - lift + end.min()
        earlier = np.where(is_first, -math.inf, np.roll(until, 1))
        earlier = np.maximum(earlier, before[number])
        is_late = end < earlier - MOST_SHIFT_S
        cut = start.copy()
        cut[order] = np.where(is_late, begin, np.minimum(np.maximum(begin, earlier), end))
        last = np.maximum(until[np.append(is_first[1:], True)], before)
        self._until.update(zip(distinct, last.tolist(), strict=True))
        if len(self._until) > MOST_THREADS:
            newest = sorted(self._until.items(), key=lambda item: item[1])[-MOST_THREADS // 2 :]
            self._until = dict(newest)
        return cut

    def threads_now(self) -> int:
        """Return how many threads compute right now, whether their tasks are long or short.

        Heartbeats name the tasks that run, but come too seldom for short ones: of those the mean
        over the last moments tells.
        """
        now = self._store.time
        running = self._store.running.places(now)[1]
        # What ended since the last action is not known yet: up to then all is.
        end = self._last_stop if now - NOW_S < self._last_stop else now
        start = np.append(self._recent[0], running)
        stop = np.append(self._recent[1], np.full(len(running), end))
        inside = np.clip(stop - np.maximum(start, end - NOW_S), 0.0, None)
        return max(len(running), round(float(inside.sum()) / NOW_S))

    def layers(self) -> Layers:
        """Return what to stack now: what was read, and what runs as far as it has come."""
        store, bins = self._store, self.bins
        now = store.time
        running = store.running.rows(now)
        start = np.minimum(np.maximum(running["start"], self._ended()[running["slot"]]), now)
        seconds = bins.with_added(running["prefix"], start, np.full(len(start), now))
        if not seconds.size:
            return Layers([], np.empty((0, 0)), 0, np.empty(0))
        edges = bins.edges
        if len(start):
            # The last bin is not over: its mean is that of the part that has passed.
            end = max(now, self._last_stop, edges[-2] + bins.width_s / 100)
            edges[-1] = min(end, edges[-1])
        order = np.argsort(-seconds.sum(axis=1), kind="stable")
        shown, others = order[:MAX_LAYERS], order[MAX_LAYERS:]
        prefixes = np.array(list(bins.rows), dtype=np.int64)
        shown = shown[np.argsort(store.palette.indices(prefixes)[shown], kind="stable")]
        names = [store.strings[prefix] for prefix in prefixes[shown].tolist()]
        stacked = seconds[shown]
        if len(others):
            names.append("")
            stacked = np.vstack([stacked, seconds[others].sum(axis=0)])
        return Layers(names, stacked / np.diff(edges), len(others), edges)

    def _ended(self) -> Floats:
        """Return up to when each row of the slot table computed what has ended; else -inf."""
        slots = self._store.slots
        ends = np.full(slots.count + 1, -np.inf)
        position = slots.position
        is_shown = position >= 0
        ends[position[is_shown]] = slots.last_stop[: len(position)][is_shown]
        return ends
