"""The layout of graphs: layers by depth, few crossings, what is placed stays, nothing overlaps."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.graph_layout import Placement

Edges = npt.NDArray[np.int64]
Places = npt.NDArray[np.float64]


def as_edges(pairs: Sequence[tuple[int, int]]) -> Edges:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def place(n: int, pairs: Sequence[tuple[int, int]]) -> Places:
    """Return the places of a graph that was not there before."""
    return Placement().place(range(n), as_edges(pairs))


def tree(n_leaves: int) -> list[tuple[int, int]]:
    """Return a binary reduction whose leaves come in a random order."""
    level = list(range(n_leaves))
    random.Random(4).shuffle(level)
    pairs: list[tuple[int, int]] = []
    while len(level) > 1:
        first = n_leaves + len(pairs) // 2
        above = [first + at for at in range(len(level) // 2)]
        pairs += [(node, above[at // 2]) for at, node in enumerate(level)]
        level = above
    return pairs


def crossings(places: Places, pairs: Sequence[tuple[int, int]]) -> int:
    lines = [(places[a], places[b]) for a, b in pairs]
    return sum(
        a[0] == c[0] and (a[1] - c[1]) * (b[1] - d[1]) < 0
        for at, (a, b) in enumerate(lines)
        for c, d in lines[:at]
    )


def assert_no_overlap(places: Places) -> None:
    for layer in np.unique(places[:, 0]):
        rows = np.sort(places[places[:, 0] == layer, 1]).tolist()
        assert all(b - a >= 1 - 1e-6 for a, b in pairwise(rows))


def test_reduction_has_no_crossings_whatever_the_order_of_its_leaves() -> None:
    pairs = tree(64)
    places = place(127, pairs)
    assert crossings(places, pairs) == 0
    assert_no_overlap(places)


def test_new_dependency_goes_left_of_its_dependents() -> None:
    placement = Placement()
    placement.place("abc", as_edges([(0, 1)]))
    after = placement.place("abcz", as_edges([(0, 1), (3, 0)]))
    assert after[3, 0] < after[0, 0] < after[1, 0]
