"""What one update costs the plots that have a row for something other than workers or tasks."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from benchmarks.catalogue import BUDGET_MS, STEPS
from benchmarks.drawn import Drawn
from benchmarks.off_loop import OffLoop
from benchmarks.report import Figure
from benchmarks.simulator import BEGIN
from dask_diag_lab.records import STATES, Batch, GraphChange, SchedulerInfo
from dask_diag_lab.store import Store

TITLE = "One update of plots with many rows of another kind"

_INFO: Final = SchedulerInfo("simulated", "tcp://127.0.0.1:1", BEGIN, 0, 8, 0, {})
_WIDTH: Final = 75
"""Groups of a layer."""


@dataclass(frozen=True, slots=True)
class Case:
    """A plot, what it has many of, and what a step changes.

    ``tables`` takes the number of the step, 0 for what is there at first.
    """

    plot: str
    what: str
    tables: Callable[[int], dict[str, Any]]  # fields of a Batch, of several types


def _prefixes(step: int) -> dict[str, Any]:  # fields of a Batch
    """Return 1000 prefixes at first, and then the one that has changed."""

    def row(i: int) -> dict[str, Any]:  # a row of PREFIXES
        counts = dict.fromkeys(STATES, 0) | {"memory": 1000, "released": i, "waiting": i + step}
        states = list(counts.values())
        return {"name": f"p{i}", "states": states, "nbytes": (i + step) << 20, "duration": 0.1}

    return {"prefixes": [row(7)] if step else [row(i) for i in range(1000)]}


def _groups(step: int) -> dict[str, Any]:  # fields of a Batch
    """Return 3000 groups in layers of `_WIDTH` at first, and then the last with other counts."""

    def row(i: int) -> dict[str, Any]:  # a row of GROUPS
        counts = dict.fromkeys(STATES, 0) | {"memory": 10 + step, "waiting": 5}
        return {
            "name": f"g{i}",
            "prefix": f"p{i // _WIDTH}",
            "states": list(counts.values()),
            "nbytes": 10**8,
            "duration": 1.0,
            "start": BEGIN,
            "stop": BEGIN + 1,
            "dependencies": [f"g{i - _WIDTH}"] if i >= _WIDTH else [],
            "is_ended": False,
        }

    return {"groups": [row(2999)] if step else [row(i) for i in range(3000)]}


def _graph(step: int) -> dict[str, Any]:  # fields of a Batch
    """Return a binary tree of 5000 tasks at first, and then another state for every one."""
    nodes = range(5000)
    change = GraphChange(is_snapshot=not step, is_exact=True, total=len(nodes), limit=len(nodes))
    if not step:
        change.added = [(n, f"t-{n}", "t", "t", [n // 2] if n else []) for n in nodes]
    change.states = [(n, step % len(STATES)) for n in nodes]
    return {"graph": change}


def _summed(step: int) -> dict[str, Any]:  # fields of a Batch
    """Return 4900 tasks at first, and then the sums of ten pairs of them."""
    n, per_step = 4900, 10
    change = GraphChange(is_snapshot=not step, is_exact=True, total=n, limit=5000)
    first = (step - 1) * per_step
    if not step:
        change.added = [(i, f"t-{i}", "t", "t", []) for i in range(n)]
    else:
        sums = range(first, first + per_step)
        change.added = [(n + i, f"s-{i}", "s", "s", [2 * i, 2 * i + 1]) for i in sums]
    change.states = [(node, 1) for node, *_ in change.added]
    return {"graph": change}


def _renewed(step: int) -> dict[str, Any]:  # fields of a Batch
    """Return 2500 chains of two tasks, of other keys each time."""
    change = GraphChange(is_snapshot=True, is_exact=True, total=5000, limit=5000)
    change.added = [(i, f"t-{step}-{i}", "t", "t", [i - 1] if i % 2 else []) for i in range(5000)]
    change.states = [(i, 1) for i in range(5000)]
    return {"graph": change}


def _events(step: int) -> dict[str, Any]:  # fields of a Batch
    """Return 10 000 events at first, and then one more."""
    seconds = [500.0 + step] if step else [i * 0.05 for i in range(10_000)]
    return {"events": [(BEGIN + s, "restart", {}) for s in seconds]}


CASES: Final = (
    Case("progress", "1000 prefixes, one changes", _prefixes),
    Case("memory-by-key", "1000 prefixes, one changes", _prefixes),
    Case("groups", "3000 groups, one changes", _groups),
    Case("graph", "5000 tasks, all change", _graph),
    Case("graph", "4900 tasks, sums of ten pairs come", _summed),
    Case("graph", "5000 other tasks in chains of two", _renewed),
    Case("events", "10 000 events, one more", _events),
)


def bring(store: Store, case: Case, step: int) -> None:
    """Have a store take the rows of a case: all of them at step 0, then what has changed."""
    now = BEGIN + 500 + step
    store.apply(Batch("simulated", now, now, _INFO, **case.tables(step)))


def _update(case: Case) -> tuple[float, float]:
    """Return the median milliseconds and bytes of an update."""
    store = Store(clock=lambda: BEGIN + 600)
    off_loop = OffLoop(store)
    bring(store, case, 0)
    drawn = Drawn(case.plot, store)
    drawn.update(off_loop.work)
    costs = []
    gc.collect()
    for step in range(1, STEPS + 1):
        bring(store, case, step)
        costs.append(drawn.update(off_loop.work))
    drawn.close()
    if not any(nbytes for _, nbytes in costs):
        msg = f"{case.plot} was not drawn again: {case.what}"
        raise RuntimeError(msg)
    return median(ms for ms, _ in costs), median(nbytes for _, nbytes in costs)


def measure() -> list[Figure]:
    """Return one figure for each plot."""
    figures = []
    for case in CASES:
        ms, nbytes = _update(case)
        note = f"{nbytes / 1000:.1f} kB sent"
        figures.append(Figure(f"{case.plot}: {case.what}", "ms", ms, None, BUDGET_MS, note))
    return figures
