"""Interned text: a small number for each distinct string, the same for the life of the store."""

from __future__ import annotations

from collections.abc import Iterable

MAX_STRINGS = 500_000
"""A cluster with a prefix per task could send names without end; past this they share one."""
ADDRESSES = 50_000
"""So many more are kept for worker addresses: two workers must not share their lanes."""
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
