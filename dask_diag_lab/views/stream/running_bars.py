"""The tasks of a task stream that run: bars that grow up to now."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.stream.pointing import Target, running_at
from dask_diag_lab.views.stream.rects import PREFIX_CODES

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.stream.names import Names
    from dask_diag_lab.views.stream.picture import Picture
    from dask_diag_lab.views.stream.shown_rows import ShownRows
    from dask_diag_lab.views.stream.window import TimeWindow

INTERVAL_S: Final = 1.0
"""They grow at this pace when nothing else changes."""
MANY: Final = 30
"""More than these are sent at that pace even when some of them changed."""


class RunningBars:
    """What runs, as it was drawn last."""

    def __init__(self, store: Store, picture: Picture, names: Names) -> None:
        self._store = store
        self._picture = picture
        self._names = names
        self._shown: dict[str, npt.NDArray[Any]] = {}  # columns differ in dtype
        self._drawn_at = -np.inf
        self._basis: tuple[object, ...] = ()
        self._until = -np.inf

    def until(self, zero: float) -> float:
        """Return where they end, in seconds since ``zero``; 0 when none was ever drawn."""
        return self._until - zero if self._until > 0 else 0.0

    def at(self, moment: float, row: float, reach_s: float) -> Target | None:
        """Return the task at a moment in a row."""
        return running_at(self._shown, moment, row, self._until, reach_s)

    def draw(self, window: TimeWindow, rows: ShownRows, now: float) -> None:
        """Draw them up to ``now``; not more often than needed."""
        running, picture = self._store.running, self._picture
        since_s = time.monotonic() - self._drawn_at
        basis = (window.zero, running.version, rows, picture.rows)
        is_changed = basis != self._basis
        is_due = since_s >= INTERVAL_S or (is_changed and running.count < MANY)
        if not is_due or not (is_changed or running.count):
            return
        self._basis, self._drawn_at = basis, time.monotonic()
        self._until = now
        self._shown = self._in_sight(window, rows, now)
        prefix = self._shown["prefix"]
        code = np.maximum(self._store.palette.indices(prefix), 0) % PREFIX_CODES
        self._names.send_texts(prefix)
        picture.running.set(
            {
                "left": self._shown["start"] - window.zero,
                "lane": self._shown["lane"].astype(np.uint32),
                "code": code.astype(np.uint8),
                "prefix": prefix.astype(np.uint32),
                "key": list(self._shown["key"]),
            }
        )
        if len(prefix):
            picture.run_until(now - window.zero)

    def _in_sight(
        self, window: TimeWindow, rows: ShownRows, now: float
    ) -> dict[str, npt.NDArray[Any]]:
        """Return those near enough to be seen, with the row of each as its lane."""
        tasks: dict[str, npt.NDArray[Any]] = dict(
            self._store.running.rows(now)  # type: ignore[arg-type]  # arrays alone
        )
        tasks["lane"] = np.append(rows.row_of, -1)[tasks["lane"]]
        top, bottom = self._picture.rows
        page = bottom - top
        is_shown = (tasks["lane"] >= max(top - page, 0)) & (tasks["lane"] <= bottom + page)
        is_shown &= tasks["start"] < window.end + window.width
        return {name: column[is_shown] for name, column in tasks.items()}
