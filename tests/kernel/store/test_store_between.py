"""Every action of a window, not merged, and the keys of many tasks at once."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.simulator import Simulation
from dask_diag_lab.store import History


@pytest.fixture(scope="module")
def history() -> History:
    """A history with blocks that are full and one that is being filled."""
    history = History()
    for batch in Simulation(n_workers=4, n_threads=2, n_tasks=70_000).batches():
        history.apply(batch)
    return history


def test_all_time_has_every_action_by_start(history: History) -> None:
    rows, total = history.actions.between(-np.inf, np.inf)()
    assert total == len(rows["start"]) == history.actions.count
    assert np.all(np.diff(rows["start"]) >= 0)
    last, total = history.actions.between(-np.inf, np.inf, 10)()
    assert total == history.actions.count
    assert last["start"].tolist() == rows["start"][-10:].tolist()
    none, total = history.actions.between(0, 1)()
    assert (none.keys(), total) == (rows.keys(), 0)


def test_a_window_has_what_a_picture_of_it_has(history: History) -> None:
    begin = history.actions.first_start + 100
    rows, total = history.actions.between(begin, begin + 50)()
    assert total == history.actions.query(begin, begin + 50).answer().total
    assert np.all((rows["start"] <= begin + 50) & (rows["stop"] >= begin))


def test_keys_of_many_tasks_are_those_of_each(history: History) -> None:
    tasks = np.array([0, 40_000, 17, 69_999, 17])
    assert history.actions.keys(tasks).tolist() == [history.actions.key(task) for task in tasks]
