"""A browser, or a script with the token, that asks the Jupyter server under test."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_server.auth.identity import User
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.httputil import url_concat
from tornado.web import create_signed_value
from tornado.websocket import WebSocketClientConnection

from tests.proxy.backends import Backend

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Listing = list[dict[str, Any]]  # Any: JSON
T = TypeVar("T")


def message(answer: HTTPResponse) -> str:
    """Return the sentence of an error."""
    return str(json.loads(answer.body)["message"])


@asynccontextmanager
async def served(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], port: int = 0
) -> AsyncIterator[int]:
    """Serve on a port of this machine; in the end no connection is left open."""
    tasks: set[asyncio.Task[object] | None] = set()

    async def handle_and_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        await handle(reader, writer)
        writer.close()
        with contextlib.suppress(OSError):  # the other side was first
            await writer.wait_closed()

    async with await asyncio.start_server(handle_and_close, "127.0.0.1", port) as server:
        yield server.sockets[0].getsockname()[1]
        server.close()
        for _ in range(3):  # one that was just taken has its task then
            await asyncio.sleep(0)
        await asyncio.gather(*filter(None, tasks))


class Events:
    """What a browser makes of the messages of the events socket."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self._connection = connection
        self.messages: list[dict[str, Any]] = []  # Any: JSON
        self._dashboards: dict[str, dict[str, Any]] = {}

    async def until(self, is_wanted: Callable[[Listing], object], timeout_s: float = 45) -> Listing:
        """Read messages until the dashboards are as wanted; return them."""
        async with asyncio.timeout(timeout_s):
            while not self.messages or not is_wanted(list(self._dashboards.values())):
                text = await self._connection.read_message()
                assert text is not None, "the socket closed"
                self._take(json.loads(text))
        return list(self._dashboards.values())

    def _take(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        if len(self.messages) == 1:
            self._dashboards = {one["id"]: one for one in message["dashboards"]}
            return
        for change in message["changed"]:
            known = self._dashboards.get(change["id"], {})
            self._dashboards[change["id"]] = {"plots": known.get("plots"), **change}
        for dashboard_id in message["removed"]:
            del self._dashboards[dashboard_id]


@dataclass(frozen=True)
class Client:
    """Asks the Jupyter server; errors are answers too."""

    ws_fetch: Callable[..., Any]  # Any: pytest-jupyter is not typed
    app: ServerApp
    port: int

    @property
    def base_url(self) -> str:
        return str(self.app.base_url)

    @property
    def token(self) -> str:
        return str(self.app.identity_provider.token)

    async def raw(self, path: str, **options: Any) -> HTTPResponse:  # Any: tornado's options
        """Get a path that must arrive exactly as it is written."""
        options.setdefault("headers", {"Authorization": f"token {self.token}"})
        url = f"http://127.0.0.1:{self.port}{path}"
        request = HTTPRequest(url, follow_redirects=False, **options)
        return await AsyncHTTPClient().fetch(request, raise_error=False)

    async def begin(self, backend: Backend, path: str) -> Streams:
        """Ask for a path of a backend without reading the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        place = f"{self.base_url}dask-diag-lab/dashboards/{backend.id}/{path}"
        login = f"Host: 127.0.0.1\r\nAuthorization: token {self.token}\r\n"
        writer.write(f"GET {place} HTTP/1.1\r\n{login}\r\n".encode())
        return reader, writer

    def cookie_login(self) -> dict[str, str]:
        """Return headers of a browser that logged in and sends cookies, not the token."""
        secret = self.app.web_app.settings["cookie_secret"]
        user = self.app.identity_provider.user_to_cookie(User("me"))
        cookies = [
            f"{name}={create_signed_value(secret, name, user).decode()}"
            for name in (f"username-127-0-0-1-{self.port}", f"username-localhost-{self.port}")
        ]
        return {"Cookie": "; ".join(cookies), "Authorization": ""}

    async def get(self, *parts: str, **options: Any) -> HTTPResponse:  # Any: tornado's options
        """Ask with the token; return the answer, whatever its status."""
        login = {"Authorization": f"token {self.token}"}
        options["headers"] = {**login, **options.get("headers", {})}
        path = f"{self.base_url}dask-diag-lab/{'/'.join(parts)}"
        return await self.raw(url_concat(path, options.pop("params", {})), **options)

    async def add(self, url: object) -> HTTPResponse:
        """Add a stock dashboard."""
        body = json.dumps({"url": url})
        return await self.get("api", "dashboards", method="POST", body=body)

    async def dashboards(self) -> Listing:
        """Return the list."""
        answer = await self.get("api", "dashboards")
        assert answer.code == 200
        return list(json.loads(answer.body)["dashboards"])

    async def until(self, is_wanted: Callable[[Listing], T], timeout_s: float = 45) -> T:
        """Ask again and again until the list is as wanted; return what was made of it."""
        async with asyncio.timeout(timeout_s):
            while not (wanted := is_wanted(await self.dashboards())):
                await asyncio.sleep(0.05)
        return wanted

    async def relayed(self, backend: Backend, path: str, **options: Any) -> HTTPResponse:
        """Get a path of a backend through the relay."""
        return await self.get("dashboards", backend.id, path, **options)

    async def control(self, backend: Backend, **changes: object) -> dict[str, Any]:  # Any: JSON
        """Set or read what a backend does."""
        answer = await self.relayed(backend, "control", params=changes)
        assert answer.code == 200
        return dict(json.loads(answer.body))

    @asynccontextmanager
    async def socket(self, *parts: str, **options: Any) -> AsyncIterator[WebSocketClientConnection]:
        """Open a websocket and close it in the end."""
        connection = await self.ws_fetch("dask-diag-lab", *parts, **options)
        try:
            yield connection
        finally:
            connection.close()

    @asynccontextmanager
    async def events(self) -> AsyncIterator[Events]:
        """Listen to the dashboards."""
        async with self.socket("api", "events") as connection:
            yield Events(connection)

    @asynccontextmanager
    async def kernel(self, **environment: str) -> AsyncIterator[tuple[str, AsyncKernelClient]]:
        """Start a kernel, and end it."""
        manager: Any = self.app.kernel_manager  # jupyter_server is not typed
        kernel_id = str(await manager.start_kernel(env={**os.environ, **environment}))
        channels: AsyncKernelClient = manager.get_kernel(kernel_id).client()
        channels.start_channels()
        try:
            await channels.wait_for_ready(60)
            yield kernel_id, channels
        finally:
            channels.stop_channels()
            await manager.shutdown_kernel(kernel_id, now=True)

    async def refused_socket(self, *parts: str, **options: Any) -> int:  # Any: as above
        """Return the status with which a websocket is refused."""
        try:
            async with self.socket(*parts, **options):
                return 101
        except HTTPClientError as error:
            return int(error.code)
