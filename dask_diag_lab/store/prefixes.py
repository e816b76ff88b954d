"""Task counts and sizes by prefix and by group, and how fast and how long tasks of a prefix run."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import nan
from typing import Final

import numpy as np

from dask_diag_lab.schema import GROUPS, PREFIXES, STATES, Change, Kind, Outcome
from dask_diag_lab.store.arrays import Columns, Floats, Ints
from dask_diag_lab.store.strings import StringTable
from dask_diag_lab.store.tables import NamedTable

_UNFINISHED: Final = [STATES.index(s) for s in ("waiting", "no-worker", "queued", "processing")]


class GroupTable(NamedTable):
    """Groups in order of their appearance; the columns of `GROUPS` are attributes.

    Attributes
    ----------
    structure_version : int
        Moves when groups came or went or their dependencies changed.
    """

    def __init__(self) -> None:
        super().__init__(GROUPS)
        self.structure_version = 0

    def prefix_dependencies(self) -> dict[str, set[str]]:
        """Return for each prefix the other prefixes that its groups depend on."""
        prefix_of = dict(zip(self.names, self.prefix, strict=True))
        needs: dict[str, set[str]] = {}
        for prefix, dependencies in zip(self.prefix, self.dependencies, strict=True):
            mine = needs.setdefault(prefix, set())
            mine.update(prefix_of[name] for name in dependencies if name in prefix_of)
            mine.discard(prefix)
        return needs

    def update(self, change: Change) -> None:
        before = (self.names, self.dependencies)
        super().update(change)
        self.structure_version += before != (self.names, self.dependencies)


class PrefixTable(NamedTable):
    """Prefixes with tasks that have not ended, then the others; most tasks first in both.

    The columns of `PREFIXES` are attributes. Tasks that were done and then forgotten stay counted.

    Parameters
    ----------
    groups : GroupTable
        Knows which prefix depends on which.
    """

    def __init__(self, groups: GroupTable) -> None:
        super().__init__(PREFIXES)
        self._groups = groups
        self._done: dict[str, deque[tuple[float, int]]] = {}
        self._now = 0.0

    @property
    def rate(self) -> Floats:
        """Tasks of each that end in a second, as observed; NaN where too few were seen to end.

        ``(done now - done then) / (now - then)``, where ``now`` is the time of the last batch and
        ``then`` is at least `WINDOW_S` ago, and so much longer, up to `LONGEST_S`, that `WANTED`
        tasks ended since; or when the first of its tasks came to a worker, if that was later. It
        falls when nothing ends any more, which moves no version. Tasks that wait, divided by it,
        are an estimate of the seconds left that takes everything into account that slows a cluster
        down, unlike `duration`.
        """
        return np.array([_rate(self._done[name], self._now) for name in self.names], np.float64)

    @property
    def topological(self) -> Ints:
        """The order in which work flows: indices of prefixes, what others need first.

        Prefixes that depend on each other keep the order in which they appeared.
        """
        needs = self._groups.prefix_dependencies()
        index = {name: i for i, name in enumerate(self.names)}
        waiting = {n: {d for d in needs.get(n, ()) if d in index} for n in self._index}
        order: list[int] = []
        while waiting:
            ready = [name for name, missing in waiting.items() if not missing]
            # A circle: sum → getitem → sum is common. Its first member goes on.
            ready = ready or [min(waiting, key=lambda name: len(waiting[name]))]
            for name in ready:
                del waiting[name]
                order.append(index[name])
            for missing in waiting.values():
                missing.difference_update(ready)
        return np.array(order, dtype=np.int64)

    def observe(self, time: float) -> None:
        """Note how many tasks were done by a time, after `update`."""
        self._now = time
        states = self._columns["states"]
        done = (states.sum(axis=1) - states[:, _UNFINISHED].sum(axis=1)).tolist()
        before, self._done = self._done, {}
        for name, row in self._index.items():
            samples = self._done[name] = before.get(name) or deque()
            _note(samples, time, done[row])

    def _order(self) -> Ints:
        states = self._columns["states"]
        is_done = ~states[:, _UNFINISHED].any(axis=1)
        return np.lexsort((-states.sum(axis=1), is_done))


WINDOW_S: Final = 20.0
WANTED: Final = 10
"""The window is longer where fewer tasks than this ended in it: long tasks end in waves."""
LONGEST_S: Final = 120.0
LEAST: Final = 2
"""Tasks that have to be seen to end before there is a rate."""


def _note(samples: deque[tuple[float, int]], time: float, done: int) -> None:
    """Append how many tasks were done by a time, where some ended since the sample before.

    The first sample is where counting begins.
    """
    if samples and (done < samples[-1][1] or time < samples[-1][0]):
        samples.clear()  # computed again, or the clock was set back: what was seen means nothing
    if samples and done == samples[-1][1]:
        if len(samples) > 1 and time - samples[-1][0] <= LONGEST_S:
            return
        samples.clear()  # it has not begun yet, or begins once more
    samples.append((time, done))
    while len(samples) > 2 and samples[1][0] < time - LONGEST_S:
        samples.popleft()


def _rate(samples: deque[tuple[float, int]], now: float) -> float:
    last_time, last_done = begin, before = samples[-1]
    for begin, before in reversed(samples):
        elapsed_s = now - begin
        if elapsed_s >= LONGEST_S or (elapsed_s >= WINDOW_S and last_done - before >= WANTED):
            break
    if last_done - before < LEAST or now <= begin or now - last_time > LONGEST_S:
        return nan
    return (last_done - before) / (now - begin)


@dataclass(frozen=True, slots=True)
class Recorded:
    """Compute times of a prefix's tasks that ended well, as recorded; seconds, NaN of none."""

    count: int
    mean_s: float
    median_s: float


