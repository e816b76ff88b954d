"""What one update of a plot costs, in time and bytes, no browser needed."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.models import Plot as BokehPlot
from bokeh.protocol import Protocol

from benchmarks import stock
from benchmarks.changing import ChangingCluster, JobsByHand, group_row
from benchmarks.report import Figure
from benchmarks.simulator import BEGIN
from dask_diag_lab.schema import STATES, Batch, Change, GraphChange, SchedulerInfo
from dask_diag_lab.schema.columns import columns_of
from dask_diag_lab.schema.tables import EVENTS, GROUPS, NODE_STATES, NODES, TableSchema
from dask_diag_lab.schema.tables import PREFIXES as PREFIX_TABLE
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.registry import built_in_plots

SCALES: Final = ((10, 10_000), (100, 100_000), (1000, 1_000_000))
"""Workers and tasks."""
BUDGET_MS: Final = 10.0
_STEPS: Final = 7
_INFO: Final = SchedulerInfo("simulated", "tcp://127.0.0.1:1", BEGIN, 0, 8, 0, {})
_WIDTH: Final = 75
"""Groups of a layer."""

Cost = tuple[float, float]
"""Milliseconds of an update, and bytes of the patch that it makes."""
Fields = Callable[[int], dict[str, Any]]
"""Fields of the `Batch` of a step, of several types; of step 0, what is there first."""


class DrawnPlot:
    """One plot of the catalogue in a document of its own."""

    def __init__(self, name: str, live: LiveSession) -> None:
        plot = next(plot for plot in built_in_plots() if plot.name == name)
        self._view = plot(live)
        self._document = Document()
        root = self._view.build()
        self._document.add_root(root)
        for part in root.select({"type": BokehPlot}):  # as a browser tells it
            part.set_from_json("outer_width", 900)
            part.set_from_json("outer_height", 500)
        self._view.update()
        self._events: list[object] = []
        self._document.on_change(self._events.append)

    def catch_up(self, jobs: JobsByHand) -> None:
        """Draw all that there is."""
        self.update(jobs)
        while self._view.is_behind:
            self.update(jobs)

    def update(self, jobs: JobsByHand) -> Cost:
        """Bring it up to date.

        Where something is made off the loop meanwhile, there are several updates: the milliseconds
        are the longest one's, which is what holds up others.
        """
        self._events.clear()
        times = [self._update_ms()]
        while jobs.work():
            times.append(self._update_ms())
        patches = [event for event in self._events if isinstance(event, DocumentPatchedEvent)]
        if not patches:
            return max(times), 0
        message = Protocol().create("PATCH-DOC", patches)
        buffers = sum(len(buffer.to_bytes()) for buffer in message.buffers)
        return max(times), len(message.content_json) + len(message.header_json) + buffers

    def _update_ms(self) -> float:
        began = time.perf_counter()
        self._view.update()
        return (time.perf_counter() - began) * 1000


def costs(
    names: list[str], live: LiveSession, jobs: JobsByHand, step: Callable[[], object]
) -> dict[str, Cost]:
    """Return the median cost of an update of plots after each of some steps."""
    drawn = {name: DrawnPlot(name, live) for name in names}
    for plot in drawn.values():
        plot.catch_up(jobs)
    seen: dict[str, list[Cost]] = {name: [] for name in names}
    gc.collect()
    for _ in range(_STEPS):
        step()
        gc.disable()  # in whose update it would run is chance
        for name, plot in drawn.items():
            seen[name].append(plot.update(jobs))
        gc.enable()
    return {
        name: (statistics.median(ms for ms, _ in rows), statistics.median(n for _, n in rows))
        for name, rows in seen.items()
    }


def catalogue() -> list[Figure]:
    """Return every plot at the largest scale, and those that stock has at the smaller scales."""
    figures = []
    for n_workers, n_tasks in SCALES:
        theirs = stock.updates(n_workers, n_tasks)
        is_largest = (n_workers, n_tasks) == SCALES[-1]
        names = [plot.name for plot in built_in_plots() if is_largest or plot.name in theirs]
        cluster = ChangingCluster(n_workers, n_tasks, _STEPS)
        ours = costs(names, cluster.live, cluster.jobs, cluster.step)
        for name, (ms, nbytes) in sorted(ours.items(), key=lambda item: -item[1][0]):
            what = f"{n_workers:,} workers, {n_tasks:,} tasks: {name}"
            note = f"{nbytes / 1000:.1f} kB sent"
            figures.append(Figure(what, "ms", ms, theirs.get(name), BUDGET_MS, note))
    return figures


def _rows(table: TableSchema, rows: Sequence[Any]) -> dict[str, Any]:
    return {"tables": {table.name: Change(columns_of(table, rows))}}


def _prefixes(step: int) -> dict[str, Any]:
    """Return 1000 prefixes at first, and then the one that has changed."""

    def row(i: int) -> dict[str, Any]:  # a row of PREFIXES
        counts = dict.fromkeys(STATES, 0) | {"memory": 1000, "released": i, "waiting": i + step}
        states = list(counts.values())
        return {"name": f"p{i}", "states": states, "nbytes": (i + step) << 20, "duration": 0.1}

    return _rows(PREFIX_TABLE, [row(7)] if step else [row(i) for i in range(1000)])


def _groups(step: int) -> dict[str, Any]:
    """Return 3000 groups in layers of `_WIDTH` at first, and then the last with other counts."""
    numbers = [2999] if step else range(3000)
    rows = [group_row(i, [i - _WIDTH] if i >= _WIDTH else [], step) for i in numbers]
    return _rows(GROUPS, rows)


def _graph(step: int) -> dict[str, Any]:
    """Return a binary tree of 5000 tasks at first, and then another state for every one."""
    tasks = [(f"t-{n}", "t", [f"t-{n // 2}"] if n else []) for n in range(5000)]
    nodes = None if step else Change(columns_of(NODES, tasks))
    states = Change(columns_of(NODE_STATES, [(key, step % len(STATES)) for key, *_ in tasks]))
    return {"graph": GraphChange(True, 5000, 5000, nodes, states)}


def _events(step: int) -> dict[str, Any]:
    """Return 10 000 events at first, and then one more."""
    seconds = [500.0 + step] if step else [i * 0.05 for i in range(10_000)]
    return _rows(EVENTS, [(BEGIN + s, "restart", {}) for s in seconds])


MANY_ROWS: Final[Mapping[tuple[str, str], Fields]] = {
    ("progress", "1000 prefixes, one changes"): _prefixes,
    ("memory-by-key", "1000 prefixes, one changes"): _prefixes,
    ("groups", "3000 groups, one changes"): _groups,
    ("graph", "5000 tasks, all change"): _graph,
    ("events", "10 000 events, one more"): _events,
}
"""A plot and what it has many of, and the batches that bring them."""


def many_rows() -> list[Figure]:
    """Return the plots that have a row for something other than workers or tasks."""
    return [_many_rows(name, what, fields) for (name, what), fields in MANY_ROWS.items()]


def batch_of(fields: Fields, step: int) -> Batch:
    """Return the batch of a step."""
    now = BEGIN + 500 + step
    return Batch("simulated", now, now, _INFO, **fields(step))


def _many_rows(name: str, what: str, fields: Fields) -> Figure:
    live, steps = LiveSession(clock=lambda: BEGIN + 600), iter(range(_STEPS + 1))

    def bring() -> None:
        live.apply(batch_of(fields, next(steps)))

    jobs = JobsByHand(live)
    bring()
    ms, nbytes = costs([name], live, jobs, bring)[name]
    if not nbytes:
        msg = f"{name} was not drawn again: {what}"
        raise RuntimeError(msg)
    return Figure(f"{name}: {what}", "ms", ms, None, BUDGET_MS, f"{nbytes / 1000:.1f} kB sent")
