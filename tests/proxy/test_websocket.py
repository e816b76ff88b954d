"""Websockets through the relay: both ways, both ends, and what is left when one dies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tornado.websocket import WebSocketClientConnection

from dask_diag_lab.proxy.extension import DaskDiagLab
from tests.proxy.backends import Backend
from tests.proxy.client import Client


@asynccontextmanager
async def opened(client: Client, backend: Backend) -> AsyncIterator[WebSocketClientConnection]:
    """Open the echo socket and skip what it says first."""
    parts = ("dashboards", backend.id, "stream")
    async with client.socket(*parts, max_message_size=2**27) as socket:
        await socket.read_message()
        yield socket


async def test_subprotocols_pass_and_rights_do_not(client: Client, announced: Backend) -> None:
    async with client.socket(
        "dashboards",
        announced.id,
        "stream",
        params={"token": client.token, "_xsrf": "secret", "a": "1"},
        headers={"Cookie": "a=secret"},
        subprotocols=["bokeh", "session.token"],
    ) as socket:
        first = json.loads(str(await socket.read_message()))
        assert socket.selected_subprotocol == "bokeh"
    for path in ("plots/x/ws", "health"):
        assert await client.refused_socket("dashboards", announced.id, path) == 403
    assert first["offered"] == ["bokeh", "session.token"]
    assert first["uri"] == "/stream?a=1"
    assert "cookie" not in [name.lower() for name in first["headers"]]


async def test_close_codes_pass_both_ways(client: Client, announced: Backend) -> None:
    async with opened(client, announced) as socket:
        await socket.write_message("close")
        assert await socket.read_message() is None
        assert (socket.close_code, socket.close_reason) == (4001, "as asked")
    async with opened(client, announced) as socket:
        socket.close(4002, "bye")
    async with asyncio.timeout(40):
        while (state := await client.control(announced))["sockets"]:
            await asyncio.sleep(0.02)
    assert state["close_code"] == 4002
    async with opened(client, announced) as socket:
        await socket.write_message("die")
        async with asyncio.timeout(30):
            assert await socket.read_message() is None
        assert socket.close_code == 1001


async def test_messages_come_back_unless_too_large(client: Client, announced: Backend) -> None:
    async with opened(client, announced) as socket:
        for sent in ("grüße", b"\x00\xff", "", b"z" * 12 * 2**20):
            await socket.write_message(sent, binary=isinstance(sent, bytes))
            assert await socket.read_message() == sent
        await socket.write_message(f"send {65 * 2**20}")
        assert await socket.read_message() is None


async def test_stop_closes(client: Client, announced: Backend, extension: DaskDiagLab) -> None:
    async with opened(client, announced) as socket, client.socket("api", "events"):
        await extension.stop_extension()
        assert await socket.read_message() is None
        assert (socket.close_code, socket.close_reason) == (1001, "The Jupyter server stops.")
