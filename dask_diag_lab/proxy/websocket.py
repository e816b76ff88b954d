"""Relays websockets: each message waits until the other side has taken the one before."""

from __future__ import annotations

import asyncio
from typing import Final

from jupyter_server.auth.decorator import ws_authenticated
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.httputil import HTTPHeaders
from tornado.simple_httpclient import HTTPTimeoutError
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketError,
    websocket_connect,
)

from dask_diag_lab.proxy.client import RefusedError, UpstreamTimeoutError
from dask_diag_lab.proxy.dashboard import Dashboard
from dask_diag_lab.proxy.handlers import BaseWebSocketHandler, allowed_to
from dask_diag_lab.proxy.relay import FramedHandler, RelayedHandler, request_headers

MAX_BROWSER_MESSAGE: Final = 16 * 1024 * 1024

REMOTE_PING_S: Final = 60.0
"""Only for dashboards on other machines. A kernel that holds the interpreter cannot answer a
ping and is not dead for it; on this machine the system tells at once when its process ends."""


class RelaySocket(BaseWebSocketHandler, RelayedHandler):
    """``dashboards/<id>/<path>`` as a websocket."""

    max_message_size = MAX_BROWSER_MESSAGE
    _upstream: WebSocketClientConnection
    _pump: asyncio.Task[None] | None = None

    @ws_authenticated
    @allowed_to("execute")
    async def get(self, dashboard_id: str, _path: str) -> None:
        """Connect to the dashboard, then become a websocket; returns when both have closed."""
        try:
            dashboard = await self.dashboard(dashboard_id)
            self._upstream = await self._connect(dashboard)
        except RefusedError as error:
            self.refuse(error.status, str(error))
            return
        self.state.relayed_sockets.add(self)
        try:
            await super().get()
        finally:
            self.state.relayed_sockets.discard(self)
            self._upstream.close(*sendable_close(self.close_code, self.close_reason))
            if self._pump is not None:
                await self._pump

    def open(self, *_parts: str) -> None:
        """Begin to pass on what the dashboard sends."""
        self.set_nodelay(True)
        self._pump = asyncio.create_task(self._pass_on())

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """Return what the dashboard has chosen of what the browser offered."""
        chosen = self._upstream.selected_subprotocol
        return chosen if chosen in subprotocols else None

    async def on_message(self, message: str | bytes) -> None:
        """Pass a message on; the next one is not read before this one is out."""
        try:
            await self._upstream.write_message(message, binary=isinstance(message, bytes))
        except WebSocketClosedError:
            self.close(*sendable_close(None, None))

    def on_close(self) -> None:
        """The browser is gone: close the other side, with the browser's code."""
        self._upstream.close(*sendable_close(self.close_code, self.close_reason))

    async def _pass_on(self) -> None:
        # Reads to the end even when the browser is gone: an unread message would keep tornado
        # from seeing the close.
        is_open = True
        while (message := await self._upstream.read_message()) is not None:
            try:
                if is_open:
                    await self.write_message(message, binary=isinstance(message, bytes))
            except WebSocketClosedError:
                is_open = False
        self.close(*sendable_close(self._upstream.close_code, self._upstream.close_reason))

    async def _connect(self, dashboard: Dashboard) -> WebSocketClientConnection:
        address, settings, path = dashboard.address, self.state.settings, self.place[1]
        if not path.endswith("/ws") and (dashboard.kind, path) != ("stock", "eventstream"):
            raise RefusedError("There is no live plot at this address.")
        request = HTTPRequest(
            f"{address.origin.replace('http', 'ws', 1)}{self.target(dashboard)}",
            headers=HTTPHeaders(request_headers(dashboard, HTTPHeaders())),
            connect_timeout=settings.answer_timeout_s,
            request_timeout=settings.answer_timeout_s,
        )
        offered = self.request.headers.get("Sec-WebSocket-Protocol", "").split(",")
        try:
            upstream = await websocket_connect(
                request,
                max_message_size=settings.max_message_bytes,
                # Bokeh's session token rides here, as the second one.
                subprotocols=[name.strip() for name in offered if name.strip()] or None,
                resolver=address.resolver,
                ping_interval=None if address.is_loopback else REMOTE_PING_S,
            )
        except HTTPTimeoutError:
            dashboard.is_suspect = True
            raise RefusedError(dashboard.failure(UpstreamTimeoutError()), 504) from None
        except (HTTPClientError, WebSocketError, OSError):
            dashboard.is_suspect = True
            message = f"{dashboard.name} does not open this plot. Open it again."
            raise RefusedError(message, 502) from None
        if upstream.protocol is not None:
            # Bokeh's messages have three small parts: each would wait up to 40 ms until the one
            # before is acknowledged.
            upstream.protocol.set_nodelay(True)
        return upstream


class FrameSocket(FramedHandler, RelaySocket):
    """``frames/<key>/<path>`` as a websocket, of a sandboxed page."""

    def check_origin(self, origin: str = "") -> bool:  # noqa: ARG002  # tornado's
        """Let any origin in: a sandboxed page has none, and its key is what lets it in."""
        return True


def sendable_close(code: int | None, reason: str | None) -> tuple[int, str]:
    """Return a close code and reason that may be sent on, for those that were received.

    1005, 1006 and 1015 only stand for "none", "lost" and "TLS failed" and must not be sent
    (RFC 6455, 7.4.1); a reason may have 123 bytes.
    """
    is_sendable = code is not None and (
        code in (1000, 1001, 1002, 1003) or 1007 <= code <= 1014 or 3000 <= code <= 4999
    )
    if code is None or not is_sendable:
        return 1001, "The other side is gone."
    return code, (reason or "").encode()[:123].decode(errors="ignore")
