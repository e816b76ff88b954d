"""The task graph as far as the collector follows it; lays nothing out."""

from __future__ import annotations

import numpy as np

from dask_diag_lab.schema import GraphChange
from dask_diag_lab.store.arrays import Bools, Ints, Objects
from dask_diag_lab.store.strings import Palette, StringTable


class TaskGraph:
    """Nodes, their states, and the edges between them. Arrays are replaced, never changed.

    Attributes
    ----------
    version : int
        Moves with any change.
    structure_version : int
        Moves when nodes or edges came or went: indices of before are void then.
    is_followed : bool
        Whether anything is known: the scheduler follows single tasks only while somebody looks
        at a plot that needs them (`schema.tables.GRAPH`), so at first there is nothing here.
    is_exact : bool
        False when the cluster has more tasks than ``limit``: then there are no nodes.
    total, limit : int
        Tasks of the scheduler, and how many are followed one by one.
    node : ndarray of int64
        Number of each node, ascending, never used again within an epoch.
    prefix, group : ndarray of int64
        String ids of each node's prefix and group.
    state : ndarray of int64
        Index into `STATES` of each node.
    """

    SAVED = (
        "structure_version",
        "is_followed",
        "is_exact",
        "total",
        "limit",
        "node",
        "prefix",
        "group",
        "state",
        "_keys",
        "_needs",
    )

    def __init__(self, strings: StringTable, palette: Palette) -> None:
        self.version = self.structure_version = 0
        self.is_followed, self.is_exact, self.total, self.limit = False, True, 0, 0
        self._strings = strings
        self._palette = palette
        self._forget()

    def _forget(self) -> None:
        none: Ints = np.empty(0, dtype=np.int64)
        self.node = self.prefix = self.group = self.state = none
        self._keys: Objects = np.empty(0, dtype=object)
        self._needs = np.empty((0, 2), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.node)

    @property
    def key(self) -> list[str]:
        """Key of each node."""
        return list(self._keys)

    @property
    def edges(self) -> Ints:
        """Pairs of node indices, shape (m, 2): the first is needed by the second."""
        return np.searchsorted(self.node, self._needs)

    def update(self, change: GraphChange) -> None:
        """Apply what changed since the last batch."""
        facts = (True, change.is_exact, change.total, change.limit)
        is_changed = facts != (self.is_followed, self.is_exact, self.total, self.limit)
        self.is_followed, self.is_exact, self.total, self.limit = facts
        node, state = self.node, self.state
        if change.is_snapshot:
            self._forget()
        self._add(change)
        if len(change.removed):
            self._keep(~np.isin(self.node, change.removed))
        changes = np.array(change.states, dtype=np.int64).reshape(-1, 2)
        changes = changes[np.isin(changes[:, 0], self.node)]
        self.state = self.state.copy()
        # With a repeated index the last assignment is the one that stays.
        self.state[np.searchsorted(self.node, changes[:, 0])] = changes[:, 1]
        is_new = not np.array_equal(node, self.node) or (change.is_snapshot and len(node) > 0)
        self.structure_version += is_new
        self.version += is_new or is_changed or not np.array_equal(state, self.state)

    def clear(self) -> None:
        """Forget the graph of a scheduler that is gone."""
        self.version += self.is_followed
        self.structure_version += len(self) > 0
        self.is_followed, self.is_exact, self.total = False, True, 0
        self._forget()

    def _add(self, change: GraphChange) -> None:
        """Add nodes, which come after all that they depend on."""
        last = int(self.node.max(initial=-1))
        new = [row for row in change.added if row[0] > last]
        intern = self._strings.intern
        prefix = np.array([intern(row[2]) for row in new], dtype=np.int64)
        group = np.array([intern(row[3]) for row in new], dtype=np.int64)
        self._palette.see(prefix)
        self.node = np.append(self.node, np.array([row[0] for row in new], dtype=np.int64))
        self._keys = np.append(self._keys, np.array([row[1] for row in new], dtype=object))
        self.prefix, self.group = np.append(self.prefix, prefix), np.append(self.group, group)
        self.state = np.append(self.state, np.zeros(len(new), dtype=np.int64))
        needs = [(needed, row[0]) for row in new for needed in row[4]]
        self._needs = np.append(self._needs, np.array(needs, np.int64).reshape(-1, 2), axis=0)

    def _keep(self, is_kept: Bools) -> None:
        self.node, self._keys = self.node[is_kept], self._keys[is_kept]
        self.prefix, self.group = self.prefix[is_kept], self.group[is_kept]
        self.state = self.state[is_kept]
        self._needs = self._needs[np.isin(self._needs, self.node).all(axis=1)]
