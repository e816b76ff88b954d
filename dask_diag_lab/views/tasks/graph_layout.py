"""Where the nodes of a graph are drawn: layers from left to right, and no node moves as it grows.

Pure functions over arrays; knows neither tasks nor Bokeh. The order inside a layer follows the
barycentre heuristic of Sugiyama, Tagawa and Toda (1981), the coordinates are least-squares
positions at unit distance, found by pooling adjacent violators.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]

READABLE_ROWS: Final = 40
"""Rows of which marks do not touch in a small pane; parts that have no more are spread out."""
_MANY_EDGES: Final = 30_000
"""Above this one sweep has to do: a sweep costs about 0.3 µs an edge."""


class Placement:
    """Places of the nodes of one picture, from one state of the graph to the next.

    A node that has a place keeps it while most of the picture is still there.
    """

    def __init__(self) -> None:
        self._places: dict[Hashable, tuple[float, float]] = {}
        self._n_given = 0

    def place(
        self,
        names: Sequence[Hashable],
        edges: Ints,
        ranks: Sequence[int] | None = None,
        *,
        may_move: bool = True,
        shape: float = 2.0,
    ) -> Floats:
        """Return layer and row of each node, shape (n, 2).

        Parameters
        ----------
        names : sequence of hashable
            The nodes, each once.
        edges : ndarray of int, shape (m, 2)
            (dependency, dependent) as indices of nodes, without circles.
        ranks : sequence of int, optional
            Order among nodes that nothing else orders; default: as they come.
        may_move : bool
            False: known nodes stay in any case, because the reader looks at a part.
        shape : float
            Layers to a row that parts without edges between them are packed into.
        """
        nowhere = (math.nan, math.nan)
        known = [self._places.get(name, nowhere) for name in names]
        before = np.array(known, dtype=np.float64).reshape(-1, 2)
        n_known = len(names) - int(np.isnan(before[:, 0]).sum())
        if not n_known or (may_move and 2 * n_known < max(len(names), self._n_given)):
            before[:] = np.nan
            n_known = self._n_given = 0
        self._n_given += len(names) - n_known
        places = grown(before, edges, range(len(names)) if ranks is None else ranks, shape)
        self._places = dict(zip(names, map(tuple, places.tolist()), strict=True))
        return places


def grown(before: Floats, edges: Ints, ranks: Sequence[int], shape: float) -> Floats:
    """Return places of all nodes; those that have one in ``before`` (not NaN) keep it.

    Others go into a free row of their layer beside what they touch. What touches nothing that has
    a place is laid out by itself and packed beside the rest.
    """
    places = before.copy()
    needs, feeds = _neighbours(len(before), edges)
    depth = depths(len(before), edges)
    new = sorted(
        np.flatnonzero(np.isnan(before[:, 0])).tolist(), key=lambda node: (depth[node], ranks[node])
    )
    attached, free = _attached(new, needs, feeds, places)
    _take_free_rows(attached, needs, feeds, places)
    parts = []
    for nodes in _parts(free, edges, len(before)):
        y = _arranged(nodes, depth, ranks, needs, feeds)
        first = min(depth[node] for node in nodes)
        parts.append(
            (nodes, np.array([(depth[n] - first, row) for n, row in zip(nodes, y, strict=True)]))
        )
    _pack(parts, places, shape)
    return places


def _neighbours(n: int, edges: Ints) -> tuple[list[list[int]], list[list[int]]]:
    needs: list[list[int]] = [[] for _ in range(n)]
    feeds: list[list[int]] = [[] for _ in range(n)]
    for source, target in edges.tolist():
        needs[target].append(source)
        feeds[source].append(target)
    return needs, feeds


def depths(n: int, edges: Ints) -> list[int]:
    """Return for each of ``n`` nodes the length of the longest path that leads to it.

    Parameters
    ----------
    n : int
    edges : ndarray of int, shape (m, 2)
        (dependency, dependent) as indices of nodes; what lies on a circle gets 0.
    """
    needs, feeds = _neighbours(n, edges)
    depth = [0] * len(needs)
    missing = list(map(len, needs))
    ready = [node for node, number in enumerate(missing) if not number]
    while ready:
        node = ready.pop()
        for target in feeds[node]:
            depth[target] = max(depth[target], depth[node] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    return depth


def _attached(
    new: list[int], needs: list[list[int]], feeds: list[list[int]], places: Floats
) -> tuple[list[int], list[int]]:
    """Give layers to new nodes that paths connect with placed ones; return them, and the others.

    A node goes right of all that it needs, or else left of what needs it.
    """
    layer = places[:, 0]
    attached: list[int] = []

    def attach(pending: list[int], near: list[list[int]], *, is_right: bool) -> list[int]:
        rest = []
        for node in pending:
            beside = [layer[other] for other in near[node] if not math.isnan(layer[other])]
            if beside:
                layer[node] = max(beside) + 1 if is_right else min(beside) - 1
                attached.append(node)
            else:
                rest.append(node)
        return rest

    pending, n_before = list(new), -1
    while len(pending) != n_before:
        n_before = len(pending)
        pending = attach(pending, needs, is_right=True)
        pending = attach(pending[::-1], feeds, is_right=False)[::-1]
    return attached, pending


def _take_free_rows(
    nodes: Sequence[int], needs: list[list[int]], feeds: list[list[int]], places: Floats
) -> None:
    """Give each node, which has a layer, the free row nearest to the mean of its neighbours'."""
    free: dict[float, _FreeRows] = {}
    for node in nodes:
        layer = float(places[node, 0])
        if layer not in free:
            rows = places[places[:, 0] == layer, 1]
            free[layer] = _FreeRows(np.sort(rows[~np.isnan(rows)]).tolist())
        rows = places[needs[node] + feeds[node], 1]
        places[node, 1] = free[layer].take(float(rows[~np.isnan(rows)].mean()))


