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

from dask_diag_lab.proxy.asking import may
from dask_diag_lab.proxy.dashboard import Dashboard
from dask_diag_lab.proxy.health import HOLDING
from dask_diag_lab.proxy.relay import FramedHandler, RelayedHandler
from dask_diag_lab.proxy.relay_headers import (
    offered_subprotocols,
    request_headers,
    sendable_close,
)
from dask_diag_lab.proxy.relay_policy import RefusedError, check_socket, upstream_path
from dask_diag_lab.proxy.sockets import SocketHandler
from dask_diag_lab.proxy.upstream import PinnedResolver

MAX_BROWSER_MESSAGE: Final = 16 * 1024 * 1024

REMOTE_PING_S: Final = 60.0
"""Only for dashboards on other machines. A kernel that holds the interpreter cannot answer a
ping and is not dead for it; on this machine the system tells at once when its process ends."""


class RelaySocket(SocketHandler, RelayedHandler):
    """``dashboards/<id>/<path>`` as a websocket."""

    _upstream: WebSocketClientConnection | None = None
    _pump: asyncio.Task[None] | None = None

    @property
    def max_message_size(self) -> int:
        """Bytes of the largest message from the browser."""
        return MAX_BROWSER_MESSAGE

    @ws_authenticated
    @may("execute")
    async def get(self, dashboard_id: str, _path: str) -> None:
        """Connect to the dashboard, then to the browser; returns when both have ended."""
        try:
            self._upstream = await self._connect(await self._allowed(dashboard_id))
        except RefusedError as error:
            self.refuse(error.status, str(error))
            return
        self.state.sockets.add(self)
        try:
            await super().get()
        finally:
            self.state.sockets.discard(self)
            self._upstream.close(*sendable_close(self.close_code, self.close_reason))
            if self._pump is not None:
                await self._pump

    def open(self) -> None:
        """Begin to pass on what the dashboard sends."""
        assert self._upstream is not None  # set before the browser is answered
        self.set_nodelay(True)
        self._pump = asyncio.ensure_future(self._pass_on(self._upstream))

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """Return what the dashboard has chosen of what the browser offered."""
        chosen = self._upstream.selected_subprotocol if self._upstream is not None else None
        return chosen if chosen in subprotocols else None

    async def on_message(self, message: str | bytes) -> None:
        """Pass a message on; the next one is not read before this one is out."""
        assert self._upstream is not None  # set before the browser is answered
        try:
            await self._upstream.write_message(message, binary=isinstance(message, bytes))
        except WebSocketClosedError:
            self.close(*sendable_close(None, None))

    def on_close(self) -> None:
        """The browser is gone: close the other side, with the browser's code."""
        if self._upstream is not None:
            self._upstream.close(*sendable_close(self.close_code, self.close_reason))

    async def _allowed(self, dashboard_id: str) -> Dashboard:
        dashboard = await self.dashboard(dashboard_id)
        check_socket(dashboard.kind, self.rest)
        return dashboard

    async def _pass_on(self, upstream: WebSocketClientConnection) -> None:
        # Reads to the end even when the browser is gone: an unread message would keep tornado
        # from seeing the close.
        is_open = True
        while (message := await upstream.read_message()) is not None:
            try:
                if is_open:
                    await self.write_message(message, binary=isinstance(message, bytes))
            except WebSocketClosedError:
                is_open = False
        self.close(*sendable_close(upstream.close_code, upstream.close_reason))

    async def _connect(self, dashboard: Dashboard) -> WebSocketClientConnection:
        address, settings = dashboard.address, self.state.settings
        target = upstream_path(address, self.rest, self.request.query)
        request = HTTPRequest(
            f"{'wss' if address.scheme == 'https' else 'ws'}://{address.netloc}{target}",
            headers=HTTPHeaders(
                dict(request_headers(address, HTTPHeaders(), dashboard.credentials))
            ),
            connect_timeout=settings.answer_timeout_s,
            request_timeout=settings.answer_timeout_s,
        )
        offered = offered_subprotocols(self.request.headers.get("Sec-WebSocket-Protocol", ""))
        try:
            upstream = await websocket_connect(
                request,
                max_message_size=settings.max_message_bytes,
                subprotocols=offered or None,
                resolver=PinnedResolver(address.ip),
                ping_interval=None if address.is_loopback else REMOTE_PING_S,
            )
        except HTTPTimeoutError:
            raise RefusedError(504, HOLDING) from None
        except (HTTPClientError, WebSocketError, OSError):
            raise RefusedError(
                502, f"{dashboard.name} does not open this plot. Open it again."
            ) from None
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

    async def _allowed(self, dashboard_id: str) -> Dashboard:
        del dashboard_id  # a key stands in its place
        return await super()._allowed(self.frame.dashboard_id)
