"""The numbers of one life of the collector, translated to the store's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import GrowingArray
from dask_diag_lab.store.strings import StringTable

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
