"""The lines of the task graph: how many are drawn, and how faint they are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from bokeh.document.events import ColumnDataChangedEvent

from dask_diag_lab.views.tasks.graph_edges import MAX_EDGES, alphas, crowds
from dask_diag_lab.views.tasks.task_graph import TaskGraph
from tests.kernel.views.situations import Page, batch, graph, store_of


def test_many_edges_are_thinned_and_the_plot_says_so() -> None:
    wide = 200
    keys = [f"a-{i}" for i in range(wide)] + [f"b-{i}" for i in range(wide)]
    edges = [(i, wide + j) for i in range(wide) for j in range(wide)]
    view = TaskGraph(store_of(graph=graph(keys, edges)))
    Page(view)
    assert len(view.nodes.edges.source.data["x0"]) <= MAX_EDGES
    assert view.notice.note.startswith("20\u202f000 of 40\u202f000 dependencies")
    view.table()
    assert view.notice.note == ""


def fan(n: int) -> npt.NDArray[np.int64]:
    """Return edges from n nodes to one."""
    return np.array([(i, n) for i in range(n)])


def all_to_all(n: int) -> npt.NDArray[np.int64]:
    """Return edges from each of n nodes to each of n others."""
    return np.array([(i, n + j) for i in range(n) for j in range(n)])


def test_lines_are_fainter_the_more_of_them_lie_side_by_side() -> None:
    alpha = alphas(row_px=3.0)
    alone, joined, mixed = (
        alpha[crowds(edges).max()] for edges in (fan(1), fan(40), all_to_all(40))
    )
    assert alone > joined > mixed > 0
    for lines, each in ((1, joined), (40, mixed)):  # to a row
        assert 1 - (1 - each) ** (lines / 3.0) < 0.5, "a block of one colour"


def test_lines_that_the_reader_moved_apart_are_stronger() -> None:
    crowd = int(crowds(all_to_all(40)).max())
    assert alphas(row_px=30.0)[crowd] > 5 * alphas(row_px=3.0)[crowd]


def test_lines_get_fainter_when_others_join_them() -> None:
    keys = ["a-0", "a-1", "b-0"]
    store = store_of(graph=graph(keys, [(0, 2)]))
    view = TaskGraph(store)
    page = Page(view)
    assert list(view.nodes.edges.source.data["crowd"]) == [0]
    more = graph(["c-0"], [(2, 3)], is_snapshot=False, first=3)
    store.apply(batch(graph=more))
    page.sent()
    assert list(view.nodes.edges.source.data["crowd"]) == [0, 0]
    keys = [f"d-{i}" for i in range(15)]
    more = graph(keys, [(2, 4 + i) for i in range(15)], is_snapshot=False, first=4)
    store.apply(batch(graph=more))
    sent = [event for event in page.sent() if isinstance(event, ColumnDataChangedEvent)]
    assert list(view.nodes.edges.source.data["crowd"]) == [0, *[4] * 16]
    assert ["crowd"] in [event.cols for event in sent]
