"""How many threads computed tasks of each prefix over time, added up as actions come.

Reads the history piece by piece; knows no Bokeh. Adding costs what is new, not what is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.schema import Kind
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views.tasks.task_counts import Floats, Ints

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession

MAX_BINS: Final = 240
"""When there would be more, neighbours are merged in pairs: between half as many and this."""
FINEST_S: Final = 2.0**-2
"""Width of a bin at the beginning; powers of two keep edges where they were when merged.

Finer ones would show that workers correct their clocks by tens of milliseconds: one thread as two.
"""
MAX_LAYERS: Final = 12
"""Prefixes with a layer of their own; the others share one."""
ROWS_AT_ONCE: Final = 32_768
"""Actions read in one piece: some three milliseconds."""
CLOCKS_S: Final = 1.0
"""Heartbeats put starts off by less. What runs and began longer before another task ended in its
slot has left its thread."""
NOW_S: Final = 1.0
"""What ended longer ago is not now."""


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


class PrefixThreads:
    """The seconds that tasks took of threads, as far as the actions of a history have been read.

    They are a matrix with one row a prefix in order of appearance, one column a bin. Bins are
    aligned to the epoch: bin ``first + i`` begins at ``(first + i) * width_s``.

    Attributes
    ----------
    seconds : ndarray of float64, shape (prefixes, bins)
    width_s : float
    first : int
        Number of the first bin.
    cursor : int
        How many actions have been read or were lost before that.
    last_stop : float
        When the last one ended, seconds since the epoch.

    Parameters
    ----------
    live : LiveSession
    period : Window
        What lies outside does not count.
    """

    def __init__(self, live: LiveSession, period: Window = ALL) -> None:
        self.seconds: Floats = np.zeros((0, 0))
        self.width_s = FINEST_S
        self.first = 0
        self.cursor = 0
        self.last_stop = -math.inf
        self._rows: dict[int, int] = {}  # by string id of the prefix
        self._ends: Floats = np.empty(0)  # of the last task that was read, by slot id
        self._live = live
        self._period = period

    @property
    def edges(self) -> Floats:
        """Begin of each bin and end of the last, seconds since the epoch."""
        return (self.first + np.arange(self.seconds.shape[1] + 1)) * self.width_s

    @property
    def unread(self) -> int:
        """How many actions there are to read."""
        return self._live.history.actions.total - self.cursor

    def read(self) -> None:
        """Read the next actions, `ROWS_AT_ONCE` at most."""
        columns = ("kind", "prefix", "start", "stop", "slot")
        self.cursor, rows = self._live.history.actions.since(self.cursor, ROWS_AT_ONCE, columns)
        is_task = rows["kind"] == Kind.COMPUTE
        prefix, start, stop, slot = (rows[name][is_task] for name in columns[1:])
        order = np.lexsort((stop, slot))
        start = self._in_turn(slot[order], start[order], stop[order])
        self.seconds = self.with_added(*self._inside(prefix[order], start, stop[order]))
        self.last_stop = max(self.last_stop, float(stop.max(initial=-math.inf)))

    def _inside(self, prefix: Ints, start: Floats, stop: Floats) -> tuple[Ints, Floats, Floats]:
        """Return the parts of tasks that are in the period."""
        start, stop = np.maximum(start, self._period.start), np.minimum(stop, self._period.stop)
        is_in = (stop > start) | (self._period == ALL)
        return prefix[is_in], start[is_in], stop[is_in]

    def _in_turn(self, slot: Ints, start: Floats, stop: Floats) -> Floats:
        """Return starts of tasks, sorted by slot and stop, before which no other had the thread.

        A worker takes times to the scheduler's clock by its latest heartbeat, task by task: one
        that took long moves a task into the one before it. What left its thread is in a slot of
        its own.
        """
        slots = self._live.history.slots
        unseen = np.full(len(slots.position) - len(self._ends), -math.inf)
        self._ends, ids = np.append(self._ends, unseen), slots.ids[slot]
        is_first = np.diff(slot, prepend=-1) != 0
        before = np.where(is_first, self._ends[ids], np.roll(stop, 1))
        np.maximum.at(self._ends, ids, stop)
        in_turn: Floats = np.minimum(np.maximum(start, before), stop)
        return in_turn

    def with_added(self, prefix: Ints, start: Floats, stop: Floats) -> Floats:
        """Return the matrix with the seconds from ``start`` to ``stop`` (since the epoch) added.

        Each interval is the difference of two ramps, and a ramp that begins in a bin fills the
        rest of that one and all that follow: two sums by bin and one running sum do.
        """
        if not len(start):
            return self.seconds
        self._cover(float(start.min()), float(stop.max()))
        prefixes = np.unique(prefix)
        rows = np.array([self._rows.setdefault(p, len(self._rows)) for p in prefixes.tolist()])
        row = rows[np.searchsorted(prefixes, prefix)]
        missing = len(self._rows) - len(self.seconds)
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

    def threads_now(self) -> int:
        """Return how many threads compute right now, whether their tasks are long or short.

        Heartbeats name the tasks that run, but come too seldom for short ones: of those the mean
        over the last moments tells.
        """
        running = self._live.history.running.count
        if not self.seconds.size or not self.is_recent:
            return running
        n = min(math.ceil(NOW_S / self.width_s) + 1, self.seconds.shape[1])
        lately_s = self.last_stop - float(self.edges[-n - 1])
        return max(running, round(float(self.seconds[:, -n:].sum()) / lately_s))

    @property
    def is_recent(self) -> bool:
        """Whether a task has ended just now."""
        return self._live.time - self.last_stop < NOW_S

    def layers(self) -> Layers:
        """Return what to stack now: what was read, and what runs as far as it has come."""
        history, now = self._live.history, self._live.time
        running, slots = history.running.rows(now), history.slots
        start, ended = running["start"], slots.last_stop[slots.ids[running["slot"]]]
        start = np.where(ended - start < CLOCKS_S, np.minimum(np.maximum(start, ended), now), start)
        begun = self._inside(running["prefix"], start, np.full(len(start), now))
        seconds = self.with_added(*begun)
        if not seconds.size:
            return Layers([], np.empty((0, 0)), 0, np.empty(0))
        edges = self.edges
        if len(begun[0]):
            # The last bin is not over: its mean is that of the part that has passed.
            end = max(now, self.last_stop, edges[-2] + self.width_s / 100)
            edges[-1] = min(end, edges[-1])
        order = np.argsort(-seconds.sum(axis=1), kind="stable")
        shown, others = order[:MAX_LAYERS], order[MAX_LAYERS:]
        prefixes = np.array(list(self._rows), dtype=np.int64)
        shown = shown[np.argsort(history.palette.indices(prefixes)[shown], kind="stable")]
        names = [history.strings[prefix] for prefix in prefixes[shown].tolist()]
        stacked = seconds[shown]
        if len(others):
            names.append("")
            stacked = np.vstack([stacked, seconds[others].sum(axis=0)])
        return Layers(names, stacked / np.diff(edges), len(others), edges)
