"""Where the nodes of a growing graph go: layers left to right, nodes once placed stay.

What is gone leaves room, until most of the picture is: then all closes up in one step.

Pure functions over lists and arrays; knows neither tasks nor Bokeh.

The order inside a layer follows the barycentre heuristic of Sugiyama, Tagawa and Toda (1981); the
coordinates are the least-squares positions at unit distance, by pooling adjacent violators.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

Node = TypeVar("Node", bound=Hashable)
Place = tuple[float, float]

_MANY_EDGES: Final = 30_000
"""Above this one sweep has to do: a sweep costs about 0.3 µs an edge."""
_CLOSED: Final = 0.5
"""Empty rows or layers are closed up when that leaves at most this share of their number."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed acyclic graph of nodes 0 … n-1; ``rank`` is the order wanted among equals."""

    dependencies: list[list[int]]
    dependents: list[list[int]]
    rank: Sequence[int]

    def __len__(self) -> int:
        return len(self.dependencies)


def make_graph(rank: Sequence[int], edges: npt.NDArray[np.integer]) -> Graph:
    """Return the graph of ``len(rank)`` nodes; a row of ``edges`` is (dependency, dependent)."""
    dependencies: list[list[int]] = [[] for _ in rank]
    dependents: list[list[int]] = [[] for _ in rank]
    for source, target in edges.tolist():
        dependencies[target].append(source)
        dependents[source].append(target)
    return Graph(dependencies, dependents, rank)


def place_nodes(
    names: Sequence[Node],
    edges: npt.NDArray[np.integer],
    placed: Mapping[Node, Place],
    rank: Sequence[int] | None = None,
    *,
    may_close: bool = False,
) -> dict[Node, Place]:
    """Return (x, y) of every node of ``names``; those in ``placed`` stay where they are.

    Parameters
    ----------
    names : sequence of hashable
        The nodes now, each once.
    edges : ndarray of int, shape (m, 2)
        (dependency, dependent) as indices into ``names``.
    placed : mapping
        What this function returned for the graph before.
    rank : sequence of int, optional
        Order among nodes that nothing else orders; the order of ``names`` by default.
    may_close : bool
        Whether what stays may close up where most of its room is that of nodes that are gone.

    Returns
    -------
    dict
        x is the depth in the order of dependencies, y the row; nodes of one x are at least 1
        apart.
    """
    fixed = {index: placed[name] for index, name in enumerate(names) if name in placed}
    if may_close:
        fixed = closed_up(fixed)
    if len(fixed) == len(names):
        return {name: fixed[index] for index, name in enumerate(names)}
    graph = make_graph(rank if rank is not None else range(len(names)), edges)
    return dict(zip(names, _places(graph, fixed), strict=True))


def _places(graph: Graph, fixed: Mapping[int, Place]) -> list[Place]:
    """Return places: nodes that touch nothing placed go below it, the others beside it."""
    x = depths(graph, {index: int(place[0]) for index, place in fixed.items()})
    y = {index: place[1] for index, place in fixed.items()}
    attached = attached_nodes(graph, set(fixed))
    _place_attached(graph, x, y, [index for index in sorted(attached) if index not in fixed])
    free = [index for index in range(len(graph)) if index not in attached]
    left = min((int(place[0]) for place in fixed.values()), default=0)
    for index in free:
        x[index] += left
    _place_free(graph, x, y, free)
    return [(float(depth), y[index]) for index, depth in enumerate(x)]


def closed_up(placed: Mapping[Node, Place]) -> dict[Node, Place]:
    """Return places without empty layers and rows, in each direction in which most are empty.

    Nodes keep their order, and those of one x stay at least 1 apart.
    """
    places = np.array(list(placed.values()), dtype=np.float64).reshape(-1, 2)
    for axis in (0, 1) if len(places) else ():
        closed = _without_gaps(places[:, axis])
        if np.ptp(closed) + 1 <= _CLOSED * (np.ptp(places[:, axis]) + 1):
            places[:, axis] = closed
    return {name: (x, y) for name, (x, y) in zip(placed, places.tolist(), strict=True)}


