"""Where the nodes of a growing graph go: layers left to right, nodes once placed stay.

Parts that no edge connects go where there is room for them in the shape of the pane. What is gone
leaves room, until most of the picture is: then all closes up in one step.

Pure functions over lists and arrays; knows neither tasks nor Bokeh.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.layout.free_rows import FreeRows
from dask_diag_lab.views.tasks.layout.growth import (
    Layout,
    is_side_by_side,
    no_places,
    smaller_joined,
)
from dask_diag_lab.views.tasks.layout.layered_graph import Graph
from dask_diag_lab.views.tasks.layout.newcomers import Edges, Newcomers, Ranks, newcomers
from dask_diag_lab.views.tasks.layout.packing import Corner, packed
from dask_diag_lab.views.tasks.layout.part_layout import layers_of, place_part, spread
from dask_diag_lab.views.tasks.layout.row_pitch import fitting_pitch, pitch_beside, scale_of
from dask_diag_lab.views.tasks.layout.taken_rows import rows_in, taken_room

_AWAY: Final = 2.0
"""Rows that a newcomer may be away from where it should be, where parts lie side by side."""
_CLOSED: Final = 0.5
"""Empty rows or layers are closed up when that leaves at most this share of their number."""


@dataclass(frozen=True, slots=True)
class _Pane:
    """What the pane has room for; see `laid_out`."""

    shape: float
    most_rows: float


def as_they_come(nodes: npt.NDArray[np.intp]) -> Sequence[int]:
    """Return the ranks of nodes that have no order of their own."""
    return range(len(nodes))


def laid_out(
    before: Layout,
    edges: Edges,
    ranks: Ranks = as_they_come,
    *,
    may_close: bool = False,
    shape: float = 1.0,
    most_rows: float = math.inf,
) -> Layout:
    """Return the layout of all nodes; those that have a place stay there.

    The layer is the depth in the order of dependencies, from where the part of the graph begins;
    nodes of one layer are at least 1 apart, those of small parts more where others are large.

    Parameters
    ----------
    before : Layout
        What this returned for the graph before.
    edges : ndarray of int, shape (m, 2)
        (dependency, dependent) as indices of nodes.
    ranks : callable
        Returns for some nodes, which are ascending indices, their order where nothing else orders
        them.
    may_close : bool
        Whether what stays may move: to close up where most of its room is that of nodes that are
        gone, and once many nodes are astray, see `Layout`. Small parts also move where the rows
        have got twice as many.
    shape : float
        How many layers the pane has room for to a row.
    most_rows : float
        Rows that can be told apart in a pane; a part that has no more is small.
    """
    pane = _Pane(shape, most_rows)
    if may_close:
        before = closed_up(before)
    now = before
    if not before.is_placed.all():
        now = _grown(before, edges, ranks, pane)
        if may_close and now.is_worth_renewing:
            now = _grown(no_places(len(before.places)), edges, ranks, pane)
    return _readable(now, edges, ranks, pane, may_move=may_close)


def _readable(now: Layout, edges: Edges, ranks: Ranks, pane: _Pane, *, may_move: bool) -> Layout:
    """Return the layout with small parts placed anew where their rows should be twice as far."""
    scale = scale_of(now.places, edges, pane.most_rows)
    if may_move and scale.pitch >= 2 * now.pitch and scale.is_small.any():
        kept = np.where(scale.is_small, -1, np.arange(len(now.places)))
        return replace(_grown(now.of(kept), edges, ranks, pane), pitch=scale.pitch)
    return replace(now, pitch=min(now.pitch, scale.pitch))


def _grown(before: Layout, edges: Edges, ranks: Ranks, pane: _Pane) -> Layout:
    """Return what was placed and all others: they go beside what they touch or where there is room.

    Looks at the nodes that are new and at those they touch, but for the room that the others take.
    """
    new = newcomers(before, edges, ranks)
    nodes, places = new.nodes, before.places.copy()
    scale = scale_of(places, edges, pane.most_rows)
    is_astray = smaller_joined(before.is_placed, edges, new.joints)
    attached = np.array(new.attached, dtype=np.intp)
    is_small = scale.is_small[nodes[attached]]
    for some, gap in ((attached[~is_small], 1), (attached[is_small], scale.pitch)):
        away = _place_attached(new.graph, new.x, new.y, some.tolist(), places, gap)
        places[nodes[some], 0] = [new.x[index] for index in some.tolist()]
        places[nodes[some], 1] = [new.y[index] for index in some.tolist()]
        is_astray[nodes[away]] = True
    if is_astray.any() and not is_side_by_side(before, edges):
        is_astray[:] = False
    if new.free:
        found = _free_places(new, pane, scale.pitch, taken_room(places, edges))
        places[nodes[list(chain.from_iterable(new.free))]] = found
    return Layout(places, before.is_astray | is_astray, before.pitch)


def closed_up(layout: Layout) -> Layout:
    """Return places without empty layers and rows, in each direction in which most are empty.

    Nodes keep their order, and those of one layer stay at least 1 apart.
    """
    places, pitch = layout.places.copy(), layout.pitch
    is_placed = layout.is_placed
    for axis in (0, 1) if is_placed.any() else ():
        values = places[is_placed, axis]
        closed = _without_gaps(values)
        if np.ptp(closed) + 1 <= _CLOSED * (np.ptp(values) + 1):
            places[is_placed, axis] = closed
            pitch = 1
    return Layout(places, layout.is_astray, pitch)


def _without_gaps(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return values of which none is more than 1 above the next smaller one."""
    distinct, index = np.unique(values, return_inverse=True)
    steps = np.minimum(np.diff(distinct), 1.0)
    places = distinct[0] + np.concatenate([[0.0], np.cumsum(steps)])
    closed: npt.NDArray[np.float64] = places[index]
    return closed


