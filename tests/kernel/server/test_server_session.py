"""A page's session: made when it is asked for, connected once, up to date from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.protocol import Protocol

from dask_diag_lab.server.control import CONTROL_NAME, PaneControl
from tests.kernel.server.browser import BrowserPage, connect, is_refused
from tests.kernel.server.sample_views import Counting, Unbuildable, sample_plot
from tests.kernel.serving import Served, make_batch, run, serving, until

SAMPLES = (sample_plot("count", Counting), sample_plot("unbuildable", Unbuildable))


@pytest.fixture(autouse=True)
def no_views() -> Iterator[None]:
    Counting.made.clear()
    yield
    Counting.made.clear()


async def asked(served: Served, plot: str = "count", body: str = "{}") -> Any:
    """Return the answer to the question for a session."""
    return await served.json(f"/plots/{plot}/session", method="POST", body=body)


def test_a_document_is_built_once_when_the_session_is_asked_for() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served)
            assert (len(Counting.made), served.server.page_count) == (1, 1)
            page = await BrowserPage.open(served, "count", session=session)
            assert (len(Counting.made), served.server.page_count) == (1, 1)
            await page.close()

    run(story())


def test_a_page_that_takes_its_time_gets_its_document_all_the_same() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served)
            left = await BrowserPage.open(served, "count")
            await left.close()
            # Those that were left go after some seconds; by then the other one was awaited, too.
            await until(lambda: served.server.page_count == 1, "a page that was left is kept")
            page = await BrowserPage.open(served, "count", session=session)
            assert page.control.state == "live"
            await page.close()
            await until(lambda: served.server.page_count == 0, "it is kept for ever")

    run(story())


def test_a_page_that_comes_too_late_is_told_to_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_diag_lab.server.sessions.AWAITED_S", 0.01)

    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served)
            await until(lambda: served.server.page_count == 0, "nobody came, and it is kept")
            assert Counting.made[0].is_closed
            assert await is_refused(served, "count", session["token"])
            assert served.server.page_count == 0

    run(story())


def test_what_a_press_asked_for_is_not_awaited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_diag_lab.server.sessions.AHEAD_S", 0.01)

    async def story() -> None:
        async with serving(SAMPLES) as served:
            for _ in range(3):
                await asked(served, body='{"ahead": true}')
            assert served.server.page_count == 3
            await until(lambda: served.server.page_count == 0, "nobody took it, and it is kept")

    run(story())


def test_a_session_is_good_for_one_connection() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served)
            page = await BrowserPage.open(served, "count", session=session)
            late = await connect(served, "count", session["token"])
            assert await late.read_message() is None
            late.close()
            await page.close()

    run(story())


def test_a_session_takes_no_second_page() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            pages = [await BrowserPage.open(served, "count") for _ in range(2)]
            assert served.server._plots is not None
            taken, other = served.server._plots.context.sessions
            (connection,) = other._subscribed_connections
            with pytest.raises(AssertionError, match="one page"):
                taken.subscribe(connection)
            for page in pages:
                await page.close()

    run(story())


def test_nobody_counts_as_a_viewer_before_the_page_is_connected() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served)
            served.feed(make_batch(2))
            served.feed(make_batch(3))
            await asyncio.sleep(0)  # the turn in which pages would be brought up to date
            assert (served.watched, Counting.made[0].updates) == ([], 1)
            page = await BrowserPage.open(served, "count", session=session)
            await until(lambda: page.patches, "what was missed did not come")
            await page.close()

    run(story())


async def _note(document: Document) -> None:
    control = document.select_one({"name": CONTROL_NAME})
    assert isinstance(control, PaneControl)
    control.note = "changed meanwhile"


def test_what_changes_between_answer_and_connection_follows_the_greeting() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served)
            assert served.server._plots is not None
            (prepared,) = served.server._plots.context.sessions
            await prepared.with_document_locked(_note, prepared.document)
            page = await BrowserPage.open(served, "count", session=session)
            await until(lambda: page.control.note == "changed meanwhile", "the change was lost")
            await page.close()

    run(story())


def test_a_message_leaves_in_one_piece() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            page = await BrowserPage.open(served, "count")
            (socket,) = served.server._open_sockets
            assert socket.ws_connection is not None
            stream: Any = socket.ws_connection.stream  # its `write` is listened to
            written: list[bytes] = []
            write = stream.write

            def note(data: bytes) -> Any:  # a future
                written.append(bytes(data))
                return write(data)

            stream.write = note
            await socket.send_message(Protocol().create("ACK"))
            assert len(written) == 1
            assert written[0].count(b"{}") == 2  # metadata and content, behind the head
            await page.close()

    run(story())


def test_what_the_next_plot_needs_is_named_once_and_is_there() -> None:
    async def story() -> None:
        async with serving() as served:
            session = await asked(served, "cpu")
            assert session["later"]
            assert not set(session["later"]) & set(session["scripts"])
            for script in session["later"]:
                assert (await served.ask(f"/{script}")).code == 200

    run(story())


def test_a_plot_that_cannot_be_built_still_gets_a_session() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served, "unbuildable")
            assert session["scripts"] == ["static/js/bokeh.min.js"]

    run(story())
