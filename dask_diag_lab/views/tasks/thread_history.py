"""What a history of actions says of threads, read piece by piece.

Must not draw.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.records import Kind
from dask_diag_lab.views.tasks.thread_bins import ThreadBins
from dask_diag_lab.views.tasks.thread_ends import ThreadEnds
from dask_diag_lab.views.tasks.threads_now import ThreadsNow

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

ROWS_AT_ONCE: Final = 65_536
COLUMNS: Final = ("kind", "prefix", "start", "stop", "worker", "thread")


class ThreadHistory:
    """The threads that tasks took, as far as the actions of a store have been read.

    Parameters
    ----------
    store : Store

    Attributes
    ----------
    counts : ThreadBins
        Threads of each prefix over time.
    cursor : int
        How many actions have been read or were lost before that.
    """

    def __init__(self, store: Store) -> None:
        self.counts = ThreadBins()
        self.cursor = 0
        self._store = store
        self._ends = ThreadEnds()
        self._recent = ThreadsNow()

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
        self.cursor, rows = self._store.actions.since(self.cursor, ROWS_AT_ONCE, COLUMNS)
        is_task = rows["kind"] == Kind.COMPUTE
        prefix = rows["prefix"][is_task].astype(np.int64)
        start, stop = rows["start"][is_task], rows["stop"][is_task]
        worker, thread = (rows[name][is_task].astype(np.int64) for name in ("worker", "thread"))
        start = self._ends.cut(worker, thread, start, stop)
        self.counts.add(prefix, start, stop)
        self._recent.add(start, stop)

    def threads_now(self) -> int:
        """Return how many threads have a task, be it one that ended a moment ago."""
        now = self._store.time
        return self._recent.at(now, self._store.running.places(now)[1])
