"""What the benchmarks feed a store is what the collector sends: their figures are of that."""

from __future__ import annotations

import pytest

from benchmarks.changing import ChangingCluster
from benchmarks.updates import MANY_ROWS, batch_of
from dask_diag_lab.store import Store


def test_a_changing_cluster_is_taken_with_all_its_tables() -> None:
    cluster = ChangingCluster(3, 300, 2)
    before = cluster.store.version
    cluster.step()
    assert cluster.store.version > before
    assert len(cluster.store.workers.address)
    assert len(cluster.store.groups.states)


@pytest.mark.parametrize("case", MANY_ROWS, ids=": ".join)
def test_tables_of_many_rows_are_taken(case: tuple[str, str]) -> None:
    store = Store()
    for step in range(2):
        before = store.version
        store.apply(batch_of(MANY_ROWS[case], step))
        assert store.version > before
