"""The rows of one part of a graph, which edges connect: layer by layer, with few crossings.

Pure functions over lists; knows neither where the part goes nor Bokeh.

The order inside a layer follows the barycentre heuristic of Sugiyama, Tagawa and Toda (1981); the
coordinates are the least-squares positions at unit distance, by pooling adjacent violators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dask_diag_lab.views.tasks.layout.layered_graph import Graph

_MANY_EDGES: Final = 30_000
"""Above this one sweep has to do: a sweep costs about 0.3 µs an edge."""


def layers_of(nodes: Sequence[int], x: Sequence[int]) -> list[list[int]]:
    """Return ``nodes`` by their depth, ascending."""
    layers: dict[int, list[int]] = {}
    for index in nodes:
        layers.setdefault(x[index], []).append(index)
    return [layers[depth] for depth in sorted(layers)]


def place_part(
    graph: Graph,
    x: Sequence[int],
    y: dict[int, float],
    part: Sequence[int],
    known: dict[object, list[float]],
) -> None:
    """Lay out nodes that edges connect, from row 0 on, as a part of the same structure ``known``.

    Parts are often many and alike: one for each chunk of an array.
    """
    ordered = sorted(part, key=lambda index: (x[index], graph.rank[index]))
    at = {index: n for n, index in enumerate(ordered)}
    structure = tuple(
        (x[index], *sorted(at[near] for near in graph.dependencies[index])) for index in ordered
    )
    if structure in known:
        y.update(zip(ordered, known[structure], strict=True))
        return
    _arrange(graph, x, y, part)
    known[structure] = [y[index] for index in ordered]


def _arrange(graph: Graph, x: Sequence[int], y: dict[int, float], part: Sequence[int]) -> None:
    """Give nodes that edges connect rows with few crossings, from row 0 on."""
    layers = layers_of(part, x)
    for layer in layers:
        layer.sort(key=graph.rank.__getitem__)
        y.update(zip(layer, map(float, range(len(layer))), strict=True))
    n_edges = sum(len(graph.dependencies[index]) for index in part)
    for _ in range(1 if n_edges > _MANY_EDGES else 3):
        _sweep(layers, graph.dependencies, graph.dependents, y)
        _sweep(layers[::-1], graph.dependents, graph.dependencies, y)
    _sweep(layers, graph.dependencies, graph.dependents, y)
    top = min(y[index] for index in part)
    for index in part:
        y[index] -= top


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
