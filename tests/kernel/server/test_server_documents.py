"""Open documents: first picture, updates when and only when needed, commands, faults, their end."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
from bokeh.events import DoubleTap
from bokeh.io import curdoc
from bokeh.io.state import curstate
from bokeh.models import ColumnDataSource
from bokeh.models import Plot as BokehPlot

from dask_diag_lab.schema import State
from dask_diag_lab.store.queries import UNASKED
from dask_diag_lab.views.registry import built_in_plots
from tests.kernel.server.browser import BrowserPage, Connection
from tests.kernel.server.sample_views import SAMPLES, Choosing, Counting, Failing, live_view
from tests.kernel.serving import Served, make_batch, serving, until

KEY = "('x-é\"<b>', 3, 'ß')"


@asynccontextmanager
async def opened(plot: str, **more: Any) -> AsyncIterator[tuple[Served, BrowserPage]]:
    """Serve the samples with a page of one of them open."""
    async with serving(SAMPLES) as served:
        page = await BrowserPage.open(served, plot, **more)
        yield served, page
        await page.close()


async def drawn(served: Served, page: BrowserPage) -> None:
    """Wait until a page of the counting view shows the session's version."""
    await notes(page, f"version {served.live.version}")


async def notes(page: BrowserPage, note: str) -> None:
    await until(lambda: page.control.note == note, f"{page.control.note!r} is not {note!r}")


async def nothing_sent(served: Served, *pages: BrowserPage) -> None:
    """Wait until what the plots know already is answered by nothing, five times in a row."""
    async with asyncio.timeout(50):
        n_still = 0
        while n_still < 5:
            frames = [page.frames for page in pages]  # what was under way may still come
            served.live.apply(make_batch(2))
            await asyncio.sleep(0.05)
            n_still = n_still + 1 if [page.frames for page in pages] == frames else 0


def all_closed() -> bool:
    return all(view.is_closed for view in Counting.made)


def picture(page: BrowserPage) -> BokehPlot:
    found = page.document.select_one({"name": "picture"})
    assert isinstance(found, BokehPlot)
    return found


async def has_background(page: BrowserPage, color: str) -> None:
    await until(lambda: picture(page).background_fill_color == color, "the look is the old one")


async def test_times_of_day_are_those_of_each_readers_time_zone() -> None:
    async with serving(built_in_plots()) as served:
        served.live.apply(make_batch(2, events=[(1_700_000_000.0, "restart", {})]))
        own = time.strftime("%H:%M:%S %Z", time.localtime(1_700_000_000))
        expected = {"Asia/Kolkata": "03:43:20", "America/New_York": "17:13:20", "Not/There": own}
        for zone, clock in expected.items():
            page = await BrowserPage.open(served, "events", look={"zone": zone})
            await notes(page, f"0 s is {clock}, the first event")
            await page.close()


# --- updates


async def test_an_update_is_one_message_and_there_is_none_while_nothing_changes() -> None:
    async with opened("counting") as (served, page):
        await page.quiet()
        view, updates, patches = live_view(), live_view().updates, page.patches
        for n in range(2, 52):
            served.live.apply(make_batch(n))
        await drawn(served, page)
        frames = await page.quiet()
        source = page.document.select_one({"type": ColumnDataSource})
        assert isinstance(source, ColumnDataSource)
        assert source.data["y"] == [served.live.version]
        assert 1 <= view.updates - updates <= 3
        assert page.patches - patches == view.updates - updates
        for _ in range(20):
            served.server.tick()
            await asyncio.sleep(0)
        assert await page.quiet() == frames


async def test_a_view_with_more_to_draw_is_updated_until_it_has_drawn_all() -> None:
    async with opened("reading") as (_, page):
        await notes(page, "5 of 5")
        await page.quiet()
        assert live_view().updates == 5


async def test_a_hidden_page_gets_nothing_and_is_brought_up_to_date_when_shown() -> None:
    async with opened("counting") as (served, page):
        await until(lambda: served.watched == [True], "nobody was told about the viewer")
        await page.set(visible=False)
        await until(lambda: served.watched == [True, False], "hidden, and still watched")
        await page.quiet()
        patches, updates = page.patches, live_view().updates
        served.live.apply(make_batch(2))
        await page.quiet()
        assert (page.patches, live_view().updates) == (patches, updates)
        await page.set(visible=True)
        await drawn(served, page)
        assert served.watched == [True, False, True]


