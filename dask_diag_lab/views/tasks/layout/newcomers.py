"""The nodes of a graph that have no place yet, and what they touch.

Pure; knows neither where they go nor Bokeh.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.layout.growth import Layout
from dask_diag_lab.views.tasks.layout.layered_graph import Graph, depths, make_graph, parts_of

Edges = npt.NDArray[np.integer]
Ranks = Callable[[npt.NDArray[np.intp]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Newcomers:
    """Nodes without a place, and those that they touch.

    Attributes
    ----------
    nodes : ndarray of int
        Their indices among all; the others here are indices of these.
    graph : Graph
    x : list of int
        Layer of each.
    y : dict of int to float
        Row of each that is known.
    attached, free : list of int and list of lists of int
        Newcomers that touch what was there, and the parts of the others.
    joints : list of sets of int
        What each part of the attached touches, as indices among all.
    """

    nodes: npt.NDArray[np.intp]
    graph: Graph
    x: list[int]
    y: dict[int, float]
    attached: list[int]
    free: list[list[int]]
    joints: list[set[int]]


def newcomers(before: Layout, edges: Edges, ranks: Ranks) -> Newcomers:
    """Return the nodes that have no place yet; ``ranks`` as for `laid_out`."""
    is_placed = before.is_placed
    nodes, near_edges = _surroundings(is_placed, edges)
    graph = make_graph(ranks(nodes), near_edges)
    is_known = is_placed[nodes]
    known = np.flatnonzero(is_known)
    layer, row = before.places[nodes[known]].T
    x = depths(graph, dict(zip(known.tolist(), layer.astype(np.int64).tolist(), strict=True)))
    y = dict(zip(known.tolist(), row.tolist(), strict=True))
    joints: list[set[int]] = []
    attached: list[int] = []
    free: list[list[int]] = []
    for part in parts_of(graph, np.flatnonzero(~is_known), near_edges):
        joint = {n for index in part for n in graph.near(index) if n in y} if y else ()
        if joint:
            joints.append(set(nodes[list(joint)].tolist()))
            attached += part
        else:
            free.append(part)
    return Newcomers(nodes, graph, x, y, sorted(attached), free, joints)


def _surroundings(
    is_placed: npt.NDArray[np.bool_], edges: Edges
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.integer]]:
    """Return the nodes without a place and those they touch, and the edges between these."""
    near = edges[~is_placed[edges].all(axis=1)]
    is_near = ~is_placed
    is_near[near] = True
    at = np.cumsum(is_near) - 1
    return np.flatnonzero(is_near), at[near]
