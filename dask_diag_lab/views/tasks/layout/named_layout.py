"""Where nodes go that are known by name; see `laid_out`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.layout.growth import Layout, no_places
from dask_diag_lab.views.tasks.layout.laid_out import laid_out
from dask_diag_lab.views.tasks.layout.packing import stretch

Node = TypeVar("Node", bound=Hashable)
Place = tuple[float, float]


class Placed(dict[Node, Place]):
    """The place of each node, and which nodes are astray; see `Layout`."""

    def __init__(self, places: Iterable[tuple[Node, Place]], astray: Iterable[Node] = ()) -> None:
        super().__init__(places)
        self.astray = frozenset(astray)


def place_nodes(
    names: Sequence[Node],
    edges: npt.NDArray[np.integer],
    placed: Mapping[Node, Place],
    *,
    may_close: bool = False,
    shape: float = 1.0,
) -> Placed[Node]:
    """Return (x, y) of every node of ``names``; those in ``placed`` stay where they are.

    Parameters
    ----------
    names : sequence of hashable
        The nodes now, each once; their order is that among nodes that nothing else orders.
    edges : ndarray of int, shape (m, 2)
        (dependency, dependent) as indices into ``names``.
    placed : mapping
        What this returned for the graph before.
    may_close, shape
        See `laid_out`.
    """
    before = no_places(len(names))
    astray = placed.astray if isinstance(placed, Placed) else frozenset[Node]()
    for index, name in enumerate(names):
        if name in placed:
            before.places[index] = placed[name]
            before.is_astray[index] = name in astray
    now = laid_out(before, edges, may_close=may_close, shape=shape)
    return _named(names, now)


def _named(names: Sequence[Node], layout: Layout) -> Placed[Node]:
    pairs = ((name, (x, y)) for name, (x, y) in zip(names, layout.places.tolist(), strict=True))
    return Placed(pairs, (names[index] for index in np.flatnonzero(layout.is_astray).tolist()))


def rows_needed(placed: Mapping[Node, Place], shape: float) -> float:
    """Return how many rows a pane of a shape has to have to show all that is placed."""
    places = np.array(list(placed.values()), dtype=np.float64).reshape(-1, 2)
    columns, rows = np.ptp(places, axis=0) + 1 if len(places) else (0.0, 0.0)
    return stretch(float(columns), float(rows), shape)
