"""Layers of threads at work to stack, and what the pointer is told of a stretch of time.

Reads the store; knows no Bokeh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.shown_name import shown_name
from dask_diag_lab.views.tasks.thread_bins import Floats, ThreadBins

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

MAX_AREAS: Final = 12
"""Prefixes with a layer of their own; the others share one."""
HOVER_LINES: Final = 8


@dataclass(frozen=True, slots=True)
class Layers:
    """What is stacked: one row of ``threads`` a layer, from the bottom.

    Attributes
    ----------
    names : sequence of str
        Prefixes in order of appearance; '' is the layer of the others.
    threads : ndarray of float64, shape (layers, bins)
        Mean number of threads that computed in each bin.
    n_others : int
        Prefixes in the layer of the others.
    edges : ndarray of float64
        Seconds since the epoch, one more than bins; the last is now.
    """

    names: Sequence[str]
    threads: Floats
    n_others: int
    edges: Floats


def layers_of(store: Store, counts: ThreadBins) -> Layers:
    """Return what to stack now: what was added to ``counts``, and what runs."""
    now = store.time
    running = store.running.rows(now)
    start = np.minimum(np.maximum(running["start"], _ends(store)[running["lane"]]), now)
    seconds = counts.with_running(running["prefix"], start, now)
    if not seconds.size:
        return Layers([], np.empty((0, 0)), 0, np.empty(0))
    edges = counts.edges
    if len(running["prefix"]):
        # The last bin is not over: its mean is that of the part that has passed.
        edges[-1] = min(max(now, counts.last_stop, edges[-2] + counts.width_s / 100), edges[-1])
    order = np.argsort(-seconds.sum(axis=1), kind="stable")
    shown, others = order[:MAX_AREAS], order[MAX_AREAS:]
    appeared = store.palette.indices(np.array(counts.prefixes, dtype=np.int64))
    shown = shown[np.argsort(appeared[shown], kind="stable")]
    names = [store.strings[counts.prefixes[row]] for row in shown.tolist()]
    stacked = seconds[shown]
    if len(others):
        names.append("")
        stacked = np.vstack([stacked, seconds[others].sum(axis=0)])
    return Layers(names, stacked / np.diff(edges), len(others), edges)


def _ends(store: Store) -> Floats:
    """Return up to when each row of the lane table computed what has ended; and for none, -inf."""
    lanes = store.lanes
    ends = np.full(lanes.count + 1, -np.inf)
    position = lanes.position
    is_shown = position >= 0
    ends[position[is_shown]] = lanes.last_stop[: len(position)][is_shown]
    return ends


class HoverWords:
    """The lines of hover of all bins; those of bins that are as they were are not made again."""

    def __init__(self) -> None:
        self._layers = Layers([], np.empty((0, 0)), 0, np.empty(0))
        self._words: list[list[str]] = []

    def of(self, layers: Layers) -> list[list[str]]:
        """Return the `HOVER_LINES` lines of each bin."""
        n = _n_same(self._layers, layers)
        n_bins = layers.threads.shape[1]
        self._words[n:] = [hover_words(layers, index) for index in range(n, n_bins)]
        self._layers = layers
        return self._words


def _n_same(old: Layers, new: Layers) -> int:
    """Return how many of the first bins are said to be the same."""
    if list(old.names) != list(new.names):
        return 0
    n = min(old.threads.shape[1], new.threads.shape[1])
    is_same = (old.threads[:, :n] == new.threads[:, :n]).all(axis=0)
    is_same &= (old.edges[: n + 1] == new.edges[: n + 1])[1:]
    is_same &= old.edges[:1] == new.edges[:1]
    return n if is_same.all() else int(np.argmin(is_same))


def hover_words(layers: Layers, index: int) -> list[str]:
    """Return the `HOVER_LINES` lines of one bin: threads at work, when, the largest layers."""
    begin, end = layers.edges[index : index + 2] - layers.edges[0]
    threads = layers.threads[:, index]
    when = fmt.clock(layers.edges[index])
    said = [
        f"{fmt.significant(float(threads.sum()))} threads computing",
        f"{fmt.duration(begin)} to {fmt.duration(end)} · {when}",
    ]
    room = HOVER_LINES - len(said)
    order = [row for row in np.argsort(-threads).tolist() if threads[row] >= 0.005]
    shown = order if len(order) <= room else order[: room - 1]
    for row in shown:
        name = shown_name(layers.names[row], 60) if layers.names[row] else "others"
        said.append(f"{name}: {fmt.significant(float(threads[row]))}")
    if len(order) > len(shown):
        rest = float(threads[order[len(shown) :]].sum())
        said.append(f"{len(order) - len(shown)} more: {fmt.significant(rest)}")
    return said + [""] * (HOVER_LINES - len(said))
