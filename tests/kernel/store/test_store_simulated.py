"""What the benchmarks feed a history is what the collector sends: their figures are of that."""

from __future__ import annotations

import pytest

from benchmarks.changing import ChangingCluster
from benchmarks.updates import MANY_ROWS, batch_of
from dask_diag_lab.store import History


def test_a_changing_cluster_is_taken_with_all_its_tables() -> None:
    cluster = ChangingCluster(3, 300, 2)
    before = cluster.live.history.version
    cluster.step()
    assert cluster.live.history.version > before
    assert len(cluster.live.history.workers.address)
    assert len(cluster.live.history.groups.states)


@pytest.mark.parametrize("case", MANY_ROWS, ids=": ".join)
def test_tables_of_many_rows_are_taken(case: tuple[str, str]) -> None:
    history = History()
    for step in range(2):
        before = history.version
        history.apply(batch_of(MANY_ROWS[case], step))
        assert history.version > before
