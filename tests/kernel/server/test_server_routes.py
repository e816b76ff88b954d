"""Every route answers what it promises, with headers that keep a browser safe."""

from __future__ import annotations

import asyncio
import gzip
import json
import re

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse

from dask_diag_lab.server import tables
from dask_diag_lab.server.routes import STATIC
from dask_diag_lab.server.site import CORE, OWN
from dask_diag_lab.store import Store
from dask_diag_lab.views.registry import PLOTS, Plot
from tests.kernel.serving import TOKEN, WAIT_S, Served, make_batch, run, serving
from tests.kernel.store.batches import group_row

NAMES = [plot.name for plot in PLOTS]


def test_indexes_list_the_registry() -> None:
    async def story() -> None:
        async with serving() as served:
            plots = (await served.json("/plots.json"))["plots"]
            always = [plot.name for plot in PLOTS if not plot.only_with]
            assert [plot["name"] for plot in plots] == always
            assert all(plot["title"] and plot["group"] and plot["description"] for plot in plots)
            stock = await served.json("/individual-plots.json")
            assert set(stock.values()) == {f"/individual-{name}" for name in NAMES}
            titles = {plot.stock_title for plot in PLOTS if plot.stock_title}
            assert titles <= stock.keys()

    run(story())


def test_health_follows_the_feed_and_never_counts_what_is_not_there() -> None:
    async def story() -> None:
        async with serving() as served:
            gone = group_row("inc-1", "inc", forgotten=94)
            there = group_row("inc-2", "inc", processing=2, memory=10, erred=4, forgotten=7)
            batch = make_batch(1, groups=[gone, there])
            batch.scheduler.n_erred = 1  # the other three are forgotten
            served.feed(batch)
            health = await served.json("/health")
            assert health["state"] == "live"
            assert (health["workers"], health["threads"]) == (2, 4)
            assert health["memory"] == 20_000_000
            assert health["tasks"] == {"total": 13, "done": 10, "erred": 1, "processing": 2}
            served.store.set_feed_state("lost", "It is gone.", 1.0)
            served.server.tick()
            health = await served.json("/health")
            assert (health["state"], health["reason"], health["workers"]) == (
                "lost",
                "It is gone.",
                0,
            )

    run(story())


def test_no_workers_and_no_memory_limit_are_fine_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "WAIT_S", 0.01)  # nobody sends what is waited for

    async def story() -> None:
        async with serving() as served:
            for batch in (
                make_batch(2, memory_limit=0),
                make_batch(3, workers=0, removed_workers=["tcp://127.0.0.1:4000"]),
            ):
                served.feed(batch)
                await served.json("/health")
                for name in NAMES:
                    table = await served.json(f"/plots/{name}.json")
                    assert {len(column) for column in table["columns"].values()} <= {table["rows"]}

    run(story())


@pytest.mark.parametrize("path", ["/individual-rmm-memory-of-mars", "/plots/nope", "/a/b/c"])
def test_what_is_missing_is_said_on_a_page_that_names_what_there_is(path: str) -> None:
    async def story() -> None:
        async with serving() as served:
            reply = await served.ask(path)
            text = reply.body.decode()
            assert reply.code == 404
            assert all(plot.title in text for plot in PLOTS)
            assert "/" * 2 not in "".join(line for line in text.splitlines() if "href" in line)

    run(story())


def test_nothing_of_bokehs_own_pages_is_reachable() -> None:
    async def story() -> None:
        async with serving() as served:
            for path in ("/plots/task-stream/autoload.js", "/plots/task-stream/metadata"):
                assert (await served.ask(path)).code == 404

    run(story())


def test_pages_have_no_inline_script_and_say_so_to_the_browser() -> None:
    async def story() -> None:
        async with serving() as served:
            for path in ("/status", *(f"/plots/{name}" for name in NAMES)):
                reply = await served.ask(path)
                text = reply.body.decode()
                assert reply.code == 200
                policy = reply.headers["Content-Security-Policy"]
                assert "script-src 'self';" in policy
                assert "frame-ancestors 'self'" in policy
                assert reply.headers["X-Content-Type-Options"] == "nosniff"
                assert reply.headers["Cache-Control"] == "no-store"
                assert text.count("<script") == text.count('<script type="module" src="') > 0
                assert "http://" not in text
                assert TOKEN not in text

    run(story())


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_no_plot_sends_text_that_the_browser_would_have_to_run(plot: Plot) -> None:
    models = plot.load()(Store()).build().references()
    kinds = {type(model).__name__ for model in models}
    assert not [kind for kind in kinds if kind.startswith("CustomJS") or "HTMLTemplate" in kind]


def test_the_name_of_a_notebook_is_escaped() -> None:
    async def story() -> None:
        name = '<script>alert("x")</script>.ipynb'
        async with serving(info=lambda: {"id": "0" * 16, "name": name}) as served:
            text = (await served.ask("/status")).body.decode()
            assert "<script>alert" not in text
            assert "&lt;script&gt;alert" in text

    run(story())