_NOTHING: Final = Recorded(0, nan, nan)


class Durations:
    """How long tasks of each prefix took, of all that were recorded.

    Unlike `PrefixTable.duration`, which is what the scheduler expects of the next one. The median
    comes from a histogram and is exact to 5 %.

    Parameters
    ----------
    strings : StringTable
        Knows the names behind the prefixes' numbers.
    """

    def __init__(self, strings: StringTable) -> None:
        self.version = 0
        self._strings = strings
        self._total_s: dict[int, float] = {}  # by string id
        self._bins: dict[int, Ints] = {}
        self._recorded: dict[int, Recorded] = {}

    def of(self, prefix: str) -> Recorded:
        """Return what was recorded of a prefix."""
        string = self._strings.find(prefix) or 0
        if string in self._bins and string not in self._recorded:
            sums = np.cumsum(self._bins[string])
            count = int(sums[-1])
            middle = int(np.searchsorted(sums, (count + 1) / 2))
            median_s = SHORTEST_S * 2 ** ((middle + 0.5) / BINS_PER_OCTAVE)
            self._recorded[string] = Recorded(count, self._total_s[string] / count, median_s)
        return self._recorded.get(string, _NOTHING)

    def add(self, rows: Columns) -> None:
        """Take over actions: columns of `ACTIONS` with the store's string ids."""
        runs = np.flatnonzero((rows["kind"] == Kind.COMPUTE) & (rows["outcome"] == Outcome.OK))
        if not len(runs):
            return
        runs = runs[np.argsort(rows["prefix"][runs], kind="stable")]
        prefix, seconds = rows["prefix"][runs], (rows["stop"] - rows["start"])[runs]
        octaves = np.log2(np.maximum(seconds, SHORTEST_S) / SHORTEST_S)
        bins = np.minimum((octaves * BINS_PER_OCTAVE).astype(np.int64), N_BINS - 1)
        firsts = np.flatnonzero(np.diff(prefix.astype(np.int64), prepend=-1)).tolist()
        for first, stop in zip(firsts, [*firsts[1:], len(runs)], strict=True):
            string, its = int(prefix[first]), slice(first, stop)
            self._total_s[string] = self._total_s.get(string, 0.0) + float(seconds[its].sum())
            counts = np.bincount(bins[its], minlength=N_BINS)
            self._bins[string] = self._bins.get(string, 0) + counts
            self._recorded.pop(string, None)
        self.version += 1


SHORTEST_S: Final = 1e-5
BINS_PER_OCTAVE: Final = 7
"""So bins are 10 % wide, and their middles 5 % off at most."""
N_BINS: Final = 34 * BINS_PER_OCTAVE
"""Up to two days."""
