"""Since when and until when there is something to show; draws nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.stream.window import TimeWindow


class LiveEnd:
    """The ends of what a store knows of tasks, seconds since the epoch."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def now(self) -> float:
        """The scheduler's clock."""
        return float(self._store.time)

    @property
    def running_starts(self) -> npt.NDArray[np.float64]:
        """When the tasks began that run now."""
        return self._store.running.places(self.now)[1]

    @property
    def last(self) -> float:
        """Up to when there is data: now while tasks run, else the last end; or NaN."""
        actions = self._store.actions
        last = float(actions.last_stop) if actions.count else np.nan
        return float(np.fmax(last, self.now)) if self._store.running.count else last

    @property
    def first(self) -> float:
        """Since when there is data; or NaN."""
        starts = self.running_starts
        earliest = starts.min() if starts.size else np.nan
        return float(np.fmin(self._store.actions.first_start, earliest))

    def runs_in(self, window: TimeWindow) -> bool:
        """Return whether a task runs in some part of a window."""
        return bool(np.any(self.running_starts < window.end) and self.now > window.start)