def _free_places(
    new: Newcomers, pane: _Pane, pitch: int, room: tuple[Corner, Sequence[float]]
) -> npt.NDArray[np.float64]:
    """Return places of parts that touch nothing that is placed, each where there is ``room``."""
    (left, top), taken = room
    nodes = list(chain.from_iterable(new.free))
    n = np.array(list(map(len, new.free)))
    first = np.cumsum(n) - n
    y = dict.fromkeys(nodes, 0.0)
    known: dict[object, list[float]] = {}
    for at in np.flatnonzero(np.maximum.reduceat(_widest(new.graph)[nodes], first) > 1).tolist():
        place_part(new.graph, new.x, y, new.free[at], known)
    places = np.column_stack((np.array(new.x)[nodes], list(map(y.__getitem__, nodes))))
    sizes = np.maximum.reduceat(places, first) + 1
    sizes[:, 1] = np.ceil(sizes[:, 1] - 1e-6)
    pitch = max(pitch, pitch_beside(float(sizes[:, 1].max()), pane.most_rows))
    is_small = sizes[:, 1] <= pane.most_rows
    # Room beside what has more than one node: else it would seem to belong to the next.
    sizes += sizes > 1
    cells = sizes.prod(axis=1)
    others = float(cells[~is_small].sum()) + sum(taken)
    pitch = fitting_pitch(pitch, float(cells[is_small].sum()), others, pane.shape, pane.most_rows)
    apart = np.where(is_small, float(pitch), 1.0)
    columns, rows = sizes[:, 0].astype(np.int64).tolist(), (sizes[:, 1] * apart).tolist()
    corners = np.array(packed(list(zip(columns, rows, strict=True)), pane.shape, taken))
    places[:, 1] *= np.repeat(apart, n)
    where: npt.NDArray[np.float64] = places + np.repeat(corners + np.array([left, top]), n, axis=0)
    return where


def _widest(graph: Graph) -> npt.NDArray[np.int64]:
    """Return how many dependencies or dependents each node has: a chain has one of each."""
    into, out = (list(map(len, lists)) for lists in (graph.dependencies, graph.dependents))
    return np.maximum(into, out, dtype=np.int64)


def _place_attached(
    graph: Graph,
    x: Sequence[int],
    y: dict[int, float],
    nodes: Sequence[int],
    places: npt.NDArray[np.float64],
    gap: int,
) -> list[int]:
    """Give ``nodes`` the free rows nearest to the placed nodes that they are connected to.

    They are at least ``gap`` away from others. Returns those that are further away from where they
    should be than `_AWAY` times that.
    """
    if not nodes:
        return []
    taken = rows_in(places, {x[index] for index in nodes})
    rows = {layer: FreeRows([row / gap for row in of_layer]) for layer, of_layer in taken.items()}
    last = float(np.nanmax(places[:, 1]))
    away = []
    for layer in layers_of(nodes, x):
        wanted = {}
        for index in layer:
            near = [n for n in graph.near(index) if n in y]
            wanted[index] = sum(map(y.__getitem__, near)) / len(near) if near else last + gap
        layer.sort(key=lambda index: (wanted[index], graph.rank[index]))
        column = rows[x[layer[0]]]
        for index, row in zip(layer, spread([wanted[i] / gap for i in layer]), strict=True):
            free = column.take(row)
            y[index] = free * gap
            if abs(free - row) > _AWAY:
                away.append(index)
    return away