async def test_what_is_needed_is_wanted_only_while_it_is_seen() -> None:
    async with opened("counting") as (served, _):
        await until(lambda: served.wanted == [frozenset()], "a viewer was not counted")
        page = await BrowserPage.open(served, "choosing")
        for is_visible in (True, False, True):
            await page.set(visible=is_visible)
            wanted = Choosing.needs if is_visible else frozenset()
            await until(lambda w=wanted: served.wanted[-1] == w, "not wanted as seen")  # type: ignore[misc]
        await page.close()
        await until(lambda: not served.wanted[-1], "closed, and still wanted")
        assert served.watched[-1]


@pytest.mark.parametrize("part", range(6))
async def test_every_plot_draws_without_an_error_and_sends_nothing_while_all_is_still(
    part: int,
) -> None:
    async with serving() as served:
        pages: list[BrowserPage] = []
        for plot in built_in_plots()[part::6]:
            page = await BrowserPage.open(served, plot.name, {"name": "dark"})
            assert page.control.state == "live", (plot.name, page.control.message)
            await page.set(look=json.dumps({"name": "light"}))
            for verb in ("fit", "freeze", "live", "unknown"):
                await page.command(verb)
            pages.append(page)
        await nothing_sent(served, *pages)
        for page in pages:
            assert page.control.state == "live", (page.document.title, page.control.message)
            await page.close()


# --- what the page asks for


async def test_look_and_commands_reach_the_view_and_bad_ones_do_nothing() -> None:
    look = {"name": "dark", "background": "#123456", "font": "a;b{}", "grid": "url(x)"}
    async with opened("counting", look=look) as (served, page):
        assert picture(page).background_fill_color == "#123456"
        assert page.control.note == f"version {served.live.version}"
        for bad in ("", "nonsense", "[]", '{"verb": 3}', "x" * 5000, "[" * 4000, '{"n": 1}'):
            await page.set(look=bad, command=bad)
        await page.set(look=json.dumps({"name": "dark", "background": "#abcdef"}))
        await has_background(page, "#abcdef")
        verbs = ["zoom-in", "zoom-in", "fit"]
        for verb in verbs:
            await page.command(verb)
        await until(lambda: live_view().verbs == verbs, "not commanded")
        # 1.5 s behind is told in whole seconds.
        await until(lambda: page.control.behind_s == 2.0, "the pill has the old number")
        view, before = live_view(), live_view().updates
        await page.patch(picture(page).x_range, "start", 1.0)
        await until(lambda: view.updates > before, "the move went unnoticed")
        assert page.control.state == "live"


async def test_an_open_page_can_be_asked_to_show_something_else_also_while_frozen() -> None:
    async with opened("choosing", arguments={"key": KEY}) as (_, page):
        assert page.control.note == f"shows {KEY}"
        await page.command("show", arguments={"key": "b"})
        await notes(page, "shows b")
        await page.command("set", arguments={"key": "c"})
        await notes(page, "shows c")
        await page.command("freeze")
        await until(lambda: page.control.frozen, "not frozen")
        await page.command("show")
        await notes(page, "shows all")
        assert page.control.frozen


@pytest.mark.parametrize(
    "arguments",
    [{"key": 3}, ["key"], {"": "x"}, {"k" * 99: "x"}, {"key": "x" * 4096}, {"nope": "x"}],
)
async def test_bad_arguments_change_nothing_and_open_nothing(arguments: object) -> None:
    async with opened("choosing", arguments={"key": "a"}) as (served, page):
        await page.command("show", arguments=arguments)
        await page.command("fit")
        await until(lambda: live_view().verbs == ["fit"], "the good command was lost")
        assert live_view().arguments == {"key": "a"}
        other = await BrowserPage.open(
            served, "choosing", arguments=arguments, connection=page.connection
        )
        assert other.reason


