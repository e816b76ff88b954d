"""The API: which dashboards there are, adding one by hand, and the socket that pushes changes."""

from __future__ import annotations

import asyncio
import json

from jupyter_server.auth.decorator import ws_authenticated
from tornado import web
from tornado.websocket import WebSocketClosedError

from dask_diag_lab.proxy.addresses import AddressError
from dask_diag_lab.proxy.asking import AskingHandler, may
from dask_diag_lab.proxy.sockets import SocketHandler
from dask_diag_lab.proxy.stock import NotADashboardError

MAX_BODY_BYTES = 16 * 1024


class DashboardsHandler(AskingHandler):
    """``api/dashboards``: the list, and adding to it."""

    @web.authenticated
    @may("read")
    async def get(self) -> None:
        """Answer all dashboards, looked for now."""
        dashboards = self.state.dashboards
        await dashboards.refresh(is_watched=self.state.lookout.is_looking)
        self.answer(200, dashboards.text)

    @web.authenticated
    @may("write")
    async def post(self) -> None:
        """Add a stock dashboard: ``{"url"}``; 201 for a new one, 200 for a known one."""
        if not self.state.settings.relay:
            self.refuse(403, "Adding dashboards is switched off on this Jupyter server.")
            return
        url = _url(self.request.body)
        if url is None:
            self.refuse(400, 'Send JSON like {"url": "http://127.0.0.1:8787"}.')
            return
        try:
            dashboard, is_new = await self.state.dashboards.add(url)
        except AddressError as error:
            self.refuse(403, str(error))
        except NotADashboardError as error:
            self.refuse(502, f"{error} Check the address and that its cluster runs.")
        else:
            self.answer(201 if is_new else 200, json.dumps(dashboard.entry))


class DashboardHandler(AskingHandler):
    """``api/dashboards/<id>``: taking one off the list."""

    @web.authenticated
    @may("write")
    async def delete(self, dashboard_id: str) -> None:
        """Remove a dashboard that was added by hand."""
        if not self.state.dashboards.remove(dashboard_id):
            self.refuse(404, "There is no dashboard with this id that was added by hand.")
            return
        self.state.frames.forget(dashboard_id)
        self.set_status(204)
        self.finish()


class EventsHandler(SocketHandler):
    """``api/events``: sends the dashboards at once and whenever they change."""

    _sender: asyncio.Task[None] | None = None

    @property
    def max_message_size(self) -> int:
        """Nothing is expected from the browser here."""
        return 1024

    @ws_authenticated
    @may("read")
    async def get(self) -> None:
        """Become a websocket; returns when it has closed."""
        try:
            await super().get()
        finally:
            if self._sender is not None:
                self._sender.cancel()

    def open(self) -> None:
        """Begin to send."""
        self._sender = asyncio.ensure_future(self._send())

    def on_message(self, message: str | bytes) -> None:
        """Ignore what a browser sends."""

    async def _send(self) -> None:
        listener = await self.state.lookout.listen()
        try:
            while True:
                await self.write_message(await listener.next())
        except WebSocketClosedError:
            pass  # the browser left
        finally:
            self.state.lookout.leave(listener)


def _url(body: bytes) -> str | None:
    try:
        data = json.loads(body) if len(body) <= MAX_BODY_BYTES else None
    except (ValueError, RecursionError):
        return None
    url = data.get("url") if isinstance(data, dict) else None
    return url if isinstance(url, str) and url.strip() else None
