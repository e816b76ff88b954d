"""A page's session: made when it is asked for, connected once, up to date from then on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from bokeh.protocol import Protocol

from tests.kernel.server.browser import BrowserPage, connect
from tests.kernel.server.sample_views import Counting, Unbuildable, sample_plot
from tests.kernel.serving import Served, make_batch, run, serving, until

SAMPLES = (sample_plot("count", Counting), sample_plot("unbuildable", Unbuildable))


@pytest.fixture(autouse=True)
def no_views() -> Iterator[None]:
    Counting.made.clear()
    yield
    Counting.made.clear()


async def asked(served: Served, plot: str = "count") -> Any:
    """Return the answer to the question for a session."""
    return await served.json(f"/plots/{plot}/session", method="POST", body="{}")


def test_a_document_is_built_once_when_the_session_is_asked_for() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served)
            assert (len(Counting.made), served.server.page_count) == (1, 1)
            page = await BrowserPage.open(served, "count", token=session["token"])
            assert (len(Counting.made), served.server.page_count) == (1, 1)
            await page.close()

    run(story())


def test_a_page_that_comes_late_gets_a_document_all_the_same() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served)
            await until(lambda: served.server.page_count == 0, "nobody came, and it is kept")
            assert Counting.made[0].is_closed
            page = await BrowserPage.open(served, "count", token=session["token"])
            assert page.control.state == "live"
            await page.close()

    run(story())


def test_nothing_comes_before_the_document_and_what_was_missed_comes_after_it() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            session = await asked(served)
            socket = await connect(served, "count", session["token"])
            ack = [await socket.read_message() for _ in range(3)]
            assert json.loads(str(ack[0]))["msgtype"] == "ACK"
            served.feed(make_batch(2))
            served.feed(make_batch(3))
            await asyncio.sleep(0.1)
            assert served.watched == []
            await _pull(socket)
            heads = [await _head(socket) for _ in range(2)]
            assert [head["msgtype"] for head in heads] == ["PULL-DOC-REPLY", "PATCH-DOC"]
            socket.close()
            while await socket.read_message() is not None:
                continue
            await until(lambda: not served.server.connection_count, "the socket is still open")

    run(story())


async def _pull(socket: Any) -> None:  # tornado's connection
    request = Protocol().create("PULL-DOC-REQ")
    for part in (request.header_json, request.metadata_json, request.content_json):
        await socket.write_message(part)


async def _head(socket: Any) -> Any:  # JSON
    """Return the head of the next message; reads it to its end."""
    head = json.loads(str(await socket.read_message()))
    for _ in range(2 + 2 * head.get("num_buffers", 0)):
        await socket.read_message()
    return head


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
