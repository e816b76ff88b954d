"""What numbers of tasks by state amount to: done, left, the parts of a bar, and lines of text.

Also which running tasks take far longer than their like did.

Pure; an array ``states`` has one row for each prefix or group, one column for each of `STATES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from dask_diag_lab.schema import STATES
from dask_diag_lab.store.arrays import Bools, Floats, Ints
from dask_diag_lab.store.sums import NO_DURATIONS, Durations
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.look import Look, data_colors, prefix_color
from dask_diag_lab.views.view import LegendItem

PARTS: Final = ("released", "memory", "erred", "processing", "queued", "no-worker")
"""The parts of a bar from the left; what is left of it waits."""
RELEASED_ALPHA: Final = 0.6

_INDEX: Final = {state: index for index, state in enumerate(STATES)}
_REMAINING: Final = [_INDEX[s] for s in ("waiting", "no-worker", "queued", "processing")]
_DONE: Final = [_INDEX[s] for s in ("released", "forgotten", "memory")]
_LABELS: Final = {
    "waiting": "waiting",
    "no-worker": "without worker",
    "queued": "queued",
    "processing": "processing",
    "memory": "in memory",
    "erred": "erred",
    "released": "released",
}
"""States in the order of a task's life, and how they are called; what is over comes last."""
_MATTERS: Final = ("erred", "no-worker", "processing", "memory", "queued", "waiting", "released")


def counts(states: Ints, state: str) -> Ints:
    """Return the tasks in one state."""
    return states[:, _INDEX[state]]


def done(states: Ints) -> Ints:
    """Return the tasks that are done: also those forgotten since, if not erred."""
    return np.asarray(states[:, _DONE].sum(axis=1))


def remaining(states: Ints) -> Ints:
    """Return the tasks that have not ended."""
    return np.asarray(states[:, _REMAINING].sum(axis=1))


def part_counts(states: Ints) -> Ints:
    """Return the tasks in each of `PARTS`; forgotten ones count as released."""
    columns = [counts(states, name) for name in PARTS]
    columns[0] = columns[0] + counts(states, "forgotten")
    return np.stack(columns, axis=1)


def legend(look: Look) -> list[LegendItem]:
    """Return what the parts of a bar mean."""
    colors, some = data_colors(look), prefix_color(0, look)
    return [
        LegendItem("released", some, alpha=RELEASED_ALPHA),
        LegendItem("in memory", some),
        erred_item(look),
        LegendItem("processing", colors.queued),
        LegendItem("queued", colors.queued, "hatch"),
        LegendItem("no worker", colors.no_worker, "hatch"),
        LegendItem("waiting", look.muted, "outline"),
    ]


def erred_item(look: Look) -> LegendItem:
    """Return the entry of tasks that failed: black, on a dark canvas by their outline."""
    colors = data_colors(look)
    if look.is_dark:
        return LegendItem("erred", colors.erred_mark, "outline")
    return LegendItem("erred", colors.erred)


def headline(beginning: str, states: Ints, shown: Sequence[str] = _MATTERS) -> str:
    """Return a line with the tasks in each of the ``shown`` states, what matters most first.

    Parameters
    ----------
    beginning : str
    states : ndarray of int64, shape (len(STATES),)
    shown : sequence of str
    """
    number = {state: int(states[_INDEX[state]]) for state in _MATTERS if state in shown}
    counted = [f"{fmt.count(n)} {_LABELS[state]}" for state, n in number.items() if n]
    return " · ".join([beginning, *counted])


def group_edges(names: Sequence[str], dependencies: Sequence[Sequence[str]]) -> Ints:
    """Return which groups need which, shape (m, 2): (dependency, dependent) as their indices."""
    at = {name: row for row, name in enumerate(names)}
    rows = enumerate(dependencies)
    pairs = [(at[name], row) for row, needed in rows for name in needed if name in at]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


RATIO: Final = 3.0
LEAST_S: Final = 2.0
LEAST_TASKS: Final = 3
"""Of fewer tasks a median says nothing."""


def is_straggler(
    prefix: Ints,
    elapsed_s: Floats,
    durations: Mapping[int, Durations],
) -> Bools:
    """Return which running tasks take more than `RATIO` medians of their prefix, and `LEAST_S`.

    Parameters
    ----------
    prefix : ndarray of int64
        String id of each one's prefix.
    elapsed_s : ndarray of float64
        Seconds since its start.
    durations : mapping of int to Durations
        Of the tasks that ended well, by string id of the prefix.
    """
    found = np.zeros(len(prefix), dtype=np.bool_)
    for row in np.flatnonzero(elapsed_s > LEAST_S).tolist():
        like = durations.get(int(prefix[row]), NO_DURATIONS)
        found[row] = like.n_tasks >= LEAST_TASKS and elapsed_s[row] > RATIO * like.median_s
    return found
