"""Which tasks of a graph were there before: by the number of the node, and its key.

Knows neither places nor Bokeh.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import ne

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class KnownTasks:
    """The tasks of the graph as it was last seen."""

    def __init__(self) -> None:
        self._nodes: Ints = np.empty(0, dtype=np.int64)
        self._keys: list[str] = []

    def take_over(self, nodes: Ints, keys: Sequence[str]) -> tuple[Ints, bool]:
        """Return where the tasks that there are now were before, and note these.

        Returns
        -------
        before : ndarray of int64
            The index that each task had; -1 where it is new.
        is_other_graph : bool
            Whether a number is that of another task now: a scheduler counts anew.
        """
        before = _indices(self._nodes, nodes)
        stays = np.flatnonzero(before >= 0)
        now = map(keys.__getitem__, stays.tolist())
        then = map(self._keys.__getitem__, before[stays].tolist())
        is_other = np.fromiter(map(ne, now, then), dtype=np.bool_, count=len(stays))
        before[stays[is_other]] = -1
        self._nodes, self._keys = nodes.copy(), list(keys)
        return before, bool(is_other.any())


def _indices(members: Ints, wanted: Ints) -> Ints:
    """Return the index of each of ``wanted`` in ``members``, which are distinct; -1 of others."""
    if not len(members):
        return np.full(len(wanted), -1)
    order = np.argsort(members, kind="stable")
    at = order[np.searchsorted(members, wanted, sorter=order).clip(max=len(members) - 1)]
    found: Ints = np.where(members[at] == wanted, at, -1)
    return found
