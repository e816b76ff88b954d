"""A stretch of time that is chosen in one plot and shown by all plots of a page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from bokeh.plotting import figure

from dask_diag_lab.views.registry import built_in_plots
from tests.kernel.server.browser import BrowserPage, Connection
from tests.kernel.serving import Served, serving, until
from tests.kernel.store.batches import T0, BatchMaker

PERIOD = {"start": T0 + 20.0, "stop": T0 + 30.0}


@asynccontextmanager
async def opened(*plots: str) -> AsyncIterator[tuple[Served, list[BrowserPage]]]:
    """Serve what two prefixes did, one after the other, with plots open in one page."""
    async with serving(built_in_plots()) as served:
        maker = BatchMaker()
        for at in range(10):
            maker.action(at, at + 1, prefix="earlier-ones")
            maker.action(at + 20, at + 21, prefix="later-ones")
        served.live.apply(maker.batch(graphs=[(1, 0.0, "client", 20)]))
        connection = await Connection.open(served)
        pages = [await BrowserPage.open(served, plot, connection=connection) for plot in plots]
        yield served, pages
        await connection.close()


def said(page: BrowserPage, name: str) -> dict[str, Any]:
    """Return what the control says of a period."""
    found: dict[str, Any] = json.loads(getattr(page.control, name) or "{}")
    return found


async def shows(page: BrowserPage, words: str) -> None:
    await until(lambda: words in page.control.note, f"{page.control.note!r} has no {words!r}")


async def test_all_plots_show_what_is_selected_until_they_go_back_to_live() -> None:
    async with opened("compute-time-per-key", "task-stream", "workers-memory") as (served, pages):
        times, stream, memory = pages
        await times.connection.send(type="period", **PERIOD)
        await shows(times, "10.0 s from")
        await until(lambda: said(stream, "period"), "the stream does not follow")
        assert said(stream, "period")["is_shown"]
        assert json.loads(stream.control.table)["start"] == f"{PERIOD['start']:.6f}"
        assert not said(memory, "period")["is_shown"]  # it shows the present

        later = await BrowserPage.open(served, "progress", connection=times.connection)
        await until(lambda: "later-ones" in str(later.document.to_json()), "it has no data")
        assert "earlier-ones" not in str(later.document.to_json())

        await times.connection.send(type="period")
        await until(lambda: not any(said(page, "period") for page in pages), "one stays behind")
        await until(lambda: "start" not in stream.control.table, "the stream is held")
        assert "from" not in times.control.note


async def test_what_all_plots_show_goes_before_the_run_that_one_was_opened_with() -> None:
    async with opened("progress") as (served, [other]):
        alone, connection = {"run": "1", "stop": f"{T0 + 15:.6f}"}, other.connection
        stream = await BrowserPage.open(served, "task-stream", None, alone, connection)
        await connection.send(type="period", **PERIOD)
        await until(lambda: said(stream, "period").get("is_shown"), "the stream does not follow")
        assert json.loads(stream.control.table) == {n: f"{at:.6f}" for n, at in PERIOD.items()}


async def test_a_stretch_chosen_in_a_picture_is_offered_to_the_other_plots() -> None:
    async with opened("task-stream") as (served, [stream]):
        connection = stream.connection
        await until(lambda: "0 s is" in str(stream.document.to_json()), "it has no data")
        [picture] = stream.document.select({"type": figure})
        assert isinstance(picture, figure)
        times = picture.x_range
        await stream.patch(times, "end", 5.0)
        await until(lambda: stream.control.behind_s, "the window does not move")
        assert not said(stream, "chosen")  # there is no other plot
        await BrowserPage.open(served, "budget", connection=connection)
        await stream.patch(times, "end", 6.0)
        chosen = await until(lambda: said(stream, "chosen"), "it is not offered")
        assert chosen["stop"] == pytest.approx(T0 + 6.0, abs=0.5)
        await connection.send(type="period", start=chosen["start"], stop=chosen["stop"])
        await until(lambda: not said(stream, "chosen"), "it is offered again")
        assert said(stream, "period") == {"text": chosen["text"], "is_shown": True}
        await stream.patch(times, "end", 12.0)
        await until(lambda: said(stream, "chosen"), "another one is not offered")
        assert not said(stream, "period")["is_shown"]


@pytest.mark.parametrize(
    "plot", [plot.name for plot in built_in_plots() if plot.has_period and not plot.unavailable]
)
async def test_each_plot_of_a_stretch_of_time_goes_there_and_back(plot: str) -> None:
    async with opened(plot) as (_, [page]):
        await page.connection.send(type="period", **PERIOD)
        await until(lambda: said(page, "period"), "it is not told")
        assert said(page, "period")["is_shown"]
        await page.connection.send(type="period")
        await until(lambda: not said(page, "period"), "it does not come back")
        assert page.control.state != "error"


@pytest.mark.parametrize(
    "given",
    [
        {"start": 2, "stop": 1},
        {"start": float("nan"), "stop": 1},
        {"start": 1, "stop": 1},
        {"start": 1, "stop": 10**400},
    ],
)
async def test_what_is_no_stretch_of_time_is_refused(given: dict[str, float]) -> None:
    async with opened("budget") as (_, [page]):
        await page.connection.send(type="period", **given)
        await until(lambda: page.connection.is_closed, "the server goes on")
        assert page.connection.socket.close_code == 4400
