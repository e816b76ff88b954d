"""Task Group Graph: metrics on the nodes, thousands of groups, circles, clicks."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from dask_diag_lab.views.base import Opening
from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import prefix_color
from dask_diag_lab.views.tasks.group_nodes import MAX_NODES, structure_of
from dask_diag_lab.views.tasks.task_groups import TaskGroupGraph
from tests.kernel.views.situations import MIB, Page, batch, group, store_of

LOAD = group("load-1", "load", memory=5, released=5) | {
    "nbytes": 5 * MIB,
    "duration": 40.0,
    "start": 100.0,
    "stop": 120.0,
}
SUM = group("sum-1", "sum", ["load-1"], processing=2, waiting=7, erred=1)


def many(n: int, prefixes: int) -> list[dict[str, object]]:
    """Return a chain of ``n`` groups of so many prefixes, which need each other in circles."""
    return [
        group(f"g{i}", f"p{i % prefixes}", [f"g{i - 1}"] if i else [], memory=1 + i % 3)
        for i in range(n)
    ]


def test_box_tells_all_that_its_group_has_done() -> None:
    view = TaskGroupGraph(store_of(groups=[LOAD, SUM]))
    page = Page(view)
    data = view.groups.boxes.model.data
    assert data["name"] == ["load-1", "sum-1"]
    assert data["count"] == ["10 / 10", "1 erred · 0 / 10"]
    assert data["memory"] == ["5.00 MiB in memory", ""]
    assert data["time"][0] == "40.0 s of thread time within 20.0 s"
    assert data["erred"] == ["", "1 task erred"]
    assert data["states"][1] == "7 waiting, 2 processing, 1 erred"
    assert data["prefix"] == ["prefix load", "prefix sum"]
    assert data["more"][0] == "5.00 MiB · 40.0 s"
    assert page.title == "Task groups: 2 · 20 tasks · 2 processing · 5 in memory · 1 erred"


def test_outline_is_thick_while_tasks_are_processed() -> None:
    store = store_of(groups=[LOAD, SUM])
    view = TaskGroupGraph(store)
    page = Page(view)
    quiet, busy = view.groups.boxes.model.data["line"]
    assert busy > 2 * quiet
    store.apply(batch(groups=[group("sum-1", "sum", ["load-1"], memory=10)]))
    page.sent()
    assert list(view.groups.boxes.model.data["line"]) == [quiet, quiet]


def test_work_flows_to_the_right_and_known_boxes_stay() -> None:
    store = store_of(groups=[LOAD, SUM])
    view = TaskGroupGraph(store)
    page = Page(view)
    before = list(view.groups.boxes.model.data["left"])
    assert before[0] < before[1]
    assert len(view.groups.edges.model.data["x0"]) == 1
    store.apply(batch(groups=[group("max-1", "max", ["sum-1"], waiting=1)]))
    page.sent()
    assert list(view.groups.boxes.model.data["left"][:2]) == before


def test_thousands_of_groups_become_a_box_for_each_prefix_and_the_plot_says_so() -> None:
    store = store_of(groups=many(3000, 12))
    view = TaskGroupGraph(store)
    page = Page(view)
    data = view.groups.boxes.model.data
    assert data["name"] == [f"p{i}" for i in range(12)]
    assert data["prefix"][0] == "250 groups of this prefix"
    assert sum(int(text.split(" / ")[1].split(" ")[0]) for text in data["done"]) == 6000
    assert "all groups of one prefix, as there are 3000 groups" in view.notice.note
    assert page.title.startswith("Task groups: 3000")


def test_more_prefixes_than_boxes_leave_the_smallest_out_and_count_them() -> None:
    view = TaskGroupGraph(store_of(groups=many(700, 350)))
    Page(view)
    assert len(view.groups.boxes.model.data["name"]) == MAX_NODES
    assert "150 smaller ones are not drawn" in view.notice.note


def test_prefixes_that_need_each_other_do_not_break_the_layout() -> None:
    structure = structure_of(store_of(groups=many(400, 3)))
    assert structure.edges.tolist() == [[0, 1], [1, 2]]


def test_click_opens_the_profile_of_the_prefix() -> None:
    view = TaskGroupGraph(store_of(groups=[LOAD, SUM]))
    page = Page(view)
    data = view.groups.boxes.model.data
    page.tap(float(data["right"][0]) + 0.05, float(data["top"][0]))
    assert view.opening is None
    page.tap(float(data["left"][0]) + 0.1, float(data["top"][0]) + 0.1)
    assert view.opening == Opening("profile", {"prefix": "load"})


@pytest.mark.parametrize("look", [LIGHT, DARK, Look(palette="okabe-ito")])
def test_colour_is_that_of_the_prefix_everywhere(look: Look) -> None:
    store = store_of(groups=[LOAD, SUM])
    view = TaskGroupGraph(store, look)
    Page(view)
    expected = [prefix_color(store.palette.index(name), look) for name in ("load", "sum")]
    assert view.groups.boxes.model.data["color"] == expected


def chain(n: int) -> list[dict[str, object]]:
    """Return a chain of ``n`` groups of as many prefixes."""
    return [
        group(f"step{i}-4f2a", f"step{i}", [f"step{i - 1}-4f2a"] if i else [], memory=1)
        for i in range(n)
    ]


def side_by_side(n: int) -> list[dict[str, object]]:
    """Return ``n`` groups that need nothing of each other."""
    return [group(f"load{i}-4f2a", f"load{i}", memory=1) for i in range(n)]


def test_small_pane_keeps_the_boxes_and_drops_words_that_nobody_can_read() -> None:
    view = TaskGroupGraph(store_of(groups=chain(100)))
    page = Page(view, 300, 200)
    data = view.groups.boxes.model.data
    assert len(data["left"]) == 100
    assert set(data["label"]) == {""}
    assert len(page.title) <= 40


@pytest.mark.parametrize("groups", [chain(30), side_by_side(30)], ids=["wide", "high"])
def test_thirty_boxes_keep_their_names_without_what_follows_the_prefix(
    groups: list[dict[str, object]],
) -> None:
    view = TaskGroupGraph(store_of(groups=groups))
    Page(view, 1000, 600)
    data = view.groups.boxes.model.data
    assert data["label"][7].startswith(groups[7]["prefix"])
    assert data["name"][7] == groups[7]["name"]


def test_names_get_smaller_before_they_go() -> None:
    view = TaskGroupGraph(store_of(groups=[*chain(28), *side_by_side(15)]))
    Page(view, 900, 430)
    label = view.groups._texts[0]
    assert view.groups.boxes.model.data["label"][0] == "s…0"
    assert label.text_font_size == "8px"


def test_narrow_boxes_have_upright_names_and_wide_ones_level_ones() -> None:
    store = store_of(groups=chain(30))
    view = TaskGroupGraph(store)
    page = Page(view, 1000, 600)
    label = view.groups._texts[0]
    assert label.angle == pytest.approx(math.pi / 2)
    page.resize(8000, 600)
    assert label.angle == 0


def numbered(n: int, *, name: str = "func_of_a_long_name_number_") -> list[dict[str, object]]:
    """Return a chain of ``n`` groups whose names differ in the end alone."""
    return [
        group(f"{name}{i}-4f2a", f"{name}{i}", [f"{name}{i - 1}-4f2a"] if i else [], memory=1)
        for i in range(n)
    ]


@pytest.mark.parametrize(("width", "height"), [(420, 200), (900, 250), (900, 600)])
def test_names_that_differ_in_the_end_alone_keep_it(width: int, height: int) -> None:
    view = TaskGroupGraph(store_of(groups=[*numbered(40), *side_by_side(2)]))
    Page(view, width, height)
    labels = view.groups.boxes.model.data["label"][:40]
    assert len(set(labels)) == 40
    assert [label.endswith(str(i)) for i, label in enumerate(labels)] == [True] * 40


def test_boxes_of_a_long_chain_are_as_tall_as_their_names_need() -> None:
    view = TaskGroupGraph(store_of(groups=numbered(40)))
    Page(view, 900, 600)
    assert view.groups.boxes.model.data["label"][12] == "func_of_a_long_name_number_12"


def test_box_takes_the_room_that_its_layer_has_to_spare() -> None:
    view = TaskGroupGraph(store_of(groups=[*numbered(40), *side_by_side(6)]))
    page = Page(view, 900, 430)
    data = view.groups.boxes.model.data
    heights = [float(low - high) for low, high in zip(data["bottom"], data["top"], strict=True)]
    assert max(heights[1:40]) > 1.5 * heights[-1]
    page.tap(float(data["left"][20]) + 0.1, float(data["top"][20]) + 0.05)
    assert view.opening == Opening("profile", {"prefix": "func_of_a_long_name_number_20"})


def test_boxes_of_one_layer_never_overlap() -> None:
    view = TaskGroupGraph(store_of(groups=[*numbered(40), *side_by_side(3)]))
    Page(view, 900, 600)
    data = view.groups.boxes.model.data
    spans = sorted(zip(data["left"], data["top"], data["bottom"], strict=True))
    one_layer = [(top, bottom) for left, top, bottom in spans if left == spans[0][0]]
    assert len(one_layer) == 4
    assert all(above[1] < below[0] for above, below in pairwise(one_layer))


def test_chain_of_forty_has_names_in_a_narrow_pane() -> None:
    view = TaskGroupGraph(store_of(groups=numbered(40, name="step_")))
    Page(view, 420, 300)
    assert view.groups.boxes.model.data["label"][12].startswith("step_12")


def test_names_of_one_prefix_are_told_apart() -> None:
    groups = [group(f"inc-{name}", "inc", memory=1) for name in ("a" * 32, "b" * 32)]
    view = TaskGroupGraph(store_of(groups=groups))
    Page(view)
    first, second = view.groups.boxes.model.data["label"]
    assert first != second


def test_names_come_back_when_zoomed_in() -> None:
    view = TaskGroupGraph(store_of(groups=chain(100)))
    page = Page(view, 300, 200)
    view.figure.x_range.update(start=-0.5, end=1.5)
    page.sent()
    assert view.groups.boxes.model.data["label"][0] == "step0-4f2a"


def test_room_of_groups_that_are_gone_closes_up() -> None:
    store = store_of(groups=side_by_side(30))
    view = TaskGroupGraph(store)
    page = Page(view)
    store.apply(batch(removed_groups=[f"load{i}-4f2a" for i in range(1, 29)]))
    page.sent()
    assert view.groups.extent() == (0.0, 0.0, 0.0, 1.0)


def test_nothing_is_sent_when_nothing_changed() -> None:
    store = store_of(groups=[LOAD, SUM])
    page = Page(TaskGroupGraph(store))
    assert page.sent() == []
    store.apply(batch(groups=[LOAD, SUM]))
    assert page.sent() == []


def test_no_groups_are_explained_and_come_back() -> None:
    store = store_of()
    view = TaskGroupGraph(store)
    page = Page(view)
    assert view.notice.empty.startswith("No task groups")
    store.apply(batch(groups=[LOAD]))
    page.sent()
    assert view.notice.empty == ""
    store.apply(batch(removed_groups=["load-1"]))
    page.sent()
    assert view.notice.empty.startswith("No task groups")


def test_table_has_all_groups() -> None:
    table = TaskGroupGraph(store_of(groups=[LOAD, SUM])).table()
    assert table.columns["group"] == ["load-1", "sum-1"]
    assert table.columns["nbytes_in_memory"] == [5 * MIB, 0]
    assert table.columns["dependencies"] == ["", "load-1"]
    assert table.columns["erred"] == [0, 1]
