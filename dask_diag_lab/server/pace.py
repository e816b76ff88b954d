"""How often pictures follow the store: as seldom as it takes to leave the kernel to its user."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import Final

SHARE: Final = 0.25
"""Of its time the server's thread draws at most this much. A few panes need a twentieth; eighty
would take all of it, and the lock of the interpreter from the user's own threads."""
LONGEST_S: Final = 5.0
"""Between two rounds, however much one costs."""


class Pace:
    """Tells how long to wait before a round of updates, from what the thread did since the last.

    To be used in the thread that draws.

    Parameters
    ----------
    clock : callable
        Monotonic seconds.
    spent : callable
        CPU seconds of the calling thread.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        spent: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._spent = spent
        self._began = -inf
        self._spent_before = 0.0

    def hold_s(self) -> float:
        """Return the seconds until the next round may begin; 0 most times."""
        spent = self._spent() - self._spent_before
        due = self._began + min(spent / SHARE, LONGEST_S)
        return max(due - self._clock(), 0.0)

    def begin(self) -> None:
        """A round of updates begins."""
        self._began, self._spent_before = self._clock(), self._spent()
