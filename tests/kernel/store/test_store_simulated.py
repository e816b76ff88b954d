"""What the benchmarks feed a history is what the collector sends: their figures are of that."""

from __future__ import annotations

from benchmarks.changing import ChangingCluster


def test_a_changing_cluster_is_taken_with_all_its_tables() -> None:
    cluster = ChangingCluster(3, 300, 2)
    before = cluster.live.history.version
    cluster.step()
    assert cluster.live.history.version > before
    assert len(cluster.live.history.workers.address)
    assert len(cluster.live.history.groups.states)