def test_scripts_are_served_and_kept_and_no_other_file_is() -> None:
    async def story() -> None:
        async with serving() as served:
            await served.server.loaded()
            reply = await served.ask("/static/js/bokeh.min.js")
            assert reply.code == 200
            assert "max-age" in reply.headers["Cache-Control"]
            again = await served.ask(
                "/static/js/bokeh.min.js", headers={"If-None-Match": reply.headers["Etag"]}
            )
            assert again.code == 304
            for path in ("/static/../service.py", "/static/%2e%2e/%2e%2e/server.py", "/static/"):
                assert (await served.ask(path)).code in (403, 404)

    run(story())


def test_large_scripts_are_compressed_once_and_come_whole() -> None:
    async def story() -> None:
        async with serving() as served:
            await served.server.loaded()
            path = "/static/js/bokeh.min.js"
            plain = await _raw(served, path)
            assert "Content-Encoding" not in plain.headers
            # Until it has been packed it is compressed on its way, and nobody knows its length.
            async with asyncio.timeout(WAIT_S):
                while "Content-Length" not in (packed := await _raw(served, path, "gzip")).headers:
                    await asyncio.sleep(0.01)
            assert packed.headers["Content-Encoding"] == "gzip"
            assert packed.headers["Content-Length"] == str(len(packed.body))
            assert gzip.decompress(packed.body) == plain.body
            part = await served.ask(path, headers={"Range": "bytes=0-99"})
            assert part.body == plain.body[:100]

    run(story())


async def _raw(served: Served, path: str, encoding: str = "identity") -> HTTPResponse:
    """Return a file as it comes over the wire."""
    headers = {"Accept-Encoding": encoding, "Authorization": f"token {TOKEN}"}
    request = HTTPRequest(f"{served.url}{path}", headers=headers, decompress_response=False)
    return await AsyncHTTPClient().fetch(request)


def _imported_by(script: str) -> set[str]:
    """Return the scripts that one needs, and those that these need."""
    own = set(re.findall(r"from '\./(.+?)'", (STATIC / script).read_text()))
    return own.union(*(_imported_by(name) for name in own))


def test_what_a_page_hints_at_is_there_at_once() -> None:
    modules = {f"static/dask-diag-lab/{name}" for name in _imported_by("page.js")}

    async def hinted(served: Served) -> set[str]:
        page = (await served.ask("/plots/progress")).body.decode()
        hints = re.findall(r'<link rel="\w*preload".* href="\.\./(.+?)"', page)
        codes = [(await served.ask(f"/{path}")).code for path in hints]
        assert codes == [200] * len(hints)
        return set(hints)

    async def story() -> None:
        async with serving() as served:
            assert modules <= await hinted(served)  # Bokeh may still be on its way
            await served.server.loaded()
            assert await hinted(served) == {*modules, CORE, OWN}

    run(story())


def test_a_session_token_is_ours_and_tells_what_to_load() -> None:
    async def story() -> None:
        async with serving() as served:
            session = await served.json(
                "/plots/cpu/session", method="POST", body=json.dumps({"look": {"name": "dark"}})
            )
            assert session["scripts"][0] == "static/js/bokeh.min.js"
            for script in session["scripts"]:
                assert (await served.ask(f"/{script}")).code == 200
            assert session["bokeh"]
            empty = await served.json("/plots/cpu/session", method="POST", body="")
            assert empty["token"] != session["token"]

    run(story())


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("[]", 200),
        ("nonsense", 400),
        ("[" * 30_000, 400),
        ('{"look": "dark"}', 400),
        ('{"look": 3}', 400),
        ("x" * 40_000, 413),
    ],
)
def test_bad_session_requests_get_a_sentence(body: str, code: int) -> None:
    async def story() -> None:
        async with serving() as served:
            reply = await served.ask("/plots/cpu/session", method="POST", body=body)
            assert reply.code == code, reply.body
            assert b"Traceback" not in reply.body

    run(story())


def test_a_session_is_not_given_by_get_nor_for_an_unknown_plot() -> None:
    async def story() -> None:
        async with serving() as served:
            assert (await served.ask("/plots/cpu/session")).code == 405
            reply = await served.ask("/plots/nope/session", method="POST", body="{}")
            assert reply.code == 404

    run(story())


def test_a_plot_of_what_no_worker_reports_is_listed_once_one_does() -> None:
    async def story() -> None:
        async with serving() as served:

            async def listed() -> set[str]:
                return {plot["name"] for plot in (await served.json("/plots.json"))["plots"]}

            before = (await served.json("/health"))["plots_version"]
            assert "gpu-utilization" not in await listed()
            assert "cpu" in await listed()
            batch = make_batch(2)
            for row in batch.workers or ():
                row["metrics"] = {"gpu_utilization": 50.0}  # type: ignore[index]  # a dict of ours
            served.feed(batch)
            assert "gpu-utilization" in await listed()
            assert "rmm-memory" not in await listed()
            assert (await served.json("/health"))["plots_version"] != before

    run(story())
