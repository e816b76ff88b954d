"""The page about the cluster: facts, workers, log, and no secret of the configuration."""

from __future__ import annotations

import asyncio
from typing import Any

import dask
import pytest

from dask_diag_lab.server.configuration import shown_configuration
from dask_diag_lab.store.inquiries import Inquiry
from tests.kernel.server.sample_views import Counting, sample_plot
from tests.kernel.serving import Served, make_batch, run, serving

PLOTS = (sample_plot("worker", Counting),)


async def page_of(served: Served) -> str:
    reply = await served.ask("/info")
    assert reply.code == 200
    assert reply.headers["Content-Type"].startswith("text/html")
    return reply.body.decode()


def answering(served: Served, *messages: str) -> list[Inquiry]:
    """Have the cluster answer each question for the log a moment later, as it does."""
    asked: list[Inquiry] = []

    def ask(inquiry: Inquiry) -> None:
        asked.append(inquiry)
        lines = [{"level": "INFO", "message": message} for message in messages]
        loop = asyncio.get_running_loop()
        loop.call_soon(served.store.answer, inquiry, {"lines": lines})
        loop.call_soon(served.server.tick)

    served.store.inquiries.on_ask = ask
    return asked


def test_it_tells_of_scheduler_workers_versions_and_log_and_leads_to_the_workers() -> None:
    async def story() -> None:
        async with serving(PLOTS) as served:
            await served.server.loaded()
            answering(served, "first", "second")
            page = await page_of(served)
            assert "tcp://127.0.0.1:3999" in page
            assert "Scheduler-test" in page
            assert "distributed" in page
            assert "2.00 GiB" in page, "memory of both workers"
            worker = "tcp%3A%2F%2F127.0.0.1%3A4000"
            assert f'href="./plots/worker?worker={worker}"' in page
            assert f'href="./plots/worker?worker={worker}&amp;show=logs"' in page
            assert page.index("INFO: second") < page.index("INFO: first")

    run(story())


def test_what_comes_from_the_cluster_is_no_html() -> None:
    async def story() -> None:
        async with serving(PLOTS) as served:
            await served.server.loaded()
            answering(served, "<script>alert(1)</script>")
            rows = [{**row, "name": "<img src=x>"} for row in make_batch(2).workers or ()]
            batch = make_batch(2)
            batch.workers = rows
            served.feed(batch)
            page = await page_of(served)
            assert "&lt;script&gt;alert(1)" in page
            assert "&lt;img src=x&gt;" in page
            assert "<script>alert" not in page
            assert "<img" not in page

    run(story())


def test_a_log_that_cannot_be_had_is_said_and_a_late_one_is_not_waited_for_long() -> None:
    async def story() -> None:
        async with serving(PLOTS) as served:
            await served.server.loaded()
            served.store.inquiries.on_ask = lambda _: None
            assert "load the page again" in await page_of(served)
            served.store.inquiries.clear()
            served.store.inquiries.on_ask = lambda q: served.store.fail(q, "It is <gone>.")
            assert "It is &lt;gone&gt;." in await page_of(served)

    run(story())


def test_a_cluster_that_has_not_been_reached_yet_has_a_page_too() -> None:
    async def story() -> None:
        info: dict[str, Any] = {
            "id": "0123456789abcdef",
            "name": "x",
            "scheduler": {"id": "", "address": "tls://10.0.0.1:8786"},
        }
        async with serving(PLOTS, info=lambda: info) as served:
            served.store.workers.clear()
            served.store.scheduler = None
            page = await page_of(served)
            assert "tls://10.0.0.1:8786" in page
            assert "There are no workers." in page

    run(story())


def test_configuration_is_shown_but_nothing_that_could_be_a_secret() -> None:
    config = {
        "distributed": {
            "worker": {
                "memory": {"target": 0.6},
                "preload": ["https://me:pw@host/x.py"],
                "resources": {},
            },
            "comm": {
                "timeouts": {"connect": "30s"},
                "tls": {"ca-file": "ca"},
                "socks-proxy": "hidden",
                "apikey": "hidden",
                "account": "ghp_" + 36 * "x",
            },
            "nanny": {"environ": {"API": "hidden"}},
            "scheduler": {"contact-address": "hidden", "idle_timeout": None},
        },
        "diag-lab": {"auto-attach": True, "where": "https://me:pw@host"},
        "coiled": {"account": "hidden"},
        "my-password": "hidden",
    }
    assert shown_configuration(config) == [
        ("diag-lab.auto-attach", "True"),
        ("distributed.comm.timeouts.connect", "30s"),
        ("distributed.scheduler.idle-timeout", "None"),
        ("distributed.worker.memory.target", "0.6"),
    ]


@pytest.mark.parametrize("name", ["distributed.scheduler.api-token", "distributed.worker.s3-key"])
def test_a_secret_under_a_name_that_says_so_is_not_on_the_page(name: str) -> None:
    async def story() -> None:
        async with serving(PLOTS) as served:
            with dask.config.set({name: "only-for-tests"}):
                page = await page_of(served)
            assert "only-for-tests" not in page
            assert "diag-lab.auto-attach" in page

    run(story())
