"""When workers left, also such as have no lanes yet: their last tasks may come later."""

from __future__ import annotations

from typing import Final

MOST: Final = 10_000


class LeftAt:
    """Times by address, of those that left last."""

    def __init__(self) -> None:
        self._times: dict[str, float] = {}

    def note(self, address: str, time: float) -> None:
        """Note that a worker left; of what is told twice the first is right."""
        self._times.setdefault(address, time)
        if len(self._times) > MOST:
            del self._times[next(iter(self._times))]

    def forget(self, address: str) -> None:
        """Forget it: the worker is there again."""
        self._times.pop(address, None)

    def get(self, address: str) -> float | None:
        """Return when a worker left, None where it is not known to have."""
        return self._times.get(address)
