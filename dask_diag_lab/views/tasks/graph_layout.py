"""Where the nodes of a growing graph go: layers left to right, nodes once placed stay.

Parts that no edge connects go where there is room for them in the shape of the pane. What is gone
leaves room, until most of the picture is: then all closes up in one step.

Pure functions over lists and arrays; knows neither tasks nor Bokeh.

The order inside a layer follows the barycentre heuristic of Sugiyama, Tagawa and Toda (1981); the
coordinates are the least-squares positions at unit distance, by pooling adjacent violators.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.free_rows import FreeRows
from dask_diag_lab.views.tasks.graph_growth import Placed, is_side_by_side, smaller_joined
from dask_diag_lab.views.tasks.graph_packing import packed, stretch
from dask_diag_lab.views.tasks.layered_graph import (
    Graph,
    depths,
    make_graph,
    parts_of,
)

Node = TypeVar("Node", bound=Hashable)
Place = tuple[float, float]

_MANY_EDGES: Final = 30_000
"""Above this one sweep has to do: a sweep costs about 0.3 µs an edge."""
_AWAY: Final = 2.0
"""Rows that a newcomer may be away from where it should be, where parts lie side by side."""
_CLOSED: Final = 0.5
"""Empty rows or layers are closed up when that leaves at most this share of their number."""


def place_nodes(
    names: Sequence[Node],
    edges: npt.NDArray[np.integer],
    placed: Mapping[Node, Place],
    rank: Sequence[int] | None = None,
    *,
    may_close: bool = False,
    shape: float = 1.0,
) -> Placed[Node]:
    """Return (x, y) of every node of ``names``; those in ``placed`` stay where they are.

    x is the depth in the order of dependencies, from where the part of the graph begins, y the row;
    nodes of one x are at least 1 apart.

    Parameters
    ----------
    names : sequence of hashable
        The nodes now, each once.
    edges : ndarray of int, shape (m, 2)
        (dependency, dependent) as indices into ``names``.
    placed : mapping
        What this returned for the graph before.
    rank : sequence of int, optional
        Order among nodes that nothing else orders; the order of ``names`` by default.
    may_close : bool
        Whether what stays may move: to close up where most of its room is that of nodes that are
        gone, and once many nodes are astray, see `Placed`.
    shape : float
        How many layers the pane has room for to a row.
    """
    fixed = {index: placed[name] for index, name in enumerate(names) if name in placed}
    if may_close:
        fixed = closed_up(fixed)
    astray = placed.astray.intersection(names) if isinstance(placed, Placed) else frozenset[Node]()
    if len(fixed) == len(names):
        return Placed(zip(names, fixed.values(), strict=True), astray)
    graph = make_graph(rank if rank is not None else range(len(names)), edges)
    now = _grown(names, graph, fixed, astray, shape)
    return _grown(names, graph, {}, (), shape) if may_close and now.is_worth_renewing else now


def _grown(
    names: Sequence[Node],
    graph: Graph,
    fixed: Mapping[int, Place],
    astray: Iterable[Node],
    shape: float,
) -> Placed[Node]:
    """Return what was ``fixed`` and all others, with the ones that are astray as well now."""
    places, more = _places(graph, fixed, shape)
    return Placed(zip(names, places, strict=True), {*astray, *(names[index] for index in more)})


def rows_needed(placed: Mapping[Node, Place], shape: float) -> float:
    """Return how many rows a pane of a shape has to have to show all that is placed."""
    places = np.array(list(placed.values()), dtype=np.float64).reshape(-1, 2)
    columns, rows = np.ptp(places, axis=0) + 1 if len(places) else (0.0, 0.0)
    return stretch(float(columns), float(rows), shape)


def _places(graph: Graph, fixed: Mapping[int, Place], shape: float) -> tuple[list[Place], set[int]]:
    """Return places, and the nodes that are astray now: beside what grew in their way.

    Nodes that touch nothing placed go where there is room, others beside it.
    """
    x = depths(graph, {index: int(place[0]) for index, place in fixed.items()})
    y = {index: place[1] for index, place in fixed.items()}
    attached: list[list[int]] = []
    free: list[list[int]] = []
    for part in parts_of(graph, [index for index in range(len(graph)) if index not in fixed]):
        is_attached = any(near in fixed for index in part for near in graph.near(index))
        (attached if is_attached else free).append(part)
    astray = _place_attached(graph, x, y, sorted(chain.from_iterable(attached)))
    astray |= smaller_joined(graph, fixed, attached)
    if astray and not is_side_by_side(graph, fixed):
        astray = set()
    if free:
        _place_free(graph, x, y, free, shape)
    return [(float(depth), y[index]) for index, depth in enumerate(x)], astray


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


def _layers(nodes: Sequence[int], x: Sequence[int]) -> list[list[int]]:
    """Return ``nodes`` by their depth, ascending."""
    layers: dict[int, list[int]] = {}
    for index in nodes:
        layers.setdefault(x[index], []).append(index)
    return [layers[depth] for depth in sorted(layers)]


def _place_free(
    graph: Graph, x: list[int], y: dict[int, float], parts: Sequence[Sequence[int]], shape: float
) -> None:
    """Lay out parts that touch nothing that is placed, each where there is room."""
    (left, top), taken = _taken(graph, x, y)
    sizes = []
    known: dict[object, list[float]] = {}
    for part in parts:
        _place_part(graph, x, y, part, known)
        columns = max(map(x.__getitem__, part)) + 1
        rows = math.ceil(max(map(y.__getitem__, part)) + 1 - 1e-6)
        # Room beside what has more than one node: else it would seem to belong to the next.
        sizes.append((columns + (columns > 1), rows + (rows > 1)))
    for part, (column, row) in zip(parts, packed(sizes, shape, taken), strict=True):
        for index in part:
            x[index] += left + column
            y[index] += top + row


def _taken(
    graph: Graph, x: Sequence[int], y: Mapping[int, float]
) -> tuple[tuple[int, float], list[float]]:
    """Return where what is placed begins, and how many rows it takes of each layer."""
    if not y:
        return (0, 0.0), []
    left, top = min(x[index] for index in y), min(y.values())
    taken = [0.0] * (max(x[index] for index in y) - left + 2)
    for index, row in y.items():
        end = float(math.ceil(row - top + 1 - 1e-6))
        # The next layer is room beside what has lines.
        has_lines = bool(graph.dependencies[index] or graph.dependents[index])
        for layer in range(x[index] - left, x[index] - left + 1 + has_lines):
            taken[layer] = max(taken[layer], end)
    return (left, top), taken


def _place_part(
    graph: Graph,
    x: Sequence[int],
    y: dict[int, float],
    part: Sequence[int],
    known: dict[object, list[float]],
) -> None:
    """Lay out nodes that edges connect, from row 0 on, as a part of the same structure ``known``.

    Parts are often many and alike: one for each chunk of an array.
    """
    if all(len(graph.dependencies[i]) <= 1 >= len(graph.dependents[i]) for i in part):
        y.update(dict.fromkeys(part, 0.0))
        return
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
    layers = _layers(part, x)
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


def _place_attached(
    graph: Graph, x: Sequence[int], y: dict[int, float], nodes: Sequence[int]
) -> set[int]:
    """Give ``nodes`` the free rows nearest to the placed nodes that they are connected to.

    Returns those that are further away from where they should be than `_AWAY`.
    """
    occupied: dict[int, list[float]] = {x[index]: [] for index in nodes}
    for index, row in y.items():
        if x[index] in occupied:
            occupied[x[index]].append(row)
    rows = {depth: FreeRows(sorted(taken)) for depth, taken in occupied.items()}
    last = max(y.values(), default=-1.0)
    away = set()
    for layer in _layers(nodes, x):
        wanted = {}
        for index in layer:
            near = [n for n in graph.near(index) if n in y]
            wanted[index] = sum(map(y.__getitem__, near)) / len(near) if near else last + 1
        layer.sort(key=lambda index: (wanted[index], graph.rank[index]))
        column = rows[x[layer[0]]]
        for index, row in zip(layer, spread([wanted[i] for i in layer]), strict=True):
            y[index] = column.take(row)
            if abs(y[index] - row) > _AWAY:
                away.add(index)
    return away
