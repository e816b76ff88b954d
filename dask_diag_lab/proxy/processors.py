"""How busy the processors of this machine were over a stretch of time."""

from __future__ import annotations

from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True)
class Reading:
    """Seconds that all processors together have spent since the machine started."""

    busy_s: float
    total_s: float

    def share_until(self, later: Reading) -> float:
        """Return the share of the time between two readings that was work; 1.0 is all of it."""
        total_s = later.total_s - self.total_s
        return (later.busy_s - self.busy_s) / total_s if total_s > 0 else 0.0


def read_processors() -> Reading:
    """Return what the operating system has counted until now."""
    times = psutil.cpu_times()._asdict()
    for also_in_others in ("guest", "guest_nice"):
        times.pop(also_in_others, None)
    total_s = sum(times.values())
    return Reading(total_s - times["idle"] - times.get("iowait", 0.0), total_s)
