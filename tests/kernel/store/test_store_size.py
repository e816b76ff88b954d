"""What a large history takes, in bytes and rectangles."""

from __future__ import annotations

from benchmarks.simulator import Simulation
from dask_diag_lab.store import Store


def test_a_million_tasks_take_less_than_150_mb() -> None:
    store = Store()
    for batch in Simulation(64, 4, 1_000_000).batches(rows=5000):
        store.apply(batch)
    assert store.actions.count > 1_000_000
    assert store.actions.nbytes + store._keys.nbytes < 130e6


def test_a_window_of_4000_slots_has_a_bounded_number_of_rectangles() -> None:
    store = Store()
    for batch in Simulation(1000, 4, 300_000).batches(rows=50_000):
        store.apply(batch)
    assert store.slots.count == 4000
    assert (
        len(store.actions.query(store.actions.first_start, store.actions.last_stop).answer())
        <= 10_000
    )
