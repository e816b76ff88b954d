"""What was done in a stretch of time: sums of actions, and what the threads' time went to.

And when anything ran at all, and how many threads there were.

The one place where time is added up, so that all plots of one window have the same figures. Sums
of the log are pure: what they are given does not change, so they may be worked out in any thread.
Of sums that come without times, `Checkpoints` keep what they were at many moments.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any, Final, NamedTuple

import numpy as np

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store.arrays import Bools, Columns, Floats, Ints
from dask_diag_lab.store.lod import Block


class Window(NamedTuple):
    """A stretch of time, seconds since the epoch by the scheduler's clock; infinite ends are open.

    An action ended in it if it did after `start` and not after `stop`.
    """

    start: float = -inf
    stop: float = inf


ALL: Final = Window()

SHORTEST_S: Final = 1e-5
BINS_PER_OCTAVE: Final = 7
"""So bins of durations are 10 % wide, and their middles 5 % off at most."""
N_BINS: Final = 34 * BINS_PER_OCTAVE
"""Up to two days."""
BY: Final = ("prefix", "kind", "outcome", "bin")
VALUES: Final = ("seconds", "count", "ended_s", "nbytes")


def block_sums(block: Block, window: Window = ALL, by: Sequence[str] = BY) -> Columns:
    """Return the sums of a block's actions within a window, a row for each combination of ``by``.

    Those of a whole block are kept.

    Parameters
    ----------
    block : Block
    window : Window
    by : sequence of str
        Columns of the block, and ``bin``, of the duration.

    Returns
    -------
    dict of str to ndarray
        Those of ``by``. ``seconds`` that the actions had in the window; of those that ended in it
        ``count``, ``ended_s`` (all they took) and ``nbytes`` (of results and transfers; unknown
        ones are 0).
    """
    is_whole = window.start < block.min_start and block.max_stop <= window.stop
    by = tuple(by)
    if is_whole and by in block.sums:
        return block.sums[by]
    rows = block.between(*window)
    columns = {name: block.columns[name][rows] for name in by if name != "bin"}
    start, stop = block.start[rows], block.stop[rows]
    took_s = stop - start
    if "bin" in by:
        octaves = np.log2(np.maximum(took_s, SHORTEST_S) / SHORTEST_S)
        columns["bin"] = np.minimum((octaves * BINS_PER_OCTAVE).astype(np.int64), N_BINS - 1)
    ended = (stop > window.start) & (stop <= window.stop)
    columns |= {
        "seconds": np.minimum(stop, window.stop) - np.maximum(start, window.start),
        "count": ended.astype(np.float64),
        "ended_s": took_s * ended,
        "nbytes": np.maximum(block.columns["nbytes"][rows], 0) * ended,
    }
    sums = grouped(columns, by)
    if is_whole:
        block.sums = {**block.sums, by: sums}  # replaced as a whole: other threads may read it
    return sums


def grouped(columns: Columns, by: Sequence[str] = BY) -> Columns:
    """Return one row for each combination of ``by``, with the sums of `VALUES`."""
    key = np.zeros(len(columns["count"]), dtype=np.int64)
    for name in by:
        column = columns[name].astype(np.int64)
        key = key * (int(column.max(initial=0)) + 1) + column
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    keys = {name: columns[name][first].astype(np.int64) for name in by}
    return keys | {name: np.bincount(of, columns[name], len(first)) for name in VALUES}


class Durations(NamedTuple):
    """Compute times of a prefix's tasks that ended well; seconds, NaN of none.

    The median is exact to 5 %.
    """

    n_tasks: int
    mean_s: float
    median_s: float


NO_DURATIONS: Final = Durations(0, nan, nan)


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of the actions of a window.

    Attributes
    ----------
    columns : dict of str to ndarray
        As `block_sums` returns them.
    """

    columns: Columns

    def total(
        self, by: Sequence[str], value: str, where: Mapping[str, int]
    ) -> dict[tuple[int, ...], float]:
        """Return a sum for each combination of some of the columns that it is by.

        Parameters
        ----------
        by : sequence of str
        value : str
            One of `VALUES`.
        where : mapping of str to int
            Only rows with these values.
        """
        chosen = np.ones(len(self.columns["count"]), dtype=np.bool_)
        for name, wanted in where.items():
            chosen &= self.columns[name] == wanted
        sums: dict[tuple[int, ...], float] = {}
        keys = zip(*(self.columns[name][chosen].tolist() for name in by), strict=True)
        for key, amount in zip(keys, self.columns[value][chosen].tolist(), strict=True):
            sums[key] = sums.get(key, 0.0) + amount
        return sums

    def durations(self) -> dict[int, Durations]:
        """Return how long tasks took that ended well, by string id of their prefix."""
        columns = self.columns
        is_run = (columns["kind"] == Kind.COMPUTE) & (columns["outcome"] == Outcome.OK)
        is_run &= columns["count"] > 0
        names = ("prefix", "bin", "count", "ended_s")
        prefix, bins, count, seconds = (columns[name][is_run] for name in names)
        found = {}
        for one in np.unique(prefix).tolist():
            its = np.flatnonzero(prefix == one)
            its = its[np.argsort(bins[its], kind="stable")]
            until = np.cumsum(count[its])
            n = round(float(until[-1]))
            middle = int(bins[its][np.searchsorted(until, (n + 1) / 2)])
            median_s = SHORTEST_S * 2 ** ((middle + 0.5) / BINS_PER_OCTAVE)
            found[one] = Durations(n, float(seconds[its].sum()) / n, median_s)
        return found


