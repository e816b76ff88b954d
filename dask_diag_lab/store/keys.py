"""Task keys by ordinal; must not know what the tasks did."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import numpy as np

from dask_diag_lab.store.arrays import Ints, Objects, narrow

SEGMENT_KEYS: Final = 4_096
"""Keys that are packed together, in 10 ms; those that came last are not packed yet."""

_TOKEN: Final = re.compile("([0-9a-f]{32})")
"""What Dask puts into most keys: 16 bytes."""


def _hash(key: str) -> int:
    return hash(key) & 0xFFFF


class Segment:
    """Keys of consecutive ordinals, packed: as one `str` each they would take four times as much.

    A key is taken apart at its first token, as ``('sum-<32 digits>', 12, 3)`` is: what is before it
    and the token itself are kept once, and what is after it is in one text.
    """

    SAVED = ("first", "stop", "_heads", "_tokens", "_text", "_head", "_token", "_begins")

    def __init__(self, first: int, keys: Sequence[str]) -> None:
        self.first, self.stop = first, first + len(keys)
        heads, tokens = {"": 0}, {"": 0}
        head_of, token_of, tails = list[int](), list[int](), list[str]()
        for key in keys:
            parts = _TOKEN.split(key, 1)
            head, token, tail = parts if len(parts) == 3 else ("", "", key)
            head_of.append(heads.setdefault(head, len(heads)))
            token_of.append(tokens.setdefault(token, len(tokens)))
            tails.append(tail)
        self._heads = list(heads)
        self._tokens = bytes.fromhex("".join(tokens))
        self._text = "".join(tails)
        self._head, self._token = narrow(np.array(head_of)), narrow(np.array(token_of))
        self._begins = narrow(np.cumsum([0, *map(len, tails)]))
        self._hashes = np.fromiter(map(_hash, keys), np.uint16, len(keys))

    def restored(self) -> None:
        """Hash the keys again: in another process `hash` gives other numbers."""
        keys = self.take(np.arange(self.first, self.stop))
        self._hashes = np.fromiter(map(_hash, keys), np.uint16, len(keys))

    def take(self, ordinals: Ints) -> list[str]:
        rows = ordinals - self.first
        columns = (self._head[rows], self._token[rows], self._begins[rows], self._begins[rows + 1])
        return [
            f"{self._heads[head]}{self._tokens[16 * (token - 1) : 16 * token].hex()}"
            f"{self._text[begin:end]}"
            for head, token, begin, end in zip(*(c.tolist() for c in columns), strict=True)
        ]

    def find(self, key: str) -> list[int]:
        """Return the ordinals that have a key."""
        alike = self.first + np.flatnonzero(self._hashes == _hash(key))
        found = zip(alike.tolist(), self.take(alike), strict=True)
        return [ordinal for ordinal, text in found if text == key]


class KeyTable:
    """The key of each task ordinal, in half of its text."""

    SAVED = ("_segments", "_open", "stop")

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._open: list[str] = []
        self.stop = 0
        """Ordinal after the last one."""

    def extend(self, first: int, keys: Sequence[str]) -> None:
        """Add the keys of ordinals ``first``, ``first + 1``, …; known ones are left as they are."""
        new = keys[max(self.stop - first, 0) :]
        if not new:
            return
        if first > self.stop:
            self._pack(len(self._open))
            self.stop = first
        self._open += new
        self.stop += len(new)
        while len(self._open) >= SEGMENT_KEYS:
            self._pack(SEGMENT_KEYS)

    def _pack(self, n: int) -> None:
        if n:
            self._segments.append(Segment(self.stop - len(self._open), self._open[:n]))
            del self._open[:n]

    def __getitem__(self, ordinal: int) -> str:
        """Return the key of a task, ``''`` where it is not known (any more)."""
        newest = ordinal - self.stop + len(self._open)
        if newest >= 0:
            return self._open[newest] if ordinal < self.stop else ""
        key: str = self.take(np.array([ordinal]))[0]
        return key

    def take(self, ordinals: Ints) -> Objects:
        """Return the keys of many tasks, in their order; ``''`` where one is not known."""
        found: Objects = np.full(len(ordinals), "", dtype=np.object_)
        if not len(ordinals):
            return found
        low, high = int(ordinals.min()), int(ordinals.max())
        begin = bisect_right(self._segments, low, key=lambda segment: segment.stop)
        for segment in self._segments[begin:]:
            if segment.first > high:
                break
            rows = np.flatnonzero((ordinals >= segment.first) & (ordinals < segment.stop))
            if len(rows):
                found[rows] = segment.take(ordinals[rows])
        first = self.stop - len(self._open)
        for row in np.flatnonzero((ordinals >= first) & (ordinals < self.stop)).tolist():
            found[row] = self._open[int(ordinals[row]) - first]
        return found

    def find(self, key: str) -> Ints:
        """Return the ordinals of the tasks that have a key: more than one if it ran again.

        Takes some milliseconds a million keys.
        """
        first = self.stop - len(self._open)
        tasks = [task for segment in self._segments for task in segment.find(key)]
        tasks += [first + row for row, known in enumerate(self._open) if known == key]
        return np.array(tasks, np.int64)

    def forget_before(self, ordinal: int) -> None:
        """Forget the segments of tasks that all came before one."""
        self._segments = [segment for segment in self._segments if segment.stop > ordinal]
