"""Open pages: first paint, updates when and only when needed, words, faults, and their end."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator

import pytest
from bokeh.models import Plot as BokehPlot
from bokeh.util.token import generate_jwt_token, generate_session_id

from dask_diag_lab.server import page as page_module
from dask_diag_lab.store.feed_state import State
from dask_diag_lab.views.asked import UNASKED
from dask_diag_lab.views.registry import PLOTS
from tests.kernel.server.browser import BrowserPage, connect, is_refused
from tests.kernel.server.sample_views import (
    Counting,
    Failing,
    Mute,
    Needing,
    Reading,
    Unbuildable,
    sample_plot,
)
from tests.kernel.serving import Served, make_batch, run, serving, until

COUNT = sample_plot("count", Counting)
FAIL = sample_plot("fail", Failing)
UNBUILDABLE = sample_plot("unbuildable", Unbuildable)
MUTE = sample_plot("mute", Mute)
NEED = sample_plot("need", Needing)
SAMPLES = (COUNT, FAIL, UNBUILDABLE, MUTE, NEED)


@pytest.fixture(autouse=True)
def fresh_views() -> Iterator[None]:
    Counting.made.clear()
    Failing.is_broken = True
    yield
    Counting.made.clear()


async def drawn(served: Served, page: BrowserPage) -> None:
    """Wait until a page of the counting view shows the store's version."""
    await until(
        lambda: page.control.note == f"version {served.store.version}", "the page is behind"
    )


def live_view() -> Counting:
    return next(view for view in reversed(Counting.made) if not view.is_closed)


def picture(page: BrowserPage) -> BokehPlot:
    found = page.document.select_one({"name": "picture"})
    assert isinstance(found, BokehPlot)
    return found


def test_the_first_picture_has_the_data_the_look_and_the_words() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            look = {"name": "dark", "background": "#123456"}
            page = await BrowserPage.open(served, "count", look)
            assert picture(page).background_fill_color == "#123456"
            assert page.control.state == "live"
            assert page.control.note == f"version {served.store.version}"
            assert page.frames == 0
            await page.close()

    run(story())


def test_a_view_with_more_to_draw_is_updated_until_it_has_drawn_all() -> None:
    async def story() -> None:
        async with serving((sample_plot("read", Reading),)) as served:
            served.store.set_feed_state("closed", "The cluster was closed.", 5.0)
            page = await BrowserPage.open(served, "read")
            await until(lambda: page.control.note == "5 of 5", "it was left half drawn")
            await page.quiet()
            assert live_view().updates == 5
            await page.close()

    run(story())


def test_an_open_page_gets_nothing_while_nothing_changes() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            served.feed(make_batch(2))
            await drawn(served, page)
            frames, updates = await page.quiet(), live_view().updates
            for _ in range(20):
                served.server.tick()
                await asyncio.sleep(0.01)
            assert (page.frames, live_view().updates) == (frames, updates)
            await page.close()

    run(story())


@pytest.mark.parametrize("state", ["lost", "closed"])
def test_nothing_is_awaited_of_a_cluster_that_cannot_be_reached(state: State) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            served.feed(make_batch(2))
            page = await BrowserPage.open(served, "need")
            assert page.control.empty == "Waiting for the scheduler's answer."
            served.store.set_feed_state(state, "", 1.0)
            served.server.tick()
            await until(lambda: page.control.empty == UNASKED, "it is awaited")
            await page.close()

    run(story())


def test_one_update_a_version_and_none_piles_up() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            view = live_view()
            before = view.updates
            for n in range(2, 52):
                served.feed(make_batch(n))
            await drawn(served, page)
            assert view.updates - before <= 3
            await page.close()

    run(story())


