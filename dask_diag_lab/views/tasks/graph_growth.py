"""When a graph that grows has to be laid out anew: once many of its nodes are astray.

Pure; knows neither how a layout is made nor tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Final, TypeVar

from dask_diag_lab.views.tasks.layered_graph import Graph, attached_nodes

Node = TypeVar("Node", bound=Hashable)

_FAIR: Final = 1 / 4
"""All nodes are placed anew when that share of them is astray."""


class Placed(dict[Node, tuple[float, float]]):
    """The place of each node.

    Attributes
    ----------
    astray : frozenset
        Nodes that a layout of all would have put elsewhere: their part has grown together with a
        larger one that lay beside it, or there was no room for them where they belong.
    """

    def __init__(
        self, places: Iterable[tuple[Node, tuple[float, float]]], astray: Iterable[Node] = ()
    ) -> None:
        super().__init__(places)
        self.astray = frozenset(astray)

    @property
    def is_worth_renewing(self) -> bool:
        """Whether so many are astray that all should move."""
        return len(self.astray) >= _FAIR * len(self) > 0


def is_side_by_side(graph: Graph, fixed: Mapping[int, tuple[float, float]]) -> bool:
    """Return whether some parts begin right of others: there they have no room to grow."""
    left = min((place[0] for place in fixed.values()), default=0.0)
    return any(place[0] > left and not graph.dependencies[at] for at, place in fixed.items())


def smaller_joined(
    graph: Graph, fixed: Collection[int], newcomers: Iterable[Collection[int]]
) -> set[int]:
    """Return the nodes of parts that newcomers join to a larger one.

    A node is in the smaller part at most log2(n) times, as its part doubles each time. So all
    together are never more than n·log2(n), however slowly the parts grow together.

    Parameters
    ----------
    graph : Graph
    fixed : collection of int
        The nodes that were there.
    newcomers : iterable of collections of int
        The others, by the parts that edges among themselves connect.
    """
    part_of: dict[int, set[int]] = {}
    joined: set[int] = set()
    for group in newcomers:
        touched = {n for index in group for n in graph.near(index) if n in fixed}
        for index in touched - part_of.keys():
            if index not in part_of:
                part = attached_nodes(graph, {index}, fixed)
                part_of.update(dict.fromkeys(part, part))
        parts = {id(part_of[index]): part_of[index] for index in touched}
        for part in sorted(parts.values(), key=len)[:-1]:
            joined |= part
    return joined
