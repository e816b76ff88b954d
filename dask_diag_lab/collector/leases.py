"""Who still asks: subscribers that have done so within the lease.

Must not know what they ask for.
"""

from __future__ import annotations

from collections.abc import Callable


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
        self, lease_s: float, clock: Callable[[], float], *, is_given: bool = True
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
