"""Profiles are added up exactly, cut down when large, and checked on arrival."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dask_diag_lab.transport.trees import (
    MAX_DEPTH,
    MAX_NODES,
    add_tree,
    count_nodes,
    empty_tree,
    prune_tree,
)
from dask_diag_lab.transport.wire import WireError


def node(name: str, count: int, *children: dict[str, Any]) -> dict[str, Any]:
    description = {"filename": "f.py", "name": name, "line_number": 1, "line": "x = 1\n"}
    return {
        "identifier": name,
        "count": count,
        "description": description,
        "children": {child["identifier"]: child for child in children},
    }


def counts(tree: dict[str, Any]) -> dict[str, int]:
    found = {tree["identifier"]: tree["count"]}
    for child in tree["children"].values():
        found |= counts(child)
    return found


def test_trees_add_up_and_the_given_ones_stay_as_they_are() -> None:
    a = node("root", 3, node("f", 3, node("g", 1)))
    b = node("root", 5, node("f", 2), node("h", 3))
    before = copy.deepcopy((a, b))
    total = empty_tree()
    add_tree(total, a)
    add_tree(total, b)
    assert counts(total) == {"root": 8, "f": 5, "g": 1, "h": 3}
    assert (a, b) == before


def test_samples_of_innermost_frames_stay_with_their_caller() -> None:
    # As the engine's task profiler leaves it: f was seen 10 times, 4 of them calling g.
    total = empty_tree()
    add_tree(total, node("root", 10, node("f", 4, node("g", 0))))
    assert counts(total) == {"root": 10, "f": 4, "g": 0}


def test_innermost_frames_are_kept_when_a_large_tree_is_pruned() -> None:
    rare = [node(f"r{n}", 1) for n in range(2 * MAX_NODES)]
    tree = node("root", 100_000, node("main", 50_000, node("inner", 0)), *rare)
    assert prune_tree(tree) > 0
    assert "inner" in tree["children"]["main"]["children"]


def test_a_profiler_that_counts_all_frames_is_left_as_it_is() -> None:
    total = empty_tree()
    add_tree(total, node("root", 10, node("f", 10, node("g", 4))))
    assert counts(total) == {"root": 10, "f": 10, "g": 4}


def test_a_tree_of_usual_size_is_not_pruned() -> None:
    tree = node("root", 10_000, node("f", 9_999), node("rare", 1))
    assert prune_tree(tree) == 0
    assert "rare" in tree["children"]


def test_a_large_tree_is_pruned_of_its_smallest_parts_and_tells_how_many() -> None:
    rare = [node(f"r{n}", 1) for n in range(2 * MAX_NODES)]
    tree = node("root", 100_000, node("main", 50_000, node("inner", 40_000)), *rare)
    before = count_nodes(tree)
    pruned = prune_tree(tree)
    assert pruned == 2 * MAX_NODES
    assert count_nodes(tree) == before - pruned
    assert counts(tree) == {"root": 100_000, "main": 50_000, "inner": 40_000}


def test_pruning_goes_on_until_the_bound_holds() -> None:
    wide = [node(f"n{i}", 100 + i % 7) for i in range(3 * MAX_NODES)]
    tree = node("root", sum(child["count"] for child in wide), *wide)
    deep = node("leaf", 10**9)
    for level in range(2 * MAX_DEPTH):
        deep = node(f"d{level}", 10**9, deep)
    tree["children"]["deep"] = deep
    tree["count"] += 10**9
    assert prune_tree(tree) > 0
    assert count_nodes(tree) <= MAX_NODES
    assert count_nodes(tree["children"]["deep"]) <= MAX_DEPTH


def test_a_very_deep_tree_is_no_trouble() -> None:
    deep = node("leaf", 1)
    for level in range(20_000):
        deep = node(f"d{level}", 1, deep)
    total = empty_tree()
    add_tree(total, node("root", 1, deep))
    assert count_nodes(total) == 20_002


@pytest.mark.parametrize(
    "wrong",
    [None, [], {"count": 1}, node("root", "x"), node("root", 1) | {"children": {1: node("a", 1)}}],  # type: ignore[arg-type]  # wrong on purpose
)
def test_another_shape_is_refused_and_changes_nothing(wrong: Any) -> None:
    total = empty_tree()
    with pytest.raises(WireError):
        add_tree(total, wrong)
    assert total == empty_tree()


def test_a_large_tree_without_samples_is_pruned_too() -> None:
    tree = node("root", 0, *(node(f"n{n}", 0) for n in range(MAX_NODES + 1)))
    assert prune_tree(tree) == MAX_NODES + 1
