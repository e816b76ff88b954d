"""Task keys by ordinal, as UTF-8 bytes and offsets; must not know what the tasks did."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import accumulate

import numpy as np

from dask_diag_lab.store.arrays import Ints, Objects

SEGMENT_KEYS = 16_384
PAGE_BITS = 12
"""Actions name the keys they need in pages of ``2**PAGE_BITS`` ordinals."""


class _Segment:
    """Keys of consecutive ordinals."""

    __slots__ = ("blob", "first", "offsets")

    def __init__(self, first: int) -> None:
        self.first = first
        self.blob = bytearray()
        self.offsets = np.zeros(1, dtype=np.uint32)

    @property
    def stop(self) -> int:
        return self.first + len(self.offsets) - 1

    def extend(self, keys: Sequence[str]) -> None:
        text = "".join(keys)
        if text.isascii():
            sizes: list[int] = list(map(len, keys))
            self.blob += text.encode("ascii")
        else:
            # Keys may hold lone surrogates: they are text that somebody decoded badly.
            encoded = [key.encode("utf-8", "surrogatepass") for key in keys]
            sizes = list(map(len, encoded))
            self.blob += b"".join(encoded)
        ends = np.fromiter(accumulate(sizes), dtype=np.uint32, count=len(sizes))
        self.offsets = np.concatenate((self.offsets, self.offsets[-1] + ends))

    def key(self, ordinal: int) -> str:
        begin, end = self.offsets[ordinal - self.first : ordinal - self.first + 2]
        return self.blob[begin:end].decode("utf-8", "surrogatepass")

    def keys(self, ordinals: Ints) -> list[str]:
        begins = self.offsets[ordinals - self.first].tolist()
        ends = self.offsets[ordinals - self.first + 1].tolist()
        if self.blob.isascii():
            text = self.blob.decode("ascii")
            return [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return [self.key(int(ordinal)) for ordinal in ordinals]

    def find(self, key: bytes) -> Ints:
        """Return the ordinals that have a key."""
        rows = np.flatnonzero(np.diff(self.offsets) == len(key))
        if not rows.size or not key:
            return np.empty(0, dtype=np.int64)
        text = np.frombuffer(self.blob, dtype=np.uint8)
        begins = self.offsets[:-1].astype(np.int64)
        # From the end, where keys differ most: few are left after some letters.
        for place in range(len(key) - 1, -1, -1):
            rows = rows[text[begins[rows] + place] == key[place]]
            if not rows.size:
                break
        return rows + self.first


class KeyTable:
    """The key of each task ordinal, in a few bytes more than its text."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self.stop = 0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(len(s.blob) + s.offsets.nbytes for s in self._segments)

    def extend(self, first: int, keys: Sequence[str]) -> None:
        """Add the keys of ordinals ``first``, ``first + 1``, …; known ones are left as they are."""
        keys = keys[max(self.stop - first, 0) :]
        first = max(first, self.stop)
        while keys:
            segment = self._open(first)
            room = SEGMENT_KEYS - (segment.stop - segment.first)
            segment.extend(keys[:room])
            first, keys = segment.stop, keys[room:]
            self.stop = first

    def _open(self, first: int) -> _Segment:
        last = self._segments[-1] if self._segments else None
        if last is not None and last.stop == first and last.stop - last.first < SEGMENT_KEYS:
            return last
        if last is not None:
            last.blob = bytearray(bytes(last.blob))  # lets go of what it had in reserve
        self._segments.append(_Segment(first))
        return self._segments[-1]

    def __getitem__(self, ordinal: int) -> str:
        """Return the key of a task, ``''`` where it is not known (any more)."""
        index = bisect_right(self._segments, ordinal, key=lambda segment: segment.first) - 1
        if index < 0 or ordinal >= self._segments[index].stop:
            return ""
        return self._segments[index].key(int(ordinal))

    def take(self, ordinals: Ints) -> Objects:
        """Return the keys of many tasks, in their order; ``''`` where one is not known."""
        found: Objects = np.full(len(ordinals), "", dtype=np.object_)
        firsts = np.array([segment.first for segment in self._segments], dtype=np.int64)
        index = np.searchsorted(firsts, ordinals, "right") - 1
        for number in np.unique(index[index >= 0]).tolist():
            segment = self._segments[number]
            rows = np.flatnonzero((index == number) & (ordinals < segment.stop))
            found[rows] = segment.keys(ordinals[rows])
        return found

    def find(self, key: str) -> Ints:
        """Return the ordinals of the tasks that have a key: more than one if it ran again.

        Takes some milliseconds a million keys.
        """
        text = key.encode("utf-8", "surrogatepass")
        found = [segment.find(text) for segment in self._segments]
        return np.concatenate([np.empty(0, dtype=np.int64), *found])

    def among(
        self, tasks: Ints, sought: Collection[str], first: int, new: Sequence[str]
    ) -> dict[int, str]:
        """Return the sought keys by task, of some tasks.

        ``new`` are the keys of the tasks from ``first`` on, which need not be read again.
        """
        if not sought:
            return {}
        found = {first + i: key for i, key in enumerate(new) if key in sought}
        old = np.unique(tasks[tasks < first]).tolist()
        return found | {task: key for task in old if (key := self[task]) in sought}

    def retain(self, pages: Ints) -> None:
        """Forget all segments but the last that hold none of ``pages`` (sorted, distinct)."""
        if not self._segments:
            return
        first = np.array([s.first for s in self._segments]) >> PAGE_BITS
        last = np.array([s.stop - 1 for s in self._segments]) >> PAGE_BITS
        used = np.searchsorted(pages, first, "left") < np.searchsorted(pages, last, "right")
        used[-1] = True
        self._segments = [s for s, is_used in zip(self._segments, used, strict=True) if is_used]