class _FreeRows:
    """What is free in one layer, kept as the runs of rows that leave no room between them.

    Two runs are at least 2 apart, so a node fits at either end of each.
    """

    def __init__(self, taken: Sequence[float]) -> None:
        cuts = [(a, b) for a, b in pairwise(taken) if b - a >= 2]
        self._low = [*taken[:1], *(b for _, b in cuts)]
        self._high = [*(a for a, _ in cuts), *taken[-1:]]

    def take(self, wanted: float) -> float:
        """Return and take the free row nearest to ``wanted``."""
        # The first run that ends above wanted - 1 is the only one that can be in the way.
        run = bisect_left(self._high, wanted - 1 + 1e-9)
        row = wanted
        if run < len(self._low) and self._low[run] < wanted + 1 - 1e-9:
            above, below = self._low[run] - 1, self._high[run] + 1
            row = above if wanted - above < below - wanted else below
        at = bisect_left(self._low, row)
        self._low.insert(at, row)
        self._high.insert(at, row)
        for left in (at, at - 1):
            if 0 <= left < len(self._low) - 1 and self._low[left + 1] - self._high[left] < 2:
                self._high[left] = self._high.pop(left + 1)
                self._low.pop(left + 1)
        return row


def _parts(nodes: Sequence[int], edges: Ints, n: int) -> list[list[int]]:
    """Return the parts of some nodes that no edge connects, in the order of their first nodes.

    Each round hangs the root of a tree below a smaller one, as edges tell, and flattens the trees,
    so that few rounds do (after Shiloach and Vishkin, 1982).
    """
    label = np.arange(n)
    source, target = edges[:, 0], edges[:, 1]
    while len(source):
        one, other = label[source], label[target]
        is_open = one != other
        source, target = source[is_open], target[is_open]
        one, other = one[is_open], other[is_open]
        np.minimum.at(label, np.maximum(one, other), np.minimum(one, other))
        while (label[label] != label).any():
            label = label[label]
    parts: dict[int, list[int]] = {}
    for node in nodes:
        parts.setdefault(int(label[node]), []).append(node)
    return list(parts.values())