async def test_a_click_is_one_message_and_may_ask_the_page_to_open_another_plot() -> None:
    async with opened("choosing") as (_, page):
        await page.quiet()

        def was_asked(n: int) -> bool:
            wanted = {"plot": "task", "arguments": {"key": "inc-1"}, "n": n}
            return bool(json.loads(page.control.open or "{}") == wanted)

        view, updates, patches = live_view(), live_view().updates, page.patches
        await page.tap()
        await until(partial(was_asked, 1), "the page was not asked")
        await page.quiet()
        assert picture(page).border_fill_color == picture(page).background_fill_color == "red"
        assert page.patches - patches == 1 + view.updates - updates
        await page.tap()
        await until(partial(was_asked, 2), "the page was not asked again")


# --- frozen


async def pass_by(served: Served, page: BrowserPage) -> None:
    """Let the session move on and wait until the page has had its turn."""
    served.live.apply(make_batch(served.live.version + 1))
    reason = f"at {served.live.version}"
    served.live.set_feed_state("degraded", reason, 1.0)
    await until(lambda: page.control.message == reason, "the page is behind")


@pytest.mark.parametrize("verb", ["freeze", "live", "fit"])
async def test_a_frozen_plot_draws_nothing_new_also_while_hidden_until_it_is_let_go(
    verb: str,
) -> None:
    async with opened("counting") as (served, page):
        await page.command("freeze")
        await until(lambda: page.control.frozen, "it does not say that it is frozen")
        await page.quiet()
        note, updates = page.control.note, live_view().updates
        await pass_by(served, page)
        await page.set(visible=False)
        await until(lambda: served.watched[-1] is False, "hidden, and still watched")
        await page.set(visible=True, look=json.dumps({"background": "#abcdef"}))
        await pass_by(served, page)
        await has_background(page, "#abcdef")
        assert (page.control.note, live_view().updates) == (note, updates)
        await page.command(verb)
        await drawn(served, page)
        await until(lambda: not page.control.frozen, "it still says frozen")


# --- faults


async def test_pages_show_the_end_of_a_scheduler_and_its_return() -> None:
    async with opened("choosing") as (served, page):
        control = page.control
        assert control.empty == "Waiting for the answer."
        states: tuple[tuple[State, str], ...]
        states = (("lost", "It is gone."), ("live", ""), ("closed", "It is gone."))
        for state, reason in states:
            served.live.set_feed_state(state, reason, 5.0)
            await until(lambda s=state: control.state == s, "not told")  # type: ignore[misc]
            await until(lambda r=reason: control.message == r, "not told why")  # type: ignore[misc]
            assert (control.empty == UNASKED) == (state != "live")
            assert control.closed_at == (5.0 if state == "closed" else 0.0)


async def test_a_failing_view_says_so_once_and_harms_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving(SAMPLES) as served:
        pages = [
            await BrowserPage.open(served, name) for name in ("failing", "counting", "unbuildable")
        ]
        broken, sound, unbuilt = pages
        assert broken.control.state == unbuilt.control.state == "error"
        assert "ZeroDivisionError: 100 % on purpose" in broken.control.message
        assert "LookupError" in unbuilt.control.message
        for n in range(2, 4):
            served.live.apply(make_batch(n))
            await drawn(served, sound)
        levels = [r.levelname for r in caplog.records if "failing could not be" in r.getMessage()]
        assert levels == ["WARNING"]
        Failing.is_broken = False
        served.live.apply(make_batch(9))
        await drawn(served, broken)
        await until(lambda: broken.control.state == "live", "it still says error")
    for page in pages:
        await page.close()
    assert all_closed()  # though one of them failed to close


