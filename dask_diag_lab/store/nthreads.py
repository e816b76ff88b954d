"""Threads of the cluster over time, as the scheduler recorded them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dask_diag_lab.store.arrays import Floats, GrowingArray, Ints

MAX_ENTRIES = 100_000


class ThreadHistory:
    """Steps of the total thread count: from ``times[i]`` on there were ``values[i]``."""

    def __init__(self, limit: int = MAX_ENTRIES) -> None:
        self.version = 0
        self._limit = limit
        self._times: GrowingArray[np.float64] = GrowingArray(np.float64)
        self._values: GrowingArray[np.int64] = GrowingArray(np.int64)

    @property
    def times(self) -> Floats:
        """Seconds since the epoch, ascending."""
        return self._times.values

    @property
    def values(self) -> Ints:
        """Threads from that time on."""
        return self._values.values

    def extend(self, entries: Sequence[tuple[float, int]]) -> None:
        """Append (time, threads); what is older than the newest known entry is skipped.

        A collector that starts anew sends the scheduler's whole history again.
        """
        last = self.times[-1] if len(self._times) else -np.inf
        known = set(self.values[self.times == last].tolist())
        new = [(t, n) for t, n in entries if t > last or (t == last and n not in known)]
        if not new:
            return
        self._times.extend([t for t, _ in new])
        self._values.extend([n for _, n in new])
        if len(self._times) > self._limit:
            self._times.replace(self.times[-self._limit // 2 :])
            self._values.replace(self.values[-self._limit // 2 :])
        self.version += 1
