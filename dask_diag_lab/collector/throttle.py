"""When a table is brought up to date again: by an interval, and by what it cost the last time.

Must not know what is refreshed.
"""

from __future__ import annotations

import time
from typing import Final

MAX_DUTY: Final = 100
"""A refresh is not repeated before so many times its own duration has passed: at most 1 %."""


class Throttle:
    """Says when a refresh is due; at once at first."""

    def __init__(self) -> None:
        self._next = 0.0

    def is_due(self) -> bool:
        return time.perf_counter() >= self._next

    def done(self, began: float, interval_s: float) -> float:
        """Return the seconds since ``began``, and wait accordingly."""
        now = time.perf_counter()
        self._next = now + max(interval_s, MAX_DUTY * (now - began))
        return now - began

    def reset(self) -> None:
        """Let the next refresh be due at once."""
        self._next = 0.0
