"""A directed acyclic graph as a layout needs it: its depths, and the parts that nothing connects.

Pure functions over lists; knows neither tasks nor where nodes are drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
    # One list for all that have none: thousands of lists a tick would wake the garbage collector.
    none: list[int] = []
    dependencies, dependents = [none] * len(rank), [none] * len(rank)
    for source, target in zip(edges[:, 0].tolist(), edges[:, 1].tolist(), strict=True):
        _append(dependencies, target, source)
        _append(dependents, source, target)
    return Graph(dependencies, dependents, rank)


def _append(lists: list[list[int]], at: int, value: int) -> None:
    if lists[at]:
        lists[at].append(value)
    else:
        lists[at] = [value]


def has_parts(n: int, edges: npt.NDArray[np.integer]) -> bool:
    """Return whether no edges connect some of ``n`` nodes with others; see `place_nodes`."""
    return n > 0 and len(attached_nodes(make_graph(range(n), edges), {0})) < n


def depths(graph: Graph, fixed: Mapping[int, int]) -> list[int]:
    """Return for each node 1 + the largest depth of its dependencies; ``fixed`` ones are given.

    A node without dependencies that fixed nodes depend on goes left of them, else to 0.
    """
    depth = [0] * len(graph)
    missing = [len(nodes) for nodes in graph.dependencies]
    ready = [index for index, number in enumerate(missing) if number == 0]
    while ready:
        index = ready.pop()
        depth[index] = fixed[index] if index in fixed else _depth(graph, index, depth, fixed)
        for target in graph.dependents[index]:
            missing[target] -= 1
            if missing[target] == 0:
                ready.append(target)
    return depth


def _depth(graph: Graph, index: int, depth: Sequence[int], fixed: Mapping[int, int]) -> int:
    dependencies = graph.dependencies[index]
    if dependencies:
        return max(depth[source] for source in dependencies) + 1
    right = [fixed[target] for target in graph.dependents[index] if target in fixed]
    return min(right) - 1 if right else 0


def attached_nodes(
    graph: Graph, fixed: Iterable[int], among: Container[int] | None = None
) -> set[int]:
    """Return the nodes that are connected to one of ``fixed``, these included.

    Over the nodes ``among`` which this is asked; over all by default.
    """
    seen = set(fixed)
    stack = list(seen)
    while stack:
        index = stack.pop()
        for near in graph.near(index):
            if near not in seen and (among is None or near in among):
                seen.add(near)
                stack.append(near)
    return seen


def parts_of(graph: Graph, nodes: Collection[int]) -> Iterator[list[int]]:
    """Return the parts of some nodes that no edge among them connects, the first by rank first."""
    seen: set[int] = set()
    among = set(nodes)
    for index in sorted(nodes, key=graph.rank.__getitem__):
        if index not in seen:
            part = attached_nodes(graph, {index}, among)
            seen |= part
            yield sorted(part)
