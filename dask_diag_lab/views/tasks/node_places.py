"""Where the tasks of a graph are drawn; many are placed off the loop.

Knows the store's graph and `layout`; draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.key_order import natural_ranks
from dask_diag_lab.views.tasks.known_tasks import KnownTasks
from dask_diag_lab.views.tasks.layout.growth import Layout, no_places
from dask_diag_lab.views.tasks.layout.laid_out import laid_out

if TYPE_CHECKING:
    from dask_diag_lab.store.graph import TaskGraph
    from dask_diag_lab.store.workings import Working, Workings

AT_ONCE: Final = 500
"""Graphs of no more tasks are placed at once: that takes less than to wait for a thread."""

_MOST_ROWS: Final = 40.0
"""Rows of which nodes do not touch in a small pane."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a graph at one moment, see `TaskGraph`; no later change shows in them.

    Attributes
    ----------
    structure_version, version : int
    node, prefix, state : ndarray of int64, shape (n,)
    keys : list of str
    edges : ndarray of int64, shape (m, 2)
    """

    structure_version: int
    version: int
    node: Ints
    prefix: Ints
    state: Ints
    keys: list[str]
    edges: Ints

    @classmethod
    def of(cls, graph: TaskGraph) -> Nodes:
        """Return the nodes that there are now."""
        return cls(
            graph.structure_version,
            graph.version,
            graph.node.copy(),
            graph.prefix.copy(),
            graph.state,
            list(graph.key),
            graph.edges,
        )


@dataclass(frozen=True, slots=True)
class Placed:
    """Nodes with their places.

    Attributes
    ----------
    nodes : Nodes
    layout : Layout
    is_other : bool
        Whether some that were there before have moved or are other tasks, or none is known.
    """

    nodes: Nodes
    layout: Layout
    is_other: bool

    @property
    def places(self) -> npt.NDArray[np.float32]:
        """Layer and row of each node, shape (n, 2)."""
        return self.layout.places.astype(np.float32)


class NodePlaces:
    """The places of the tasks of one picture: one step of the graph after the other."""

    def __init__(self, workings: Workings) -> None:
        self._workings = workings
        self.forget()

    def forget(self) -> None:
        """Forget all places, also those under way: what comes next is placed anew."""
        self._known, self._layout = KnownTasks(), no_places(0)
        self._under_way: Working[Placed] | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether places are being made."""
        return self._under_way is not None and not self._under_way.is_done

    @property
    def is_ready(self) -> bool:
        """Whether places were made that nobody has taken yet."""
        return self._under_way is not None and self._under_way.is_done

    def extent(self) -> tuple[float, float, float, float]:
        """Return smallest x, largest x, smallest y and largest y of what is placed."""
        places = self._layout.places if len(self._layout.places) else np.zeros((1, 2))
        (x0, y0), (x1, y1) = places.min(axis=0), places.max(axis=0)
        return float(x0), float(x1), float(y0), float(y1)

    def place(self, nodes: Nodes, *, may_close: bool, shape: float) -> Placed | None:
        """Return the places of nodes, None where they are under way; see `laid_out`.

        Only while nothing is under way.
        """
        at, is_other = self._known.take_over(nodes.node, nodes.keys)
        before = self._layout.of(at)

        def ranks(some: npt.NDArray[np.intp]) -> list[int]:
            return natural_ranks([nodes.keys[index] for index in some.tolist()])

        def make() -> Placed:
            layout = laid_out(
                before,
                nodes.edges,
                ranks,
                may_close=may_close,
                shape=shape,
                most_rows=_MOST_ROWS,
            )
            stays = at >= 0
            is_moved = bool((layout.places[stays] != before.places[stays]).any())
            return Placed(nodes, layout, is_other or is_moved or not stays.any())

        if len(nodes.node) <= AT_ONCE:
            return self._noted(make)
        self._under_way = self._workings.start(make)
        return self.take()

    def take(self) -> Placed | None:
        """Return what was under way, once it is made; None at any other time."""
        working = self._under_way
        if working is None or not working.is_done:
            return None
        self._under_way = None
        return self._noted(working.result)

    def _noted(self, made: Callable[[], Placed]) -> Placed:
        try:
            placed = made()
        except Exception:
            self.forget()  # its places do not belong to the tasks that are known now
            raise
        self._layout = placed.layout
        return placed
