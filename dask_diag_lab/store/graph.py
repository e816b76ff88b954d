"""The task graph as far as the collector follows it; lays nothing out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dask_diag_lab.schema import GraphChange
from dask_diag_lab.store.arrays import GrowingArray, Ints, frozen
from dask_diag_lab.store.strings import Palette, StringTable

Added = tuple[int, str, str, str, Sequence[int]]


class TaskGraph:
    """Nodes, their states, and the edges between them.

    Attributes
    ----------
    version : int
        Moves with any change.
    structure_version : int
        Moves when nodes or edges came or went: indices of before are void then.
    is_followed : bool
        Whether anything is known: the scheduler follows single tasks only while somebody looks
        at a plot that needs them (`schema.GRAPH`), so at first there is nothing here.
    is_exact : bool
        False when the cluster has more tasks than ``limit``: then there are no nodes.
    total, limit : int
        Tasks of the scheduler, and how many are followed one by one.
    """

    def __init__(self, strings: StringTable, palette: Palette) -> None:
        self.version = 0
        self.structure_version = 0
        self.is_followed = False
        self.is_exact = True
        self.total = 0
        self.limit = 0
        self._strings = strings
        self._palette = palette
        self._forget()

    def _forget(self) -> None:
        self._index: dict[int, int] = {}
        self._keys: list[str] = []
        self._node: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._prefix: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._group: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._state: GrowingArray[np.uint8] = GrowingArray(np.uint8)
        self._source: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._target: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._awaited: dict[int, list[int]] = {}  # nodes that others depend on, not yet added
        self._removed: list[int] = []

    def __len__(self) -> int:
        return len(self._index)

    @property
    def node(self) -> Ints:
        """Number of each node, never used again within an epoch."""
        return self._compact()._node.values

    @property
    def key(self) -> list[str]:
        """Key of each node."""
        return self._compact()._keys

    @property
    def prefix(self) -> Ints:
        """String id of each node's prefix."""
        return self._compact()._prefix.values

    @property
    def group(self) -> Ints:
        """String id of each node's group."""
        return self._compact()._group.values

    @property
    def state(self) -> Ints:
        """Index into `STATES` of each node."""
        return self._compact()._state.values.astype(np.int64)

    @property
    def edges(self) -> Ints:
        """Pairs of node indices, shape (m, 2): the first is needed by the second."""
        self._compact()
        return frozen(np.column_stack((self._source.values, self._target.values)))

    def update(self, change: GraphChange) -> None:
        """Apply what changed since the last batch."""
        facts = (change.is_followed, change.is_exact, change.total, change.limit)
        is_changed = facts != (self.is_followed, self.is_exact, self.total, self.limit)
        self.is_followed, self.is_exact, self.total, self.limit = facts
        is_new = False
        if change.is_snapshot and (self._index or self._awaited):
            self._forget()
            is_new = True
        is_new |= self._add(change.added)
        is_changed |= self._set_states(change.states)
        is_new |= self._remove(change.removed)
        self.structure_version += is_new
        self.version += is_new or is_changed

    def clear(self) -> None:
        """Forget the graph of a scheduler that is gone."""
        nothing = GraphChange(
            is_snapshot=True, is_exact=True, total=0, limit=self.limit, is_followed=False
        )
        self.update(nothing)

    def _add(self, added: Sequence[Added]) -> bool:
        new = [row for row in added if row[0] not in self._index]
        if not new:
            return False
        first = len(self._keys)
        self._index.update((row[0], first + i) for i, row in enumerate(new))
        intern = self._strings.intern
        prefixes = np.array([intern(row[2]) for row in new], dtype=np.int64)
        self._palette.see(prefixes)
        self._keys.extend(row[1] for row in new)
        self._node.extend([row[0] for row in new])
        self._prefix.extend(prefixes)
        self._group.extend([intern(row[3]) for row in new])
        self._state.extend_to(len(self._keys))
        pairs: list[tuple[int, int]] = []
        for row in new:
            target = self._index[row[0]]
            for needed in row[4]:
                source = self._index.get(needed)
                if source is None:
                    self._awaited.setdefault(needed, []).append(row[0])
                else:
                    pairs.append((source, target))
        for row in new:
            waiting = [w for w in self._awaited.pop(row[0], ()) if w in self._index]
            pairs.extend((self._index[row[0]], self._index[w]) for w in waiting)
        self._source.extend([source for source, _ in pairs])
        self._target.extend([target for _, target in pairs])
        return True

    def _set_states(self, states: Sequence[tuple[int, int]]) -> bool:
        known = [(self._index[node], state) for node, state in states if node in self._index]
        if not known:
            return False
        changes = np.array(known, dtype=np.int64)
        before = self._state.values.copy()
        # With a repeated index the last assignment is the one that stays.
        self._state.values[changes[:, 0]] = changes[:, 1]
        return not np.array_equal(before, self._state.values)

    def _remove(self, removed: Sequence[int]) -> bool:
        gone = [self._index.pop(node) for node in removed if node in self._index]
        for node in removed:
            self._awaited.pop(node, None)
        self._removed.extend(gone)
        return bool(gone)

    def _compact(self) -> TaskGraph:
        """Close the gaps that removed nodes left, when somebody looks."""
        if not self._removed:
            return self
        is_kept = np.ones(len(self._keys), dtype=np.bool_)
        is_kept[self._removed] = False
        self._removed = []
        place = np.cumsum(is_kept) - 1
        kept = np.flatnonzero(is_kept)
        self._keys = [self._keys[i] for i in kept]
        for column in (self._node, self._prefix, self._group):
            column.replace(column.values[kept])
        self._state.replace(self._state.values[kept])
        source, target = self._source.values, self._target.values
        is_edge = is_kept[source] & is_kept[target]
        self._source.replace(place[source[is_edge]])
        self._target.replace(place[target[is_edge]])
        self._index = {int(node): i for i, node in enumerate(self._node.values)}
        return self
