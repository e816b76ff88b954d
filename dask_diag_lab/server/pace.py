"""How often pictures follow the store: as seldom as it takes to leave the kernel to its user."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import Final

SHARE: Final = 0.25
"""Of the time drawing takes at most this much, in whatever thread. A few panes need a twentieth;
eighty would take all of it, and the lock of the interpreter from the user's own threads."""
BUSY_SHARE: Final = 0.08
"""The same while others compute in this process: they wait for the interpreter as often."""
BUSY: Final = 0.5
"""Others are busy when they use more of a core than that, such as a scheduler of many tasks."""
LONGEST_S: Final = 5.0
"""Between two rounds, however much one costs."""

Clock = Callable[[], float]


class Pace:
    """Tells how long to wait before a round of updates, from what drawing took since the last.

    To be used in the thread that draws.

    Parameters
    ----------
    clock : callable
        Monotonic seconds.
    spent : callable
        CPU seconds of drawing: those of the calling thread, unless others draw for it.
    of_process : callable
        CPU seconds of all threads of the process.
    """

    def __init__(
        self,
        clock: Clock = time.monotonic,
        spent: Clock = time.thread_time,
        of_process: Clock = time.process_time,
    ) -> None:
        self._clock = clock
        self._spent = spent
        self._of_process = of_process
        self._began = -inf
        self._spent_before = self._process_before = 0.0

    def hold_s(self) -> float:
        """Return the seconds until the next round may begin; 0 most times."""
        spent, now = self._spent() - self._spent_before, self._clock()
        others = self._of_process() - self._process_before - spent
        share = BUSY_SHARE if others > BUSY * (now - self._began) else SHARE
        due = self._began + min(spent / share, LONGEST_S)
        return max(due - now, 0.0)

    def begin(self) -> None:
        """A round of updates begins."""
        self._began, self._spent_before = self._clock(), self._spent()
        self._process_before = self._of_process()
