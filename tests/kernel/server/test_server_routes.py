"""Every route answers what it promises, with headers that keep a browser safe."""

from __future__ import annotations

import asyncio
import gzip
import sys

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse

from dask_diag_lab.server import Server
from dask_diag_lab.server.context import OWN
from dask_diag_lab.server.page import address_of
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.registry import built_in_plots
from tests.kernel.server.browser import BrowserPage, Connection
from tests.kernel.server.sample_views import SAMPLES
from tests.kernel.serving import TOKEN, Endpoint, Served, make_batch, serving
from tests.kernel.store.batches import group_row

PLOTS = built_in_plots()
NAMES = [plot.name for plot in PLOTS]


async def unavailable(served: Served) -> dict[str, str]:
    plots = (await served.json("/plots.json"))["plots"]
    assert all(plot["title"] and plot["group"] and plot["description"] for plot in plots)
    assert [plot["name"] for plot in plots] == NAMES
    return {plot["name"]: plot["unavailable"] for plot in plots if "unavailable" in plot}


async def test_indexes_list_the_registry_and_say_what_can_have_no_data() -> None:
    async with serving() as served:
        before = (await served.json("/health"))["plots_version"]
        reasons = await unavailable(served)
        assert "No worker reports a GPU" in reasons["gpu-memory"]
        assert ("profile-server" in reasons) == (sys.version_info[:2] == (3, 11))
        assert "task-stream" not in reasons
        batch = make_batch(2)
        batch.tables["workers"].columns["metrics"][:] = [{"gpu_utilization": 50.0}] * 2
        served.live.apply(batch)
        assert {*reasons} - {*await unavailable(served)} == {"gpu-utilization", "gpu-memory"}
        assert (await served.json("/health"))["plots_version"] != before
        stock = await served.json("/individual-plots.json")
        assert set(stock.values()) == {f"/individual-{name}" for name in NAMES}


async def test_health_follows_the_feed_and_never_counts_what_is_not_there() -> None:
    async with serving() as served:
        gone = group_row("inc-1", "inc", forgotten=94)
        there = group_row("inc-2", "inc", processing=2, memory=10, erred=4, forgotten=7)
        batch = make_batch(1, groups=[gone, there])
        batch.scheduler.n_erred = 1  # the other three are forgotten
        served.live.apply(batch)
        health = await served.json("/health")
        assert (health["state"], health["workers"], health["threads"]) == ("live", 2, 4)
        assert health["memory"] == 20_000_000
        assert health["tasks"] == {"total": 13, "done": 10, "erred": 1, "processing": 2}
        assert health["losses"] == {"workers": 0, "text": "", "time": 0}
        served.live.set_feed_state("lost", "It is gone.", 1.0)
        health = await served.json("/health")
        assert (health["state"], health["reason"], health["workers"]) == ("lost", "It is gone.", 0)


async def test_pages_have_no_inline_script_and_say_so_to_the_browser() -> None:
    name = '<script>alert("x")</script>.ipynb'
    async with serving(info=lambda: {"id": "0" * 16, "name": name}) as served:
        for path in ("/status", "/info", "/nothing", *(f"/plots/{name}" for name in NAMES)):
            reply = await served.ask(path)
            text = reply.body.decode()
            assert reply.code == (404 if path == "/nothing" else 200)
            policy = reply.headers["Content-Security-Policy"]
            assert "script-src 'self';" in policy
            assert "frame-ancestors 'self'" in policy
            assert reply.headers["X-Content-Type-Options"] == "nosniff"
            assert reply.headers["Cache-Control"] == "no-store"
            assert text.count("<script") == text.count('<script type="module" src="') > 0
            assert "&lt;script&gt;alert" in text
            assert TOKEN not in text


async def test_scripts_are_served_compressed_and_no_other_file_is() -> None:
    async with serving() as served:

        async def raw(**headers: str) -> HTTPResponse:
            given = {"Authorization": f"token {TOKEN}", **headers}
            url = f"{served.url}/static/js/bokeh.min.js"
            request = HTTPRequest(url, headers=given, decompress_response=False)
            return await AsyncHTTPClient().fetch(request, raise_error=False)

        plain, packed = await raw(), await raw(**{"Accept-Encoding": "gzip"})
        assert "Content-Encoding" not in plain.headers
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.body) == plain.body
        assert "max-age" in plain.headers["Cache-Control"]
        assert (await raw(**{"If-None-Match": plain.headers["Etag"]})).code == 304
        for other in ("/static/../handlers.py", "/static/%2e%2e/%2e%2e/server.py", "/static/"):
            assert (await served.ask(other)).code in (403, 404)


async def test_a_pane_that_is_opened_at_once_waits_for_bokeh() -> None:
    info = {"id": "0123456789abcdef", "name": "analysis.ipynb"}
    server = Server(LiveSession(), info=lambda: info, token=TOKEN)
    early = Endpoint(await server.start())
    try:
        script, page = await asyncio.gather(
            early.ask("/static/js/bokeh.min.js"), BrowserPage.open(early, "cpu")
        )
        assert (script.code, page.reason) == (200, "")
    finally:
        await server.stop()
    await page.close()


async def test_a_document_names_the_scripts_that_draw_it() -> None:
    async with serving() as served:
        connection = await Connection.open(served)
        for name, own in (("cpu", OWN), ("workers", "static/js/bokeh-tables.min.js")):
            page = await BrowserPage.open(served, name, connection=connection)
            scripts = page.opened["scripts"]
            assert scripts[0].startswith("static/js/bokeh.min.js?v=")
            assert address_of(own) in scripts
            assert {(await served.ask(f"/{script}")).code for script in scripts} == {200}
        await connection.close()


async def test_an_unknown_path_answers_with_an_error_in_words() -> None:
    async with serving() as served:
        assert (await served.ask("/health", method="POST", body="{}")).code == 405
        for path in ("/plots/nope", "/a/b/c"):
            reply = await served.ask(path)
            assert reply.code == 404
            assert all(plot.title in reply.body.decode() for plot in PLOTS)


async def test_a_table_that_fails_is_an_error_in_words_and_harms_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving(SAMPLES) as served:
        reply = await served.ask("/plots/unbuildable.json")
        assert reply.code == 500
        assert "could not be answered (LookupError: 100 % on purpose)" in reply.body.decode()
        assert (await served.ask("/plots.json")).code == 200
    assert {record.levelname for record in caplog.records} == {"WARNING"}
