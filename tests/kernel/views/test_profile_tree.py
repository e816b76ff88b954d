"""Frames of a profile: every sample has its place, none twice, none by guess."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from dask_diag_lab.views.profile.tree import (
    Frames,
    Tree,
    file_of,
    functions_table,
)
from tests.kernel.views.profiles import node, trees


def samples(frames: Frames, name: str) -> tuple[int, int]:
    """Return total and own samples of the only frame of a function."""
    (at,) = [i for i in range(len(frames)) if frames.location(i).name == name]
    return int(frames.total[at]), int(frames.own[at])


def test_own_samples_are_what_the_callees_leave() -> None:
    frames = Frames(node("root", 10, node("f", 10, node("g", 6))))
    assert samples(frames, "f") == (10, 4)
    assert samples(frames, "g") == (6, 6)


def test_samples_counted_at_the_caller_of_one_function_are_given_to_it() -> None:
    frames = Frames(node("root", 5, node("f", 5, node("g", 0))))
    assert samples(frames, "g") == (5, 5)
    assert samples(frames, "f") == (5, 0)


def test_samples_that_may_be_of_several_functions_are_given_to_none() -> None:
    frames = Frames(node("root", 9, node("f", 9, node("g", 2, node("i", 0)), node("h", 0))))
    (unclear,) = np.flatnonzero(frames.is_unclear)
    assert frames.total[unclear] == 7
    assert frames.location(int(unclear)).name == "in g, h"
    assert "h" not in [frames.location(i).name for i in range(len(frames))]


@given(trees(), trees(is_displaced=True))
def test_every_sample_is_some_frames_own(tree: Tree, displaced: Tree) -> None:
    for one in (tree, displaced):
        frames = Frames(one)
        assert int(frames.own.sum()) - int(frames.own[0]) * (one is displaced) == one["count"]


def test_a_path_that_is_gone_leads_to_the_innermost_caller_that_is_there() -> None:
    frames = Frames(node("root", 9, node("f", 9, node("g", 9))))
    path = frames.path(2)
    assert frames.find(path) == 2
    assert frames.find((path[0], "gone")) == 1


def test_recursion_counts_once() -> None:
    tree = node("root", 9, node("f", 9, node("g", 8, node("f", 7))))
    columns = functions_table(Frames(tree), 0.01).columns
    totals = dict(zip(columns["function"], columns["samples"], strict=True))
    assert totals == {"f": 9, "g": 8}


@pytest.mark.parametrize("described", [None, {}, {"name": None}])
def test_odd_descriptions_still_have_a_name(described: Any) -> None:
    tree = node("root", 1, node("f", 1))
    child = next(iter(tree["children"].values()))
    child["description"] = described
    assert Frames(tree).location(1).name


@pytest.mark.parametrize(
    ("filename", "owned", "short"),
    [
        ("/home/me/analysis/load.py", True, "me/analysis/load.py"),
        ("C:\\Users\\me\\load.py", True, "Users/me/load.py"),
        ("/tmp/ipykernel_42/77.py", True, "notebook cell 77"),
        ("/opt/venv/lib/python3.12/site-packages/numpy/core.py", False, "numpy/core.py"),
        ("/usr/lib/python3.12/threading.py", False, "threading.py"),
        ("C:\\Python312\\Lib\\threading.py", False, "threading.py"),
        ("<frozen importlib>", False, "<frozen importlib>"),
    ],
)
def test_whose_a_file_is_and_its_short_name(filename: str, owned: bool, short: str) -> None:
    assert file_of(filename)[:2] == (short, owned)
