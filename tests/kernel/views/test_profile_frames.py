"""Frames of a profile: every sample has its place, none twice, none by guess."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from distributed import profile as engine
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_diag_lab.views.profile.frames import Frames, Tree, settled
from tests.kernel.views.profiles import node, trees


def _named(frames: Frames, name: str) -> int:
    return next(i for i in range(len(frames)) if frames.place(i).name == name)


def test_own_samples_are_what_the_children_leave() -> None:
    frames = Frames(node("root", 10, node("f", 10, node("g", 6))))
    assert frames.own[_named(frames, "f")] == 4
    assert frames.own[_named(frames, "g")] == 6
    assert not frames.is_displaced


def test_samples_counted_at_the_caller_of_one_function_are_given_to_it() -> None:
    frames = Frames(node("root", 5, node("f", 5, node("g", 0))))
    assert frames.is_displaced
    assert frames.total[_named(frames, "g")] == 5
    assert frames.own[_named(frames, "g")] == 5
    assert frames.own[_named(frames, "f")] == 0


def test_frame_whose_callees_were_cut_off_keeps_their_samples_and_no_more() -> None:
    frames = Frames(node("root", 9, node("f", 5, node("g", 0)), node("h", 4)))
    h = _named(frames, "h")
    assert (frames.total[h], frames.own[h]) == (4, 4)
    assert frames.samples == 9


def test_samples_that_may_be_of_several_functions_are_given_to_none() -> None:
    frames = Frames(node("root", 9, node("f", 9, node("g", 2, node("i", 0)), node("h", 0))))
    (unclear,) = [i for i in range(len(frames)) if frames.is_unclear[i]]
    assert frames.total[unclear] == 7
    assert frames.candidates(unclear) == ["g", "h"]
    assert frames.total[_named(frames, "h")] == 0


def test_tasks_one_by_one_tell_what_all_together_do_not() -> None:
    one = node("root", 6, node("call", 6, node("f", 0)))
    two = node("root", 4, node("call", 4, node("g", 0)))
    both = node("root", 10, node("call", 10, node("f", 0), node("g", 0)))
    assert Frames(both).is_unclear.any()
    frames = Frames(settled([one, two]))
    assert not frames.is_unclear.any()
    assert (frames.total[_named(frames, "f")], frames.total[_named(frames, "g")]) == (6, 4)


def test_settled_trees_are_not_settled_twice() -> None:
    tree = node("root", 9, node("f", 9, node("g", 2, node("i", 0)), node("h", 0)))
    once, twice = Frames(settled([tree])), Frames(settled([settled([tree])]))
    assert sorted(once.total) == sorted(twice.total)
    assert once.is_unclear.sum() == twice.is_unclear.sum() == 1


@settings(deadline=None)
@given(trees())
def test_all_samples_are_some_frames_own(tree: Tree) -> None:
    frames = Frames(tree)
    assert int(frames.own.sum()) == frames.samples == tree["count"]


@settings(deadline=None)
@given(trees(is_displaced=True))
def test_all_samples_are_some_frames_own_when_they_were_displaced(tree: Tree) -> None:
    frames = Frames(tree)
    assert int(frames.own[1:].sum()) == frames.samples == tree["count"]


@settings(deadline=None)
@given(st.lists(trees(is_displaced=True), min_size=1, max_size=3))
def test_settling_conserves_samples(given_trees: list[Tree]) -> None:
    frames = Frames(settled(given_trees))
    assert frames.samples == sum(tree["count"] for tree in given_trees)
    assert int(frames.own.sum()) == frames.samples


@settings(deadline=None)
@given(trees(), st.integers(0, 10_000))
def test_a_frame_is_found_again_by_its_path(tree: Tree, number: int) -> None:
    frames = Frames(tree)
    index = number % len(frames)
    assert frames.find(frames.path(index)) == (index if frames.total[index] else 0)


def test_a_path_that_is_gone_leads_to_the_innermost_caller_that_is_there() -> None:
    before = Frames(node("root", 4, node("f", 4, node("g", 4))))
    after = Frames(node("root", 4, node("f", 4, node("h", 4))))
    assert after.place(after.find(before.path(2))).name == "f"


def test_a_description_that_is_no_mapping_is_still_named() -> None:
    tree: dict[str, Any] = node("root", 1, node("f", 1))
    tree["children"]["f;/home/me/f.py;1"]["description"] = "odd"
    assert Frames(tree).place(1).name == "odd"


def _stacks(work: Callable[[], None], stop: threading.Event, child: object = True) -> Tree:
    """Return what the engine's own counting makes of 40 looks at a thread that is at work.

    ``child`` is what the engine hands over as the innermost frame's callee: True for tasks
    (`Worker.trigger_profile`), None for event loops (`profile.watch`).
    """
    thread = threading.Thread(target=work)
    thread.start()
    tree: dict[str, Any] = engine.create()
    try:
        while tree["count"] < 40:
            frame = sys._current_frames().get(thread.ident or 0)
            if frame is not None and frame.f_code.co_name in ("_innermost", "_caller"):
                engine.process(frame, child, tree, stop="threading.py")
            time.sleep(0.001)
    finally:
        stop.set()
        thread.join(10)
    return tree


def _two_deep(stop: threading.Event) -> Callable[[], None]:
    def _innermost() -> None:
        while not stop.is_set():
            sum(range(200))

    def _caller() -> None:
        while not stop.is_set():
            _innermost()

    return _caller


def test_event_loops_samples_are_taken_as_they_are() -> None:
    stop = threading.Event()
    frames = Frames(_stacks(_two_deep(stop), stop, child=None))
    assert not frames.is_displaced
    assert frames.own[_named(frames, "_innermost")] >= 0.9 * frames.samples


def test_what_the_engine_counts_at_the_caller_is_found_in_the_function_that_ran() -> None:
    stop = threading.Event()
    frames = Frames(_stacks(_two_deep(stop), stop))
    if not frames.is_displaced:
        pytest.skip("this version of the engine counts the innermost function itself")
    assert frames.total[_named(frames, "_innermost")] >= 0.9 * frames.samples
