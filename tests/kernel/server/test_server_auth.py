"""Nobody passes without the token, on any route or websocket; and connections are bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from dask_diag_lab.server import application
from dask_diag_lab.server.auth import cookie_value
from tests.kernel.serving import TOKEN, Served, serving

COOKIE = "dask-diag-lab-0123456789abcdef"
KEY = cookie_value(TOKEN)
ROUTES = [
    *("/", "/status", "/health", "/plots.json", "/individual-plots.json", "/tasks", "/info"),
    *("/individual-task-stream", "/plots/task-stream", "/plots/task-stream.json"),
    *("/plots/task-stream.csv", "/stream"),
    "/favicon.ico",
    *("/static/js/bokeh.min.js", "/static/dask-diag-lab/page.css", "/nothing"),
]


async def test_every_route_refuses_every_verb_without_the_token() -> None:
    async with serving() as served:
        for token in (None, "", "wrong", TOKEN[:-1], TOKEN + "x", KEY):
            for path in ROUTES:
                for method in ("GET", "POST", "PUT", "DELETE"):
                    body = "{}" if method in ("POST", "PUT") else None
                    reply = await served.ask(path, token=token, method=method, body=body)
                    assert reply.code == 403, (method, path)
                    assert TOKEN.encode() not in reply.body
                    assert "Set-Cookie" not in reply.headers


async def test_a_token_in_the_query_becomes_a_cookie_and_leaves_the_address() -> None:
    async with serving() as served:
        reply = await served.ask(f"/status?a=1&token={TOKEN}", token=None)
        assert (reply.code, reply.headers["Location"]) == (302, "/status?a=1")
        cookie = reply.headers["Set-Cookie"]
        assert cookie.startswith(f"{COOKIE}={KEY};")
        assert TOKEN not in str(reply.headers)
        assert {"HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
        kept = {"Cookie": cookie.partition(";")[0]}
        assert (await served.ask("/health", token=None, headers=kept)).code == 200
        other = await served.ask(f"//evil.example/x?token={TOKEN}", token=None)
        assert other.headers["Location"] == "/evil.example/x"
        post = await served.ask(f"/?token={TOKEN}", token=None, method="POST", body="")
        assert post.code == 403


async def test_only_loopback_names_are_answered_and_the_relay_may_carry_any_origin() -> None:
    names = {"127.0.0.1:1": 200, "localhost:99": 200, "[::1]:80": 200, "LOCALHOST": 200}
    names |= dict.fromkeys(["evil.example", "127.0.0.1.evil.example:80", "[::1"], 403)
    async with serving() as served:
        codes = {host: (await served.ask("/health", headers={"Host": host})).code for host in names}
        assert codes == names
        relayed = await served.ask("/health", headers={"Origin": "https://hub.example"})
        assert relayed.code == 200


async def test_a_foreign_page_cannot_use_the_cookie() -> None:
    async with serving() as served:

        async def code(cookie: str, origin: str = "") -> int:
            headers = {"Cookie": cookie} | ({"Origin": origin} if origin else {})
            return (await served.ask("/health", token=None, headers=headers)).code

        assert await code(f"{COOKIE}={KEY}", served.url) == 200
        for origin in ("http://evil.example", "http://127.0.0.1:1", "null", "http://[", "//["):
            assert await code(f"{COOKIE}={KEY}", origin) == 403
        others = (TOKEN, "", "wr\u00f6ng", cookie_value("another server"))
        for cookie in ("", ";;;", f"other={KEY}", *(f"{COOKIE}={other}" for other in others)):
            assert await code(cookie) == 403


async def test_websockets_are_refused_without_the_token_and_from_foreign_pages() -> None:
    async with serving() as served:
        url = served.url.replace("http", "ws", 1) + "/stream"
        foreign = {"Cookie": f"{COOKIE}={KEY}", "Origin": "http://evil.example"}
        for headers in ({}, {"Authorization": "token wrong"}, foreign):
            with pytest.raises(HTTPClientError, match="403"):
                await websocket_connect(HTTPRequest(url, headers=headers))


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


async def test_connections_are_bounded_and_those_there_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(application, "MAX_CONNECTIONS", 4)
    async with serving() as served, open_plot(served), open_plot(served):
        async with open_plot(served):
            last = await connected(served)
            assert await closed(await connected(served)) == b""
        assert (await served.ask("/health")).code == 200
        last[1].close()
