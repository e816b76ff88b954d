"""What the bars of the progress plot stand for: prefixes, groups or spans, in the order wanted.

Reads the store; knows no Bokeh.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.records import STATES
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.span_names import told_apart, without_start
from dask_diag_lab.views.tasks import progress_bars as bars
from dask_diag_lab.views.tasks.progress_bars import Floats, Ints
from dask_diag_lab.views.tasks.progress_estimate import Begun

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

KINDS: Final = (("prefix", "by prefix"), ("group", "by group"), ("span", "by span"))
"""What a bar may stand for, and its words in the list of choices."""

ORDERS: Final = (("size", "work left first"), ("topological", "by flow of work"))
"""``size``: with work left first, then most tasks first. ``topological``: what others need first,
spans by the start of their work."""

NO_SPANS: Final = 'No spans yet. Name parts of a computation: with distributed.span("name"): …'
NESTED: Final = "a span counts the tasks of the spans inside it as well"
WAITING_FOR_SPANS: Final = "Waiting for the scheduler's answer."


@dataclass(frozen=True, slots=True)
class Rows:
    """One row a bar, in the order in which they are shown; all columns are of equal length.

    Attributes
    ----------
    names : sequence of str
    prefixes : sequence of str
        The prefix that gives the colour; '' of spans, which have many.
    states : ndarray of int64
        Tasks in each of `STATES`.
    held : ndarray of int64
        Bytes in memory, replicas not counted; -1 while unknown.
    duration : ndarray of float64
        Mean seconds of a task; NaN while unknown.
    """

    names: Sequence[str]
    prefixes: Sequence[str]
    states: Ints
    held: Ints
    duration: Floats

    def __len__(self) -> int:
        return len(self.names)

    def take(self, order: Ints) -> Rows:
        """Return some of the rows in another order."""
        indices = order.tolist()
        return Rows(
            [self.names[i] for i in indices],
            [self.prefixes[i] for i in indices],
            *(self.states[order], self.held[order], self.duration[order]),
        )


def rows_of(store: Store, kind: str, order: str) -> Rows:
    """Return the rows of one of `KINDS` in one of `ORDERS`; rows without tasks are left out."""
    rows, flow = _SOURCES[kind]
    made = rows(store)
    if order == "topological":
        places = flow(store)
    else:
        is_done = bars.remaining(made.states) == 0
        places = np.lexsort((-made.states.sum(axis=1), is_done))
    return made.take(places[made.states[places].sum(axis=1) > 0])


def begun(store: Store) -> Begun:
    """Return what runs now of the prefixes, by their order in the store."""
    now = store.time
    running = store.running.rows(now)
    index = {store.strings.find(name): i for i, name in enumerate(store.prefixes.names)}
    prefix = np.array([index.get(string, -1) for string in running["prefix"].tolist()], np.int64)
    is_known = prefix >= 0
    return Begun(prefix[is_known], now - running["start"][is_known])


def dropped_note(store: Store, kind: str) -> str:
    """Return how many rows there were of which nothing is known any more; '' for none."""
    dropped = store.left_out.get("groups", 0) if kind == "group" else 0
    return f"{fmt.plural(dropped, 'older group')} that ended not kept" if dropped else ""


def nested_note(store: Store, kind: str) -> str:
    """Return that bars overlap, where spans lie inside others; '' where no bar holds another."""
    is_nested = kind == "span" and any(store.extras["spans"]["parent"].tolist())
    return NESTED if is_nested else ""


def why_no_rows(store: Store, kind: str, no_tasks: str) -> str:
    """Return why there are no rows of a kind."""
    if kind != "span":
        return no_tasks
    return NO_SPANS if store.extras["spans"].is_known else WAITING_FOR_SPANS


def _flow_of_prefixes(store: Store) -> Ints:
    return store.prefixes.topological


def _prefixes(store: Store) -> Rows:
    prefixes = store.prefixes
    names = prefixes.names
    return Rows(names, names, prefixes.states, prefixes.nbytes, prefixes.duration)


def _groups(store: Store) -> Rows:
    """Return the groups that are there, then those that are gone and were done or failed."""
    there, gone = store.groups, store.ended_groups
    states = np.concatenate([there.states, gone.states])
    mean = _mean(np.concatenate([there.duration, gone.duration]), states)
    held = np.concatenate([there.nbytes, gone.nbytes])
    return Rows(there.names + gone.names, there.prefix + gone.prefix, states, held, mean)


def _spans(store: Store) -> Rows:
    spans = store.extras["spans"]
    states = np.array(spans["states"].tolist(), dtype=np.int64).reshape(-1, len(STATES))
    names, starts, ids = (spans[column].tolist() for column in ("name", "start", "id"))
    left, erred = bars.remaining(states).tolist(), bars.counts(states, "erred").tolist()
    names = told_apart(names, starts, ids, list(map(without_start, left, erred)))
    held = spans["nbytes"].astype(np.int64)
    mean = _mean(spans["seconds"].astype(np.float64), states)
    return Rows(names, [""] * len(names), states, held, mean)


def _mean(seconds: Floats, states: Ints) -> Floats:
    done = bars.done(states) + bars.counts(states, "erred")
    mean: Floats = np.where(done > 0, seconds / np.maximum(done, 1), np.nan)
    return mean


def _flow_of_groups(store: Store) -> Ints:
    there, gone = store.groups, store.ended_groups
    names = there.names + gone.names
    needs = dict(zip(names, there.dependencies + gone.dependencies, strict=True))
    return np.argsort(_depths(names, needs), kind="stable")


def _depths(names: Sequence[str], needs: Mapping[str, Sequence[str]]) -> Ints:
    """Return for each name 1 + the largest depth of what it needs; groups never form a circle."""
    dependents: dict[str, list[str]] = {name: [] for name in names}
    missing = dict.fromkeys(names, 0)
    for name, needed in needs.items():
        for other in needed:
            if other in missing and other != name:
                dependents[other].append(name)
                missing[name] += 1
    depth = dict.fromkeys(names, 0)
    ready = [name for name in names if not missing[name]]
    while ready:
        name = ready.pop()
        for other in dependents[name]:
            depth[other] = max(depth[other], depth[name] + 1)
            missing[other] -= 1
            if not missing[other]:
                ready.append(other)
    return np.array([depth[name] for name in names], dtype=np.int64)


def _flow_of_spans(store: Store) -> Ints:
    start = store.extras["spans"]["start"].astype(np.float64)
    # Those that have not begun come last, in the order in which they were made.
    return np.argsort(np.where(np.isfinite(start), start, np.inf), kind="stable")


_SOURCES: Final[Mapping[str, tuple[Callable[[Store], Rows], Callable[[Store], Ints]]]] = {
    "prefix": (_prefixes, _flow_of_prefixes),
    "group": (_groups, _flow_of_groups),
    "span": (_spans, _flow_of_spans),
}
"""For each of `KINDS` its rows, and the order in which work flows through them."""
