"""Plots as a browser's page has them, and what it costs to bring one up to date."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from bokeh.models import Plot as BokehPlot

from dask_diag_lab.server.page import Page
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.registry import Plot


class Browser:
    """Takes the place of a browser's stream, and counts the bytes that it is sent."""

    is_sending = has_several = False

    def __init__(self) -> None:
        self.sent_bytes = 0

    def send(self, text: str, parts: list[bytes]) -> None:
        """Take a message."""
        self.sent_bytes += len(text) + sum(map(len, parts))


class Cost(NamedTuple):
    """Milliseconds: processor time of all threads, of the longest turn on the loop; and passed."""

    cpu: float
    turn: float
    wall: float


async def page_of(plot: Plot, live: LiveSession, browser: Browser) -> Page:
    """Return a page of a usual size that has drawn all that there is."""
    stream: Any = browser  # all that a page uses of one
    page = Page(plot, live, LIGHT, {}, stream, "1")
    for part in page.document.roots[0].select({"type": BokehPlot}):  # as a browser tells it
        part.set_from_json("outer_width", 900)
        part.set_from_json("outer_height", 500)
    await cost(page, live)
    while page.view is not None and page.view.is_behind:
        await cost(page, live)
    return page


async def cost(page: Page, live: LiveSession, act: Callable[[], object] = bool) -> Cost:
    """Do something, and bring the page up to date until nothing more is worked out for it."""
    turns, began, n_done = list[float](), time.perf_counter(), -1
    with live.jobs.noticed() as jobs:
        while n_done != live.jobs.version:
            n_done, begun = live.jobs.version, time.thread_time()
            if not turns:
                act()
            page.update()
            turns.append(time.thread_time() - begun)
            while live.jobs.n_open:
                await asyncio.sleep(1e-3)
    wall_s = time.perf_counter() - began
    if page.control.state == "error":
        raise RuntimeError(page.control.message)
    cpu_s = sum(turns) + sum(job.took_s for job in jobs)
    return Cost(1e3 * cpu_s, 1e3 * max(turns), 1e3 * wall_s)
