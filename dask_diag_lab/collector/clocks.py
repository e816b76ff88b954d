"""How far the clock of each worker is behind the scheduler's.

Workers bring the times of computing and of transfers to the scheduler's clock themselves, but not
those of disk reads and writes: ``Worker.execute`` and ``_transition_to_memory`` add no
``scheduler_delay`` to them.
"""

from __future__ import annotations

from typing import Final

SURE_S: Final = 0.1
"""A smaller difference may as well be the time that a heartbeat takes: clocks are equal then."""


class Clocks:
    """Seconds to add to times of workers' own clocks, learnt from heartbeats."""

    def __init__(self) -> None:
        self._behind: dict[str, float] = {}

    def heard(self, worker: str, time_delay: float) -> None:
        """Take ``WorkerState.time_delay``: the difference of the clocks and what a heartbeat took.

        The smallest one of all is the nearest to the difference alone.
        """
        known = self._behind.get(worker)
        if known is None or time_delay < known:
            self._behind[worker] = time_delay

    def forget(self, worker: str) -> None:
        """Let go of a worker that has left."""
        self._behind.pop(worker, None)

    def behind_s(self, worker: str) -> float:
        """Return what to add; 0 where the clocks agree or nothing is known."""
        behind = self._behind.get(worker, 0.0)
        return behind if abs(behind) > SURE_S else 0.0