async def test_an_error_is_shown_until_the_next_command(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with opened("choosing") as (_, page):
        await page.command("show", arguments={"key": "bad"})
        await until(lambda: "there is no such task" in page.control.message, "no reason")
        await page.command("show", arguments={"key": "good"})
        await notes(page, "shows good")
        await until(lambda: page.control.state == "live", "it still says error")
        await page.tap(DoubleTap)
        await until(lambda: "clicked beside it" in page.control.message, "no reason")
        assert page.control.state == "error"
        assert curdoc() is curstate().document  # the user's own
        await page.tap()
        await until(lambda: page.control.open, "the page is stuck")
        await until(lambda: page.control.state == "live", "it still says error")
    assert {record.name.split(".")[0] for record in caplog.records} == {"dask_diag_lab"}


# --- sessions


async def test_pages_are_forgotten_soon_after_their_browser_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collected: list[object] = []
    monkeypatch.setattr(gc, "collect", lambda *_: collected.append(1))
    async with opened("counting") as (served, page):
        await page.close()
        await until(lambda: served.watched == [True, False], "nobody was told")
        await until(all_closed, "pages are kept", limit_s=45)
    assert not collected  # the kernel's user would wait for that


async def test_stopping_closes_sockets_and_views() -> None:
    async with opened("counting") as (served, page):
        await served.server.stop()
        await until(lambda: page.connection.is_closed, "the websocket is open")
        assert all_closed()
        await served.server.stop()


async def test_plots_of_one_page_share_a_stream_and_each_has_faults_of_its_own() -> None:
    async with serving(SAMPLES) as served:
        connection = await Connection.open(served)
        names = ("counting", "counting", "nope", "failing")
        pages = [await BrowserPage.open(served, name, connection=connection) for name in names]
        one, other, missing, failing = pages
        assert (bool(one.opened), missing.reason) == (True, "There is no plot “nope” here.")
        await one.quiet()
        patches, frames = [one.patches, other.patches], one.frames
        served.live.apply(make_batch(2))
        for page in (one, other):
            await drawn(served, page)
        await one.quiet()
        assert [one.patches - patches[0], other.patches - patches[1]] == [1, 1]
        assert one.frames - frames <= 2  # the failing one is drawn again
        assert failing.control.state == "error"
        await one.leave()
        await until(lambda: sum(view.is_closed for view in Counting.made) == 1, "it is kept")
        served.live.apply(make_batch(3))
        await drawn(served, other)
        await connection.close()
        await until(all_closed, "they are kept")


async def test_a_browser_that_reads_nothing_gets_no_backlog_and_then_the_picture_of_now() -> None:
    frames: list[bytes] = []
    has_room = asyncio.Event()

    async def write(frame: bytes) -> None:
        frames.append(frame)
        await has_room.wait()

    async with opened("counting") as (served, fast):
        stream = await served.server.stream(write)
        stream.take('{"type": "open", "id": "slow", "plot": "counting"}')
        view = live_view()
        for n in range(2, 5):
            served.live.apply(make_batch(n))
            await drawn(served, fast)
        assert (view.updates, len(frames)) == (1, 1)
        has_room.set()
        await until(lambda: len(frames) == 2, "it is behind")
        assert view.updates == 2
        stream.close()


@pytest.mark.parametrize("bad", ["nonsense", "[" * 9000, "[]", "{}", b"\xff", '{"type": "open"}'])
async def test_a_page_that_sends_what_none_would_is_left_and_others_go_on(bad: str | bytes) -> None:
    async with opened("counting") as (served, page):
        other = await BrowserPage.open(served, "counting")
        await other.connection.socket.write_message(bad, binary=isinstance(bad, bytes))
        await until(lambda: other.connection.is_closed, "it is not left")
        assert other.connection.socket.close_code == 4400
        served.live.apply(make_batch(2))
        await drawn(served, page)


async def test_a_patch_that_cannot_be_applied_is_said_in_its_pane() -> None:
    async with opened("counting") as (served, page):
        await page.connection.send(type="patch", id="p0", patch={"events": [{}]})
        await until(lambda: page.control.state == "error", "nothing is said")
        await page.command("freeze")  # else the view's next update has data of its own
        source = page.document.select_one({"type": ColumnDataSource})
        await page.patch(source, "data", {"x": np.arange(3.0), "y": np.arange(3.0)})
        await until(lambda: len(live_view().source.data["x"]) == 3, "the reader's data is lost")
        served.live.apply(make_batch(2))
        await until(lambda: page.control.state == "live", "it still says error")
