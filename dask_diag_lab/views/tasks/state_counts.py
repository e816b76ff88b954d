"""Titles that count tasks by state: what matters least goes first where there is little room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from dask_diag_lab.records import STATES
from dask_diag_lab.store.arrays import Ints
from dask_diag_lab.views import format as fmt

_SHOWN: Final = {
    "waiting": "waiting",
    "no-worker": "without worker",
    "queued": "queued",
    "processing": "processing",
    "memory": "in memory",
    "erred": "erred",
    "released": "released",
}
"""States in the order of a task's life, and the words for them; what is over comes last."""
_LEAST_FIRST: Final = (
    *("released", "waiting", "queued", "memory", "processing", "no-worker", "erred"),
)
ALL: Final = tuple(_SHOWN)


def count_title(heads: Sequence[str], states: Ints, room: int, shown: Sequence[str] = ALL) -> str:
    """Return a title with as many of the numbers of tasks in a state as there is room for.

    Parameters
    ----------
    heads : sequence of str
        Beginnings of the title, the best first; the last one where nothing fits.
    states : ndarray of int64
        Tasks in each of `STATES`.
    room : int
        Characters.
    shown : sequence of str
        States that are counted.
    """
    number = {name: int(states[STATES.index(name)]) for name in ALL if name in shown}
    tries = (" · ".join([head, *parts]) for parts in _ever_fewer(number) for head in heads)
    return next((title for title in tries if len(title) <= room), heads[-1])


def _ever_fewer(number: Mapping[str, int]) -> Iterator[list[str]]:
    """Return what is said of the states, then without the least of them, and so on."""
    said = {name: f"{fmt.count(n)} {_SHOWN[name]}" for name, n in number.items() if n}
    yield list(said.values())
    for name in _LEAST_FIRST:
        if said.pop(name, None) is not None:
            yield list(said.values())
