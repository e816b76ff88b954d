"""The order of keys in which numbers in them count as numbers: x-2 before x-10.

Pure; knows only how Dask writes the keys of chunks.
"""

from __future__ import annotations

from collections.abc import Sequence

Part = tuple[int, str]


def natural_ranks(keys: Sequence[str]) -> list[int]:
    """Return the rank of each key; equal ones keep their order."""
    parts = [_parts(key) if key.startswith("(") else () for key in keys]
    if not any(parts):
        return list(range(len(keys)))
    ranks = [0] * len(keys)
    for rank, index in enumerate(sorted(range(len(keys)), key=parts.__getitem__)):
        ranks[index] = rank
    return ranks


def _parts(key: str) -> tuple[Part, ...]:
    """Return the indices of a key such as ``('x-1a2b', 3, 4)``, numbers by their length."""
    parts = [part.strip(" )") for part in key.split(",")[1:]]
    return tuple([(len(part), part) if part.isdigit() else (0, part) for part in parts])
