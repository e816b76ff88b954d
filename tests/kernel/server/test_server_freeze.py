"""A frozen plot stays as it is, says so, and catches up when it is let go."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from bokeh.models import Plot as BokehPlot

from tests.kernel.server.browser import BrowserPage
from tests.kernel.server.sample_views import Counting, SelfFreezing, sample_plot
from tests.kernel.serving import Served, make_batch, run, serving, until

COUNT = sample_plot("count", Counting)
OWN = sample_plot("own", SelfFreezing)


@pytest.fixture(autouse=True)
def fresh_views() -> Iterator[None]:
    Counting.made.clear()
    yield
    Counting.made.clear()


async def frozen(page: BrowserPage) -> str:
    """Freeze a page; return the note that its picture has from then on."""
    await page.command("freeze")
    await until(lambda: page.control.frozen, "it does not say that it is frozen")
    await page.quiet()
    return str(page.control.note)


async def pass_by(served: Served, page: BrowserPage) -> None:
    """Let the store move on and wait until the page has had its turn."""
    served.feed(make_batch(served.store.version + 1))
    served.store.set_feed_state("degraded", f"at {served.store.version}", 1.0)
    served.server.tick()
    reason = served.store.feed_state.reason
    await until(lambda: page.control.message == reason, "the page is behind")


def test_a_frozen_plot_draws_nothing_new_and_says_what_else_there_is_to_say() -> None:
    async def story() -> None:
        async with serving((COUNT,)) as served:
            page = await BrowserPage.open(served, "count")
            note = await frozen(page)
            updates = Counting.made[-1].updates
            await pass_by(served, page)
            await pass_by(served, page)
            assert (page.control.note, Counting.made[-1].updates) == (note, updates)
            assert page.control.behind_s == 0
            await page.close()

    run(story())


@pytest.mark.parametrize("verb", ["freeze", "live", "fit"])
def test_a_frozen_plot_catches_up_at_once_when_it_is_let_go(verb: str) -> None:
    async def story() -> None:
        async with serving((COUNT,)) as served:
            page = await BrowserPage.open(served, "count")
            await frozen(page)
            await pass_by(served, page)
            await page.command(verb)
            now = f"version {served.store.version}"
            await until(lambda: page.control.note == now, "the picture is the old one")
            await until(lambda: not page.control.frozen, "it still says frozen")
            await page.close()

    run(story())


def test_a_frozen_plot_takes_a_look_and_stays_frozen_while_hidden() -> None:
    async def story() -> None:
        async with serving((COUNT,)) as served:
            page = await BrowserPage.open(served, "count")
            note = await frozen(page)
            await page.set(look=json.dumps({"name": "dark", "background": "#abcdef"}))
            picture = page.document.select_one({"name": "picture"})
            assert isinstance(picture, BokehPlot)
            await until(lambda: picture.background_fill_color == "#abcdef", "the old look")
            await page.set(visible=False)
            await until(lambda: served.watched[-1] is False, "hidden, and still watched")
            served.feed(make_batch(9))
            await page.set(visible=True)
            await until(lambda: served.watched[-1] is True, "shown, and not watched")
            await pass_by(served, page)
            assert (page.control.note, page.control.frozen) == (note, True)
            await page.close()

    run(story())


def test_a_view_that_freezes_itself_is_updated_and_its_word_is_taken() -> None:
    async def story() -> None:
        async with serving((OWN,)) as served:
            page = await BrowserPage.open(served, "own")
            await frozen(page)
            await pass_by(served, page)
            assert page.control.note == f"version {served.store.version}"
            await page.command("clear")
            await until(lambda: not page.control.frozen, "it still says frozen")
            await page.close()

    run(story())
