"""What the benchmarks feed a store is what the collector sends: their figures are of that."""

from __future__ import annotations

import pytest

from benchmarks.life import Life
from benchmarks.many_rows import CASES, Case, bring
from dask_diag_lab.store import Store


def test_a_simulated_life_is_taken_with_all_its_tables() -> None:
    life = Life(3, 300, 2)
    before = life.store.version
    life.step()
    assert life.store.version > before
    assert len(life.store.workers.address)
    assert len(life.store.groups.states)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_tables_of_many_rows_are_taken(case: Case) -> None:
    store = Store()
    for step in range(2):
        before = store.version
        bring(store, case, step)
        assert store.version > before
