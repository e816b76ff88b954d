"""P2P shuffles, the last reports of those that have ended included.

The engine forgets what workers reported of a shuffle when that ends; for many that is before
anybody had the time to look.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.strings import key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

BUFFER: Final = ("total", "written", "read", "memory", "memory_limit")
"""Fields of either buffer in a heartbeat of `ShuffleRun`."""

MAX_SHUFFLES: Final = 20
"""Kept; the ones that began first go."""


class Shuffles:
    """What each worker reported last of each of the newest shuffles."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, tuple[Any, ...]]] = {}

    def note(self, scheduler: Scheduler) -> None:
        """Take over what the engine has now; nothing to do while no shuffle is under way."""
        plugin = getattr(scheduler, "plugins", {}).get("shuffle")
        heartbeats = getattr(plugin, "heartbeats", None) or {}
        for name, workers in heartbeats.items():
            shuffle = key_text(name)
            rows = self._kept.setdefault(shuffle, {})
            for address, beat in workers.items():
                rows[str(address)] = _row(shuffle, str(address), beat)
        while len(self._kept) > MAX_SHUFFLES:
            del self._kept[next(iter(self._kept))]

    def rows(self, scheduler: Scheduler) -> list[tuple[Any, ...]]:
        """Return the rows of `records.EXTRAS`, newest shuffle last."""
        self.note(scheduler)
        return [row for workers in self._kept.values() for row in workers.values()]


def _row(shuffle: str, address: str, beat: Mapping[str, Any]) -> tuple[Any, ...]:
    comm, disk = beat.get("comm") or {}, beat.get("disk") or {}
    return (
        shuffle,
        address,
        *(_number(comm, field) for field in BUFFER),
        *(_number(disk, field) for field in BUFFER),
        _number(beat, "start"),
    )


def _number(beat: Mapping[str, Any], field: str) -> float:
    """Return a field of a heartbeat; NaN where there is none or no limit."""
    value = beat.get(field)
    return float(value) if isinstance(value, (int, float)) else math.nan
