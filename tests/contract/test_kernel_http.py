"""The in-kernel server answers as the HTTP fixtures say."""

from __future__ import annotations

import pytest

from tests.contract.shapes import differences, fixture
from tests.kernel.server.browser import BrowserPage
from tests.kernel.serving import run, serving


@pytest.mark.parametrize(
    ("name", "path"), [("plots.json", "/plots.json"), ("health.json", "/health")]
)
def test_answers_have_the_shape_of_the_fixtures(name: str, path: str) -> None:
    async def story() -> None:
        async with serving() as served:
            assert differences(await served.json(path), fixture(f"http/{name}")) == []

    run(story())


def test_a_document_has_the_shape_of_its_fixture() -> None:
    async def story() -> None:
        async with serving() as served:
            page = await BrowserPage.open(served, "task-stream")
            wanted = fixture("stream/document.json")
            found = {name: page.opened[name] for name in wanted}
            found["document"] |= {"roots": [], "defs": []}
            assert differences({**found, "buffers": []}, wanted) == []
            await page.close()

    run(story())


def test_the_stock_mapping_has_the_stock_titles_and_routes() -> None:
    async def story() -> None:
        async with serving() as served:
            found = await served.json("/individual-plots.json")
            wanted = fixture("http/individual-plots.json")
            assert {title: found[title] for title in wanted} == wanted

    run(story())


@pytest.mark.parametrize("name", ["health_lost.json", "health_closed.json"])
def test_the_end_of_a_scheduler_has_the_shape_of_its_fixture(name: str) -> None:
    async def story() -> None:
        async with serving() as served:
            wanted = fixture(f"http/{name}")
            served.live.set_feed_state(wanted["state"], wanted["reason"], wanted["since"])
            found = await served.json("/health")
            assert differences(found, wanted) == []
            names = ("state", "reason", "since")
            assert [found[key] for key in names] == [wanted[key] for key in names]

    run(story())
