"""Task Graph: what marks and legends look like, and what room nodes take of panes."""

from __future__ import annotations

import pytest
from bokeh.models import Range1d

from dask_diag_lab.records import STATES
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.pane_size import pane_size
from dask_diag_lab.views.tasks.node_graph import legend_entries, state_style
from dask_diag_lab.views.tasks.task_graph import TaskGraph
from dask_diag_lab.views.tasks.task_groups import TaskGroupGraph
from tests.kernel.views.graph_changes import EDGES, KEYS, change, groups_store
from tests.kernel.views.situations import Page, batch, graph, store_of


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_states_differ_by_shape_or_outline_as_well(look: Look) -> None:
    styles = {state: state_style(state, look) for state in STATES if state != "forgotten"}
    assert styles["waiting"][0].startswith(data_colors(look).states["waiting"])
    assert styles["erred"][2] == "diamond"
    assert [entry.marker for entry in legend_entries(look) if entry.label == "erred"] == ["diamond"]
    assert styles["queued"][2] == "square_dot"
    assert styles["no-worker"][2] == "square_cross"
    assert styles["processing"][1] == look.foreground
    assert styles["memory"][1] == styles["memory"][0]
    assert len(styles["waiting"][0]) == 9  # see-through


@pytest.mark.parametrize("size", [(320, 200), (900, 600)])
def test_tasks_that_erred_have_a_larger_mark_of_their_own(size: tuple[int, int]) -> None:
    keys = [f"inc-{i}" for i in range(400)]
    store = store_of(graph=graph(keys, [], {7: "erred", 8: "memory"}))
    view = TaskGraph(store)
    page = Page(view, *size)
    mark, node = view.nodes._mark, view.nodes._node
    assert (mark.marker, list(view.nodes.failed.model.data["x"])) == (
        "diamond",
        [view.nodes.nodes.data["x"][7]],
    )
    assert isinstance(mark.size, float)
    assert isinstance(node.size, float)
    assert mark.size >= max(1.6 * node.size, 10)
    assert view.nodes._fill.palette[STATES.index("erred")] == "#00000000"
    store.apply(batch(graph=change(states=[(8, STATES.index("erred"))])))
    page.sent()
    assert len(view.nodes.failed.model.data["x"]) == 2
    store.apply(batch(graph=change(removed=[7, 8], total=398)))
    page.sent()
    assert len(view.nodes.failed.model.data["x"]) == 0


@pytest.mark.parametrize("height", [180, 300, 500])
def test_marks_at_the_edge_are_whole_however_close_rows_are(height: int) -> None:
    n = 300
    keys = [*(f"load-{i}" for i in range(n)), "sum-0"]
    edges = [(i, n) for i in range(n)]
    store = store_of(graph=graph(keys, edges, {0: "erred"}))
    view = TaskGraph(store)
    page = Page(view, 420, height)
    end, start = float(str(view._y.end)), float(str(view._y.start))
    y0, y1 = view.nodes.extent()[2:]
    frame_px = view.frame_px(pane_size(view.figure))[1]
    row_px = frame_px / (start - end)
    mark = view.nodes._mark.size
    assert isinstance(mark, float)
    assert row_px < 2
    assert (y0 - end) * row_px >= mark / 2 + 1
    assert (start - y1) * row_px >= mark / 2 + 1
    assert page.sent() == []


def places(view: TaskGraph) -> dict[str, tuple[float, float]]:
    data = view.nodes.nodes.data
    return {key: (x, y) for key, x, y in zip(data["key"], data["x"], data["y"], strict=True)}


def columns_and_rows(view: TaskGraph) -> tuple[float, float]:
    x0, x1, y0, y1 = view.nodes.extent()
    return x1 - x0 + 1, y1 - y0 + 1


def test_unconnected_tasks_take_the_shape_of_the_pane_and_move_with_it_alone() -> None:
    store = store_of(graph=graph([f"inc-{i}" for i in range(400)]))
    view = TaskGraph(store)
    page = Page(view, 900, 300)
    columns, rows = columns_and_rows(view)
    assert columns > 2 * rows
    before = places(view)
    page.resize(905, 302)
    assert places(view) == before
    store.apply(batch(graph=change(states=[(3, STATES.index("memory"))], total=400)))
    page.sent()
    assert places(view) == before
    page.resize(300, 900)
    columns, rows = columns_and_rows(view)
    assert rows > 2 * columns


def test_room_of_forgotten_tasks_closes_up_when_it_is_most_of_the_picture() -> None:
    keys = [f"inc-{i}" for i in range(20)]
    store = store_of(graph=graph(keys))
    view = TaskGraph(store)
    page = Page(view, 300, 6000)
    store.apply(batch(graph=change(removed=[5], total=19)))
    page.sent()
    assert view.nodes.extent()[3] == 19
    store.apply(batch(graph=change(removed=[*range(1, 5), *range(6, 19)], total=2)))
    page.sent()
    data = view.nodes.nodes.data
    assert (data["key"], list(data["y"])) == (["inc-0", "inc-19"], [0, 1])
    seen = view.figure.y_range
    assert isinstance(seen, Range1d)
    assert (seen.start, seen.end) == pytest.approx((1.6, -0.6))


def test_nothing_closes_up_while_the_user_looks_at_a_part() -> None:
    store = store_of(graph=graph([f"inc-{i}" for i in range(20)]))
    view = TaskGraph(store)
    page = Page(view, 300, 6000)
    view.figure.y_range.update(start=20.0, end=18.0)
    store.apply(batch(graph=change(removed=[*range(1, 19)], total=2)))
    page.sent()
    assert view.nodes.extent()[3] == 19
    view.command("fit")
    assert view.nodes.extent()[3] == 1


@pytest.mark.parametrize(
    ("width", "n_lines"), [(300, 3), (340, 2), (420, 2), (590, 2), (600, 1), (1200, 1)]
)
def test_legend_of_a_narrow_pane_takes_more_lines(width: int, n_lines: int) -> None:
    view = TaskGraph(store_of(graph=graph(KEYS, EDGES)))
    page = Page(view)
    page.resize(width, 300)
    assert view.legends[0].n_lines == n_lines
    legend = page.plot.legend[0]
    assert legend.visible
    assert legend.ncols == -(-7 // n_lines)


def test_low_pane_has_no_legend() -> None:
    view = TaskGraph(store_of(graph=graph(KEYS, EDGES)))
    page = Page(view)
    page.resize(420, 200)
    assert not page.plot.legend[0].visible


def test_groups_have_the_legend_of_the_group_graph() -> None:
    store = groups_store()
    page = Page(TaskGraph(store))
    entries = TaskGroupGraph(store).legend_entries()[0]
    of_tasks, of_groups = page.plot.legend
    assert (of_tasks.visible, of_groups.visible) == (False, True)
    assert len(of_groups.items) == len(entries)
    store.apply(batch(graph=graph(KEYS, EDGES)))
    page.sent()
    assert (of_tasks.visible, of_groups.visible) == (True, False)
