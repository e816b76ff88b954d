"""Layout of a flame graph: nothing stands outside its caller, and nothing is lost by merging."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_diag_lab.views.profile.frames import Frames, Tree
from dask_diag_lab.views.profile.icicle import LEAST_SHARE, lay_out, matched_samples
from tests.kernel.views.profiles import node, trees


def _wide(n_kids: int, biggest: int = 1) -> Tree:
    """Return a caller of many equally narrow functions, and of one with ``biggest`` samples."""
    kids = [node(f"f{i}", 1) for i in range(n_kids)]
    return node("root", n_kids + biggest, node("big", biggest), *kids)


def _large(n: int, seed: int = 0) -> Tree:
    """Return a profile of ``n`` frames of all widths."""
    rng = np.random.default_rng(seed)
    made: list[dict[str, Any]] = [node("root", 0)]
    above = [0]
    for number in range(1, n):
        above.append(int(rng.integers(max(0, number - 2000), number)))
        made.append(node(f"f{number}", int(rng.pareto(1.0) * 3) + 1))
    for number in range(n - 1, 0, -1):
        caller = made[above[number]]
        caller["count"] += made[number]["count"]
        caller["children"][made[number]["identifier"]] = made[number]
    return made[0]


@settings(deadline=None)
@given(trees(), st.integers(4, 60))
def test_boxes_stand_inside_the_box_of_their_caller(tree: Tree, max_boxes: int) -> None:
    frames = Frames(tree)
    icicle = lay_out(frames, max_boxes=max_boxes)
    drawn = {int(n): i for i, n in enumerate(icicle.node) if not icicle.merged[i]}
    for box in range(len(icicle)):
        own = int(icicle.node[box])
        caller = drawn[own if icicle.merged[box] else int(frames.parent[own])]
        assert icicle.left[caller] - 1e-9 <= icicle.left[box]
        assert icicle.right[box] <= icicle.right[caller] + 1e-9


@settings(deadline=None)
@given(trees(is_displaced=True))
def test_boxes_of_a_row_do_not_overlap(tree: Tree) -> None:
    icicle = lay_out(Frames(tree))
    for row in range(icicle.rows):
        here = np.flatnonzero(icicle.row == row)
        here = here[np.argsort(icicle.left[here])]
        assert (icicle.right[here[:-1]] <= icicle.left[here[1:]] + 1e-9).all()


@settings(deadline=None)
@given(trees(), st.integers(4, 60))
def test_merging_conserves_the_samples_of_every_caller(tree: Tree, max_boxes: int) -> None:
    frames = Frames(tree)
    icicle = lay_out(frames, max_boxes=max_boxes)
    for box in np.flatnonzero(icicle.merged == 0):
        callee = [
            int(icicle.samples[i])
            for i in range(len(icicle))
            if (icicle.merged[i] and icicle.node[i] == icicle.node[box])
            or (not icicle.merged[i] and i and frames.parent[icicle.node[i]] == icicle.node[box])
        ]
        own = int(frames.own[icicle.node[box]])
        assert own + sum(callee) == icicle.samples[box]


@settings(deadline=None)
@given(trees(), st.integers(0, 10_000))
def test_a_frame_that_is_zoomed_to_fills_the_width(tree: Tree, number: int) -> None:
    frames = Frames(tree)
    focus = number % len(frames)
    icicle = lay_out(frames, focus)
    if not frames.total[focus]:
        assert len(icicle) == 0
    else:
        assert (icicle.node[0], icicle.row[0]) == (focus, 0)
        assert (icicle.left[0], icicle.right[0]) == (0, 1)
        assert (icicle.left >= 0).all()
        assert (icicle.right <= 1 + 1e-9).all()


def test_narrow_frames_become_one_box_that_says_how_many() -> None:
    icicle = lay_out(Frames(_wide(500, biggest=1_000_000)))
    (merged,) = icicle.merged[icicle.merged > 0]
    assert (merged, icicle.hidden) == (500, 500)
    assert icicle.least == LEAST_SHARE


def test_all_callees_of_a_hidden_frame_are_counted_as_hidden() -> None:
    tree = node("root", 100_000, node("a", 99_990), node("b", 10, node("c", 10, node("d", 10))))
    icicle = lay_out(Frames(tree))
    assert icicle.merged.max() == 1
    assert icicle.hidden == 3


def test_no_more_boxes_are_drawn_than_allowed() -> None:
    frames = Frames(_large(20_000))
    icicle = lay_out(frames, max_boxes=200)
    assert 50 <= len(icicle) <= 200
    assert icicle.least > LEAST_SHARE
    assert int((icicle.merged == 0).sum()) + icicle.hidden == len(frames)


def test_wider_functions_stand_left_of_narrower_ones() -> None:
    frames = Frames(node("root", 9, node("a", 2), node("b", 6), node("c", 1)))
    icicle = lay_out(frames)
    names = [frames.place(int(n)).name for n in icicle.node[np.argsort(icicle.left)]]
    assert [name for name in names if name != "all"] == ["b", "a", "c"]


def test_samples_that_match_count_once_a_stack() -> None:
    tree = node("root", 10, node("f", 6, node("g", 5, node("f", 4))), node("h", 4, node("g", 1)))
    frames = Frames(tree)
    is_f = np.array([frames.place(i).name == "f" for i in range(len(frames))])
    is_any = np.array([frames.place(i).name in "fg" for i in range(len(frames))])
    assert matched_samples(frames, is_f) == 6
    assert matched_samples(frames, is_any) == 7


def test_nothing_matches_nothing() -> None:
    frames = Frames(node("root", 4, node("f", 4)))
    assert matched_samples(frames, np.zeros(len(frames), dtype=np.bool_)) == 0
