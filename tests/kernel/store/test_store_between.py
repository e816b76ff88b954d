"""Every action of a window, not merged, and the keys of many tasks at once."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.simulator import Simulation
from dask_diag_lab.store import Store


@pytest.fixture(scope="module")
def store() -> Store:
    """A store with blocks that are full and one that is being filled."""
    store = Store()
    for batch in Simulation(n_workers=4, n_threads=2, n_tasks=70_000).batches():
        store.apply(batch)
    return store


def test_all_time_has_every_action_by_start(store: Store) -> None:
    rows, total = store.actions.between(-np.inf, np.inf)()
    assert total == len(rows["start"]) == store.actions.count
    assert np.all(np.diff(rows["start"]) >= 0)
    last, total = store.actions.between(-np.inf, np.inf, 10)()
    assert total == store.actions.count
    assert last["start"].tolist() == rows["start"][-10:].tolist()
    none, total = store.actions.between(0, 1)()
    assert (none.keys(), total) == (rows.keys(), 0)


def test_a_window_has_what_a_picture_of_it_has(store: Store) -> None:
    begin = store.actions.first_start + 100
    rows, total = store.actions.between(begin, begin + 50)()
    assert total == store.actions.query(begin, begin + 50).answer().total
    assert np.all((rows["start"] <= begin + 50) & (rows["stop"] >= begin))


def test_keys_of_many_tasks_are_those_of_each(store: Store) -> None:
    tasks = np.array([0, 40_000, 17, 69_999, 17])
    assert store.actions.keys(tasks).tolist() == [store.actions.key(task) for task in tasks]