# --- what the threads' time went to

CLASSES: Final[Sequence[tuple[str, frozenset[Kind]]]] = (
    ("computing", frozenset({Kind.COMPUTE})),
    ("deserialize", frozenset({Kind.DESERIALIZE})),
    ("disk", frozenset({Kind.DISK_READ, Kind.DISK_WRITE})),
    ("transfer", frozenset({Kind.TRANSFER})),
)
"""What a moment of a thread counts for: the first one that its worker does at that moment."""
_CLASS_OF: Final = np.array(
    [next(at for at, (_, kinds) in enumerate(CLASSES) if kind in kinds) for kind in Kind]
)


def thread_time(
    worker: Ints, kind: Ints, start: Floats, stop: Floats, threads: Ints, window: Window
) -> dict[str, float]:
    """Return the seconds of threads that each of `CLASSES` had.

    A moment of a thread counts once. A worker has no more of them than threads, however many tasks
    have seceded, run on its event loop or in a pool of processes; data that moves and is written
    takes the time of threads that have nothing to compute.

    Parameters
    ----------
    worker : ndarray of int64
        Of each action: index into ``threads``.
    kind : ndarray of int
        `Kind` of each.
    start, stop : ndarray of float64
        Seconds since the epoch.
    threads : ndarray of int64
        Threads of each worker.
    window : Window
    """
    start, stop = np.maximum(start, window.start), np.minimum(stop, window.stop)
    inside = stop > start
    if not inside.any():
        return {name: 0.0 for name, _ in CLASSES}
    start, stop, code = start[inside], stop[inside], 2 * _CLASS_OF[kind[inside]]
    begin, bits = start.min(), 60 - len(threads).bit_length()
    per_s = 2.0 ** (bits - 1) / (stop.max() - begin)
    # Numbers that hold all three, in runs as of blocks, sort ten times faster than two keys do.
    first = worker[inside] << bits
    keys = [
        (first + ((moment - begin) * per_s).astype(np.int64) << 3) + code + is_end
        for is_end, moment in enumerate((start, stop))
    ]
    key = np.concatenate(keys)
    key.sort(kind="stable")
    worker, code = key >> bits + 3, key.astype(np.uint8) & 7
    # What has begun has ended at the last moment of a worker: sums go on with the next one at 0.
    lasts_s = np.diff(key >> 3 & (1 << bits) - 1, append=0) / per_s
    lasts_s[np.diff(worker, append=-1) != 0] = 0.0
    free, found = threads.astype(np.int32)[worker], dict.fromkeys(dict(CLASSES), 0.0)
    for at in np.flatnonzero(np.bincount(code, minlength=8)[::2]).tolist():
        change = np.zeros(8, dtype=np.int8)
        change[2 * at : 2 * at + 2] = 1, -1
        used = np.minimum(np.cumsum(change[code], dtype=np.int32), free)
        free -= used
        found[CLASSES[at][0]] = float(used @ lasts_s)
    return found


