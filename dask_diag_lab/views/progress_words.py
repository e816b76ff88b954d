"""What the progress plot says: its title line, hover, and what it leaves out.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views import progress_bars as bars
from dask_diag_lab.views.progress_bars import Floats, Ints

HOVER_LINES: Final = 9

_WORDS: Final = {
    "waiting": "waiting",
    "queued": "queued",
    "no-worker": "without a worker that may run them",
    "processing": "processing",
    "memory": "in memory",
    "erred": "erred",
}


def title(states: Ints, seconds: float, width: int) -> str:
    """Return total, states and estimate in at most ``width`` characters, if that can be.

    Parameters
    ----------
    states : ndarray of int64
        Tasks in each of `STATES`, one row a prefix.
    seconds : float
        The estimate of what is left; NaN when there is none.
    width : int
        Characters that fit; the states give way to the share that is done.
    """
    total = int(states.sum())
    left = [f"about {fmt.duration(seconds)} left (estimate)"] if math.isfinite(seconds) else []
    sums = {state: int(bars.counts(states, state).sum()) for state in _WORDS}
    named = {**_WORDS, "no-worker": "without worker"}
    counted = [f"{fmt.count(n)} {named[state]}" for state, n in sums.items() if n]
    all_words = " · ".join([fmt.plural(total, "task"), *counted, *left])
    if len(all_words) <= width:
        return all_words
    share = f"{fmt.percent(int(bars.done(states).sum()) / max(total, 1))} done"
    erred = [f"{fmt.count(sums['erred'])} erred"] if sums["erred"] else []
    return " · ".join([fmt.plural(total, "task"), share, *erred, *left])


def done_of_all(states: Ints) -> str:
    """Return ``done / all`` of one prefix, and how many of its tasks erred."""
    row = states[None, :]
    text = f"{fmt.count(int(bars.done(row)[0]))} / {fmt.count(int(states.sum()))}"
    erred = int(bars.counts(row, "erred")[0])
    return f"{fmt.count(erred)} erred · {text}" if erred else text


def hover(
    names: Sequence[str], states: Ints, nbytes: Ints, duration: Floats
) -> list[tuple[str, ...]]:
    """Return `HOVER_LINES` lines for each prefix; '' for what there is none of."""
    said = []
    rows = zip(names, states.tolist(), nbytes.tolist(), duration.tolist(), strict=True)
    for name, row, size, mean in rows:
        number = dict(zip(STATES, row, strict=True))
        forgotten = number["forgotten"]
        number["released"] += forgotten
        lines = {
            state: f"{fmt.count(number[state])} {words}" if number[state] else ""
            for state, words in {"released": "released", **_WORDS}.items()
        }
        if forgotten:
            lines["released"] += f", {fmt.count(forgotten)} of them forgotten"
        if lines["memory"]:
            lines["memory"] += f": {fmt.binary(size)}"
        took = f"{fmt.duration(mean)} a task on average" if math.isfinite(mean) else ""
        said.append((name, *lines.values(), took))
    return said


def hidden_note(states: Ints, chosen: Ints, known: int) -> str:
    """Return what is not drawn: ``chosen`` rows of ``states`` are, ``known`` have tasks."""
    n_hidden = known - len(chosen)
    if n_hidden <= 0:
        return ""
    hidden = int(states.sum() - states[chosen].sum())
    return (
        f"{fmt.count(len(chosen))} prefixes shown, unfinished ones first; {fmt.count(n_hidden)} "
        f"{'prefix' if n_hidden == 1 else 'prefixes'} with {fmt.plural(hidden, 'task')} hidden"
    )