def _arranged(
    nodes: Sequence[int],
    depth: Sequence[int],
    ranks: Sequence[int],
    needs: list[list[int]],
    feeds: list[list[int]],
) -> list[float]:
    """Return rows, from 0 on, of nodes that edges connect, with few crossings."""
    layers: dict[int, list[int]] = {}
    for node in sorted(nodes, key=lambda node: (depth[node], ranks[node])):
        layers.setdefault(depth[node], []).append(node)
    y = {node: float(row) for layer in layers.values() for row, node in enumerate(layer)}
    if len(nodes) == len(layers):
        return [0.0] * len(nodes)
    ordered = list(layers.values())
    n_edges = sum(len(needs[node]) for node in nodes)
    for _ in range(1 if n_edges > _MANY_EDGES else 3):
        _sweep(ordered, needs, feeds, y)
        _sweep(ordered[::-1], feeds, needs, y)
    _sweep(ordered, needs, feeds, y)
    top = min(y.values())
    return [y[node] - top for node in nodes]


def _sweep(
    layers: Sequence[list[int]],
    toward: list[list[int]],
    away: list[list[int]],
    y: dict[int, float],
) -> None:
    """Order and place each layer by the mean of its neighbours ``toward`` what was done before.

    A node without such a neighbour goes by the other side, so that chains keep together.
    """
    for layer in layers:
        wanted = {}
        for node in layer:
            near = toward[node] or away[node]
            wanted[node] = sum(map(y.__getitem__, near)) / len(near) if near else y[node]
        layer.sort(key=lambda node: (wanted[node], y[node]))
        y.update(zip(layer, spread([wanted[node] for node in layer]), strict=True))


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


def _pack(parts: Sequence[tuple[list[int], Floats]], places: Floats, shape: float) -> None:
    """Place parts, each as far up as there is room beside the others, then as far left.

    Beside a part with very many rows, the rows of small ones are further apart.
    """
    if not parts:
        return
    is_placed = ~np.isnan(places[:, 0])
    corner = places[is_placed].min(axis=0) if is_placed.any() else np.zeros(2)
    taken = places[is_placed] - corner
    sizes = np.array([own.max(axis=0) + 1 for _, own in parts])
    # A layer of lines, and half a row, are free between parts that have such.
    sizes += (sizes > 1) * (1.0, 0.5)
    high = max(float(sizes[:, 1].max()), taken[:, 1].max(initial=0) + 1)
    area = float(sizes.prod(axis=1).sum()) + len(taken)
    is_small = sizes[:, 1] <= READABLE_ROWS
    pitch = max(int(high // READABLE_ROWS), 1)
    while pitch > 1 and area + (pitch - 1) * sizes[is_small].prod(axis=1).sum() > shape * high**2:
        pitch //= 2
    width = math.ceil(max(math.sqrt(area * shape), sizes[:, 0].max(), taken[:, 0].max(initial=0)))
    skyline = np.zeros(width + 2)
    # Lines leave a node to the layer after it.
    for reach in (0, 1):
        np.maximum.at(skyline, taken[:, 0].astype(int) + reach, np.ceil(taken[:, 1] + 1))
    for at in np.argsort(-sizes[:, 1], kind="stable").tolist():
        nodes, own = parts[at]
        n_layers, rows = int(sizes[at, 0]), sizes[at, 1]
        scale = pitch if is_small[at] else 1
        windows = np.lib.stride_tricks.sliding_window_view(skyline, min(n_layers, width))
        highest = windows.max(axis=1)[: width - n_layers + 1]
        left = int(highest.argmin())
        top = highest[left]
        skyline[left : left + n_layers] = top + math.ceil(2 * rows) / 2 * scale
        places[nodes] = corner + (left, top) + own * (1, scale)
