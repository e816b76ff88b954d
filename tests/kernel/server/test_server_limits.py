"""The server's port: who does not say what it wants is hung up on, and connections are bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from dask_diag_lab.server import application
from tests.kernel.serving import TOKEN, Served, serving

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connected(served: Served, sent: bytes = b"") -> Streams:
    place = urlsplit(served.url)
    assert place.hostname
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def closed(streams: Streams) -> bytes:
    """Return what came until the server hung up."""
    reader, writer = streams
    try:
        return await asyncio.wait_for(reader.read(), 20)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@asynccontextmanager
async def open_plot(served: Served) -> AsyncIterator[WebSocketClientConnection]:
    url = served.url.replace("http", "ws") + "/stream"
    request = HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"})
    plot = await websocket_connect(request)
    await plot.write_message('{"type": "open", "id": "a", "plot": "task-stream"}')
    assert await plot.read_message() is not None
    try:
        yield plot
        assert plot.close_code is None
    finally:
        plot.close()
        while await plot.read_message() is not None:
            pass


async def test_a_connection_without_a_whole_request_is_closed_and_a_plot_stays_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(application, "REQUEST_S", 0.5)
    async with serving() as served, open_plot(served):
        post = "POST /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        post += f"Authorization: token {TOKEN}\r\nContent-Length: 100\r\n\r\n{{"
        for begun in (b"", b"GET /health HTTP/1.1\r\nHost:", post.encode()):
            assert await closed(await connected(served, begun)) == b""
        reader, writer = await connected(served, b"GET /health HTTP/1.1\r\n")
        while not (reader.at_eof() or reader.exception()):  # the latter: it was reset
            writer.write(b"X")
            await asyncio.sleep(0.05)
        writer.close()


async def test_connections_are_bounded_and_refused_in_words_and_those_there_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(application, "MAX_CONNECTIONS", 4)
    async with serving() as served, open_plot(served), open_plot(served):
        async with open_plot(served):
            last = await connected(served)
            refused = await closed(await connected(served))
            assert refused.startswith(b"HTTP/1.1 503 ")
            assert b"close some of its plots" in refused
        assert (await served.ask("/health")).code == 200
        last[1].close()
