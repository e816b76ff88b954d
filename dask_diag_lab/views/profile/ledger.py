"""A profile by function: what each took by itself and in all, recursion counted once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dask_diag_lab.views.profile.frames import Flags, Frames


@dataclass(frozen=True, slots=True)
class Entry:
    """One function of a profile.

    Attributes
    ----------
    function : int
        Its index in `Frames.functions`.
    name, filename : str
    line_number : int
        Line that ran when it was first sampled.
    own : int
        Samples in the function itself.
    total : int
        Samples in it or in what it called; those of a call inside its own call count once.
    """

    function: int
    name: str
    filename: str
    line_number: int
    own: int
    total: int


def by_function(frames: Frames) -> Sequence[Entry]:
    """Return all functions with samples, most samples of their own first, then most in all."""
    seen = np.flatnonzero(frames.total[1:]) + 1
    functions, first = np.unique(frames.function[seen], return_index=True)
    own = _sums(frames, frames.own)
    total = _sums(frames, np.where(_is_within_itself(frames), 0, frames.total))
    entries = []
    for function, index in zip(functions.tolist(), seen[first].tolist(), strict=True):
        place, counts = frames.place(index), (int(own[function]), int(total[function]))
        entries.append(Entry(function, place.name, place.filename, place.line_number, *counts))
    return sorted(entries, key=lambda e: (-e.own, -e.total, e.name, e.filename))


def _sums(frames: Frames, samples: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[float]:
    """Return the samples of each function."""
    found: list[float] = np.bincount(
        frames.function, weights=samples, minlength=len(frames.functions)
    ).tolist()
    return found


def _is_within_itself(frames: Frames) -> Flags:
    """Return which frames were called, however indirectly, by their own function."""
    found = np.zeros(len(frames), dtype=np.bool_)
    inner = np.arange(len(frames))
    above = frames.parent
    while len(inner):
        found[inner[frames.function[above] == frames.function[inner]]] = True
        is_left = above > 0
        inner, above = inner[is_left], frames.parent[above[is_left]]
    found[0] = False
    return found
