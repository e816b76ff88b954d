"""A million tasks: what looking, appending and keeping cost."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.simulator import Simulation
from dask_diag_lab.store import Store

Times = dict[str, list[float]]


@pytest.fixture(scope="module")
def filled() -> tuple[Store, Times]:
    """Return a store of a million tasks in 256 lanes, and how long its parts took."""
    store = Store()
    times: Times = {"apply": [], "append": []}
    append = store.actions.append
    store.actions.append = lambda rows: _timed(times["append"], lambda: append(rows))  # type: ignore[method-assign]
    for batch in Simulation(64, 4, 1_000_000).batches(rows=5000):
        _timed(times["apply"], lambda batch=batch: store.apply(batch))  # type: ignore[misc]
    return store, times


def _timed(times: list[float], work: Callable[[], object]) -> None:
    begin = time.thread_time()  # of this thread alone: other tests may keep the machine busy
    work()
    times.append(time.thread_time() - begin)


def _window_ms(store: Store, begin: float, share: float, lanes: int | None = None) -> float:
    """Return the best of some times for a window that moves as a live one does."""
    actions, times = store.actions, list[float]()
    span = actions.last_stop - actions.first_start
    asked = None if lanes is None else np.arange(lanes)
    for i in range(5):
        t0 = actions.first_start + begin * span + i * 1e-5
        _timed(times, lambda t0=t0: actions.window(t0, t0 + share * span, asked, 1200))  # type: ignore[misc]
    return min(times) * 1e3


def test_whole_run_is_looked_at_within_30_ms(filled: tuple[Store, Times]) -> None:
    assert filled[0].actions.count > 1_000_000
    assert _window_ms(filled[0], 0.0, 1.0) < 30
    assert _window_ms(filled[0], 0.0, 1.0, lanes=40) < 30


@pytest.mark.parametrize("begin", [0.0, 0.314, 0.53, 0.985])
def test_one_per_cent_is_looked_at_within_5_ms(filled: tuple[Store, Times], begin: float) -> None:
    assert _window_ms(filled[0], begin, 0.01) < 5


def test_appending_5000_rows_takes_less_than_5_ms(filled: tuple[Store, Times]) -> None:
    # Once in 13 batches a block of 65 536 rows is sorted for good.
    assert np.mean(filled[1]["append"]) < 0.0025
    assert np.median(filled[1]["append"]) < 0.0005


def test_cost_of_a_batch_does_not_grow_with_the_history(filled: tuple[Store, Times]) -> None:
    early, late = filled[1]["apply"][20:70], filled[1]["apply"][-50:]
    assert np.median(late) < 3 * np.median(early)


def test_a_million_tasks_take_less_than_150_mb(filled: tuple[Store, Times]) -> None:
    store = filled[0]
    assert store.actions.nbytes + store._keys.nbytes < 130e6


def test_4000_lanes_are_looked_at_within_100_ms() -> None:
    store = Store()
    for batch in Simulation(1000, 4, 300_000).batches(rows=50_000):
        store.apply(batch)
    assert store.lanes.count == 4000
    assert _window_ms(store, 0.0, 1.0) < 100
    assert len(store.actions.window(store.actions.first_start, store.actions.last_stop)) <= 10_000
