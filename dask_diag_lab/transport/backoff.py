"""How long to wait before trying again.

Must not sleep itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable


class Backoff:
    """Doubling waits between ``first_s`` and ``last_s``, each shortened by up to half at random.

    Many kernels that lost one scheduler do not all come back at the same moment.
    """

    def __init__(
        self,
        first_s: float = 1.0,
        last_s: float = 30.0,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._first_s = first_s
        self._last_s = last_s
        self._chance = chance
        self._tries = 0

    def next(self) -> float:
        """Return the seconds to wait, more from time to time."""
        wait_s = min(self._last_s, self._first_s * 2.0 ** min(self._tries, 30))
        self._tries += 1
        return wait_s * (1 - self._chance() / 2)

    def reset(self) -> None:
        self._tries = 0
