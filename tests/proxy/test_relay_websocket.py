"""Websockets through the relay: both ways, both ends, and what is left when one dies."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psutil
import pytest
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClientConnection

from dask_diag_lab.proxy.extension import DaskDiagLab
from dask_diag_lab.proxy.relay_websocket import RelaySocket
from tests.proxy.backends import Backend
from tests.proxy.client import Client

BIG = 12 * 2**20


@pytest.fixture
def announced(backend: Backend) -> Backend:
    backend.announce()
    return backend


@asynccontextmanager
async def opened(
    client: Client, backend: Backend, **options: object
) -> AsyncIterator[WebSocketClientConnection]:
    """Open the echo socket and skip what it says first."""
    parts = ("dashboards", backend.id, "plots/x/ws")
    async with client.socket(*parts, max_message_size=2**27, **options) as socket:
        await socket.read_message()
        await socket.read_message()
        yield socket


async def all_gone(extension: DaskDiagLab) -> None:
    """Wait until no relayed socket is left here."""
    async with asyncio.timeout(40):
        while extension.state.sockets:
            await asyncio.sleep(0.02)


async def backend_is_free(client: Client, backend: Backend) -> dict[str, object]:
    """Wait until the backend has no socket left."""
    async with asyncio.timeout(40):
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
        headers = {k.title(): v for k, v in json.loads(str(await socket.read_message())).items()}
        assert socket.selected_subprotocol == "bokeh"
    assert first["offered"] == ["bokeh", "session.token"]
    assert first["uri"] == "/plots/x/ws?bokeh-protocol-version=1.0"
    assert headers["Authorization"] == f"token {announced.token}"
    assert headers["Origin"] == announced.url
    assert headers["Host"] == announced.url.removeprefix("http://")
    assert "Cookie" not in headers
    assert "Sec-Websocket-Extensions" not in headers


async def test_text_and_large_binary_come_back_as_they_were(
    client: Client, announced: Backend
) -> None:
    async with opened(client, announced) as socket:
        for sent in ("grüße", b"\x00\xff", "", b"z" * BIG):
            await socket.write_message(sent, binary=isinstance(sent, bytes))
            assert await socket.read_message() == sent


async def test_small_parts_of_a_message_do_not_wait_for_each_other(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    async with opened(client, announced):
        (relayed,) = extension.state.sockets
        assert isinstance(relayed, RelaySocket)
        ends = (relayed._upstream and relayed._upstream.protocol, relayed.ws_connection)
        for end in ends:
            assert end is not None
            assert end.stream is not None
            assert end.stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_close_code_of_the_dashboard_reaches_the_browser(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    async with opened(client, announced) as socket:
        await socket.write_message("close")
        assert await socket.read_message() is None
        assert (socket.close_code, socket.close_reason) == (4001, "as asked")
    await all_gone(extension)


async def test_close_code_of_the_browser_reaches_the_dashboard(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    async with opened(client, announced) as socket:
        socket.close(4002, "bye")
    await all_gone(extension)
    assert (await backend_is_free(client, announced))["close_code"] == 4002


async def test_dashboard_that_dies_closes_the_browsers_side(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    async with opened(client, announced) as socket:
        await socket.write_message("die")
        async with asyncio.timeout(30):
            assert await socket.read_message() is None
        assert socket.close_code == 1001
    await all_gone(extension)


async def test_browser_that_dies_without_a_close_closes_the_dashboards_side(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    async with opened(client, announced) as socket:
        assert socket.protocol is not None
        assert socket.protocol.stream is not None
        socket.protocol.stream.close()
        await all_gone(extension)
        assert (await backend_is_free(client, announced))["close_code"] == 1001


async def test_browser_that_reads_nothing_holds_the_sender_back(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    process = psutil.Process()
    async with opened(client, announced) as socket:
        before = process.memory_info().rss
        for _ in range(40):
            await socket.write_message(f"send {4 * 2**20}")
        await asyncio.sleep(1)  # the claim is that memory stays bounded meanwhile
        assert process.memory_info().rss - before < 100 * 2**20
        for _ in range(40):
            assert len(await socket.read_message() or b"") == 4 * 2**20
    await all_gone(extension)


async def test_nothing_is_left_open_after_many_sockets(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    process = psutil.Process()

    async def use(how: int) -> None:
        async with opened(client, announced) as socket:
            await socket.write_message("close" if how == 0 else "x")
            await socket.read_message()
            if how == 1 and socket.protocol is not None and socket.protocol.stream is not None:
                socket.protocol.stream.close()

    await use(0)
    await client.dashboards()
    await backend_is_free(client, announced)
    await all_gone(extension)
    before, tasks = process.num_fds(), len(asyncio.all_tasks())
    await asyncio.gather(*(use(number % 3) for number in range(30)))
    await backend_is_free(client, announced)
    await all_gone(extension)
    async with asyncio.timeout(40):
        while process.num_fds() > before or len(asyncio.all_tasks()) > tasks:
            await asyncio.sleep(0.05)


async def test_foreign_origin_is_refused(client: Client, announced: Backend) -> None:
    with pytest.raises(HTTPClientError) as error:
        async with client.socket(
            "dashboards",
            announced.id,
            "plots/x/ws",
            headers={"Origin": "http://evil.example", **client.cookie_login()},
        ):
            pass
    assert error.value.code in (403, 404)


async def test_plot_that_does_not_exist_is_refused_before_the_upgrade(
    client: Client, announced: Backend
) -> None:
    with pytest.raises(HTTPClientError) as error:
        async with client.socket("dashboards", announced.id, "nothing/ws"):
            pass
    assert error.value.code == 502


async def test_stopping_jupyter_closes_the_sockets(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    async with opened(client, announced) as socket, client.socket("api", "events"):
        await extension.stop_extension()
        assert await socket.read_message() is None
        assert (socket.close_code, socket.close_reason) == (1001, "The Jupyter server stops.")
    await all_gone(extension)
    await extension.stop_extension()


class TestSmallMessages:
    """With a small bound for messages."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"max_message_bytes": 2**20}

    async def test_message_that_is_too_large_closes_the_connection(
        self, client: Client, announced: Backend, extension: DaskDiagLab
    ) -> None:
        async with opened(client, announced) as socket:
            await socket.write_message(f"send {2 * 2**20}")
            assert await socket.read_message() is None
        await all_gone(extension)
        await backend_is_free(client, announced)


class TestShortPings:
    """With pings every 0.3 s."""

    @pytest.fixture
    def jp_server_config(self) -> dict[str, object]:
        return {
            "ServerApp": {
                "jpserver_extensions": {"dask_diag_lab.proxy": True},
                "tornado_settings": {"ws_ping_interval": 300},
            }
        }

    async def test_browser_that_answers_no_ping_is_let_go(
        self, client: Client, announced: Backend, extension: DaskDiagLab
    ) -> None:
        # As a laptop that fell asleep: the connection stays open and nothing comes any more.
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        place = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/plots/x/ws"
        writer.write(
            f"GET {place} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            f"Authorization: token {client.token}\r\n\r\n".encode()
        )
        await reader.readuntil(b"\r\n\r\n")
        assert extension.state.sockets
        await all_gone(extension)
        await backend_is_free(client, announced)
        writer.close()
