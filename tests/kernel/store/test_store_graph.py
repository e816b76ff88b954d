"""The graph of single tasks: what changes do to it, and who is beside whom."""

from __future__ import annotations

from dask_diag_lab.store import History
from tests.kernel.store.batches import BatchMaker, graph_change


def test_graph_grows_changes_and_shrinks() -> None:
    history, maker = History(), BatchMaker()
    added = [(7, "('x', 0)", "x", "x-1", (9,)), (9, "('y', 0)", "y", "y-1", ())]
    history.apply(maker.batch(graph=graph_change(total=2, added=added)))
    graph = history.graph
    assert graph.key == ["('x', 0)", "('y', 0)"]
    assert graph.edges.tolist() == [[1, 0]]
    assert history.strings.take(graph.prefix.tolist()) == ["x", "y"]
    structure = graph.structure_version
    change = graph_change(total=2, states=[(9, 4), (7, 1), (9, 5), (1234, 5)])
    history.apply(maker.batch(graph=change))
    assert graph.state.tolist() == [1, 5]
    assert graph.structure_version == structure
    added = [(10, "z", "z", "z", (7, 9))]
    history.apply(maker.batch(graph=graph_change(total=2, added=added, removed=[7, 4321])))
    assert (graph.node.tolist(), graph.key) == ([9, 10], ["('y', 0)", "z"])
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.state.tolist() == [5, 0]
    assert len(graph) == 2
    history.apply(maker.batch(graph=graph_change(total=2, states=[(10, 4)])))
    assert graph.state.tolist() == [5, 4]


def test_graph_snapshot_replaces_all_and_too_many_tasks_leave_none() -> None:
    history, maker = History(), BatchMaker()
    added = [(i, str(i), "x", "x", (i - 1,) if i else ()) for i in range(5)]
    history.apply(maker.batch(graph=graph_change(total=5, added=added)))
    snapshot = graph_change(is_snapshot=True, total=1, added=[(9, "only", "x", "x", ())])
    history.apply(maker.batch(graph=snapshot))
    assert (history.graph.key, history.graph.edges.shape) == (["only"], (0, 2))
    history.apply(maker.batch(graph=graph_change(is_snapshot=True, is_exact=False, total=99999)))
    assert (len(history.graph), history.graph.is_exact, history.graph.total) == (0, False, 99999)