def _without_gaps(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return values of which none is more than 1 above the next smaller one."""
    distinct, index = np.unique(values, return_inverse=True)
    steps = np.minimum(np.diff(distinct), 1.0)
    places = distinct[0] + np.concatenate([[0.0], np.cumsum(steps)])
    closed: npt.NDArray[np.float64] = places[index]
    return closed


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


def attached_nodes(graph: Graph, fixed: set[int]) -> set[int]:
    """Return the nodes that are connected to one of ``fixed``, these included."""
    seen = set(fixed)
    stack = list(fixed)
    while stack:
        index = stack.pop()
        for near in (*graph.dependencies[index], *graph.dependents[index]):
            if near not in seen:
                seen.add(near)
                stack.append(near)
    return seen


def _layers(nodes: Sequence[int], x: Sequence[int]) -> list[list[int]]:
    """Return ``nodes`` by their depth, ascending."""
    layers: dict[int, list[int]] = {}
    for index in nodes:
        layers.setdefault(x[index], []).append(index)
    return [layers[depth] for depth in sorted(layers)]


def _place_free(graph: Graph, x: Sequence[int], y: dict[int, float], free: Sequence[int]) -> None:
    """Lay out ``free``, which touch nothing that is placed, below all that is placed."""
    if not free:
        return
    bottom = max(y.values()) + 2 if y else 0.0
    layers = _layers(free, x)
    for layer in layers:
        layer.sort(key=graph.rank.__getitem__)
        y.update(zip(layer, map(float, range(len(layer))), strict=True))
    n_edges = sum(len(graph.dependencies[index]) for index in free)
    for _ in range(1 if n_edges > _MANY_EDGES else 3):
        _sweep(layers, graph.dependencies, graph.dependents, y)
        _sweep(layers[::-1], graph.dependents, graph.dependencies, y)
    _sweep(layers, graph.dependencies, graph.dependents, y)
    top = min(y[index] for index in free)
    for index in free:
        y[index] += bottom - top


def _sweep(
    layers: Sequence[list[int]],
    toward: Sequence[Sequence[int]],
    away: Sequence[Sequence[int]],
    y: dict[int, float],
) -> None:
    """Order and place each layer by the mean of its neighbours ``toward`` what was done before.

    A node without such a neighbour goes by the other side, so that chains keep together.
    """
    for layer in layers:
        wanted = {}
        for index in layer:
            near = toward[index] or away[index]
            wanted[index] = sum(map(y.__getitem__, near)) / len(near) if near else y[index]
        layer.sort(key=lambda index: (wanted[index], y[index]))
        y.update(zip(layer, spread([wanted[index] for index in layer]), strict=True))


def spread(wanted: Sequence[float]) -> list[float]:
    """Return positions at least 1 apart, in the given order, nearest to ``wanted`` (ascending).

    Least squares: isotonic regression of ``wanted[i] - i`` by pooling adjacent violators.
    """
    pools: list[tuple[float, int]] = []  # mean, size
    for index, value in enumerate(wanted):
        mean, size = value - index, 1
        while pools and pools[-1][0] > mean:
            last_mean, last_size = pools.pop()
            mean = (mean * size + last_mean * last_size) / (size + last_size)
            size += last_size
        pools.append((mean, size))
    flat = [mean for mean, size in pools for _ in range(size)]
    return [mean + index for index, mean in enumerate(flat)]


def _place_attached(
    graph: Graph, x: Sequence[int], y: dict[int, float], nodes: Sequence[int]
) -> None:
    """Give ``nodes`` the free rows nearest to the placed nodes that they are connected to."""
    occupied: dict[int, list[float]] = {}
    for index, row in y.items():
        occupied.setdefault(x[index], []).append(row)
    rows = {depth: FreeRows(sorted(taken)) for depth, taken in occupied.items()}
    last = max(y.values(), default=-1.0)
    for layer in _layers(nodes, x):
        wanted = {}
        for index in layer:
            near = [n for n in (*graph.dependencies[index], *graph.dependents[index]) if n in y]
            wanted[index] = sum(map(y.__getitem__, near)) / len(near) if near else last + 1
        layer.sort(key=lambda index: (wanted[index], graph.rank[index]))
        column = rows.setdefault(x[layer[0]], FreeRows([]))
        for index, row in zip(layer, spread([wanted[i] for i in layer]), strict=True):
            y[index] = column.take(row)


class FreeRows:
    """What is free in one layer, as the runs of rows that leave no room between them.

    Two runs are at least 2 apart, so a node fits at either end of each.
    """

    def __init__(self, taken: Sequence[float]) -> None:
        self._low: list[float] = []
        self._high: list[float] = []
        if taken:
            cuts = [(a, b) for a, b in pairwise(taken) if b - a >= 2]
            self._low = [taken[0], *(b for _, b in cuts)]
            self._high = [*(a for a, _ in cuts), taken[-1]]

    def take(self, wanted: float) -> float:
        """Return and take the free row nearest to ``wanted``."""
        # The first run that ends above wanted - 1 is the only one that can be in the way.
        run = bisect_left(self._high, wanted - 1 + 1e-9)
        row = wanted
        if run < len(self._low) and self._low[run] < wanted + 1 - 1e-9:
            above, below = self._low[run] - 1, self._high[run] + 1
            row = above if wanted - above < below - wanted else below
        self._insert(row)
        return row

    def _insert(self, row: float) -> None:
        at = bisect_left(self._low, row)
        self._low.insert(at, row)
        self._high.insert(at, row)
        for left in (at, at - 1):
            if 0 <= left < len(self._low) - 1 and self._low[left + 1] - self._high[left] < 2:
                self._high[left] = self._high.pop(left + 1)
                self._low.pop(left + 1)
