"""What differs between two runs: pure functions of what is known of each."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Final, NamedTuple

import numpy as np

from dask_diag_lab.analysis.budget import CATEGORIES
from dask_diag_lab.analysis.case import Case

SAME_SHARE: Final = 0.05
SAME_S: Final = 1.0
"""What runs of the same differ by: no more than both; in tasks and bytes than the share."""
ROUNDING_S: Final = 1e-9
"""Smaller steps are what adding up leaves, and none."""


class Setting(NamedTuple):
    """What two runs were made with, where that differs."""

    name: str
    before: str
    after: str


def settings_of(case: Case, versions: Mapping[str, str | None]) -> dict[str, str]:
    """Return what a run was made with: the most workers and threads at once, and versions."""
    workers = case.facts.workers
    joined, left, threads = (workers[name][case.is_there] for name in ("joined", "left", "threads"))
    # One that comes in the place of another one joins after that has left.
    order = np.argsort(np.concatenate([left, joined]), kind="stable")
    counts = {
        name: int(np.cumsum(np.concatenate([-each, each])[order]).max(initial=0))
        for name, each in (("workers", np.ones(len(threads), int)), ("threads", threads))
    }
    return {name: str(value) for name, value in {**counts, **versions}.items()}


def different_settings(before: Mapping[str, str], after: Mapping[str, str]) -> list[Setting]:
    """Return what two runs were not both made with."""
    pairs = ((n, before.get(n, ""), after.get(n, "")) for n in {**before, **after})
    return [Setting(*pair) for pair in pairs if pair[1] != pair[2]]


class PrefixWork(NamedTuple):
    """What the tasks of a prefix did that ended well: how many, their seconds, their results."""

    n_tasks: int = 0
    seconds: float = 0.0
    nbytes: int = 0


class PrefixDifference(NamedTuple):
    """A prefix in two runs; ``status`` is same, more, less, added or removed.

    By its seconds; where these are the same, by its tasks, else by its bytes.
    """

    prefix: str
    status: str
    before: PrefixWork
    after: PrefixWork


def waterfall(before: Case, after: Case) -> dict[str, float]:
    """Return by how many seconds each category made the second run longer.

    A category's part of a run is its share of the thread time times the duration, so that these
    add up to the difference of the durations, whatever the threads.
    """
    steps = {name: after.wall(name) - before.wall(name) for name in CATEGORIES}
    return {name: step for name, step in steps.items() if abs(step) > ROUNDING_S}


def work_of(case: Case) -> dict[str, PrefixWork]:
    """Return what each prefix did in a run."""
    nbytes = np.maximum(case.tasks["nbytes"], 0)
    return {
        case.names.get(one.prefix, ""): PrefixWork(
            len(one.rows), float(one.seconds.sum()), int(nbytes[one.rows].sum())
        )
        for one in case.prefixes
    }


def prefix_differences(before: Case, after: Case) -> list[PrefixDifference]:
    """Return all prefixes of two runs, largest difference of seconds first."""
    a, b = work_of(before), work_of(after)
    rows = [
        PrefixDifference(
            name,
            _status(a.get(name), b.get(name)),
            a.get(name, PrefixWork()),
            b.get(name, PrefixWork()),
        )
        for name in {**a, **b}
    ]
    return sorted(rows, key=lambda row: -abs(row.after.seconds - row.before.seconds))


def _status(before: PrefixWork | None, after: PrefixWork | None) -> str:
    if before is None or after is None:
        return "added" if before is None else "removed"
    measures = (
        (before.seconds, after.seconds, SAME_S),
        (before.n_tasks, after.n_tasks, inf),
        (before.nbytes, after.nbytes, inf),
    )
    for a, b, most in measures:
        if abs(b - a) > min(most, SAME_SHARE * max(a, b)):
            return "more" if b > a else "less"
    return "same"
