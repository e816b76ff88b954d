"""A directed acyclic graph as a layout needs it: its depths, and the parts that nothing connects.

Pure functions over lists; knows neither tasks nor where nodes are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed acyclic graph of nodes 0 … n-1; ``rank`` is the order wanted among equals."""

    dependencies: list[list[int]]
    dependents: list[list[int]]
    rank: Sequence[int]

    def __len__(self) -> int:
        return len(self.dependencies)

    def near(self, index: int) -> list[int]:
        """Return what a node depends on and what depends on it."""
        return self.dependencies[index] + self.dependents[index]


def make_graph(rank: Sequence[int], edges: npt.NDArray[np.integer]) -> Graph:
    """Return the graph of ``len(rank)`` nodes; a row of ``edges`` is (dependency, dependent)."""
    n = len(rank)
    return Graph(_lists(n, edges[:, 1], edges[:, 0]), _lists(n, edges[:, 0], edges[:, 1]), rank)


def _lists(n: int, of: npt.NDArray[np.integer], values: npt.NDArray[np.integer]) -> list[list[int]]:
    """Return for each of ``n`` nodes the values that are its own, in their order."""
    # One list for all that have none: thousands of lists a tick would wake the garbage collector.
    none: list[int] = []
    lists = [none] * n
    order = np.argsort(of, kind="stable")
    owners, flat = of[order], values[order].tolist()
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    cuts = pairwise([*first.tolist(), len(flat)])
    for owner, (begin, end) in zip(owners[first].tolist(), cuts, strict=True):
        lists[owner] = flat[begin:end]
    return lists


def part_labels(n: int, edges: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """Return for each of ``n`` nodes the first one of the part of the graph that it is in.

    Each round hangs the root of a tree of nodes below a smaller one, as edges tell, and flattens
    the trees, so that few rounds do (after Shiloach and Vishkin, 1982).
    """
    label = np.arange(n)
    source, target = edges[:, 0], edges[:, 1]
    while True:
        one, other = label[source], label[target]
        is_open = one != other
        if not is_open.any():
            return label
        source, target = source[is_open], target[is_open]
        one, other = one[is_open], other[is_open]
        np.minimum.at(label, np.maximum(one, other), np.minimum(one, other))
        while (label[label] != label).any():
            label = label[label]


def has_parts(n: int, edges: npt.NDArray[np.integer]) -> bool:
    """Return whether no edges connect some of ``n`` nodes with others; see `part_labels`."""
    return bool(part_labels(n, edges).any())


def depths(graph: Graph, fixed: Mapping[int, int]) -> list[int]:
    """Return for each node 1 + the largest depth of its dependencies; ``fixed`` ones are given.

    A node without dependencies that fixed nodes depend on goes left of them, else to 0.
    """
    depth = [0] * len(graph)
    missing = list(map(len, graph.dependencies))
    ready = [index for index, number in enumerate(missing) if not number]
    if fixed:
        for index in ready:
            right = [fixed[target] for target in graph.dependents[index] if target in fixed]
            depth[index] = min(right) - 1 if right else 0
    while ready:
        index = ready.pop()
        depth[index] = fixed.get(index, depth[index])
        right_of = depth[index] + 1
        for target in graph.dependents[index]:
            # Of one that is left of 0 a dependent may be as well: the first one counts as it is.
            if right_of > depth[target] or missing[target] == len(graph.dependencies[target]):
                depth[target] = right_of
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    return depth


def parts_of(
    graph: Graph, nodes: npt.NDArray[np.intp], edges: npt.NDArray[np.integer]
) -> list[list[int]]:
    """Return the parts of some nodes that no edge among them connects, the first by rank first.

    Parameters
    ----------
    graph : Graph
    nodes : ndarray of int
        Ascending.
    edges : ndarray of int, shape (m, 2)
        Those of the graph.
    """
    if not len(nodes):
        return []
    is_asked = np.zeros(len(graph), dtype=np.bool_)
    is_asked[nodes] = True
    label = part_labels(len(graph), edges[is_asked[edges].all(axis=1)])[nodes]
    rank = np.asarray(graph.rank)[nodes]
    first = np.full(len(graph), len(graph))
    np.minimum.at(first, label, rank)
    order = np.lexsort((nodes, first[label]))
    flat, firsts = nodes[order].tolist(), first[label[order]]
    cuts = [0, *(np.flatnonzero(np.diff(firsts)) + 1).tolist(), len(flat)]
    return [flat[begin:end] for begin, end in pairwise(cuts)]
