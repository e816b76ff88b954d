"""What a profile leaves when those of some of its tasks are taken away."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dask_diag_lab.views.profile.frames import Frames, Tree, settled
from dask_diag_lab.views.profile.remainder import remainder
from tests.kernel.views.profiles import node, trees


def _calls(*functions: str, samples: int) -> Tree:
    """Return a profile of a caller of some functions that call nothing."""
    return node("root", samples, node("call", samples, *[node(name, 0) for name in functions]))


def _shown(tree: Tree) -> dict[str, int]:
    frames = Frames(tree)
    return {frames.place(i).name: int(frames.total[i]) for i in range(len(frames))}


def test_what_one_task_leaves_is_that_of_the_other() -> None:
    whole = _calls("f", "g", samples=10)
    assert _shown(remainder(whole, [_calls("f", samples=6)])) == {"all": 4, "call": 4, "g": 4}


def test_several_other_tasks_stay_unclear() -> None:
    whole = _calls("f", "g", "h", samples=10)
    shown = _shown(remainder(whole, [_calls("f", samples=6)]))
    assert shown == {"all": 4, "call": 4, "g": 0, "h": 0, "in g, h": 4}


def test_function_that_only_tasks_known_by_themselves_call_is_left_where_nothing_else_is() -> None:
    shown = _shown(remainder(_calls("f", samples=10), [_calls("f", samples=6)]))
    assert shown == {"all": 4, "call": 4, "f": 4}


def test_calls_that_are_all_in_the_parts_are_gone() -> None:
    inner = node("call", 9, node("f", 5, node("g", 0)), node("h", 4))
    part = node("root", 5, node("call", 5, node("f", 5, node("g", 0))))
    assert _shown(remainder(node("root", 9, inner), [part])) == {"all": 4, "call": 4, "h": 4}


def test_part_that_is_newer_than_the_whole_leaves_nothing_below_0() -> None:
    rest = remainder(_calls("f", "g", samples=10), [_calls("f", samples=12)])
    assert _shown(rest)["all"] == 0


@settings(deadline=None)
@given(trees(is_displaced=True), st.lists(trees(is_displaced=True), max_size=3))
def test_no_frame_has_more_than_its_caller(whole: Tree, parts: list[Tree]) -> None:
    rest = remainder(whole, parts)
    frames = Frames(rest)
    assert frames.samples == rest["count"] <= whole["count"]
    assert (frames.total[1:] <= frames.total[frames.parent[1:]]).all()
    assert int(frames.own.sum()) == frames.samples


@settings(deadline=None)
@given(trees(is_displaced=True))
def test_without_parts_all_is_left(tree: Tree) -> None:
    assert _shown(remainder(tree, [])) == _shown(tree)


@settings(deadline=None)
@given(st.lists(trees(is_displaced=True), min_size=1, max_size=3))
def test_together_with_the_parts_it_is_the_whole(given_trees: list[Tree]) -> None:
    whole = given_trees[0]
    # As many of each task as there are in the whole: never more than its own samples.
    parts = [remainder(whole, [tree]) for tree in given_trees[1:2]]
    assert Frames(settled([*parts, remainder(whole, parts)])).samples == whole["count"]
