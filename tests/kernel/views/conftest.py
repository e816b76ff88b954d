"""A session fed by hand, whose clock stands still until a test moves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from dask_diag_lab.store import LiveSession
from dask_diag_lab.views import time_axis
from dask_diag_lab.views.stream import task_stream
from tests.kernel.store.batches import T0, BatchMaker, worker_row


@dataclass
class Feed:
    """A session and the collector's point of view that feeds it.

    Attributes
    ----------
    live : LiveSession
    maker : BatchMaker
    now : float
        What the session's monotonic clock says.
    """

    now: float = 1000.0
    maker: BatchMaker = field(default_factory=BatchMaker)

    def __post_init__(self) -> None:
        self.live = LiveSession(clock=lambda: self.now)
        self.live.set_feed_state("live", "", T0)

    def workers(self, *addresses: str, nthreads: int = 2) -> Feed:
        """Let workers join."""
        rows = [worker_row(a, name=a, nthreads=nthreads) for a in addresses]
        self.live.apply(self.maker.batch(workers=rows))
        return self

    def send(self, at: float, **more: Any) -> Feed:
        """Apply what was recorded, ``at`` seconds after `T0` on the scheduler's clock."""
        self.maker.time = T0 + at
        self.live.apply(self.maker.batch(**more))
        return self


class Clock:
    """Stands in for the module ``time`` of views; a test moves it."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of a task stream, which stands still until a test moves it."""
    made = Clock()
    for module in (task_stream, time_axis):
        monkeypatch.setattr(module, "time", made)
    return made


@pytest.fixture
def feed() -> Feed:
    """A live feed with two workers of two threads each, and no task yet."""
    return Feed().workers("tcp://w0:1", "tcp://w1:1")
