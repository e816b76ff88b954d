"""What the progress plot says: its title line, hover, and what it leaves out.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import math
from typing import Final

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks import progress_bars as bars
from dask_diag_lab.views.tasks.progress_bars import Ints
from dask_diag_lab.views.tasks.progress_estimate import Estimate
from dask_diag_lab.views.tasks.progress_rows import Rows

HOVER_LINES: Final = 9

_WORDS: Final = {
    "waiting": "waiting",
    "queued": "queued",
    "no-worker": "without a worker that may run them",
    "processing": "processing",
    "memory": "in memory",
    "erred": "erred",
}


def title(states: Ints, estimate: Estimate, width: int) -> str:
    """Return total, states and estimate in at most ``width`` characters, if that can be.

    Parameters
    ----------
    states : ndarray of int64
        Tasks in each of `STATES`, one row a prefix.
    estimate : Estimate
        Of what is left.
    width : int
        Characters that fit; the states give way to the share that is done.
    """
    total = int(states.sum())
    left = _left(estimate)
    sums = {state: int(bars.counts(states, state).sum()) for state in _WORDS}
    named = {**_WORDS, "no-worker": "without worker"}
    counted = [f"{fmt.count(n)} {named[state]}" for state, n in sums.items() if n]
    all_words = " · ".join([fmt.plural(total, "task"), *counted, *left])
    if len(all_words) <= width:
        return all_words
    share = f"{fmt.percent(int(bars.done(states).sum()) / max(total, 1))} done"
    erred = [f"{fmt.count(sums['erred'])} erred"] if sums["erred"] else []
    short = [f"≈ {fmt.duration(estimate.seconds)} left"] if left else []
    shorter = (
        [fmt.plural(total, "task"), share, *erred, *left],
        [fmt.plural(total, "task"), share, *erred, *short],
        [share, *erred, *short],
        [share, *erred],
    )
    texts = [" · ".join(words) for words in shorter]
    return next((text for text in texts if len(text) <= width), texts[-1])


def _left(estimate: Estimate) -> list[str]:
    """Return how long it takes: less than the truth where some prefixes have not begun."""
    if not math.isfinite(estimate.seconds):
        return []
    seconds = fmt.duration(estimate.seconds)
    if not estimate.n_unknown:
        return [f"about {seconds} left (estimate)"]
    unknown = fmt.count(estimate.n_unknown)
    others = "1 prefix" if estimate.n_unknown == 1 else f"{unknown} prefixes"
    return [f"at least {seconds} left (estimate; speed of {others} unknown)"]


def done_of_all(states: Ints) -> tuple[str, ...]:
    """Return how much of one prefix is done, and how many of its tasks erred, ever shorter."""
    row = states[None, :]
    done, total = int(bars.done(row)[0]), int(states.sum())
    text = f"{fmt.count(done)} / {fmt.count(total)}"
    erred = int(bars.counts(row, "erred")[0])
    share = fmt.percent(done / max(total, 1))
    if not erred:
        return text, share
    failed = f"{fmt.count(erred)} erred"
    return f"{failed} · {text}", f"{failed} · {share}", f"⚠ {share}", share


def hover(rows: Rows) -> list[tuple[str, ...]]:
    """Return `HOVER_LINES` lines for each row; '' for what there is none of."""
    said = []
    columns = (rows.states, rows.held, rows.duration)
    for name, row, size, mean in zip(
        rows.names, *(column.tolist() for column in columns), strict=True
    ):
        number = dict(zip(STATES, row, strict=True))
        forgotten = number["forgotten"]
        number["released"] += forgotten
        lines = {
            state: f"{fmt.count(number[state])} {words}" if number[state] else ""
            for state, words in {"released": "released", **_WORDS}.items()
        }
        if forgotten:
            lines["released"] += f", {fmt.count(forgotten)} of them forgotten"
        if lines["memory"] and size >= 0:
            lines["memory"] += f": {fmt.binary(size)}"
        took = f"{fmt.duration(mean)} a task on average" if math.isfinite(mean) else ""
        said.append((shown_name(name), *lines.values(), took))
    return said


def hidden_note(states: Ints, first: int, shown: int, noun: str, *, is_short: bool = False) -> str:
    """Return which rows are in sight: of all, ``shown`` from row ``first`` on; '' for all."""
    if len(states) <= shown:
        return ""
    nouns = {"prefix": "prefixes"}.get(noun, f"{noun}s")
    last = f"–{fmt.count(first + shown)}" if shown > 1 else ""
    which = f"{nouns if last else noun} {fmt.count(first + 1)}{last} of {fmt.count(len(states))}"
    if is_short:
        return f"{which}, scroll for more"
    in_sight = int(states[first : first + shown].sum())
    return f"{which}, with {fmt.count(in_sight)} of all tasks; scroll for the others"