Name = tuple[Any, ...]
"""What one sum is of: the other columns of its row."""

LEAST_S: Final = 1.0
"""Between two checkpoints; heartbeats bring what is new about as often."""
MAX_VALUES: Final = 500_000
"""Kept of one table, 8 bytes each: when there are more, every other one of the older half goes."""


class Checkpoints:
    """The values of a table's rows at moments, newest last.

    Between two checkpoints a sum is taken to have grown evenly.
    """

    SAVED = ("_index", "_times", "_values", "_base")

    def __init__(self) -> None:
        self.version = 0
        self._index: dict[Name, int] = {}
        self._times: list[float] = []
        self._values: list[Floats] = []
        self._base: Floats = np.empty(0)

    def note(self, time: float, values: Mapping[Name, float]) -> None:
        """Take over the sums of a moment, if any has changed."""
        for name in values:
            self._index.setdefault(name, len(self._index))
        row = _padded(self._base, len(self._index))
        for name, value in values.items():
            row[self._index[name]] += value
        if self._values and np.array_equal(_padded(self._values[-1], len(row)), row):
            return
        self.version += 1
        # The newest is always there, and the moment before it began to grow.
        if len(self._times) > 1 and time - self._times[-2] < LEAST_S:
            self._times.pop()
            self._values.pop()
        self._times.append(time)
        self._values.append(row)
        if len(self._index) * len(self._times) > MAX_VALUES:
            half = len(self._times) // 4 * 2
            self._times[:half] = self._times[:half:2]
            self._values[:half] = self._values[:half:2]

    def begin_anew(self) -> None:
        """Have sums that begin at 0 again go on from what they were."""
        if self._values:
            self._base = self._values[-1]

    def gained(self, window: Window = ALL) -> dict[Name, float]:
        """Return by how much each sum has grown in a window, where it has."""
        before, after = (self._at(moment) for moment in window)
        gained = (after - before).tolist()
        return {name: gain for name, gain in zip(self._index, gained, strict=True) if gain}

    def _at(self, moment: float) -> Floats:
        n = len(self._index)
        at = int(np.searchsorted(self._times, moment, side="right"))
        if at == 0 or not self._times:
            return np.zeros(n)
        before = _padded(self._values[at - 1], n)
        if at == len(self._times):
            return before
        after, begin = _padded(self._values[at], n), self._times[at - 1]
        share = (moment - begin) / (self._times[at] - begin)
        return before + share * (after - before)


def _padded(values: Floats, n: int) -> Floats:
    """Return values with 0 for what was not there yet."""
    return np.append(values, np.zeros(n - len(values)))


def sums_by_name(columns: Sequence[Sequence[Any]], values: Floats) -> dict[Name, float]:
    """Return the values of a table's rows by what they are of; those of equal names added up."""
    sums: dict[Name, float] = {}
    for name, value in zip(zip(*columns, strict=True), values.tolist(), strict=True):
        sums[name] = sums.get(name, 0.0) + value
    return sums


# --- when anything ran at all, and how many threads there were

LEAST_GAP_S: Final = 0.5
"""Shorter pauses between tasks count as time in which something ran."""
BURST_GAP_S: Final = 10.0
"""Work after a pause longer than this is a new burst; the stock task stream resets so as well."""
MAX_STRETCHES: Final = 10_000
MAX_THREAD_STEPS: Final = 100_000
LATELY_S: Final = 20.0
"""So far back it is looked for how many threads are at work."""


