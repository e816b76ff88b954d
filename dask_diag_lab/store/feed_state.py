"""How the store is fed at the moment; data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["connecting", "live", "degraded", "lost", "closed"]


@dataclass(frozen=True, slots=True)
class FeedStateView:
    """Whether new data comes, why not, and since when (seconds since the epoch)."""

    state: State
    reason: str
    since: float
