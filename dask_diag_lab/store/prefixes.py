"""Task counts and sizes by prefix and by group, and how long tasks of a prefix run."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Final

import numpy as np

from dask_diag_lab.schema import GROUPS, PREFIXES, STATES, Change, Kind, Outcome
from dask_diag_lab.store.arrays import Columns, Ints
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

    def update(self, change: Change) -> None:
        before = (self.names, self.dependencies)
        super().update(change)
        self.structure_version += before != (self.names, self.dependencies)


class PrefixTable(NamedTable):
    """Prefixes with tasks that have not ended, then the others; most tasks first in both.

    The columns of `PREFIXES` are attributes. Tasks that were done and then forgotten stay counted.
    """

    def __init__(self) -> None:
        super().__init__(PREFIXES)

    def _order(self) -> Ints:
        states = self._columns["states"]
        is_done = ~states[:, _UNFINISHED].any(axis=1)
        return np.lexsort((-states.sum(axis=1), is_done))


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