def test_a_hidden_page_gets_nothing_and_is_brought_up_to_date_when_shown() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            await until(lambda: served.watched == [True], "nobody was told about the viewer")
            await page.set(visible=False)
            await until(lambda: served.watched == [True, False], "hidden, and still watched")
            await page.quiet()
            patches, updates = page.patches, live_view().updates
            served.feed(make_batch(2))
            await asyncio.sleep(0.1)
            assert (page.patches, live_view().updates) == (patches, updates)
            await page.set(visible=True)
            await drawn(served, page)
            assert served.watched == [True, False, True]
            await page.close()

    run(story())


def test_look_and_commands_reach_the_view_and_the_notice_comes_back() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            await page.set(look=json.dumps({"name": "dark", "background": "#abcdef"}))
            await until(
                lambda: picture(page).background_fill_color == "#abcdef", "the look is the old one"
            )
            verbs = ["zoom-in", "zoom-in", "fit"]
            for verb in verbs:
                await page.command(verb)
            await until(lambda: live_view().verbs == verbs, "not commanded")
            # 1.5 s behind is told in whole seconds.
            await until(lambda: page.control.behind_s == 2.0, "the pill has the old number")
            await page.close()

    run(story())


@pytest.mark.parametrize(
    "bad", ["", "nonsense", "[]", '{"verb": 3}', "x" * 5000, "[" * 4000, '{"n": 1}']
)
def test_bad_looks_and_commands_do_nothing(bad: str) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            await page.set(look=bad, command=bad)
            await page.command("fit")
            await until(lambda: live_view().verbs == ["fit"], "the good command was lost")
            assert page.control.state == "live"
            await page.close()

    run(story())


def test_colours_that_bokeh_would_refuse_fall_back() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            look = {"name": "dark", "background": "url(javascript:x)", "font": "a;b{}"}
            page = await BrowserPage.open(served, "count", look)
            assert picture(page).background_fill_color == "#111111"
            assert page.control.state == "live"
            await page.close()

    run(story())


def test_a_lost_scheduler_is_told_and_a_return_too() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            served.store.set_feed_state("lost", "The scheduler is gone.", 1.0)
            served.server.tick()
            await until(lambda: page.control.state == "lost", "not told")
            await until(lambda: page.control.message == "The scheduler is gone.", "no reason")
            served.store.set_feed_state("live", "", 2.0)
            served.server.tick()
            await until(lambda: page.control.state == "live", "not told")
            await until(lambda: not page.control.message, "the reason stays")
            await page.close()

    run(story())


def test_a_failing_view_says_so_once_and_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            broken = await BrowserPage.open(served, "fail")
            sound = await BrowserPage.open(served, "count")
            assert broken.control.state == "error"
            assert "ZeroDivisionError: on purpose" in broken.control.message
            for n in range(2, 6):
                served.feed(make_batch(n))
                await drawn(served, sound)
            told = [r for r in caplog.records if "fail failed" in r.getMessage()]
            assert [r.levelno for r in told] == [logging.WARNING]
            Failing.is_broken = False
            served.feed(make_batch(9))
            await drawn(served, broken)
            await until(lambda: broken.control.state == "live", "it still says error")
            await broken.close()
            await sound.close()

    run(story())


def test_a_view_that_cannot_be_built_still_gets_words() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "unbuildable")
            assert page.control.state == "error"
            assert "LookupError" in page.control.message
            assert "opened again" in page.control.message
            await page.close()

    run(story())


def test_words_that_no_page_can_show_are_an_error_of_that_plot_alone() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "mute")
            sound = await BrowserPage.open(served, "count")
            assert "ValueError" in page.control.message
            await drawn(served, sound)
            await page.close()
            await sound.close()

    run(story())


def test_a_view_that_fails_when_it_is_closed_keeps_no_other_open() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            pages = [await BrowserPage.open(served, name) for name in ("mute", "count")]
        for page in pages:
            await page.close()

    run(story())
    assert [view.is_closed for view in Counting.made] == [True] * len(Counting.made)
    assert len(Counting.made) >= 2


