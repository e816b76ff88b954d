"""The kernel's settings, from Dask's configuration, within the limits that its file promises.

What each means is told in `dask_diag_lab.yaml`, which has the defaults too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Final

logger = logging.getLogger(__name__)

LIMITS: Final[Mapping[str, tuple[str | int, float, float]]] = {
    "max-actions": (2_000_000, 1000, inf),
    "interval": ("250ms", 0.05, 300),
    # Half of the collector's lease: it must not take a slow follower for one that has left.
    "idle-interval": ("2s", 0.05, 300),
}
"""Default, least and most of each; times in seconds."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What `composition` has to know."""

    max_actions: int
    interval_s: float
    idle_interval_s: float


def read_settings() -> Settings:
    """Return the settings of now; a value out of its limits is replaced, and the log says so."""
    from dask.utils import parse_timedelta

    return Settings(
        max_actions=int(_within("max-actions", float)),
        interval_s=_within("interval", parse_timedelta),
        idle_interval_s=_within("idle-interval", parse_timedelta),
    )


def _within(name: str, number: Any) -> float:  # Any: the engine's functions have no types
    import dask

    default, least, most = LIMITS[name]
    given = dask.config.get(f"diag-lab.{name}", default)
    value = float(number(given))
    kept = min(max(value, least), most)
    if kept != value:
        unit = "" if name == "max-actions" else " s"
        logger.warning("diag-lab.%s is %s; it has been set to %g%s", name, given, kept, unit)
    return kept
