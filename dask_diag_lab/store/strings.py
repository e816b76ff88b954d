"""Interned text: a small number for each distinct string, the same for the life of the store.

Besides, the order in which prefixes appeared, and what the numbers of the wire mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import GrowingArray, Ints

MAX_STRINGS = 500_000
"""A cluster with a prefix per task could send names without end; past this they share one."""
ADDRESSES = 50_000
"""So many more are kept for worker addresses: two workers must not share their slots."""
OTHER = "(other names)"


class StringTable:
    """Text by number, number by text. Number 0 is always ``''``.

    Parameters
    ----------
    limit : int
        Distinct strings kept; further ones all become `OTHER`.
    addresses : int
        So many beyond these are given to addresses only: text like ``tcp://10.0.0.1:8786``.
    """

    def __init__(self, limit: int = MAX_STRINGS, addresses: int = ADDRESSES) -> None:
        self._limit = limit
        self._addresses = addresses
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
        room = self._limit + (self._addresses if "://" in text else 0)
        if len(self._texts) >= room and text != OTHER:
            return self.intern(OTHER)
        self._ids[text] = len(self._texts)
        self._texts.append(text)
        return len(self._texts) - 1

    def find(self, text: str) -> int | None:
        """Return the number of ``text``, or None when it was never seen."""
        return self._ids.get(text)

    def take(self, ids: Iterable[int]) -> list[str]:
        """Return the texts of many numbers, in their order."""
        texts = self._texts
        return [texts[i] for i in ids]


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


BEFORE: Final = "before"
"""Name of that count in `Batch.left_out`."""


class Epoch:
    """String ids and task ordinals of the wire are only good for one of these.

    Parameters
    ----------
    name : str
        `Batch.epoch`.
    first_task : int
        The store's ordinal of the wire's task 0.
    known_until : float
        What ended before this time on the scheduler's clock was recorded in an epoch before.
    n_before : int
        Tasks that ended before the first epoch of the same scheduler, which nobody recorded.

    Attributes
    ----------
    actions_to : int
        Actions recorded by the collector that were taken over or given up.
    is_confirmed : bool
        The workers that there are have been told.
    """

    def __init__(self, name: str, first_task: int, known_until: float, n_before: int = 0) -> None:
        self.name = name
        self.first_task = first_task
        self.known_until = known_until
        self.n_before = n_before
        self.is_confirmed = False
        self.actions_to = 0
        self._strings: GrowingArray[np.uint32] = GrowingArray(np.uint32)
        self._strings.extend([0])

    @property
    def is_first(self) -> bool:
        """Whether no epoch before was of the same scheduler."""
        return self.known_until == -inf

    @property
    def n_strings(self) -> int:
        """Entries of the wire's string table that are known."""
        return len(self._strings)

    def overlap(self, actions_to: int, n: int, dropped: int) -> tuple[int, int]:
        """Compare the ``n`` actions up to ``actions_to`` with what was taken over before.

        A batch that failed in the middle is sent again, together with what came since.

        Returns
        -------
        known, lost : int
            How many of the first ones were taken over before, and of the ``dropped`` ones before
            them how many are really missing.
        """
        if actions_to < n:  # whoever made the batch does not count
            return 0, dropped
        first = actions_to - n
        known = min(max(self.actions_to - first, 0), n)
        return known, min(dropped, max(first - self.actions_to, 0))

    def left_out(self, told: Mapping[str, int]) -> Mapping[str, int]:
        """Return `Batch.left_out` as it is for all epochs of the same scheduler.

        To a collector that starts anew, all that has ended there ended before it.
        """
        same = told.get(BEFORE, 0) == self.n_before
        return told if same else {**told, BEFORE: self.n_before}

    def learn(self, first: int, texts: Sequence[str], strings: StringTable) -> None:
        """Add entries of the wire's string table; known ones are left as they are."""
        new = texts[max(self.n_strings - first, 0) :]
        if new:
            self._strings.extend([strings.intern(text) for text in new])

    def strings(self, ids: npt.NDArray[np.integer]) -> npt.NDArray[np.uint32]:
        """Translate string ids."""
        own: npt.NDArray[np.uint32] = self._strings.values[ids]
        return own
