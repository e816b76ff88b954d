"""Rows of a growing and shrinking set that keep their place, so that little has to be sent.

Pure NumPy: what is new is appended, what is gone leaves a hole, and when holes prevail all rows
are given out anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_FEW: Final = 500
"""Holes that never matter."""


@dataclass(frozen=True, slots=True)
class SlotChange:
    """What became of the rows.

    Attributes
    ----------
    is_reset : bool
        All rows were given out anew, in the order of the members.
    added : ndarray of int64
        Indices of the members that were appended, in order.
    has_holes : bool
        Whether rows lost their member.
    """

    is_reset: bool
    added: Ints
    has_holes: bool


class Slots:
    """Which row belongs to which member; members are distinct integers."""

    def __init__(self) -> None:
        self.members: Ints = np.empty(0, dtype=np.int64)
        self.is_alive: npt.NDArray[np.bool_] = np.empty(0, dtype=np.bool_)

    def change(self, members: Ints, *, is_reset: bool = False) -> SlotChange:
        """Take over the members there are now."""
        stays = np.isin(self.members, members, assume_unique=True) & self.is_alive
        new = np.flatnonzero(~np.isin(members, self.members[stays], assume_unique=True))
        holes = len(self.members) - int(stays.sum())
        if is_reset or holes > max(len(members), _FEW) or not stays.any():
            self.members = members.copy()
            self.is_alive = np.ones(len(members), dtype=np.bool_)
            return SlotChange(is_reset=True, added=np.arange(len(members)), has_holes=False)
        lost = bool((self.is_alive & ~stays).any())
        # A dead row keeps no member: one that comes back gets a row of its own.
        kept = np.where(stays, self.members, -1 - np.arange(len(self.members)))
        self.members = np.concatenate([kept, members[new]])
        self.is_alive = np.concatenate([stays, np.ones(len(new), dtype=np.bool_)])
        return SlotChange(is_reset=False, added=new, has_holes=lost)

    def rows_of(self, members: Ints) -> Ints:
        """Return the row of each of ``members``, all of which are there."""
        order = np.argsort(self.members, kind="stable")
        found: Ints = order[np.searchsorted(self.members, members, sorter=order)]
        return found
