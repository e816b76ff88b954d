"""A profile by function: what each took by itself and in all, recursion counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dask_diag_lab.views.profile.frames import Frames


@dataclass(slots=True)
class Entry:
    """One function of a profile.

    Attributes
    ----------
    name, filename : str
    line_number : int
        Line that ran when it was first sampled.
    own : int
        Samples in the function itself.
    total : int
        Samples in it or in what it called; those of a call inside its own call count once.
    """

    name: str
    filename: str
    line_number: int
    own: int = 0
    total: int = 0


def by_function(frames: Frames) -> Sequence[Entry]:
    """Return all functions with samples, most samples of their own first, then most in all."""
    entries: dict[str, Entry] = {}
    names = [""] + [frames.function(index) for index in range(1, len(frames))]
    parents = frames.parent.tolist()
    repeated = {name for name, number in Counter(names).items() if number > 1}
    for index in (np.flatnonzero(frames.total[1:]) + 1).tolist():
        name = names[index]
        entry = entries.get(name)
        if entry is None:
            place = frames.place(index)
            entry = entries[name] = Entry(place.name, place.filename, place.line_number)
        entry.own += int(frames.own[index])
        if name not in repeated or not _is_within(index, names, parents):
            entry.total += int(frames.total[index])
    return sorted(entries.values(), key=lambda e: (-e.own, -e.total, e.name, e.filename))


def _is_within(index: int, names: Sequence[str], parents: Sequence[int]) -> bool:
    """Whether a frame was called, however indirectly, by its own function."""
    name = names[index]
    while index:
        index = parents[index]
        if names[index] == name:
            return True
    return False
