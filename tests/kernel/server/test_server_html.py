"""The pages of a browser tab: which plots they draw, how they lead to each other, what they say."""

from __future__ import annotations

import asyncio
import re
from html import escape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import dask
import pytest
from distributed.dashboard.scheduler import applications

from dask_diag_lab.server.pages import IN_BAR, PAGES, cells_of, shown_configuration
from dask_diag_lab.views.registry import Plot, built_in_plots, get_plot
from tests.kernel.server.sample_views import Counting, sample_plot
from tests.kernel.serving import Served, make_batch, serving

PLOTS = built_in_plots()

EVERY = tuple(sample_plot(plot.name, Counting) for plot in PLOTS)
NAMES = {plot.name for plot in EVERY}
WORKER = quote("tcp://1.2.3.4:5", safe="")


class Elements(HTMLParser):
    """The elements of a page: tag and attributes, in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.all: list[dict[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append({"tag": tag} | {name: value or "" for name, value in attrs})

    def role(self, role: str) -> list[dict[str, str]]:
        return [one for one in self.all if one.get("role") == role]

    def values(self, name: str) -> list[str]:
        return [one[name] for one in self.all if one.get(name)]


async def page_of(path: str, plots: tuple[Plot, ...] = EVERY) -> Elements:
    async with serving(plots) as served:
        return Elements(await text_of(served, path))


async def text_of(served: Served, path: str) -> str:
    reply = await served.ask(path)
    assert reply.code == 200, reply.body
    return reply.body.decode()


@pytest.mark.parametrize("name", PAGES)
async def test_each_page_draws_its_plots_and_can_be_reached_from_every_other(name: str) -> None:
    page = await page_of(f"/{name}")
    shown = [plot for cell in cells_of(name, NAMES) for plot in cell.plots]
    assert page.values("data-plot") == shown
    assert len(shown) == len(re.split(r"[ |]", " ".join(PAGES[name][1].split())))  # all there are
    assert {f"./{other}" for other in PAGES} <= set(page.values("href"))
    assert [link["href"] for link in page.all if "aria-current" in link] == [f"./{name}"]


def test_every_page_of_the_stock_scheduler_is_here() -> None:
    # Those of /individual-… are plots; /sitemap.json and the like are not Bokeh applications.
    stock = {path.strip("/") for path in applications if not path.startswith("/individual-")}
    assert stock <= {*PAGES, ""}


async def test_tabs_can_be_used_without_eyes_and_without_a_mouse() -> None:
    page = await page_of("/status")
    tabs, panels = page.role("tab"), page.role("tabpanel")
    assert page.role("tablist")[0]["aria-label"]
    assert [tab["aria-controls"] for tab in tabs] == [panel["id"] for panel in panels]
    assert [panel["aria-labelledby"] for panel in panels] == [tab["id"] for tab in tabs]
    assert [tab["aria-selected"] for tab in tabs] == ["true", "false", "false", "false"]
    assert ["hidden" in panel for panel in panels] == [False, True, True, True]


async def test_a_page_has_only_the_plots_there_are_and_is_not_there_without_any() -> None:
    few = tuple(plot for plot in EVERY if plot.name in ("task-stream", "cpu"))
    page = await page_of("/status", few)
    assert page.values("data-plot") == ["cpu", "task-stream"]
    assert not page.role("tab")
    pages = {link.removeprefix("./") for link in page.values("href")} & {*PAGES}
    assert pages == {"status", "tasks", "workers"}
    async with serving(few) as served:
        reply = await served.ask("/gpu")
        assert (reply.code, b"plots/cpu" in reply.body) == (404, True)
    links = set((await page_of("/status", PLOTS)).values("href"))
    assert {"./plots/cpu", "./shuffle"} <= links
    assert not {"./plots/gpu-memory", "./gpu"} & links  # no worker has anything to show


async def test_a_plots_own_page_has_bar_and_help() -> None:
    page = await page_of("/plots/cpu")
    assert {f"../{name}" for name in IN_BAR} <= set(page.values("href"))
    async with serving() as served:
        for path in ("/plots/cpu", "/status"):
            assert escape(get_plot("cpu").help) in await text_of(served, path)


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/", "status"),
        ("/info/main/workers.html", "../../workers"),
        ("/info/main/exceptions.html", "../../exceptions"),
        ("/individual-task-stream", "plots/task-stream"),
        ("/individual-worker?worker=a%26b", "plots/worker?worker=a%26b"),
        (f"/info/worker/{WORKER}.html", f"../../plots/worker?worker={WORKER}"),
        (f"/info/logs/{WORKER}.html?a", f"../../plots/worker?worker={WORKER}&show=logs&a"),
        ("/info/task/%28%27x-1%27%2C%200%29.html", "../../plots/task?key=%28%27x-1%27%2C+0%29"),
    ],
)
async def test_other_paths_of_the_stock_dashboard_lead_to_ours_behind_any_prefix(
    path: str, location: str
) -> None:
    async with serving(EVERY) as served:
        reply = await served.ask(path)
        assert (reply.code, reply.headers["Location"]) == (302, location)


async def test_info_has_scheduler_versions_and_log_and_nothing_of_it_is_html() -> None:
    async with serving(EVERY) as served:
        log = {"times": [1.0, 2.0], "lines": ["<script>alert(1)</script>", "first"]}
        soon: Any = asyncio.get_running_loop().call_soon
        served.live.queries.on_ask = lambda query: soon(served.live.answer, query, log)
        served.live.apply(make_batch(2))
        page = await text_of(served, "/info")
        for text in ("tcp://127.0.0.1:3999", "distributed", "2.00 GiB"):
            assert text in page
        assert page.index("&lt;script&gt;alert") < page.index("first</pre>")
        assert "<script>alert" not in page


async def test_configuration_is_shown_but_nothing_that_could_be_a_secret() -> None:
    hidden = "hidden"
    comm = {"timeouts": {"connect": "30s"}, "tls": {"ca-file": "ca"}, "apikey": hidden}
    config = {
        "distributed": {
            "worker": {
                "memory": {"target": 0.6, "vault": hidden, "spill": f"https://me:{hidden}@host"},
                "preload": ["https://me:pw@host/x.py"],
                "nobody-foresaw-this": hidden,
            },
            "comm": comm | {"account": "ghp_" + 36 * "x"},
            "nanny": {"environ": {"API": hidden}},
            "scheduler": {"contact-address": hidden, "idle_timeout": None},
        },
        "diag-lab": {"auto-attach": True, "where": "https://me:pw@host"},
        "coiled": {"account": hidden},
        "my-password": hidden,
    }
    assert shown_configuration(config) == [
        ("diag-lab.auto-attach", "True"),
        ("distributed.comm.timeouts.connect", "30s"),
        ("distributed.scheduler.idle-timeout", "None"),
        ("distributed.worker.memory.target", "0.6"),
    ]
    async with serving(EVERY) as served:
        with dask.config.set({"distributed.worker.badge": "onlyfortests"}):
            page = await text_of(served, "/info")
        assert "diag-lab.auto-attach" in page
        assert "distributed.worker.memory.target" in page
        assert "onlyfortests" not in page


@pytest.mark.parametrize(("sent", "kept"), [("a" * 22, "a" * 22), ('"><script>', ""), ("a", "")])
async def test_scripts_have_the_nonce_of_the_relay_and_no_other(sent: str, kept: str) -> None:
    async with serving(EVERY) as served:
        reply = await served.ask("/status", headers={"X-Dask-Diag-Nonce": sent})
    page = Elements(reply.body.decode())
    assert [one.get("nonce", "") for one in page.all if one["tag"] == "script"] == [kept]
