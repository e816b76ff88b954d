"""The order in which prefixes appeared, from which views derive colours; knows no colour."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import GrowingArray, Ints
from dask_diag_lab.store.strings import StringTable


class Palette:
    """A number for each prefix: 0, 1, 2, … by first appearance anywhere, never reused."""

    def __init__(self, strings: StringTable) -> None:
        self.version = 0
        self._strings = strings
        self._names: list[str] = []
        self._index: GrowingArray[np.int32] = GrowingArray(np.int32, -1)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def names(self) -> list[str]:
        """Prefixes in order of appearance."""
        return self._names

    def index(self, prefix: str) -> int:
        """Return the number of a prefix by name, giving it one at first sight."""
        return int(self.see(np.array([self._strings.intern(prefix)]))[0])

    def indices(self, prefixes: npt.NDArray[np.integer]) -> Ints:
        """Return the number of each prefix, given by string id as in actions; -1 if unseen."""
        self._index.extend_to(len(self._strings))
        found: Ints = self._index.values[prefixes].astype(np.int64)
        return found

    def see(self, prefixes: npt.NDArray[np.integer]) -> Ints:
        """Return `indices`, after giving numbers to those seen for the first time."""
        found = self.indices(prefixes)
        if found.size and found.min() < 0:
            unseen = prefixes[found < 0]
            distinct, first = np.unique(unseen, return_index=True)
            for string in distinct[np.argsort(first)]:
                self._index.values[string] = len(self._names)
                self._names.append(self._strings[int(string)])
            self.version += 1
            found = self.indices(prefixes)
        return found
