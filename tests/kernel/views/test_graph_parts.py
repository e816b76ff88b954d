"""Parts of a graph, the rows that they take, and which tasks were there before."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dask_diag_lab.views.tasks.known_tasks import KnownTasks
from dask_diag_lab.views.tasks.layout.growth import smaller_joined
from dask_diag_lab.views.tasks.layout.layered_graph import (
    has_parts,
    make_graph,
    part_labels,
    parts_of,
)
from dask_diag_lab.views.tasks.layout.taken_rows import rows_in, taken_room

NOTHING = np.empty((0, 2), dtype=np.int64)


@pytest.mark.parametrize("seed", range(20))
def test_label_is_the_first_node_of_the_part(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.choice([1, 5, 60])
    pairs = [(rng.randrange(n), rng.randrange(n)) for _ in range(rng.randrange(n))]
    parts = [{node} for node in range(n)]
    for a, b in pairs:
        joined = next(p for p in parts if a in p) | next(p for p in parts if b in p)
        parts = [part for part in parts if not part & joined] + [joined]
    label = part_labels(n, np.array(pairs, dtype=np.int64).reshape(-1, 2))
    assert label.tolist() == [min(next(p for p in parts if node in p)) for node in range(n)]


def test_a_long_chain_is_one_part_whatever_the_order_of_its_nodes() -> None:
    nodes = np.random.default_rng(1).permutation(3000)
    chain = np.column_stack((nodes[:-1], nodes[1:]))
    assert not has_parts(3000, chain)
    assert has_parts(3001, chain)
    assert not has_parts(0, NOTHING)


def test_parts_among_some_nodes_come_by_rank() -> None:
    edges = np.array([(0, 1), (1, 2), (3, 4)])
    graph = make_graph([5, 4, 3, 2, 1], edges)
    assert parts_of(graph, np.array([0, 2, 3, 4]), edges) == [[3, 4], [2], [0]]
    assert parts_of(graph, np.empty(0, dtype=np.intp), edges) == []


def test_all_but_the_largest_of_joined_parts_are_told() -> None:
    edges = np.array([(0, 1), (1, 2), (3, 4), (2, 6), (4, 6), (5, 6)])
    is_placed = np.array([True] * 6 + [False])
    assert smaller_joined(is_placed, edges, [{2, 4, 5}]).tolist() == [False] * 3 + [True] * 3 + [
        False
    ]
    assert not smaller_joined(is_placed, edges, [{2}]).any()


def test_rows_that_are_taken_are_told_of_each_layer() -> None:
    places = np.array([(0, 2.0), (1, 0.5), (0, 1.0), (np.nan, np.nan), (3, 7.0)])
    assert rows_in(places, {0, 1, 2}) == {0: [1.0, 2.0], 1: [0.5], 2: []}
    assert taken_room(places, np.array([(0, 1)])) == ((0, 0.5), [3.0, 3.0, 1.0, 8.0, 0.0])
    assert taken_room(places[3:4], NOTHING) == ((0, 0.0), [])


def test_tasks_are_known_by_number_and_key() -> None:
    known = KnownTasks()
    before, is_other = known.take_over(np.array([3, 5, 9]), ["a", "b", "c"])
    assert (before.tolist(), is_other) == ([-1, -1, -1], False)
    before, is_other = known.take_over(np.array([5, 9, 12]), ["b", "c", "d"])
    assert (before.tolist(), is_other) == ([1, 2, -1], False)
    before, is_other = known.take_over(np.array([9, 12]), ["x", "d"])
    assert (before.tolist(), is_other) == ([-1, 2], True)
    assert known.take_over(np.empty(0, dtype=np.int64), [])[0].tolist() == []
