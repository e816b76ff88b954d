"""What one update of a plot costs, in time and bytes, no browser needed."""

from __future__ import annotations

import asyncio
import gc
from statistics import median
from typing import Final

from benchmarks import stock
from benchmarks.changing import ChangingCluster
from benchmarks.pages import Browser, cost, page_of
from benchmarks.report import Figure
from dask_diag_lab.jobs import JobRunner
from dask_diag_lab.views.registry import built_in_plots

SCALES: Final = ((10, 10_000), (100, 100_000), (1000, 1_000_000))
"""Workers and tasks."""
BUDGET_MS: Final = 15.0
"""Of a turn on the loop, whatever it does."""
_STEPS: Final = 7


async def _costs(names: list[str], cluster: ChangingCluster) -> dict[str, tuple[float, float]]:
    """Return the median cost of an update after each of some steps, and what it sends.

    Where something is made off the loop meanwhile, there are several updates: the milliseconds are
    the longest one's, which is what holds up others.
    """
    live = cluster.live
    runner = JobRunner(live.jobs, live.job_done)
    browsers = {plot: Browser() for plot in built_in_plots() if plot.name in names}
    pages = {plot: await page_of(plot, live, browser) for plot, browser in browsers.items()}
    turns = {plot: list[float]() for plot in pages}
    for browser in browsers.values():
        browser.sent_bytes = 0
    for _ in range(_STEPS):
        cluster.step()
        gc.collect()
        gc.disable()  # in whose update it would run is chance
        for plot, page in pages.items():
            turns[plot].append((await cost(page, live)).turn)
        gc.enable()
    runner.close()
    for page in pages.values():
        page.close()
    return {
        plot.name: (median(turns[plot]), browser.sent_bytes / _STEPS)
        for plot, browser in browsers.items()
    }


def catalogue() -> list[Figure]:
    """Return every plot at the largest scale, and those that stock has at the smaller scales."""
    figures = []
    for n_workers, n_tasks in SCALES:
        theirs = stock.updates(n_workers, n_tasks)
        is_largest = (n_workers, n_tasks) == SCALES[-1]
        names = [plot.name for plot in built_in_plots() if is_largest or plot.name in theirs]
        ours = asyncio.run(_costs(names, ChangingCluster(n_workers, n_tasks, _STEPS)))
        for name, (ms, nbytes) in sorted(ours.items(), key=lambda item: -item[1][0]):
            what = f"{n_workers:,} workers, {n_tasks:,} tasks: {name}"
            note = f"{nbytes / 1000:.1f} kB sent"
            figures.append(Figure(what, "ms", ms, theirs.get(name), BUDGET_MS, note))
    return figures
