"""Websockets to dashboards for pages that have none: by requests that wait for messages.

A page has one poll for all its plots, under a key that it made up; the key is good for its user
only. See docs/decisions/0008.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, ClassVar, Final

from tornado import web
from tornado.websocket import WebSocketClientConnection as Socket
from tornado.websocket import WebSocketError

from dask_diag_lab.proxy.client import RefusedError
from dask_diag_lab.proxy.handlers import BaseHandler, allowed_to
from dask_diag_lab.proxy.relay import check_request, open_socket

WAIT_S: Final = 20.0
"""So long a request for messages waits for the first; proxies give up after 30 s or more."""
LEASE_S: Final = 30.0
"""What nobody asks for so long is closed."""
MAX_HELD_BYTES: Final = 4 * 2**20
"""While more is held, nothing more is read from dashboards."""
MAX_POLLS: Final = 64
MAX_BODY_BYTES: Final = 1_048_576


class Poll:
    """The sockets of one page, and what they have received.

    Parameters
    ----------
    on_end : callable
        Called when the page asks no more.
    """

    def __init__(self, on_end: Callable[[], object]) -> None:
        self._on_end = on_end
        self._sockets: dict[str, Socket] = {}
        self._pumps: dict[str, asyncio.Task[None]] = {}
        self._held: list[tuple[dict[str, Any], bytes]] = []  # JSON, and what it describes
        self._held_bytes = 0
        self._has_news, self._has_room = asyncio.Event(), asyncio.Event()
        self._has_room.set()
        self._end = asyncio.get_running_loop().call_later(LEASE_S, self.close)

    def open(self, name: str, opening: AbstractAsyncContextManager[Socket]) -> None:
        """Open a socket and hold what it receives; a refusal is its end."""
        pump = self._pumps[name] = asyncio.create_task(self._relay(name, opening))
        pump.add_done_callback(lambda _: self._pumps.pop(name, None))

    async def write(self, name: str, text: str) -> None:
        """Send a message; one to a socket that has closed is dropped."""
        if name in self._sockets:
            with contextlib.suppress(WebSocketError):
                await self._sockets[name].write_message(text)

    def drop(self, names: list[str]) -> None:
        """Close sockets; those that there are."""
        for pump in [one for name, one in self._pumps.items() if name in names]:
            pump.cancel()

    async def read(self) -> bytes:
        """Wait for messages; return them all, after a line of JSON that describes them."""
        self._end.cancel()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._has_news.wait(), WAIT_S)
        held, self._held, self._held_bytes = self._held, [], 0
        self._has_news.clear()
        self._has_room.set()
        self._end = asyncio.get_running_loop().call_later(LEASE_S, self.close)
        head = json.dumps({"parts": [part for part, _ in held]})
        return b"".join([head.encode(), b"\n", *(content for _, content in held)])

    def close(self) -> None:
        """Close all sockets. Harmless twice."""
        self._end.cancel()
        self._on_end()
        self.drop(list(self._pumps))

    async def _relay(self, name: str, opening: AbstractAsyncContextManager[Socket]) -> None:
        try:
            async with opening as socket:
                self._sockets[name] = socket
                while (message := await socket.read_message()) is not None:
                    is_text = isinstance(message, str)
                    content = message.encode() if isinstance(message, str) else message
                    self._hold(name, "text" if is_text else "binary", content)
                    await self._has_room.wait()
                reason = socket.close_reason or ""
        except RefusedError as error:
            reason = str(error)
        finally:
            self._sockets.pop(name, None)
        self._hold(name, "closed", b"", reason=reason)

    def _hold(self, name: str, kind: str, content: bytes, **more: str) -> None:
        self._held.append(({"id": name, "kind": kind, "size": len(content), **more}, content))
        self._held_bytes += len(content)
        if self._held_bytes > MAX_HELD_BYTES:
            self._has_room.clear()
        self._has_news.set()


class PollHandler(BaseHandler):
    """``polls/<key>``: messages of a page's plots, and what the page sends them."""

    polls: ClassVar[dict[tuple[str, str], Poll]] = {}

    @property
    def _login(self) -> str:
        # Jupyter makes up a new user for each request that has its token.
        return "" if self.token_authenticated else self.current_user.username

    @web.authenticated
    @allowed_to("execute")
    async def get(self, key: str) -> None:
        """Answer messages that have come, else the first that come, else none."""
        poll = self.polls.get((self._login, key))
        if poll is None:
            self.refuse(404, "This page was not heard of for too long: its plots open again.")
            return
        messages = await poll.read()
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Cache-Control", "no-store")
        await self.finish(messages)

    @web.authenticated
    @allowed_to("execute")
    async def post(self, key: str) -> None:
        """Open a socket, send it a message, or close it: ``{"do", "id", …}``."""
        try:
            await self._do((self._login, key))
        except RefusedError as error:
            self.refuse(error.status, str(error))
        else:
            self.set_status(204)
            await self.finish()

    async def _do(self, key: tuple[str, str]) -> None:
        poll = self.polls.get(key)
        try:
            asked = json.loads(self.request.body[:MAX_BODY_BYTES])
        except (ValueError, RecursionError):
            asked = None
        match asked:
            case {
                "do": "open",
                "id": str(name),
                "dashboard": str(to),
                "path": str(path),
                "protocols": list(offered),
            }:
                poll = poll or self._begin(key)
                poll.open(name, self._socket(to, path, list(map(str, offered))))
            case {"do": "send", "id": str(name), "data": str(text)}:
                if poll is not None:
                    await poll.write(name, text)
            case {"do": "close", "ids": list(names)}:
                if poll is not None:
                    poll.drop(names)
            case _:
                raise RefusedError("This is not what a page asks.", 400)

    def _begin(self, key: tuple[str, str]) -> Poll:
        if len(self.polls) >= MAX_POLLS:
            raise RefusedError("Too many pages poll for plots.", 503)
        poll = self.polls[key] = Poll(lambda: self.polls.pop(key, None))
        return poll

    @asynccontextmanager
    async def _socket(
        self, dashboard_id: str, path: str, offered: list[str]
    ) -> AsyncIterator[Socket]:
        dashboard = await self.registry.find(dashboard_id)
        check_request(dashboard.kind, "GET", path)
        if dashboard.kind != "diagnostics" or not path.endswith("/ws"):
            raise RefusedError("There is no live plot at this address.")
        target, timeout_s = (
            f"{dashboard.address.prefix}/{path}",
            self.registry.settings.answer_timeout_s,
        )
        async with open_socket(dashboard, target, offered, timeout_s) as socket:
            dashboard.sockets.add(socket)
            try:
                yield socket
            finally:
                dashboard.sockets.discard(socket)
