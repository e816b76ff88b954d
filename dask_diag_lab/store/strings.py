"""Interned text: a small number for each distinct string, the same for the life of the history.

Besides, the order in which prefixes appeared, and what the numbers of the wire mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import GrowingArray, Ints

MAX_STRINGS: Final = 500_000
"""A cluster with a prefix per task could send names without end; past this they share one."""
OTHER: Final = "(other names)"


class StringTable:
    """Text by number, number by text. Number 0 is always ``''``.

    Parameters
    ----------
    limit : int
        Distinct strings kept; further ones all become `OTHER`.
    """

    SAVED = ("_texts",)

    def restored(self) -> None:
        """Number the texts again."""
        self._ids = {text: number for number, text in enumerate(self._texts)}

    def __init__(self, limit: int = MAX_STRINGS) -> None:
        self._limit = limit
        self._texts = [""]
        self._ids = {"": 0}

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: int) -> str:
        """Return the text of a number; IndexError when there is none."""
        return self._texts[index]

    def intern(self, text: str) -> int:
        """Return the number of ``text``, giving it one at first sight."""
        known = self._ids.get(text)
        if known is not None:
            return known
        if len(self._texts) >= self._limit and text != OTHER:
            return self.intern(OTHER)
        self._ids[text] = len(self._texts)
        self._texts.append(text)
        return len(self._texts) - 1

    def find(self, text: str) -> int | None:
        """Return the number of ``text``, or None when it was never seen."""
        return self._ids.get(text)

    def take(self, ids: Iterable[int]) -> list[str]:
        """Return the texts of many numbers, in their order."""
        return [self._texts[i] for i in ids]


class PrefixIndex:
    """A number for each prefix: 0, 1, 2, … by first appearance anywhere, never reused.

    Attributes
    ----------
    names : list of str
        Prefixes in order of appearance.
    """

    SAVED = ("names",)

    def restored(self) -> None:
        """Number the names again."""
        for number, name in enumerate(self.names):
            string = self._strings.intern(name)
            self._index.extend_to(len(self._strings))
            self._index.values[string] = number
        self.version += 1

    def __init__(self, strings: StringTable) -> None:
        self.version = 0
        self.names: list[str] = []
        self._strings = strings
        self._index: GrowingArray[np.int32] = GrowingArray(np.int32, -1)

    def __len__(self) -> int:
        return len(self.names)

    def index(self, prefix: str) -> int:
        """Return the number of a prefix by name, giving it one at first sight."""
        string = self._strings.intern(prefix)
        if string >= len(self._index) or self._index.values[string] < 0:
            self.see(np.array([string]))
        return int(self._index.values[string])

    def indices(self, prefixes: npt.NDArray[np.integer]) -> Ints:
        """Return the number of each prefix, given by string id as in actions; -1 if unseen."""
        self._index.extend_to(len(self._strings))
        found: Ints = self._index.values[prefixes].astype(np.int64)
        return found

    def see(self, prefixes: npt.NDArray[np.integer]) -> None:
        """Give numbers to those prefixes that are seen for the first time."""
        unseen, first = np.unique(prefixes[self.indices(prefixes) < 0], return_index=True)
        for string in unseen[np.argsort(first)].tolist():
            self._index.values[string] = len(self.names)
            self.names.append(self._strings[string])
        self.version += len(unseen) > 0


class WireIds:
    """Translates string ids and ordinals of one collector's life into the history's.

    Parameters
    ----------
    name : str
        `Batch.epoch`.
    first_task : int
        The history's ordinal of the wire's task 0.
    first_graph : int
        The history's number of the wire's graph 0.
    known_until : float
        What ended before this time on the scheduler's clock was recorded by an earlier collector.

    Attributes
    ----------
    actions_to : int
        `Batch.actions_to` of the actions that were taken over.
    has_workers : bool
        The workers that there are have been reported.
    has_observed : bool
        Events of that collector have been taken over.
    """

    def __init__(self, name: str, first_task: int, first_graph: int, known_until: float) -> None:
        self.name = name
        self.first_task = first_task
        self.first_graph = first_graph
        self.known_until = known_until
        self.has_workers = self.has_observed = False
        self.actions_to = 0
        self._strings: GrowingArray[np.uint32] = GrowingArray(np.uint32, size=1)

    @property
    def n_strings(self) -> int:
        """Entries of the wire's string table that are known."""
        return len(self._strings)

    def learn(self, first: int, texts: Sequence[str], strings: StringTable) -> None:
        """Add entries of the wire's string table; known ones are left as they are."""
        new = texts[max(self.n_strings - first, 0) :]
        self._strings.extend([strings.intern(text) for text in new])

    def strings(self, ids: npt.NDArray[np.integer]) -> npt.NDArray[np.uint32]:
        """Translate string ids."""
        own: npt.NDArray[np.uint32] = self._strings.values[ids]
        return own

    def graphs(self, numbers: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Translate numbers of graphs."""
        return np.where(numbers > 0, numbers + np.uint32(self.first_graph), np.uint32(0))
