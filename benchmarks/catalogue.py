"""What one update of each plot costs, in time and bytes, as clusters and histories grow."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Final

from benchmarks.drawn import Drawn
from benchmarks.life import Life
from benchmarks.report import Figure
from benchmarks.stock_updates import stock_updates
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


def our_costs(n_workers: int, n_tasks: int) -> dict[str, Cost]:
    """Return the cost of one update of every plot at one size of cluster and history."""
    life = Life(n_workers, n_tasks, STEPS)
    drawn = {plot.name: Drawn(plot.name, life.store) for plot in PLOTS}
    seen: dict[str, list[tuple[float, int]]] = {name: [] for name in drawn}
    gc.collect()
    gc.disable()
    try:
        for _ in range(STEPS):
            life.step()
            for name, plot in drawn.items():
                seen[name].append(plot.update(life.off_loop.work))
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
