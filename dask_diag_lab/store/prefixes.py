"""Task counts and sizes by prefix and by group, and how fast and how long tasks of a prefix run."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import nan
from typing import Final

import numpy as np

from dask_diag_lab.schema import GROUPS, PREFIXES, STATES, Change, Kind, Outcome
from dask_diag_lab.store.arrays import Columns, Floats, GrowingArray, Ints, frozen
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

    @property
    def names(self) -> list[str]:
        """Names of the groups."""
        return list(self._index)

    def prefix_dependencies(self) -> dict[str, set[str]]:
        """Return for each prefix the other prefixes that its groups depend on."""
        prefix_of = dict(zip(self.names, self.prefix, strict=True))
        needs: dict[str, set[str]] = {}
        for prefix, dependencies in zip(self.prefix, self.dependencies, strict=True):
            mine = needs.setdefault(prefix, set())
            mine.update(prefix_of[name] for name in dependencies if name in prefix_of)
            mine.discard(prefix)
        return needs

    def update(self, change: Change | None) -> None:
        before = dict(zip(self.names, self.dependencies, strict=True))
        super().update(change)
        self.structure_version += before != dict(zip(self.names, self.dependencies, strict=True))

    def clear(self) -> None:
        self.structure_version += bool(self._index)
        super().clear()


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
        self._topological: tuple[tuple[int, int], Ints] | None = None
        self._paces: dict[str, _Pace] = {}
        self._now = 0.0

    @property
    def names(self) -> list[str]:
        """Prefixes in the order of this table."""
        return list(self.column("name"))

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
        return np.array([self._paces[name].rate(self._now) for name in self.names], np.float64)

    @property
    def topological(self) -> Ints:
        """Order in which work flows: indices of prefixes, those that others depend on first.

        Prefixes that depend on each other keep the order in which they appeared.
        """
        seen = (self.version, self._groups.version)
        if self._topological is None or self._topological[0] != seen:
            self._topological = seen, self._flow()
        return self._topological[1]

    def update(self, change: Change | None, time: float = 0.0) -> None:
        """Take over rows as of ``time``, and forget those that went."""
        self._now = time
        super().update(change)
        states = self._columns["states"]
        done = states.sum(axis=1) - states[:, _UNFINISHED].sum(axis=1)
        told = () if change is None else change.columns["name"]
        for name in told:
            n = int(done[self._index[name]])
            if name in self._paces:
                self._paces[name].update(time, n)
            else:
                self._paces[name] = _Pace(time, n)
        for name in self._paces.keys() - self._index.keys():
            del self._paces[name]

    def clear(self) -> None:
        super().clear()
        self._paces.clear()

    def _order(self) -> Ints:
        states = self._columns["states"]
        is_done = ~states[:, _UNFINISHED].any(axis=1)
        order: Ints = np.lexsort((-states.sum(axis=1), is_done))
        return order

    def _flow(self) -> Ints:
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
        return frozen(np.array(order, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Recorded:
    """Compute times of a prefix's tasks that ended well, as recorded; seconds, NaN of none."""

    count: int
    total_s: float
    mean_s: float
    median_s: float


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
        self._row: dict[int, int] = {}  # by string id
        self._total: GrowingArray[np.float64] = GrowingArray(np.float64)
        self._bins = np.zeros((0, N_BINS), dtype=np.int64)

    def of(self, prefix: str) -> Recorded:
        """Return what was recorded of a prefix."""
        row = self._row.get(self._strings.find(prefix) or 0)
        if row is None:
            return Recorded(0, 0.0, nan, nan)
        bins = self._bins[row]
        count, total = int(bins.sum()), float(self._total.values[row])
        middle = int(np.searchsorted(np.cumsum(bins), (count + 1) / 2))
        median = SHORTEST_S * 2 ** ((middle + 0.5) / BINS_PER_OCTAVE)
        return Recorded(count, total, total / count, median)

    def add(self, rows: Columns) -> None:
        """Take over actions: columns of `ACTIONS` with the store's string ids."""
        is_run = (rows["kind"] == Kind.COMPUTE) & (rows["outcome"] == Outcome.OK)
        if not is_run.any():
            return
        seconds = (rows["stop"] - rows["start"])[is_run]
        prefixes, inverse = np.unique(rows["prefix"][is_run], return_inverse=True)
        for prefix in prefixes.tolist():
            self._row.setdefault(prefix, len(self._row))
        n = len(self._row)
        self._total.extend_to(n)
        if n > len(self._bins):
            more = np.zeros((n - len(self._bins), N_BINS), dtype=np.int64)
            self._bins = np.concatenate((self._bins, more))
        row = np.array([self._row[prefix] for prefix in prefixes.tolist()])[inverse]
        octaves = np.log2(np.maximum(seconds, SHORTEST_S) / SHORTEST_S)
        place = np.minimum((octaves * BINS_PER_OCTAVE).astype(np.int64), N_BINS - 1)
        np.add.at(self._total.values, row, seconds)
        np.add.at(self._bins, (row, place), 1)
        self.version += 1


SHORTEST_S: Final = 1e-5
BINS_PER_OCTAVE: Final = 7
"""So bins are 10 % wide, and their middles 5 % off at most."""
N_BINS: Final = 34 * BINS_PER_OCTAVE
"""Up to two days."""

WINDOW_S: Final = 20.0
WANTED: Final = 10
"""The window is longer where fewer tasks than this ended in it: long tasks end in waves."""

LONGEST_S: Final = 120.0
SPACING_S: Final = 1.0
"""Samples are no closer than this, so that a prefix keeps some hundred of them at most."""

LEAST: Final = 2
"""Tasks that have to be seen to end before there is a rate."""


class _Pace:
    """Times and how many were done by then; the oldest sample is where counting begins."""

    __slots__ = ("samples",)

    def __init__(self, time: float, done: int) -> None:
        self.samples: deque[tuple[float, int]] = deque([(time, done)])

    def update(self, time: float, done: int) -> None:
        samples = self.samples
        last_time, last_done = samples[-1]
        if done < last_done or time < last_time:
            # Computed again, or the clock was set back: what was seen before means nothing now.
            self.samples = deque([(time, done)])
        elif done == last_done:
            if len(samples) == 1 or time - last_time > LONGEST_S:
                self.samples = deque([(time, done)])  # it has not begun yet, or begins once more
        elif len(samples) > 2 and time - samples[-2][0] < SPACING_S:
            samples[-1] = (time, done)
        else:
            samples.append((time, done))
        while len(samples) > 2 and samples[1][0] < time - LONGEST_S:
            samples.popleft()

    def rate(self, now: float) -> float:
        last_time, last_done = self.samples[-1]
        begin, before = last_time, last_done
        for begin, before in reversed(self.samples):
            elapsed_s = now - begin
            if elapsed_s >= LONGEST_S or (elapsed_s >= WINDOW_S and last_done - before >= WANTED):
                break
        if last_done - before < LEAST or now <= begin or now - last_time > LONGEST_S:
            return nan
        return (last_done - before) / (now - begin)
