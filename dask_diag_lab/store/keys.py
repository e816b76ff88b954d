"""Task keys by ordinal; must not know what the tasks did."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from dask_diag_lab.store.arrays import Ints, Objects

SEGMENT_KEYS = 16_384


class Segment:
    """Keys of consecutive ordinals as one text: a `str` for each would take twice the memory.

    Attributes
    ----------
    begins : ndarray of uint32
        Where each key begins in the text, and where the next one would.
    """

    __slots__ = ("begins", "first", "text")
    SAVED = ("begins", "first", "text")

    def __init__(self, first: int) -> None:
        self.first = first
        self.text = "\0"  # before and after each key
        self.begins = np.ones(1, dtype=np.uint32)

    @property
    def stop(self) -> int:
        return self.first + len(self.begins) - 1

    def extend(self, keys: Sequence[str]) -> None:
        sizes = np.fromiter(map(len, keys), np.uint32, len(keys)) + 1
        ends = self.begins[-1] + np.cumsum(sizes, dtype=np.uint32)
        self.begins = np.concatenate((self.begins, ends))
        self.text += "\0".join(keys) + "\0"

    def take(self, ordinals: Ints) -> list[str]:
        begins = self.begins[ordinals - self.first].tolist()
        ends = self.begins[ordinals - self.first + 1].tolist()
        text = self.text
        return [text[begin : end - 1] for begin, end in zip(begins, ends, strict=True)]

    def find(self, key: str) -> list[int]:
        """Return the ordinals that have a key."""
        found, wanted = [], f"\0{key}\0"
        at = self.text.find(wanted)
        while at >= 0:
            row = int(np.searchsorted(self.begins, at + 1))
            # Else it is a part of a key that holds a NUL itself.
            if self.begins[row : row + 2].tolist() == [at + 1, at + len(wanted)]:
                found.append(self.first + row)
            at = self.text.find(wanted, at + 1)
        return found


class KeyTable:
    """The key of each task ordinal, in a few bytes more than its text."""

    SAVED = ("_segments", "stop")

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self.stop = 0

    def extend(self, first: int, keys: Sequence[str]) -> None:
        """Add the keys of ordinals ``first``, ``first + 1``, …; known ones are left as they are."""
        keys = keys[max(self.stop - first, 0) :]
        while keys:
            first = max(first, self.stop)
            last = self._segments[-1] if self._segments else None
            if last is None or last.stop != first or last.stop - last.first >= SEGMENT_KEYS:
                last = Segment(first)
                self._segments.append(last)
            n = SEGMENT_KEYS - (last.stop - last.first)
            last.extend(keys[:n])
            self.stop, keys = last.stop, keys[n:]

    def __getitem__(self, ordinal: int) -> str:
        """Return the key of a task, ``''`` where it is not known (any more)."""
        index = bisect_right(self._segments, ordinal, key=lambda segment: segment.first) - 1
        if index < 0 or ordinal >= self._segments[index].stop:
            return ""
        return self._segments[index].take(np.array([ordinal]))[0]

    def take(self, ordinals: Ints) -> Objects:
        """Return the keys of many tasks, in their order; ``''`` where one is not known."""
        found: Objects = np.full(len(ordinals), "", dtype=np.object_)
        for segment in self._segments:
            rows = np.flatnonzero((ordinals >= segment.first) & (ordinals < segment.stop))
            found[rows] = segment.take(ordinals[rows])
        return found

    def find(self, key: str) -> Ints:
        """Return the ordinals of the tasks that have a key: more than one if it ran again.

        Takes some milliseconds a million keys.
        """
        segments = self._segments
        return np.array([task for segment in segments for task in segment.find(key)], np.int64)

    def forget_before(self, ordinal: int) -> None:
        """Forget the segments of tasks that all came before one."""
        self._segments = [segment for segment in self._segments if segment.stop > ordinal]
