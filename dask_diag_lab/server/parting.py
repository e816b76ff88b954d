"""The moment in which a cluster loses its last worker: nearly always it is being closed.

Its workers leave one after the other then, and a picture that followed them would end as that of
an empty cluster, which is what a pane would keep when the kernel is gone as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import Final

HOLD_S: Final = 3.0
"""A kernel that restarts is gone by then, and a cluster without workers may say so that late."""


class Parting:
    """Tells for how long pictures stay as they are.

    Parameters
    ----------
    clock : callable
        Monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._had_workers = False
        self._until = -inf

    def hold_s(self, n_workers: int) -> float:
        """Return the seconds for which nothing is to be drawn; 0 with workers, and most times."""
        if n_workers:
            self._had_workers, self._until = True, -inf
        elif self._had_workers:
            self._had_workers, self._until = False, self._clock() + HOLD_S
        return max(self._until - self._clock(), 0.0)
