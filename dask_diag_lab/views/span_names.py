"""Names of spans that tell them apart: several computations may give theirs the same one.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from dask_diag_lab.views import format as fmt

NOT_BEGUN: Final = "not begun"
FAILED: Final = "failed"
NEVER_RAN: Final = "never ran"
_ID_CHARACTERS: Final = 6


def told_apart(
    names: Sequence[str], starts: Sequence[float], ids: Sequence[str], unbegun: Sequence[str]
) -> list[str]:
    """Return the name of each span, with the time at which it began where others have that name.

    The time has its date where they began on several days. Where it is the same as well, the
    beginning of the id follows.

    Parameters
    ----------
    names : sequence of str
    starts : sequence of float
        Seconds since the epoch; NaN where a span has not begun.
    ids : sequence of str
    unbegun : sequence of str
        What to say where there is no time; see `without_start`.
    """
    number, days = Counter(names), _days(names, starts)
    timed = [
        f"{name} · {_began(start, is_dated=len(days[name]) > 1) or words}"
        if number[name] > 1
        else name
        for name, start, words in zip(names, starts, unbegun, strict=True)
    ]
    number = Counter(timed)
    return [
        f"{name} · {span[:_ID_CHARACTERS]}" if number[name] > 1 else name
        for name, span in zip(timed, ids, strict=True)
    ]


def without_start(n_left: int, n_erred: int) -> str:
    """Return what to say of a span without a start, by its tasks left and erred.

    `distributed` knows when a task began only if it gave a result, so of a span whose tasks all
    failed nobody can tell whether any of them ran.
    """
    if n_left:
        return NOT_BEGUN
    return FAILED if n_erred else NEVER_RAN


def _days(names: Sequence[str], starts: Sequence[float]) -> defaultdict[str, set[str]]:
    """Return the days on which spans of each name began."""
    days: defaultdict[str, set[str]] = defaultdict(set)
    for name, start in zip(names, starts, strict=True):
        if math.isfinite(start):
            days[name].add(_day(start))
    return days


def _day(start: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(start))


def _began(start: float, *, is_dated: bool) -> str:
    if not math.isfinite(start):
        return ""
    return f"{_day(start)} {fmt.clock(start)}" if is_dated else fmt.clock(start)
