"""The nodes of a picture of task groups: each group one, or each prefix one when groups are many.

Pure but for the store that it reads; knows no Bokeh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.records import STATES

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MAX_NODES: Final = 200
"""Boxes of one picture: what a screen can show with a name each."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Which nodes there are and what they need; void when groups come or go.

    Attributes
    ----------
    names, prefix : sequence of str
        Of each node that is drawn.
    node_of : ndarray of int64
        For each row of the group table the node it is part of; -1 where that is not drawn.
    members : ndarray of int64
        Groups in each node.
    edges : ndarray of int64, shape (m, 2)
        (dependency, dependent) as indices of nodes, without circles.
    n_hidden : int
        Nodes that are not drawn.
    is_collapsed : bool
        Whether a node is a prefix with all its groups.
    """

    names: Sequence[str]
    prefix: Sequence[str]
    node_of: Ints
    members: Ints
    edges: Ints
    n_hidden: int
    is_collapsed: bool


@dataclass(frozen=True, slots=True)
class Metrics:
    """What each node has done; see `GROUPS`. ``held`` is in bytes."""

    states: Ints
    held: Ints
    seconds: Floats
    begin: Floats
    end: Floats


def structure_of(store: Store) -> Structure:
    """Return the nodes for the groups there are now."""
    groups = store.groups
    names, prefix = groups.names, groups.prefix
    is_collapsed = len(names) > MAX_NODES
    labels = prefix if is_collapsed else names
    index: dict[str, int] = {}
    node_of = np.array([index.setdefault(label, len(index)) for label in labels], dtype=np.int64)
    total = np.zeros(len(index), dtype=np.int64)
    np.add.at(total, node_of, groups.states.sum(axis=1))
    kept = np.sort(np.argsort(-total, kind="stable")[:MAX_NODES])
    place = np.full(len(index), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    node_of = place[node_of] if len(node_of) else node_of
    shown = list(index)
    drawn = [shown[i] for i in kept.tolist()]
    prefix_of = dict(zip(labels, prefix, strict=True))
    return Structure(
        names=drawn,
        prefix=[prefix_of[name] for name in drawn],
        node_of=node_of,
        members=np.bincount(node_of[node_of >= 0], minlength=len(drawn)),
        edges=_edges(names, groups.dependencies, node_of, len(drawn)),
        n_hidden=len(index) - len(drawn),
        is_collapsed=is_collapsed,
    )


def _edges(
    names: Sequence[str], dependencies: Sequence[Sequence[str]], node_of: Ints, n: int
) -> Ints:
    row = {name: node for name, node in zip(names, node_of.tolist(), strict=True) if node >= 0}
    pairs: dict[tuple[int, int], None] = {}
    for name, needed in zip(names, dependencies, strict=True):
        target = row.get(name, -1)
        for other in needed if target >= 0 else ():
            source = row.get(other, -1)
            if source >= 0 and source != target:
                pairs[source, target] = None
    return np.array(_without_circles(list(pairs), n), dtype=np.int64).reshape(-1, 2)


def _without_circles(pairs: list[tuple[int, int]], n: int) -> list[tuple[int, int]]:
    """Leave out the edges that close a circle: prefixes may need each other, groups never do.

    Goes by Kahn's order; where only circles are left, the node with the fewest open needs goes on.
    """
    missing = [0] * n
    targets: list[list[int]] = [[] for _ in range(n)]
    for source, target in pairs:
        missing[target] += 1
        targets[source].append(target)
    order: dict[int, int] = {}
    ready = [node for node in range(n) if not missing[node]]
    while len(order) < n:
        if not ready:
            open_nodes = [node for node in range(n) if node not in order]
            ready = [min(open_nodes, key=missing.__getitem__)]
        node = ready.pop()
        if node in order:
            continue
        order[node] = len(order)
        for target in targets[node]:
            missing[target] -= 1
            if not missing[target] and target not in order:
                ready.append(target)
    return [(source, target) for source, target in pairs if order[source] < order[target]]


def metrics_of(store: Store, structure: Structure) -> Metrics:
    """Return what the nodes have done by now."""
    groups = store.groups
    n = len(structure.names)
    is_shown = structure.node_of >= 0
    node = structure.node_of[is_shown]
    states = np.zeros((n, len(STATES)), dtype=np.int64)
    np.add.at(states, node, groups.states[is_shown])
    held = np.zeros(n, dtype=np.int64)
    np.add.at(held, node, groups.nbytes[is_shown])
    seconds = np.zeros(n)
    np.add.at(seconds, node, groups.duration[is_shown])
    begin, end = np.full(n, np.inf), np.full(n, -np.inf)
    np.fmin.at(begin, node, groups.start[is_shown])
    np.fmax.at(end, node, groups.stop[is_shown])
    return Metrics(
        states=states,
        held=held,
        seconds=seconds,
        begin=begin,
        end=end,
    )
