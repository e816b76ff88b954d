"""Any plot of any window: from asking for a stretch of time until its data are on their way."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from functools import cached_property, partial
from itertools import cycle
from typing import Any, Final

import numpy as np

from benchmarks.changing import ChangingCluster
from benchmarks.pages import Browser, Cost, cost, page_of
from benchmarks.report import Figure
from dask_diag_lab.jobs import JobRunner
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.queries import Query
from dask_diag_lab.store.sums import Window
from dask_diag_lab.views.registry import Plot, built_in_plots
from dask_diag_lab.views.view import arguments_of

_WORKERS, _THREADS, _TASKS, _STEPS = 100, 10, 1_000_000, 10
_SHARES: Final = (0.001, 0.01, 0.1, 0.5, 1.0)
"""Of the time that the history has."""
_PLACES: Final = (0.0, 0.5, 1.0)
"""Where a window lies: at the begin, in the middle, at the end."""
_REPEATS: Final = 3
_BUDGET_MS: Final = 100.0
_OF_ALL_MS: Final = {"budget": 2000.0, "findings": 2000.0}
"""Plots that have a budget of their own where the window has all tasks."""
_TURN_MS: Final = 20.0
_TRANSFERS: Final = 40_000
"""Of an answer: `answers.MAX_ALL_TRANSFERS`."""


async def _costs(plot: Plot, live: LiveSession) -> dict[float, Cost]:
    """Return the cost of the worst window of each width, each shown after another one."""
    actions = live.history.actions
    begin, span = actions.first_start, actions.last_stop - actions.first_start
    page = await page_of(plot, live, Browser())
    places = [(share, place) for share in _SHARES for place in _PLACES if share < 1 or not place]
    seen: dict[tuple[float, float], list[Cost]] = {at: [] for at in places}
    for _ in range(_REPEATS):
        for share, place in places:
            start = begin + place * (1 - share) * span
            selection = arguments_of(Window(start, start + share * span))
            gc.collect()
            gc.disable()  # in whose time it would run is chance
            seen[share, place].append(await cost(page, live, partial(page.select, selection)))
            gc.enable()
    page.close()
    worst: dict[float, Cost] = {}
    for (share, _), costs in seen.items():
        least = map(min, zip(*costs, strict=True))
        worst[share] = Cost(*map(max, least, worst.get(share, Cost(0, 0, 0))))
    return worst


def _figures(name: str, worst: dict[float, Cost]) -> Iterator[Figure]:
    """Yield the worst window of a plot; where it is over the budget, the other ones as well."""
    for share, its in sorted(worst.items(), key=lambda item: -item[1].cpu):
        note = f"{its.turn:.1f} at once on the loop, {its.wall:.0f} passed"
        budget_ms = _OF_ALL_MS.get(name, _BUDGET_MS) if share == 1 else _BUDGET_MS
        yield Figure(f"{name}, {100 * share:g} %", "ms", its.cpu, None, budget_ms, note)
        if its.cpu <= _BUDGET_MS:
            return


class _Cluster(ChangingCluster):
    """A cluster whose workers tell of their transfers, too."""

    def _answer(self, query: Query) -> None:
        if query.kind == "transfers":
            self.live.answer(query, {"rows": self._transfers, "missing": {}})
        else:
            super()._answer(query)

    @cached_property
    def _transfers(self) -> list[dict[str, Any]]:  # as workers send them
        """Return as many as an answer has, of all the time that there is."""
        addresses, actions = self.live.history.workers.address, self.live.history.actions
        ends = np.linspace(actions.first_start, actions.last_stop, _TRANSFERS).tolist()
        same = {"direction": "in", "compressed": None, "rate": 1e8, "keys": 1, "nbytes": 10**6}
        return [
            same | {"key": f"x-{i}", "worker": to, "peer": of, "start": end - 0.01, "stop": end}
            for i, (end, to, of) in enumerate(
                zip(ends, cycle(addresses), cycle(reversed(addresses)), strict=False)
            )
        ]


async def _all() -> list[Figure]:
    live = _Cluster(_WORKERS, _TASKS, _STEPS, _THREADS).live
    runner = JobRunner(live.jobs, live.job_done)
    figures, turns = list[Figure](), dict[str, float]()
    for plot in built_in_plots():
        if plot.has_period:
            worst = await _costs(plot, live)
            figures += _figures(plot.name, worst)
            turns[plot.name] = max(its.turn for its in worst.values())
    runner.close()
    slowest = max(turns, key=turns.__getitem__)
    what = f"longest turn on the loop, of {slowest}"
    return [*figures, Figure(what, "ms", turns[slowest], None, _TURN_MS)]


def any_window() -> list[Figure]:
    """Return what each plot with a period takes for its worst window."""
    return asyncio.run(_all())
