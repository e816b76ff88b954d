"""Profiles are added up exactly, and checked on arrival."""

from __future__ import annotations

import copy
from typing import Any

from dask_diag_lab.transport.answers import add_tree, empty_tree
from tests.kernel.views.profiles import node


def counts(tree: dict[str, Any]) -> dict[str, int]:
    found = {tree["identifier"].partition(";")[0]: tree["count"]}
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
