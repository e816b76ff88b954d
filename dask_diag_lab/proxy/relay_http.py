"""Relays HTTP: one request to a dashboard, its answer streamed as fast as the browser reads."""

from __future__ import annotations

import asyncio

from jupyter_server.utils import url_path_join
from tornado import web
from tornado.http1connection import HTTP1Connection
from tornado.iostream import StreamClosedError

from dask_diag_lab.proxy.asking import may
from dask_diag_lab.proxy.dashboard import Dashboard
from dask_diag_lab.proxy.health import HOLDING
from dask_diag_lab.proxy.relay import FramedHandler, RelayedHandler
from dask_diag_lab.proxy.relay_headers import answer_headers, relayed_location, request_headers
from dask_diag_lab.proxy.relay_policy import (
    MAX_BODY_BYTES,
    RefusedError,
    check_request,
    kept_query,
    upstream_path,
)
from dask_diag_lab.proxy.upstream import Failure, Limits, Reply, UpstreamError, send


@web.stream_request_body
class RelayHandler(RelayedHandler):
    """``dashboards/<id>/<path>``."""

    _reply: Reply | None = None

    async def prepare(self, **options: object) -> None:
        """Bound the body before any of it is read."""
        self._body = bytearray()
        if isinstance(self.request.connection, HTTP1Connection):
            self.request.connection.set_max_body_size(MAX_BODY_BYTES)
        await super().prepare(**options)

    def data_received(self, chunk: bytes) -> None:
        """Keep the body; its size is bounded."""
        self._body += chunk

    @web.authenticated
    @may("execute")
    async def get(self, dashboard_id: str, _path: str) -> None:
        """Relay a read."""
        await self.relay(dashboard_id)

    @web.authenticated
    @may("execute")
    async def head(self, dashboard_id: str, _path: str) -> None:
        """Relay a question about a read."""
        await self.relay(dashboard_id)

    @web.authenticated
    @may("execute")
    async def post(self, dashboard_id: str, _path: str) -> None:
        """Relay the opening of a plot's session."""
        await self.relay(dashboard_id)

    async def relay(self, dashboard_id: str) -> None:
        """Relay this request to a dashboard, or say why not."""
        try:
            dashboard = await self.dashboard(dashboard_id)
            check_request(dashboard.kind, self.request.method or "", self.rest)
        except RefusedError as error:
            self.refuse(error.status, str(error))
            return
        if dashboard.kind == "stock" and self._is_page():
            self._move_to_frame(dashboard)
            return
        target = upstream_path(dashboard.address, self.rest, self.request.query)
        try:
            self._reply = await self._send(dashboard, target)
        except UpstreamError as error:
            self.refuse(*_words(dashboard, error))
            return
        try:
            await self._answer(dashboard, target, self._reply)
        finally:
            await self._reply.close()

    async def _send(self, dashboard: Dashboard, target: str) -> Reply:
        settings = self.state.settings
        limits = Limits(
            answer_s=settings.answer_timeout_s,
            idle_s=settings.answer_timeout_s,
            max_bytes=settings.max_answer_bytes,
        )
        headers = request_headers(dashboard.address, self.request.headers, dashboard.credentials)
        method = self.request.method or "GET"
        body = bytes(self._body) if method == "POST" else None
        return await send(dashboard.address, method, target, headers, body, limits)

    async def _answer(self, dashboard: Dashboard, target: str, reply: Reply) -> None:
        if dashboard.kind == "diagnostics" and reply.code in (401, 403):
            self.refuse(
                502,
                f"The diagnostics of {dashboard.name} refused the request. Restart the kernel.",
            )
            return
        location = reply.headers.get("Location")
        if location is not None:
            seen = relayed_location(dashboard.address, target, location, self.root)
            if seen is None:
                self.refuse(502, f"{dashboard.name} redirects to another place; not followed.")
                return
            self.set_header("Location", seen)
        self.set_status(reply.code)
        self.set_header("Content-Type", "application/octet-stream")
        for name, value in answer_headers(dashboard.kind, reply.headers):
            self.set_header(name, value)
        if dashboard.kind == "diagnostics" and self._is_page():
            # Our own page opens its plots with POST: it needs the cookie that Jupyter checks.
            self.xsrf_token  # noqa: B018  # reading it sets the cookie
        await self._stream(reply)

    async def _stream(self, reply: Reply) -> None:
        try:
            while chunk := await reply.read():
                self.write(chunk)
                async with asyncio.timeout(self.state.settings.answer_timeout_s):
                    await self.flush()
        except (UpstreamError, StreamClosedError, TimeoutError):
            # The head is out, so the only honest end is a broken connection.
            if self._headers_written:
                self.detach().close()
            else:
                self.refuse(502, "The dashboard broke off its answer. Try again.")
            return
        await self.finish()

    def on_connection_close(self) -> None:
        """The browser left: do not read on for nobody."""
        if self._reply is not None:
            self._reply.abort()

    def _is_page(self) -> bool:
        return self.request.method == "GET" and "text/html" in self.request.headers.get(
            "Accept", ""
        )

    def _move_to_frame(self, dashboard: Dashboard) -> None:
        key = self.state.frames.open(dashboard.id, self.current_user)
        place = url_path_join(self.base_url, FrameHandler.place, key)
        # What is in the page's address can be read by the page: no token may be left in it.
        query = kept_query(self.request.query)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        self.redirect(f"{place}/{self.rest}{query}")


class FrameHandler(FramedHandler, RelayHandler):
    """``frames/<key>/<path>``: what a sandboxed stock page loads, itself included."""

    async def relay(self, dashboard_id: str) -> None:
        """Relay to the dashboard that the key opens."""
        del dashboard_id  # a key stands in its place
        await super().relay(self.frame.dashboard_id)

    def _is_page(self) -> bool:
        return False  # it is in its frame already


def _words(dashboard: Dashboard, error: UpstreamError) -> tuple[int, str]:
    """Return status and sentence for an exchange that failed before its answer began."""
    match error.failure:
        case Failure.TIMEOUT:
            is_own = dashboard.kind == "diagnostics"
            return (
                504,
                HOLDING if is_own else f"{dashboard.name} did not answer in time. Try again.",
            )
        case Failure.REFUSED:
            return 502, (
                f"{dashboard.name} cannot be reached. Run the cell that makes the client again."
            )
        case Failure.BROKEN:
            return 502, f"{dashboard.name} broke off its answer. Try again."
