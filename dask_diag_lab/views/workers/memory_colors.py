"""When a worker's memory bar is blue, orange or red: the rule, free of colours and models.

Follows ``distributed.dashboard.components.scheduler.MemoryColor``: it judges *process* memory, so
orange means that the worker may be spilling, not that it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

RUNNING_STATUS: Final = "running"


class MemoryLevel(IntEnum):
    """How near a worker is to its memory limit; a larger value is worse."""

    NORMAL = 0
    """Blue."""
    MAY_SPILL = 1
    """Orange: at or above the lower one of target and spill."""
    CRITICAL = 2
    """Red: paused, retiring, or at or above terminate."""


def spill_share(thresholds: Mapping[str, float | None]) -> float:
    """Return the share of the limit where orange begins; infinity when spilling is off."""
    return min(thresholds.get("target") or math.inf, thresholds.get("spill") or math.inf)


def critical_share(thresholds: Mapping[str, float | None]) -> float:
    """Return the share of the limit where red begins: terminate, the limit itself at most."""
    return min(thresholds.get("terminate") or math.inf, 1.0)


def memory_levels(
    process: npt.NDArray[np.int64],
    limit: npt.NDArray[np.int64],
    status: Sequence[str],
    thresholds: Mapping[str, float | None],
) -> npt.NDArray[np.uint8]:
    """Return a `MemoryLevel` for each worker.

    Parameters
    ----------
    process, limit : ndarray of int64
        Resident set size and memory limit in bytes; a limit of 0 means none, and then only the
        status can turn a worker red.
    status : sequence of str
        ``WorkerState.status``.
    thresholds : mapping
        ``SchedulerInfo.thresholds``; None is switched off.
    """
    levels = np.full(len(process), MemoryLevel.NORMAL, dtype=np.uint8)
    has_limit = np.flatnonzero(limit > 0)  # 0 times infinity, spilling being off, is no number
    used, most = process[has_limit], limit[has_limit]
    levels[has_limit[used >= most * spill_share(thresholds)]] = MemoryLevel.MAY_SPILL
    levels[has_limit[used >= most * critical_share(thresholds)]] = MemoryLevel.CRITICAL
    levels[np.array([name != RUNNING_STATUS for name in status], dtype=bool)] = MemoryLevel.CRITICAL
    return levels


def worst(levels: npt.NDArray[np.uint8]) -> MemoryLevel:
    """Return the worst of ``levels``; normal when there are none."""
    return MemoryLevel(int(levels.max())) if len(levels) else MemoryLevel.NORMAL


def level_words(level: int, status: str, thresholds: Mapping[str, float | None]) -> str:
    """Return in words why a worker has this level, e.g. for a hover; '' when all is well."""
    if status != RUNNING_STATUS:
        return status.replace("_", " ")
    if level == MemoryLevel.CRITICAL:
        return "at its memory limit" if critical_share(thresholds) >= 1 else "about to be restarted"
    if level == MemoryLevel.MAY_SPILL:
        return "may spill to disk"
    return ""


def marks(thresholds: Mapping[str, float | None]) -> list[tuple[str, float]]:
    """Return name and share of each threshold that is on and below the limit, ascending."""
    found = [(name, float(share)) for name, share in thresholds.items() if share and share < 1]
    return sorted(found, key=lambda mark: mark[1])
