"""Websockets through the relay: both ways, both ends, and what is left when one dies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psutil
import pytest
from tornado.websocket import WebSocketClientConnection

from dask_diag_lab.proxy.extension import DaskDiagLab
from dask_diag_lab.proxy.relay import RelayHandler
from tests.proxy.backends import Backend
from tests.proxy.client import Client

BIG = 12 * 2**20


@asynccontextmanager
async def opened(client: Client, backend: Backend) -> AsyncIterator[WebSocketClientConnection]:
    """Open the echo socket and skip what it says first."""
    parts = ("dashboards", backend.id, "plots/x/ws")
    async with client.socket(*parts, max_message_size=2**27) as socket:
        await socket.read_message()
        yield socket


async def all_closed(client: Client, backend: Backend) -> dict[str, object]:
    """Wait until no socket is left, neither here nor at the backend; return its state."""
    async with asyncio.timeout(40):
        while RelayHandler.open_sockets:
            await asyncio.sleep(0.02)
        while (state := await client.control(backend))["sockets"]:
            await asyncio.sleep(0.02)
    return state


async def test_subprotocols_are_passed_on_and_the_browsers_rights_are_not(
    client: Client, announced: Backend
) -> None:
    async with client.socket(
        "dashboards",
        announced.id,
        "plots/x/ws",
        params={"token": client.token, "_xsrf": "secret", "bokeh-protocol-version": "1.0"},
        headers={"Cookie": "a=secret"},
        subprotocols=["bokeh", "session.token"],
    ) as socket:
        first = json.loads(str(await socket.read_message()))
        headers = {name.title(): value for name, value in first["headers"].items()}
        assert socket.selected_subprotocol == "bokeh"
    assert await client.refused_socket("dashboards", announced.id, "nothing/ws") == 502
    assert first["offered"] == ["bokeh", "session.token"]
    assert first["uri"] == "/plots/x/ws?bokeh-protocol-version=1.0"
    assert headers["Authorization"] == f"token {announced.token}"
    assert headers["Origin"] == announced.url
    assert headers["Host"] == announced.url.removeprefix("http://")
    assert "Cookie" not in headers
    assert "Sec-Websocket-Extensions" not in headers


async def test_close_codes_pass_both_ways_and_a_lost_side_closes_the_other(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    async with opened(client, announced) as socket:
        await socket.write_message("close")
        assert await socket.read_message() is None
        assert (socket.close_code, socket.close_reason) == (4001, "as asked")
    async with opened(client, announced) as socket:
        socket.close(4002, "bye")
    assert (await all_closed(client, announced))["close_code"] == 4002
    async with opened(client, announced) as socket:
        assert socket.protocol is not None
        assert socket.protocol.stream is not None
        socket.protocol.stream.close()
        assert (await all_closed(client, announced))["close_code"] == 1001
    async with opened(client, announced) as socket:
        await socket.write_message("die")
        async with asyncio.timeout(30):
            assert await socket.read_message() is None
        assert socket.close_code == 1001


async def test_messages_come_back_as_they_were_and_a_reader_that_waits_holds_the_sender_back(
    client: Client, announced: Backend
) -> None:
    process = psutil.Process()
    async with opened(client, announced) as socket:
        for sent in ("grüße", b"\x00\xff", "", b"z" * BIG):
            await socket.write_message(sent, binary=isinstance(sent, bytes))
            assert await socket.read_message() == sent
        before = process.memory_info().rss
        for _ in range(40):
            await socket.write_message(f"send {4 * 2**20}")
        await asyncio.sleep(1)  # the claim is that memory stays bounded meanwhile
        assert process.memory_info().rss - before < 100 * 2**20
        for _ in range(40):
            assert len(await socket.read_message() or b"") == 4 * 2**20


async def test_stopping_jupyter_closes_the_sockets(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    async with opened(client, announced) as socket, client.socket("api", "events"):
        await extension.stop_extension()
        assert await socket.read_message() is None
        assert (socket.close_code, socket.close_reason) == (1001, "The Jupyter server stops.")
    await extension.stop_extension()


class TestLimits:
    """With pings every 0.3 s."""

    @pytest.fixture
    def jp_server_config(self) -> dict[str, object]:
        return {
            "ServerApp": {
                "jpserver_extensions": {"dask_diag_lab.proxy": True},
                "tornado_settings": {"ws_ping_interval": 300},
            },
        }

    async def test_large_message_and_browser_that_answers_no_ping_close_the_connection(
        self, client: Client, announced: Backend, extension: DaskDiagLab
    ) -> None:
        async with opened(client, announced) as socket:
            await socket.write_message(f"send {65 * 2**20}")
            assert await socket.read_message() is None
        # As a laptop that fell asleep: the connection stays open and nothing comes any more.
        upgrade = (
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        )
        reader, writer = await client.begin(announced, "plots/x/ws", upgrade)
        await reader.readuntil(b"\r\n\r\n")
        assert RelayHandler.open_sockets
        await all_closed(client, announced)
        writer.close()
