"""Task Group Graph: what boxes and names make of the room of a pane."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from dask_diag_lab.views.base import Opening
from dask_diag_lab.views.tasks.group_box import box_of
from dask_diag_lab.views.tasks.group_names import fitting_names
from dask_diag_lab.views.tasks.task_groups import TaskGroupGraph
from tests.kernel.views.browser_pane import Pane, losses
from tests.kernel.views.situations import Page, batch, group, store_of

HEIGHTS = (*range(160, 280, 3), *range(280, 701, 30))


def chain(n: int) -> list[dict[str, object]]:
    """Return a chain of ``n`` groups of as many prefixes."""
    return [
        group(f"step{i}-4f2a", f"step{i}", [f"step{i - 1}-4f2a"] if i else [], memory=1)
        for i in range(n)
    ]


def fan(n: int) -> list[dict[str, object]]:
    """Return ``n`` groups that need the first one of a `chain`."""
    return [group(f"fan{i}-4f2a", f"fan{i}", ["step0-4f2a"], memory=1) for i in range(n)]


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
    view = TaskGroupGraph(store_of(groups=[*chain(28), *fan(15)]))
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
    heads = side_by_side(3)
    joined = group("all", "all", [str(head["name"]) for head in heads] + ["step39-4f2a"])
    view = TaskGroupGraph(store_of(groups=[*numbered(40, name="step"), *heads, joined]))
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


CHUNKS = ("chunk_sum", "chunk_sum-partial", "chunk_sum-aggregate-sum", "sum", "sum-aggregate")


@pytest.mark.parametrize(
    ("room_px", "n_lines", "said"),
    [
        (200, 1, CHUNKS),
        (74, 1, ("chunk_sum", "chunk_s…ial", "aggreg…sum", "sum", "sum-ag…ate")),
        (31, 2, ("chunk_\nsum", "partial", "aggreg\nate-s…", "sum", "sum-ag\ngregate")),
        (31, 1, ("chun…", "partial", "aggre…", "sum", "sum-…")),
        (20, 1, ("", "", "", "sum", "")),
    ],
)
def test_of_a_name_its_most_telling_part_is_left_or_nothing(
    room_px: float, n_lines: int, said: tuple[str, ...]
) -> None:
    rooms = [room_px] * len(CHUNKS)
    assert tuple(fitting_names(CHUNKS, rooms, 11.0 if room_px > 40 else 8.0, n_lines)) == said


def test_names_that_cannot_be_told_apart_are_left_to_the_hover() -> None:
    names = ["load-of-all-parts-a-1", "load-of-all-parts-a-2", "use"]
    assert fitting_names(names, [18.0] * 3, 11.0, 1)[:2] == ["…1", "…2"]
    names = ["chunk_sum-aggregate", "chunk_sum-aggregate-sum", "chunk_sum-partial"]
    assert fitting_names(names, [31.0] * 3, 8.0, 1) == ["", "", "partial"]


def test_no_figure_in_a_box_is_cut() -> None:
    slow = group("slow-4f2a", "slow", memory=346, erred=4) | {"nbytes": 2855, "duration": 26.1}
    view = TaskGroupGraph(store_of(groups=[slow, *chain(7)]))
    page = Page(view, 700, 400)
    data = view.groups.boxes.model.data
    assert (data["count"][0], data["more"][0]) == ("4 erred", "2.79 KiB")
    page.resize(2000, 800)
    data = view.groups.boxes.model.data
    assert (data["count"][0], data["more"][0]) == ("4 erred · 346 / 350", "2.79 KiB · 26.1 s")


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
    left, right, top, bottom = view.groups.extent()
    assert (right - left) <= 1
    assert (bottom - top) <= 1


def pairs(n: int) -> list[dict[str, object]]:
    """Return ``n`` pairs of which one group needs the other, and nothing else."""
    names = [(f"load{i}-4f2a", f"sum{i}-4f2a") for i in range(n)]
    made = [(group(a, a[:-5], memory=1), group(b, b[:-5], [a], memory=1)) for a, b in names]
    return [row for pair in made for row in pair]


@pytest.mark.parametrize(
    "groups",
    [pairs(9), [*chain(4), *side_by_side(6)], side_by_side(60), [*numbered(40), *fan(2)]],
    ids=["pairs", "mixed", "many", "chain"],
)
def test_more_room_never_names_fewer_boxes(groups: list[dict[str, object]]) -> None:
    view = TaskGroupGraph(store_of(groups=groups))

    def named() -> int:
        return sum(map(bool, view.groups.boxes.model.data["label"]))

    assert losses(Pane(view), named, range(280, 901, 60), HEIGHTS) == []


def test_groups_that_nothing_connects_take_the_shape_of_the_pane_and_keep_their_place() -> None:
    store = store_of(groups=pairs(9))
    view = TaskGroupGraph(store)
    page = Page(view, 900, 600)
    left, right, top, bottom = view.groups.extent()
    assert right - left >= 3
    assert bottom - top <= 5
    before = dict(view.groups._placed)
    page.resize(890, 606)
    store.apply(batch(groups=[group("load3-4f2a", "load3", memory=9)]))
    page.sent()
    assert view.groups._placed == before
    store.apply(batch(groups=[group("more-4f2a", "more", memory=9)]))
    page.sent()
    assert {name: view.groups._placed[name] for name in before} == before
    page.resize(280, 900)
    assert view.groups.extent()[1] == 1


@pytest.mark.parametrize("height", range(9, 60))
@pytest.mark.parametrize("width", [11, 40, 160])
def test_letters_keep_clear_of_the_outline_and_the_strip(width: int, height: int) -> None:
    box = box_of((width, height), 11.0)
    if not box.n_lines:
        return
    above, letters = 0.2 * box.font_px, 0.94 * box.font_px
    whole = width if box.is_turned else height
    across = 2 * (box.half_width if box.is_turned else box.half_height) * whole
    room = across if box.is_turned else across - box.strip * height
    begin = box.before_px + above
    end = begin + (box.n_lines - 1) * box.line_px + letters
    edge = box.outline_px[0] / 2
    assert begin >= edge + 0.2
    assert end <= room - (edge if box.is_turned else 0) - 0.2


def test_boxes_have_no_less_room_for_text_in_larger_cells() -> None:
    sizes = [box_of((80.0, px / 4), 11.0) for px in range(16, 1000)]
    tall = [(2 * box.half_height - box.strip) * box.row_px for box in sizes]
    assert all(after >= before - 1e-9 for before, after in pairwise(tall))
