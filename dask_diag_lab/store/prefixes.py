"""Task counts and sizes by prefix and by group."""

from __future__ import annotations

from typing import Final

import numpy as np

from dask_diag_lab.schema import GROUPS, PREFIXES, STATES, Change
from dask_diag_lab.store.arrays import Ints
from dask_diag_lab.store.tables import NamedTable

_UNFINISHED: Final = [STATES.index(s) for s in ("waiting", "no-worker", "queued", "processing")]


class GroupTable(NamedTable):
    """Groups in order of their appearance; the columns of `GROUPS` are attributes.

    Attributes
    ----------
    structure_version : int
        Moves when groups came or went or their dependencies changed.
    """

    def __init__(self) -> None:
        super().__init__(GROUPS)
        self.structure_version = 0

    def update(self, change: Change) -> None:
        before = (self.names, self.dependencies)
        super().update(change)
        self.structure_version += before != (self.names, self.dependencies)


class PrefixTable(NamedTable):
    """Prefixes with tasks that have not ended, then the others; most tasks first in both.

    The columns of `PREFIXES` are attributes. Tasks that were done and then forgotten stay counted.
    """

    def __init__(self) -> None:
        super().__init__(PREFIXES)

    def _order(self) -> Ints:
        states = self._columns["states"]
        is_done = ~states[:, _UNFINISHED].any(axis=1)
        return np.lexsort((-states.sum(axis=1), is_done))
