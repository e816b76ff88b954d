"""A plot that shows one of many: its arguments, the plots it opens, what it needs to be sent."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from functools import partial
from urllib.parse import urlencode

import pytest
from bokeh.events import DoubleTap
from bokeh.io import curdoc

from tests.kernel.server.browser import BrowserPage
from tests.kernel.server.sample_views import Choosing, Counting, sample_plot
from tests.kernel.serving import make_batch, run, serving, until

SAMPLES = (sample_plot("count", Counting), sample_plot("choose", Choosing))
KEY = "('x-é\"<b>', 3, 'ß')"


@pytest.fixture(autouse=True)
def fresh_views() -> Iterator[None]:
    Counting.made.clear()
    yield
    Counting.made.clear()


async def says(page: BrowserPage, note: str) -> None:
    await until(lambda: page.control.note == note, f"{page.control.note!r} is not {note!r}")


def was_asked(page: BrowserPage, wanted: dict[str, object]) -> bool:
    return bool(json.loads(page.control.open or "{}") == wanted)


def test_a_page_shows_what_its_session_was_asked_for() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "choose", arguments={"key": KEY})
            assert page.control.note == f"shows {KEY}"
            await page.close()

    run(story())


def test_an_open_page_can_be_asked_to_show_something_else() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "choose", arguments={"key": "a"})
            await page.command("show", arguments={"key": KEY})
            await says(page, f"shows {KEY}")
            await page.command("show")
            await says(page, "shows all")
            await page.close()

    run(story())


def test_a_frozen_page_shows_what_it_is_asked_for() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "choose")
            await page.command("freeze")
            await until(lambda: page.control.frozen, "not frozen")
            await page.command("show", arguments={"key": "b"})
            await says(page, "shows b")
            assert page.control.frozen
            await page.close()

    run(story())


@pytest.mark.parametrize(
    "arguments", [{"key": 3}, ["key"], "key", {"": "x"}, {"k" * 99: "x"}, {"key": "x" * 4096}]
)
def test_bad_arguments_change_nothing_and_open_nothing(arguments: object) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "choose", arguments={"key": "a"})
            await page.command("show", arguments=arguments)
            await page.command("fit")
            await until(lambda: Counting.made[-1].verbs == ["fit"], "the good command was lost")
            assert Counting.made[-1].arguments == {"key": "a"}
            body = json.dumps({"arguments": arguments})
            reply = await served.ask("/plots/choose/session", method="POST", body=body)
            assert reply.code == 400
            await page.close()

    run(story())


def test_a_view_that_cannot_show_it_says_so_until_the_next_wish(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "choose")
            await page.command("show", arguments={"key": "bad"})
            await until(lambda: page.control.state == "error", "the pane is silent")
            await until(lambda: "there is no such task" in page.control.message, "no reason")
            await page.command("show", arguments={"key": "good"})
            await says(page, "shows good")
            await until(lambda: page.control.state == "live", "it still says error")
            await page.close()

    with caplog.at_level(logging.CRITICAL):
        run(story())


def test_a_click_asks_the_page_to_open_another_plot_each_time() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "choose")
            assert page.control.open == ""
            for n in (1, 2):
                await page.tap()
                wanted: dict[str, object] = {"plot": "task", "arguments": {"key": "inc-1"}, "n": n}
                await until(partial(was_asked, page, wanted), "the page was not asked")
            await page.close()

    run(story())


def test_a_handler_that_raises_is_said_in_its_pane_and_not_printed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "choose")
            other = await BrowserPage.open(served, "count")
            await page.tap(DoubleTap)
            await until(lambda: page.control.state == "error", "the pane is silent")
            await until(lambda: "clicked beside it" in page.control.message, "no reason")
            assert other.control.state == "live"
            await page.tap()
            await until(lambda: page.control.open, "the page is stuck")
            await until(lambda: page.control.state == "live", "it still says error")
            await page.close()
            await other.close()

    run(story())
    assert {record.name.split(".")[0] for record in caplog.records} == {"dask_diag_lab"}


def test_a_handler_that_raises_leaves_the_users_document_alone() -> None:
    users = curdoc()

    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "choose")
            await page.tap(DoubleTap)
            await until(lambda: page.control.state == "error", "the pane is silent")
            assert curdoc() is users
            await page.close()

    run(story())


def test_what_is_needed_is_wanted_only_while_it_is_seen() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            count = await BrowserPage.open(served, "count")
            await until(lambda: served.wanted == [frozenset()], "a viewer was not counted")
            page = await BrowserPage.open(served, "choose")
            await until(lambda: served.wanted[-1] == Choosing.needs, "it is not wanted")
            await page.set(visible=False)
            await until(lambda: not served.wanted[-1], "hidden, and still wanted")
            await page.set(visible=True)
            await until(lambda: served.wanted[-1] == Choosing.needs, "it is not wanted again")
            await page.close()
            await until(lambda: not served.wanted[-1], "closed, and still wanted")
            assert served.watched[-1]
            await count.close()

    run(story())


def test_a_page_of_its_own_takes_arguments_and_too_long_ones_are_refused() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            good = await served.ask("/plots/choose?" + urlencode({"key": KEY}))
            assert good.code == 200
            assert KEY not in good.body.decode()
            bad = await served.ask("/plots/choose.json?" + urlencode({"key": "x" * 5000}))
            assert bad.code == 400
            assert "4096" in bad.body.decode()

    run(story())


def test_a_batch_reaches_a_page_that_was_asked_to_show_something() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "choose", arguments={"key": "a"})
            updates = Counting.made[-1].updates
            served.feed(make_batch(2))
            await until(lambda: Counting.made[-1].updates > updates, "it is not updated")
            await page.close()

    run(story())
