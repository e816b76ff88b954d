"""What appending to and looking at a history of a million tasks costs in the kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import mean, median

import numpy as np

from benchmarks.report import Figure
from benchmarks.simulator import Simulation
from dask_diag_lab.store import Store

TITLE = "The store of a million tasks"
_BUCKETS = 1200
"""About as many as a wide screen has pixels."""
_REPEATS = 5


def _ms(work: Callable[[], object]) -> float:
    """Return the milliseconds of this thread that ``work`` takes."""
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1e3


def _window_ms(store: Store, begin: float, share: float, n_lanes: int | None = None) -> float:
    """Return the median of windows that move a little, as a live one does."""
    actions = store.actions
    span = actions.last_stop - actions.first_start
    lanes = None if n_lanes is None else np.arange(n_lanes)

    def look(number: int) -> None:
        t0 = actions.first_start + begin * span + number * 1e-5
        actions.query(t0, t0 + share * span, lanes, _BUCKETS).answer()

    return median(_ms(lambda number=number: look(number)) for number in range(_REPEATS))  # type: ignore[misc]  # a default


def _filled() -> tuple[Store, list[float]]:
    """Return a store with 256 lanes, and the milliseconds that each batch of 5000 rows took."""
    store, times = Store(), list[float]()
    for batch in Simulation(64, 4, 1_000_000).batches(rows=5000):
        times.append(_ms(lambda batch=batch: store.apply(batch)))  # type: ignore[misc]  # a default
    return store, times


def measure() -> list[Figure]:
    """Return windows of several widths, and batches at the begin and the end."""
    store, batches = _filled()
    wide = Store()
    for batch in Simulation(1000, 4, 300_000).batches(rows=50_000):
        wide.apply(batch)
    n_rectangles = len(
        wide.actions.query(wide.actions.first_start, wide.actions.last_stop).answer()
    )
    late = f"{median(batches[20:70]):.1f} of the first ones"
    return [
        Figure("a window of all of it, 256 threads", "ms", _window_ms(store, 0.0, 1.0), None, 30),
        Figure("the same, 40 threads of it", "ms", _window_ms(store, 0.0, 1.0, 40), None, 30),
        Figure("a window of 1 % of it", "ms", _window_ms(store, 0.53, 0.01), None, 30),
        Figure("a window of 4000 threads", "ms", _window_ms(wide, 0.0, 1.0)),
        Figure("its rectangles", "", n_rectangles, None, 20_000),
        Figure("a batch of 5000 rows, mean", "ms", mean(batches)),
        Figure("a batch at the end, median", "ms", median(batches[-50:]), None, None, late),
    ]
