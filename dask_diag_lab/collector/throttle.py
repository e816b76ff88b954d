"""When a table is brought up to date again: by an interval, and by what it cost the last time.

Must not know what is refreshed.
"""

from __future__ import annotations

import time
from typing import Final

MAX_DUTY: Final = 100
"""A refresh is not repeated before so many times what it computed has passed: at most 1 %.

Of CPU time: a scheduler that was not given the processor, or waited for the interpreter, while it
looked at its workers would else not look at them again for half a minute.
"""


class Throttle:
    """Says when a refresh is due; at once at first."""

    def __init__(self) -> None:
        self._next = self._began = 0.0

    def is_due(self) -> bool:
        return time.perf_counter() >= self._next

    def begin(self) -> None:
        """A refresh begins, in this thread."""
        self._began = time.thread_time()

    def done(self, interval_s: float) -> None:
        """Let the next one wait: for the interval, and for what this one cost."""
        spent_s = time.thread_time() - self._began
        self._next = time.perf_counter() + max(interval_s, MAX_DUTY * spent_s)

    def reset(self) -> None:
        """Let the next refresh be due at once."""
        self._next = 0.0
