"""The in-kernel server answers as the HTTP fixtures say."""

from __future__ import annotations

from tests.contract.shapes import differences, fixture
from tests.kernel.server.browser import BrowserPage
from tests.kernel.serving import run, serving


def test_answers_have_the_shape_of_the_fixtures() -> None:
    async def story() -> None:
        async with serving() as served:
            for path, name in (("/plots.json", "plots"), ("/health", "health")):
                assert differences(await served.json(path), fixture(f"http/{name}.json")) == []
            stock = await served.json("/individual-plots.json")
            titles = fixture("http/individual-plots.json")
            assert {title: stock[title] for title in titles} == titles
            for end in ("health_lost", "health_closed"):
                wanted = fixture(f"http/{end}.json")
                state, reason, since = (wanted[key] for key in ("state", "reason", "since"))
                served.live.set_feed_state(state, reason, since)
                found = await served.json("/health")
                assert differences(found, wanted) == []
                assert (found["state"], found["reason"], found["since"]) == (state, reason, since)

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
