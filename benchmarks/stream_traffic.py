"""Bytes that one page of a task stream is sent while it follows a dense run, no browser needed.

The clock of store and view is the simulation's, so a minute of the run takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from bokeh.document import Document
from bokeh.protocol import Protocol

from benchmarks.simulator import BEGIN, Simulation
from dask_diag_lab.store import Store
from dask_diag_lab.views.stream import drawing, running_bars, task_stream
from dask_diag_lab.views.stream.task_stream import TaskStream

INTERVAL_S = 0.25
"""Between two updates, as of a watched feed."""
FRAME_BYTES = 80
"""Of the header that Bokeh's protocol sends before each binary column."""


class _Clock:
    """Stands in for the module ``time`` of the views."""

    def __init__(self) -> None:
        self.now = 1e6

    def monotonic(self) -> float:
        return self.now


class _Follower:
    """A page that follows, without a browser."""

    def __init__(self, store: Store) -> None:
        self.view = TaskStream(store)
        self._events: list[Any] = []  # the protocol wants the kinds of events that have a patch
        self._protocol = Protocol()
        document = Document()
        document.add_root(self.view.build())
        document.on_change(self._events.append)

    def update(self) -> int:
        """Update once and return the bytes of the message."""
        self.view.update()
        events, self._events[:] = list(self._events), []
        if not events:
            return 0
        message = self._protocol.create("PATCH-DOC", events)
        buffers = sum(len(buffer.to_bytes()) + FRAME_BYTES for buffer in message.buffers)
        return len(message.content_json) + buffers


@contextmanager
def _paced(clock: _Clock) -> Iterator[None]:
    """Let views draw at their own pace, by this clock."""
    with (
        patch.object(task_stream, "time", clock),
        patch.object(drawing, "time", clock),
        patch.object(running_bars, "time", clock),
        patch.object(TaskStream, "_is_served", True),
    ):
        yield


def following(seconds: float, n_tasks: int = 100_000) -> float:
    """Return the mean bytes a second of following a run of 64 threads, some 600 tasks a second."""
    simulation = Simulation(n_workers=16, n_threads=4, n_tasks=n_tasks)
    actions = simulation.actions
    ends = np.where(actions["kind"] == 0, actions["stop"], -np.inf)
    # All actions of a task arrive when it ends, which is the order of its rows.
    arrival = np.maximum.accumulate(ends)
    clock = _Clock()
    store = Store(clock=clock.monotonic)
    sent, row = 0, 0
    with _paced(clock):
        page = _Follower(store)
        for step in range(1, int(seconds / INTERVAL_S) + 1):
            clock.now += INTERVAL_S
            until = int(np.searchsorted(arrival, BEGIN + 1 + step * INTERVAL_S))
            while row < until:
                begin, row = row, min(until, row + 5000)
                store.apply(simulation.batch(begin, row))
            sent += page.update()
    return sent / seconds
