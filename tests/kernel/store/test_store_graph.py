"""The graph of single tasks: what changes do to it, and who is beside whom."""

from __future__ import annotations

from dask_diag_lab.store import History
from tests.kernel.store.batches import BatchMaker, graph_change


def test_graph_grows_changes_and_shrinks() -> None:
    history, maker = History(), BatchMaker()
    added = [("('x', 0)", "x", ["('y', 0)"]), ("('y', 0)", "y", [])]
    history.apply(maker.batch(graph=graph_change(added, total=2)))
    graph = history.graph
    assert (graph.nodes.names, graph.nodes.prefix) == (["('x', 0)", "('y', 0)"], ["x", "y"])
    assert graph.edges.tolist() == [[1, 0]]
    structure = graph.nodes.structure_version
    states = {"('y', 0)": 5, "('x', 0)": 1, "not here": 5}
    history.apply(maker.batch(graph=graph_change(states=states, total=2)))
    assert graph.state.tolist() == [1, 5]
    assert graph.nodes.structure_version == structure
    added = [("z", "z", ["('x', 0)", "('y', 0)"])]
    change = graph_change(added, removed=["('x', 0)", "not here"], total=2)
    history.apply(maker.batch(graph=change))
    assert graph.nodes.names == ["('y', 0)", "z"]
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.state.tolist() == [5, 0]


def test_graph_snapshot_replaces_all_and_too_many_tasks_leave_none() -> None:
    history, maker = History(), BatchMaker()
    added = [(str(i), "x", [str(i - 1)] if i else []) for i in range(5)]
    history.apply(maker.batch(graph=graph_change(added, total=5)))
    snapshot = graph_change([("only", "x", [])], is_snapshot=True, total=1)
    history.apply(maker.batch(graph=snapshot))
    assert (history.graph.nodes.names, history.graph.edges.shape) == (["only"], (0, 2))
    many = graph_change(is_snapshot=True, is_exact=False, total=99999)
    history.apply(maker.batch(graph=many))
    graph = history.graph
    assert (len(graph.nodes), graph.is_exact, graph.total) == (0, False, 99999)