def test_a_pages_own_change_makes_the_view_look_again() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            view, before = live_view(), live_view().updates
            await page.patch(picture(page).x_range, "start", 1.0)
            await until(lambda: view.updates > before, "the move went unnoticed")
            await page.close()

    run(story())


def test_pages_are_forgotten_soon_after_their_browser_left() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            first = await BrowserPage.open(served, "count")
            second = await BrowserPage.open(served, "count")
            assert served.server.page_count == 2
            await first.close()
            await second.close()
            await until(lambda: served.watched == [True, False], "nobody was told")
            await until(lambda: served.server.page_count == 0, "pages are kept", limit_s=45)
            assert all(view.is_closed for view in Counting.made)

    run(story())


def test_stopping_closes_sockets_and_views() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            await served.server.stop()
            await until(lambda: page.is_closed, "the websocket is open")
            assert served.server.connection_count == 0
            assert live_view_count() == 0
            await served.server.stop()

    run(story())


def live_view_count() -> int:
    return sum(not view.is_closed for view in Counting.made)


def test_session_tokens_that_are_not_ours_are_refused_without_noise(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            secret = b"somebody else's"
            unsigned = generate_jwt_token(generate_session_id(), signed=False)
            foreign = generate_jwt_token(
                generate_session_id(secret, signed=True), secret, signed=True
            )
            for token in (unsigned, foreign, "nonsense", "e30", "a.b.c"):
                assert await is_refused(served, "count", token)
            assert served.server.page_count == 0

    run(story())
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


def test_an_expired_session_token_is_refused_without_noise(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await served.json("/plots/count/session", method="POST", body="{}")
            clock = __import__("time").time
            monkeypatch.setattr("dask_diag_lab.server.plot_socket.time.time", lambda: clock() + 400)
            assert await is_refused(served, "count", session["token"])

    run(story())
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


def test_websockets_are_not_compressed() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await served.json("/plots/count/session", method="POST", body="{}")
            socket = await connect(served, "count", session["token"])
            assert "Sec-WebSocket-Extensions" not in (socket.headers or {})
            socket.close()
            while await socket.read_message() is not None:
                continue
            await until(lambda: not served.server.connection_count, "the socket is still open")

    run(story())


@pytest.mark.parametrize("plot", [plot.name for plot in PLOTS])
def test_every_plot_of_the_registry_draws_without_an_error(plot: str) -> None:
    async def story() -> None:
        async with serving() as served:
            page = await BrowserPage.open(served, plot, {"name": "dark"})
            assert page.control.state == "live", page.control.message
            for n in (2, 3):
                served.feed(make_batch(n))
                await asyncio.sleep(0.05)
            await page.set(look=json.dumps({"name": "light"}))
            for verb in ("fit", "freeze", "live", "unknown"):
                await page.command(verb)
            await page.command("show", arguments={"worker": "tcp://1.2.3.4:5", "key": "x"})
            await asyncio.sleep(0.1)
            assert page.control.state == "live", page.control.message
            await page.close()

    run(story())


@pytest.mark.parametrize("name", [plot.name for plot in PLOTS])
def test_no_plot_of_the_registry_sends_a_frame_while_the_cluster_is_still(name: str) -> None:
    async def story() -> None:
        async with serving() as served:
            page = await BrowserPage.open(served, name)
            served.feed(make_batch(2))
            frames = await page.quiet()
            for _ in range(5):
                served.feed(make_batch(2))
                await asyncio.sleep(0.05)
            assert page.frames == frames
            await page.close()

    run(story())


def test_a_slow_update_is_noted_once_and_never_loudly(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(page_module, "SLOW_UPDATE_S", 0.0)

    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            for n in (2, 3):
                served.feed(make_batch(n))
                await drawn(served, page)
            await page.close()

    with caplog.at_level(logging.DEBUG, logger="dask_diag_lab"):
        run(story())
    noted = [record for record in caplog.records if "took" in record.message]
    assert [record.levelname for record in noted] == ["INFO"]
    assert "count" in noted[0].message
