"""When something is due again, and who still asks. Must not know what is refreshed or asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

MAX_DUTY: Final = 100
"""A refresh is not repeated before so many times what it computed has passed: at most 1 %.

Of CPU time: a scheduler that was not given the processor while it looked at its workers would else
not look at them again for half a minute.
"""


class Throttle:
    """Tells when a refresh is due; at once at first."""

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


class Leases:
    """Subscribers with the time until which they count.

    Parameters
    ----------
    lease_s : float
    clock : callable
        Monotonic seconds.
    is_given : bool
        A first lease is given to nobody: whoever registered the collector has that long to pull.
    """

    def __init__(
        self, lease_s: float, clock: Callable[[], float] = time.monotonic, *, is_given: bool = True
    ) -> None:
        self._lease_s = lease_s
        self._clock = clock
        self._until: dict[str, float] = {"": clock() + lease_s} if is_given else {}

    def renew(self, subscriber: str) -> None:
        self._until.pop("", None)
        self._until[subscriber] = self._clock() + self._lease_s

    def end(self, subscriber: str) -> None:
        self._until.pop(subscriber, None)

    def has(self, subscriber: str) -> bool:
        """Tell whether a subscriber's lease lasts."""
        return self._until.get(subscriber, 0.0) > self._clock()

    def is_any(self) -> bool:
        """Forget those whose lease is over; tell whether one is left."""
        now = self._clock()
        self._until = {name: until for name, until in self._until.items() if until > now}
        return bool(self._until)
