"""Where the nodes of a graph are drawn: layers from left to right, and no node moves as it grows.

Pure functions over arrays; knows neither tasks nor Bokeh. The order inside a layer follows the
barycentre heuristic of Sugiyama, Tagawa and Toda (1981), the coordinates are least-squares
positions at unit distance, found by pooling adjacent violators.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby
from typing import Final

import numpy as np

from dask_diag_lab.store.arrays import Bools, Floats, Ints

Neighbours = Sequence[Sequence[int]]

_SWEEPS: Final = 2
"""Pairs of sweeps, to the right and back: each costs about 0.3 µs an edge."""


class Placement:
    """Places of the nodes of one picture, from one state of the graph to the next.

    A node that has a place keeps it while most of the picture is still there.
    """

    def __init__(self) -> None:
        self._places: dict[Hashable, tuple[float, float]] = {}

    def place(
        self,
        names: Sequence[Hashable],
        edges: Ints,
        *,
        may_move: bool = True,
        shape: float = 2.0,
    ) -> Floats:
        """Return layer and row of each node, shape (n, 2).

        Parameters
        ----------
        names : sequence of hashable
            The nodes, each once; they are in this order where nothing else orders them.
        edges : ndarray of int, shape (m, 2)
            (dependency, dependent) as indices of nodes, without circles.
        may_move : bool
            False: known nodes stay in any case, because the reader looks at a part.
        shape : float
            Layers to a row that parts without edges between them are packed into.
        """
        nowhere = np.full((len(names), 2), np.nan)
        known = [self._places.get(name, (math.nan, math.nan)) for name in names]
        before = np.array(known, dtype=np.float64).reshape(-1, 2)
        n_known = int(np.isfinite(before[:, 0]).sum())
        if may_move and 2 * n_known < max(len(names), len(self._places)):
            before = nowhere
        places = grown(before, edges, shape)
        if (places[edges[:, 1], 0] <= places[edges[:, 0], 0]).any():  # a known node needs a new one
            places = grown(nowhere, edges, shape)
        self._places = dict(zip(names, map(tuple, places.tolist()), strict=True))
        return places


def grown(before: Floats, edges: Ints, shape: float) -> Floats:
    """Return places of all nodes; those that have one in ``before`` (not NaN) keep it.

    New nodes that edges connect are laid out together: right of what they need and in free rows
    beside it, or packed beside the rest where they need nothing that has a place.
    """
    places, is_new = before.copy(), np.isnan(before[:, 0])
    needs, feeds = _neighbours(len(before), edges)
    depth = depths(len(before), edges[is_new[edges].all(axis=1)])
    known = dict(enumerate(before[:, 1].tolist()))
    new = np.flatnonzero(is_new).tolist()
    for node in new:
        del known[node]
    ordered = sorted(new, key=depth.__getitem__)
    attached, parts = [], []
    for nodes in _parts(ordered, needs, feeds, known):
        rows = _arranged(nodes, depth, needs, feeds, known)
        own = np.array([(depth[node], rows[node]) for node in nodes])
        ahead = [before[a, 0] + 1 - depth[b] for b in nodes for a in needs[b] if a in known]
        if ahead:
            places[nodes] = np.add(own, (max(ahead), 0))
            attached += nodes
        else:
            parts.append((nodes, own - own.min(axis=0)))
    _take_free_rows(attached, places, is_new)
    if parts:
        _pack(parts, places, shape)
    return places


def _neighbours(n: int, edges: Ints) -> tuple[Neighbours, Neighbours]:
    needs: list[list[int]] = [[] for _ in range(n)]
    feeds: list[list[int]] = [[] for _ in range(n)]
    for source, target in edges.tolist():
        needs[target].append(source)
        feeds[source].append(target)
    return needs, feeds


def depths(n: int, edges: Ints) -> list[int]:
    """Return for each of ``n`` nodes the length of the longest path that leads to it.

    A circle is cut before the node on it of which most needs are met by nodes outside: of P2P
    shuffles that follow each other that is the group of their barriers.

    Parameters
    ----------
    n : int
    edges : ndarray of int, shape (m, 2)
        (dependency, dependent) as indices of nodes.
    """
    needs, feeds = _neighbours(n, edges)
    depth = [0] * n
    missing = list(map(len, needs))
    ready = [node for node, number in enumerate(missing) if not number]
    left = dict.fromkeys(range(n))
    while left:
        if not ready:
            circle = _circle(needs, left)
            ready.append(max(circle, key=lambda node: len(needs[node]) - missing[node]))
        node = ready.pop()
        del left[node]
        for target in feeds[node]:
            missing[target] -= 1
            if target in left:
                depth[target] = max(depth[target], depth[node] + 1)
                if not missing[target]:
                    ready.append(target)
    return depth


def _circle(needs: Neighbours, left: Mapping[int, None]) -> list[int]:
    """Return the nodes of a circle, where each node that is left needs another one."""
    node, path = next(iter(left)), dict[int, None]()
    while node not in path:
        path[node] = None
        node = next(needed for needed in needs[node] if needed in left)
    return list(path)[list(path).index(node) :]


def _parts(
    nodes: Sequence[int], needs: Neighbours, feeds: Neighbours, known: Mapping[int, float]
) -> list[list[int]]:
    """Return the parts of new nodes that no edge connects, in their order and each in it."""
    order, seen = {node: at for at, node in enumerate(nodes)}, set(known)
    parts = []
    for first in nodes:
        part, todo = [], [first]
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                part.append(node)
                todo += needs[node]
                todo += feeds[node]
        if part:
            parts.append(sorted(part, key=order.__getitem__))
    return parts


def _arranged(
    nodes: Sequence[int],
    depth: Sequence[int],
    needs: Neighbours,
    feeds: Neighbours,
    known: Mapping[int, float],
) -> dict[int, float]:
    """Return rows of nodes that edges connect, near to ``known`` rows and with few crossings."""
    layers: dict[int, list[int]] = {}
    for node in nodes:
        layers.setdefault(depth[node], []).append(node)
    rows = {node: float(at) for layer in layers.values() for at, node in enumerate(layer)}
    ordered = list(layers.values())
    for _ in range(_SWEEPS):
        _sweep(ordered, needs, feeds, rows, known)
        _sweep(ordered[::-1], feeds, needs, rows, known)
    _sweep(ordered, needs, feeds, rows, known)
    return rows


def _sweep(
    layers: Sequence[list[int]],
    toward: Neighbours,
    away: Neighbours,
    rows: dict[int, float],
    known: Mapping[int, float],
) -> None:
    """Order and place each layer by the mean of its neighbours ``toward`` what was done before.

    A node without such a neighbour goes by the other side, so that chains keep together.
    """
    for layer in layers:
        wanted = {}
        for node in layer:
            near = [rows.get(other, known.get(other, 0.0)) for other in toward[node] or away[node]]
            wanted[node] = sum(near) / len(near) if near else rows[node]
        layer.sort(key=lambda node: (wanted[node], rows[node]))
        rows.update(zip(layer, spread([wanted[node] for node in layer]), strict=True))


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


def _take_free_rows(nodes: Sequence[int], places: Floats, is_new: Bools) -> None:
    """Move new nodes down to rows of their layers that are free."""
    ordered = sorted(nodes, key=lambda node: (places[node, 0], places[node, 1]))
    for layer, group in groupby(ordered, key=lambda node: float(places[node, 0])):
        taken = np.sort(places[~is_new & (places[:, 0] == layer), 1]).tolist()
        row = -math.inf
        for node in group:
            row = max(float(places[node, 1]), row + 1)
            at = bisect_right(taken, row - 1)
            while at < len(taken) and taken[at] < row + 1:
                row, at = taken[at] + 1, at + 1
            places[node, 1] = row


def _pack(parts: Sequence[tuple[list[int], Floats]], places: Floats, shape: float) -> None:
    """Place parts, each as far up as the others leave free, then as far left."""
    taken = places[~np.isnan(places[:, 0])]
    corner = taken.min(axis=0, initial=0)
    taken = taken - corner
    sizes = np.array([own.max(axis=0) + 1 for _, own in parts])
    # A layer of lines, and half a row, are free between parts that have such.
    sizes += (sizes > 1) * (1.0, 0.5)
    area = float(sizes.prod(axis=1).sum()) + len(taken)
    width = max(math.sqrt(area * shape), sizes[:, 0].max(), taken[:, 0].max(initial=0) + 2)
    skyline = np.zeros(math.ceil(width))
    # Lines leave a node to the layer after it.
    for reach in (0, 1):
        np.maximum.at(skyline, taken[:, 0].astype(int) + reach, taken[:, 1] + 1)
    for at in np.argsort(-sizes[:, 1], kind="stable").tolist():
        nodes, own = parts[at]
        n_layers = int(sizes[at, 0])
        tops = np.lib.stride_tricks.sliding_window_view(skyline, n_layers).max(axis=1)
        left = int(tops.argmin())
        top = tops[left]
        skyline[left : left + n_layers] = top + sizes[at, 1]
        places[nodes] = np.add(own, (left, top)) + corner
