"""What one update of each plot costs, in time and bytes, as clusters and histories grow."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from typing import Final

from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.models import Plot as BokehPlot
from bokeh.models.ui import UIElement
from bokeh.protocol import Protocol

from benchmarks.life import Life
from benchmarks.report import Figure
from benchmarks.stock_updates import stock_updates
from dask_diag_lab.store import Store
from dask_diag_lab.views.registry import PLOTS

TITLE = "One update of each plot, everything it shows changing"
SCALES: Final = ((10, 10_000), (100, 100_000), (1000, 1_000_000))
"""Workers and tasks."""
STEPS: Final = 7
BUDGET_MS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Cost:
    """Median milliseconds of an update, and the median bytes of the patch that it makes."""

    ms: float
    nbytes: float


class _Drawn:
    """One plot of the catalogue in a document of its own."""

    def __init__(self, name: str, store: Store) -> None:
        plot = next(plot for plot in PLOTS if plot.name == name)
        self.view = plot.load()(store)
        self._document = Document()
        root = self.view.build()
        self._document.add_root(root)
        _report_sizes(root)
        self.view.update()
        self._events: list[DocumentPatchedEvent] = []
        self._document.on_change(self._note)

    def _note(self, event: object) -> None:
        if isinstance(event, DocumentPatchedEvent):
            self._events.append(event)

    def update(self) -> tuple[float, int]:
        """Update once; return milliseconds and the bytes of the message that it makes."""
        self._events.clear()
        began = time.perf_counter()
        self.view.update()
        ms = (time.perf_counter() - began) * 1000
        return ms, patch_bytes(self._events)

    def close(self) -> None:
        self.view.close()
        self._document.clear()


def _report_sizes(root: UIElement) -> None:
    """Tell each figure its size, as a browser does."""
    for part in root.select({"type": BokehPlot}):
        part.set_from_json("outer_width", 900)
        part.set_from_json("outer_height", 500)


def patch_bytes(events: list[DocumentPatchedEvent]) -> int:
    """Return the bytes of the websocket message that carries these changes."""
    if not events:
        return 0
    message = Protocol().create("PATCH-DOC", events)
    buffers = sum(len(buffer.to_bytes()) for buffer in message.buffers)
    return len(message.content_json) + len(message.header_json) + buffers


def our_costs(n_workers: int, n_tasks: int) -> dict[str, Cost]:
    """Return the cost of one update of every plot at one size of cluster and history."""
    life = Life(n_workers, n_tasks, STEPS)
    drawn = {plot.name: _Drawn(plot.name, life.store) for plot in PLOTS}
    seen: dict[str, list[tuple[float, int]]] = {name: [] for name in drawn}
    gc.collect()
    gc.disable()
    try:
        for _ in range(STEPS):
            life.step()
            for name, plot in drawn.items():
                seen[name].append(plot.update())
    finally:
        gc.enable()
    for plot in drawn.values():
        plot.close()
    return {
        name: Cost(_median([ms for ms, _ in costs]), _median([float(n) for _, n in costs]))
        for name, costs in seen.items()
    }


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def measure() -> list[Figure]:
    """Return every plot at the largest scale, and the slowest one at the smaller scales."""
    figures = []
    for n_workers, n_tasks in SCALES:
        ours, stock = our_costs(n_workers, n_tasks), stock_updates(n_workers, n_tasks)
        where = f"{n_workers:,} workers, {n_tasks:,} tasks"
        if n_tasks < SCALES[-1][1]:
            ours = {name: cost for name, cost in ours.items() if name in stock}
        for name, cost in sorted(ours.items(), key=lambda item: -item[1].ms):
            note = f"{cost.nbytes / 1000:.1f} kB sent"
            figures.append(
                Figure(f"{where}: {name}", "ms", cost.ms, stock.get(name), BUDGET_MS, note)
            )
    return figures