class BusyTimes:
    """Stretches of time in which at least one thread computed or moved data.

    Attributes
    ----------
    start, stop : ndarray of float64
        Seconds since the epoch on the scheduler's clock, ascending and disjoint: the first one and
        the last `MAX_STRETCHES` or fewer.
    """

    SAVED = ("start", "stop", "_lately")

    def __init__(self) -> None:
        self._lately: deque[tuple[float, float]] = deque()  # latest stop and seconds held of each
        self.start: Floats = np.empty(0)
        self.stop: Floats = np.empty(0)

    def add(self, start: Floats, stop: Floats, is_task: Bools) -> None:
        """Take over the starts and stops of actions, in any order, at least of one."""
        last = float(stop.max())
        late = is_task & (stop > last - LATELY_S)
        self._lately.append((last, float((stop - start)[late].clip(max=LATELY_S).sum())))
        while self._lately[0][0] < last - LATELY_S:
            self._lately.popleft()
        n_before = int(np.searchsorted(self.stop, start.min() - LEAST_GAP_S))
        start = np.concatenate((self.start[n_before:], start))
        stop = np.concatenate((self.stop[n_before:], stop))
        order = np.argsort(start, kind="stable")
        start, stop = start[order], np.maximum.accumulate(stop[order])
        is_first = np.append(True, start[1:] - stop[:-1] > LEAST_GAP_S)
        is_last = np.append(is_first[1:], True)
        self.start = np.concatenate((self.start[:n_before], start[is_first]))
        self.stop = np.concatenate((self.stop[:n_before], stop[is_last]))
        if len(self.start) > MAX_STRETCHES:
            kept = np.r_[0, len(self.start) - MAX_STRETCHES // 2 : len(self.start)]
            self.start, self.stop = self.start[kept], self.stop[kept]

    def burst_start(self, running: Floats) -> float:
        """Return since when there was work without a long pause; NaN while nothing was ever done.

        Parameters
        ----------
        running : ndarray of float64
            Starts of the tasks that run now: a straggler bridges a pause in what finishes.
        """
        start, stop = self.start, self.stop
        if running.size:
            begin = float(running.min())
            n_before = int(np.searchsorted(start, begin))
            start = np.append(start[:n_before], begin)
            stop = np.append(stop[:n_before], np.inf)
        is_first = np.append(True, start[1:] - stop[:-1] > BURST_GAP_S)
        return float(start[is_first[: len(start)]].max()) if len(start) else np.nan

    def threads_lately(self, now: float) -> float:
        """Return how many threads were held on average by the tasks that have ended of late.

        Since the begin of the burst, where that is not as long ago.
        """
        begin = max(now - LATELY_S, float(self.burst_start(np.empty(0))))
        held_s = sum(held for stop, held in self._lately if stop > begin)
        return held_s / (now - begin) if now > begin else 0.0


def seconds_until(moments: Floats, times: Floats, nthreads: Ints) -> Floats:
    """Return how long all threads together had been there at each moment."""
    if not len(times):
        return np.zeros(len(moments))
    until = np.append(0.0, np.cumsum(np.diff(times) * nthreads[:-1]))
    at = np.searchsorted(times, moments, side="right") - 1
    known: Floats = until[at] + nthreads[at] * (moments - times[at])
    return np.where(at >= 0, known, 0.0)


class ThreadHistory:
    """Steps of the total thread count: from ``times[i]`` on there were ``values[i]``."""

    SAVED = ("times", "values")

    def __init__(self) -> None:
        self.version = 0
        self.times: Floats = np.empty(0)
        self.values: Ints = np.empty(0, dtype=np.int64)

    def extend(self, columns: Mapping[str, Any]) -> None:
        """Append rows of `NTHREADS`.

        A collector that starts anew sends the scheduler's whole history again: what is known of
        that time is replaced.
        """
        times, values = columns["time"], columns["nthreads"]
        n_before = int(np.searchsorted(self.times, times[:1].min(initial=np.inf)))
        times = np.append(self.times[:n_before], times)[-MAX_THREAD_STEPS:]
        values = np.append(self.values[:n_before], values)[-MAX_THREAD_STEPS:]
        if not (np.array_equal(times, self.times) and np.array_equal(values, self.values)):
            self.times, self.values = times, values
            self.version += 1

    def mean(self, edges: Floats) -> Floats:
        """Return how many threads there were on average between each two moments."""
        return np.diff(seconds_until(edges, self.times, self.values)) / np.diff(edges)
