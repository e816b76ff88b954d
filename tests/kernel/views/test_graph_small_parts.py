"""Task Graph: small parts beside one of many rows can be read, and seldom move for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from dask_diag_lab.records import GraphChange
from dask_diag_lab.views.pane_size import pane_size
from dask_diag_lab.views.tasks.layout.growth import no_places
from dask_diag_lab.views.tasks.layout.laid_out import laid_out
from dask_diag_lab.views.tasks.layout.row_pitch import fitting_pitch
from dask_diag_lab.views.tasks.task_graph import TaskGraph
from tests.kernel.views.graph_changes import change
from tests.kernel.views.situations import Page, batch, graph, store_of

Tasks = Sequence[tuple[str, tuple[int, ...]]]
"""Key of each, and the positions of those it needs."""

ROWS = 400
SIZES = [(900, 500), (420, 300), (300, 200)]
LOOSE: Tasks = [(f"loose-{i}", ()) for i in range(10)]
TRIPLES: Tasks = [(f"small-{i}", (i - 2, i - 1) if i % 3 == 2 else ()) for i in range(9)]


def large(rows: int, first: int = 0) -> GraphChange:
    """Return a graph of pairs that are summed: so many rows in its first two layers."""
    pairs = [(first + i, first + rows + i) for i in range(rows)]
    sums = [(first + rows + i, first + 2 * rows) for i in range(rows)]
    keys = [f"large-{first}-{i}" for i in range(2 * rows + 1)]
    return graph(keys, [*pairs, *sums], first=first, is_snapshot=first == 0)


def tasks(given: Tasks, first: int) -> GraphChange:
    edges = [(first + of, first + at) for at, (_, needs) in enumerate(given) for of in needs]
    return graph([key for key, _ in given], edges, first=first, is_snapshot=first == 0)


def together(one: GraphChange, other: GraphChange) -> GraphChange:
    return change(
        is_snapshot=True, added=[*one.added, *other.added], states=[*one.states, *other.states]
    )


def places(view: TaskGraph) -> dict[str, tuple[float, float]]:
    data = view.nodes.nodes.data
    rows = zip(data["key"], data["x"], data["y"], strict=True)
    return {key: (float(x), float(y)) for key, x, y in rows if not np.isnan(x)}


def least_px(view: TaskGraph) -> float:
    """Return how far apart nodes of small parts are at least, to themselves and all others."""
    cell = view.cell_px(pane_size(view.figure))
    keys, at = zip(*places(view).items(), strict=True)
    places_px = np.array(at) * cell
    is_small = np.array([not key.startswith("large") for key in keys])
    away = np.abs(places_px[is_small][:, None] - places_px).max(axis=2)
    away[np.arange(is_small.sum()), np.flatnonzero(is_small)] = np.inf
    return float(away.min())


def node_px(view: TaskGraph) -> float:
    assert isinstance(view.nodes._node.size, float)
    return view.nodes._node.size


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("small", [LOOSE, TRIPLES])
def test_small_parts_beside_a_large_one_do_not_overlap(small: Tasks, size: tuple[int, int]) -> None:
    view = TaskGraph(store_of(graph=together(large(ROWS), tasks(small, 2 * ROWS + 1))))
    Page(view, *size)
    assert view.nodes.extent()[3] == ROWS - 1
    assert least_px(view) >= node_px(view)


@pytest.mark.parametrize("size", SIZES)
def test_many_loose_tasks_beside_a_large_part_do_not_overlap(size: tuple[int, int]) -> None:
    loose: Tasks = [(f"loose-{i}", ()) for i in range(600)]
    view = TaskGraph(store_of(graph=together(large(ROWS), tasks(loose, 2 * ROWS + 1))))
    Page(view, *size)
    assert view.nodes.extent()[3] == pytest.approx(ROWS, rel=0.1)
    assert least_px(view) >= node_px(view)


def test_loose_tasks_move_when_a_large_part_comes_and_then_no_more() -> None:
    store = store_of(graph=tasks(LOOSE, 0))
    view = TaskGraph(store)
    page = Page(view, 900, 500)
    store.apply(batch(graph=large(ROWS, 100)))
    page.sent()
    assert least_px(view) >= node_px(view)
    before = places(view)
    first = 1000
    for tick in range(6):
        more: Tasks = [(f"more-{tick}-{i}", ()) for i in range(3)]
        store.apply(batch(graph=tasks(more, first + 10 * tick)))
        page.sent()
        assert before.items() <= places(view).items()
        assert least_px(view) >= node_px(view)


def test_what_small_parts_grow_by_does_not_overlap_and_moves_nothing() -> None:
    store = store_of(graph=together(large(ROWS), tasks(LOOSE, 2 * ROWS + 1)))
    view = TaskGraph(store)
    page = Page(view, 900, 500)
    for tick in range(3):
        before, first = places(view), 1000 + 10 * tick
        last = 2 * ROWS + 1 if tick == 0 else first - 10
        edges = [(last + i // 2, first + i) for i in range(4)]
        grown = graph([f"grown-{first + i}" for i in range(4)], edges, first=first)
        grown.is_snapshot = False
        store.apply(batch(graph=grown))
        page.sent()
        assert before.items() <= places(view).items()
        assert least_px(view) >= node_px(view)


def test_small_parts_move_a_few_times_while_a_part_grows_row_by_row() -> None:
    n_small, n = 10, 400
    small = np.empty((0, 2), dtype=np.int64)
    layout = laid_out(no_places(n_small + 1), small, shape=1.4, most_rows=40.0)
    n_moved = 0
    for rows in range(1, n):
        at = np.append(np.arange(n_small + rows), -1)
        edges = np.array([(n_small, n_small + 1 + i) for i in range(rows)])
        now = laid_out(layout.of(at), edges, shape=1.4, may_close=True, most_rows=40.0)
        n_moved += bool((now.places[:n_small] != layout.places[:n_small]).any())
        layout = now
    assert 1 <= n_moved <= 5
    assert least_gap(layout.places[:n_small]) >= n / 40 / 2


def least_gap(at: npt.NDArray[np.float64]) -> float:
    """Return how many rows nodes of one layer are apart at least."""
    gaps = [np.diff(np.sort(at[at[:, 0] == x, 1])) for x in np.unique(at[:, 0])]
    return float(min(gap.min(initial=np.inf) for gap in gaps))


def test_small_parts_close_up_when_the_large_one_is_gone() -> None:
    store = store_of(graph=together(large(ROWS), tasks(LOOSE, 2 * ROWS + 1)))
    view = TaskGraph(store)
    page = Page(view, 900, 500)
    store.apply(batch(graph=change(removed=range(2 * ROWS + 1), total=10)))
    page.sent()
    x0, x1, y0, y1 = view.nodes.extent()
    assert (x1 - x0 + 1) * (y1 - y0 + 1) <= 20


def test_loose_tasks_alone_and_large_parts_alone_are_as_close_as_they_can_be() -> None:
    loose: Tasks = [(f"loose-{i}", ()) for i in range(4000)]
    for given in (tasks(LOOSE, 0), tasks(loose, 0), together(large(ROWS), large(300, 1000))):
        view = TaskGraph(store_of(graph=given))
        Page(view, 900, 500)
        assert least_gap(np.array(list(places(view).values()))) == pytest.approx(1)


def test_nothing_moves_while_the_user_looks_at_a_part() -> None:
    store = store_of(graph=tasks(LOOSE, 0))
    view = TaskGraph(store)
    page = Page(view, 900, 500)
    before = places(view)
    view.figure.y_range.update(start=2.0, end=0.0)
    store.apply(batch(graph=large(ROWS, 100)))
    page.sent()
    assert before.items() <= places(view).items()
    view.command("fit")
    assert least_px(view) >= node_px(view)


def test_rows_get_closer_where_small_parts_would_fill_the_pane() -> None:
    assert fitting_pitch(10, 100.0, 2000.0, 1.5, 40.0) == 10
    assert fitting_pitch(10, 60_000.0, 2000.0, 1.5, 40.0) == 2
    assert fitting_pitch(10, 1e9, 2000.0, 1.5, 40.0) == 1
