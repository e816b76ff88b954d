"""An update's frames leave in one piece, and nothing else gets in between."""

from __future__ import annotations

import asyncio

from tests.kernel.server.browser import connect
from tests.kernel.serving import run, serving


def test_parts_of_two_messages_never_mix() -> None:
    async def story() -> None:
        async with serving() as served:
            session = await served.json("/plots/cpu/session", method="POST", body="{}")
            browser = await connect(served, "cpu", str(session["token"]))
            for _ in range(3):  # the ACK: header, metadata, content
                await browser.read_message()
            (socket,) = served.server._open_sockets
            socket.hold()
            for part in range(5):
                await socket.write_message(f"held {part}")
            released = asyncio.ensure_future(socket.release())
            await asyncio.sleep(0)  # it has begun and may wait for the network
            await socket.write_message("after")
            await released
            heard = [await browser.read_message() for _ in range(6)]
            assert heard == [*(f"held {part}" for part in range(5)), "after"]
            browser.close()

    run(story())
