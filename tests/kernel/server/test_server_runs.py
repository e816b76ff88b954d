"""What is told of runs, and plots that are of one."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from dask_diag_lab.store.runs import Piece
from dask_diag_lab.views.registry import built_in_plots
from tests.kernel.server.browser import BrowserPage, Connection
from tests.kernel.serving import Served, serving, until
from tests.kernel.store.batches import T0, BatchMaker, prefix_row, worker_row


@asynccontextmanager
async def two_runs() -> AsyncIterator[tuple[Served, BatchMaker]]:
    """Serve one run that is over, and one that goes on."""
    async with serving(built_in_plots(), has_data=False) as served:
        served.live.set_feed_state("live", "", T0)
        runs, maker = served.live.history.runs, BatchMaker()
        runs.clients.add("mine")
        runs.note_code(Piece("1", "<first>", "cell-1", 1, T0, T0 + 10))
        runs.note_code(Piece("2", "second", "cell-2", 2, T0 + 20))
        for at in range(4):
            maker.action(at, at + 1, prefix="earlier-ones", graph=1)
            maker.action(at + 20, at + 21, prefix="later-ones", graph=2)
        maker.time = T0 + 25
        graphs = [(1, 0.0, "mine", 4), (2, 20.0, "mine", 9)]
        busy = [prefix_row("later-ones", processing=5)]
        workers = [worker_row("tcp://w0:1", nthreads=1)]
        served.live.apply(maker.batch(graphs=graphs, prefixes=busy, workers=workers))
        yield served, maker


async def test_the_list_has_the_newest_first_with_what_became_of_its_time() -> None:
    async with two_runs() as (served, _):
        brief = (await served.json("/runs.json?brief=1"))["runs"]
        assert [(one["number"], one["budget"]) for one in brief] == [(2, {}), (1, {})]
        second, first = (await served.json("/runs.json"))["runs"]
        assert (first["name"], first["cell"], first["count"]) == ("<first>", "cell-1", 1)
        assert (first["state"], first["stop"], second["stop"]) == ("done", T0 + 10, None)
        assert (second["tasks"], second["submitted"]) == (4, 9)
        assert sum(first["budget"].values()) == first["offered_s"]
        assert first["line"].startswith("10.0 s · 60 % idle")
        assert first["findings"] == 1


async def test_of_a_run_that_goes_on_length_and_idle_share_are_of_one_moment() -> None:
    async with two_runs() as (served, maker):
        await served.json("/runs.json")
        maker.time = T0 + 40
        served.live.apply(maker.batch())  # in which no task has ended
        line = ""
        async with asyncio.timeout(20):
            while not re.match(r"2\d\.\d s · 8\d % idle", line):
                await asyncio.sleep(0.05)
                line = (await served.json("/runs.json"))["runs"][0]["line"]


async def test_a_page_is_told_of_runs_and_of_what_changes_and_then_no_more() -> None:
    async with two_runs() as (served, maker):
        connection = await Connection.open(served)
        await connection.send(type="runs", wanted=True, closely=True)
        told: list[dict[str, Any]] = await until(lambda: connection.runs, "nothing is told")
        assert [run["number"] for run in told] == [2, 1]
        assert served.watched[-1]
        served.live.apply(maker.action(24, 30, prefix="later-ones", graph=2).batch())
        await until(lambda: connection.runs[0]["tasks"] == 5, "the change is not told")
        await connection.send(type="runs", wanted=False, closely=False)
        await until(lambda: not served.watched[-1], "it is watched on")
        await connection.close()


async def test_plots_of_a_run_show_it_and_follow_it_to_its_end() -> None:
    async with two_runs() as (served, maker):
        connection = await Connection.open(served)
        page = await BrowserPage.open(served, "compute-time-per-key", connection=connection)
        await connection.send(type="period", run=1)
        await until(lambda: json.loads(page.control.period or "{}"), "it shows no run")
        assert json.loads(page.control.period)["text"] == "[1] <first>"
        await until(lambda: "10.0 s from" in page.control.note, "it is of another time")
        await connection.send(type="period", run=2)
        await until(lambda: "later-ones" in str(page.document.to_json()), "it shows the other")
        assert "10.0 s" not in page.control.note  # it goes on
        served.live.history.runs.note_code(Piece("2", stop=T0 + 30))
        for at in range(5):
            maker.action(25 + at, 26 + at, prefix="later-ones", graph=2)
        maker.time = T0 + 31
        served.live.apply(maker.batch(prefixes=[prefix_row("later-ones", memory=9)]))
        await until(lambda: "10.0 s from" in page.control.note, "it does not end")
        await connection.close()


async def test_tables_are_of_a_run_that_is_named_and_say_which_there_are() -> None:
    async with two_runs() as (served, _):
        table = await served.json("/plots/compute-time-per-key.json?run=1")
        assert table["columns"]["prefix"] == ["earlier-ones"]
        missing = await served.ask("/plots/compute-time-per-key.json?run=7")
        assert (missing.code, b"1 to 2 are kept" in missing.body) == (400, True)
