"""What changes together is one message, and a message's parts leave with nothing in between."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from bokeh.core.types import ID
from bokeh.events import Tap
from bokeh.models import ColumnDataSource
from bokeh.protocol import Protocol

from tests.kernel.server.browser import BrowserPage, connect
from tests.kernel.server.sample_views import Blushing, Counting, sample_plot
from tests.kernel.serving import make_batch, run, serving, until

BLUSH = sample_plot("blush", Blushing)


def test_an_update_is_one_message_however_much_it_changes() -> None:
    async def story() -> None:
        async with serving((BLUSH,)) as served:
            page = await BrowserPage.open(served, "blush")
            await page.quiet()
            updates, patches = Counting.made[-1].updates, page.patches
            served.feed(make_batch(2))
            await until(lambda: page.control.note.endswith(str(served.store.version)), "not drawn")
            source = page.document.select_one({"type": ColumnDataSource})
            assert isinstance(source, ColumnDataSource)
            assert source.data["y"] == [served.store.version]  # beside the note of the control
            await page.quiet()
            assert page.patches - patches == Counting.made[-1].updates - updates
            await page.close()

    run(story())


def test_what_a_click_changes_is_one_message() -> None:
    async def story() -> None:
        async with serving((BLUSH,)) as served:
            page = await BrowserPage.open(served, "blush")
            await page.quiet()
            updates, patches = Counting.made[-1].updates, page.patches
            picture: Any = page.document.select_one({"name": "picture"})
            await page.event(Tap(picture))
            await until(lambda: picture.border_fill_color == "red", "the click did nothing")
            await page.quiet()
            assert picture.background_fill_color == "red"
            assert page.patches - patches == 1 + Counting.made[-1].updates - updates
            await page.close()

    run(story())


def test_parts_of_messages_never_mix() -> None:
    async def story() -> None:
        async with serving() as served:
            session = await served.json("/plots/cpu/session", method="POST", body="{}")
            browser = await connect(served, "cpu", str(session["token"]))
            for _ in range(3):  # the greeting: header, metadata, content
                await browser.read_message()
            (socket,) = served.server._open_sockets
            socket.hold()
            for _ in range(2):
                await socket.send_message(Protocol().create("ACK"))
            released = asyncio.ensure_future(socket.release())
            await asyncio.sleep(0)  # it has begun and may wait for the network
            await socket.send_message(Protocol().create("ERROR", ID("1"), "after"))
            await released
            heard = [str(await browser.read_message()) for _ in range(9)]
            assert [json.loads(head)["msgtype"] for head in heard[::3]] == ["ACK", "ACK", "ERROR"]
            browser.close()

    run(story())
