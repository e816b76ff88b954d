"""What all request handlers share, and the API: the list of dashboards and its events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from http.client import responses
from pathlib import Path
from typing import Any, TypeVar

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import ApiPath, to_os_path
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from dask_diag_lab.proxy.client import NotAllowedError
from dask_diag_lab.proxy.messages import DashboardInfo, check
from dask_diag_lab.proxy.registry import DashboardRegistry

_Verb = TypeVar("_Verb", bound=Callable[..., Awaitable[None]])


def allowed_to(action: str, resource: str | None = None) -> Callable[[_Verb], _Verb]:
    """Let a verb through only when Jupyter's authorizer allows the user this action here."""
    return authorized(action, resource=resource)


class BaseHandler(JupyterHandler):
    """A handler whose errors are JSON ``{"message"}`` and that counts as no activity.

    Jupyter's ``APIHandler`` is not used: it answers every error with a warning in the log and its
    ``finish`` sets a JSON content type on what is relayed.
    """

    # What Jupyter's authorizers are asked for; actions are read, write and execute (relay).
    auth_resource = "dask-diag-lab"
    _track_activity = False

    def initialize(self, registry: DashboardRegistry) -> None:
        """Take the registry from the route."""
        self.registry = registry

    async def prepare(self, **options: Any) -> None:  # Any: Jupyter's own options
        """Authenticate, and refuse requests of foreign pages as Jupyter's own API does."""
        await super().prepare(**options)
        if not self.check_origin():
            raise web.HTTPError(404)

    def get_login_url(self) -> str:
        """Send only people to the login page; scripts get status 403."""
        if "text/html" in self.request.headers.get("Accept", ""):
            return super().get_login_url()
        raise web.HTTPError(403)

    def write_error(self, status_code: int, **kwargs: Any) -> None:  # Any: tornado's signature
        """Answer with a sentence, never with what was sent in nor with a traceback."""
        message = getattr(kwargs.get("exc_info", (None, None))[1], "log_message", None)
        self.refuse(status_code, message or responses.get(status_code, "Error"))

    def log_exception(self, kind: Any, value: Any, traceback: Any) -> None:  # Any: tornado's
        """Log what nobody has foreseen, without the address: a key or a token may be in it."""
        if not isinstance(value, web.HTTPError):
            self.log.error("%s failed", type(self).__name__, exc_info=(kind, value, traceback))

    def answer(self, status: int, content: object) -> None:
        """End with JSON that nothing may keep."""
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps(content))

    async def answer_new(
        self, example: dict[str, str], make: Callable[[str], Awaitable[tuple[DashboardInfo, bool]]]
    ) -> None:
        """End with what is made of the text in a request: 201 for a new one, 200 for a known one.

        The request is JSON like the example.
        """
        (name,) = example
        try:
            given = check(json.loads(self.request.body)[name], str)
        except (ValueError, LookupError, TypeError, RecursionError):
            self.refuse(400, f"Send JSON like {json.dumps(example)}.")
            return
        try:
            info, is_new = await make(given)
            self.answer(201 if is_new else 200, info)
        except NotAllowedError as error:
            self.refuse(error.status, str(error))

    def refuse(self, status: int, message: str) -> None:
        """End with an error."""
        self.answer(status, {"message": message})


class BaseWebSocketHandler(BaseHandler, WebSocketHandler):
    """A websocket with Jupyter's login and origin rules that notices dead peers.

    Jupyter's ``WebSocketMixin`` is not used: it keeps a timer after the close and logs each path,
    which may hold a key here.
    """

    @property
    def ping_interval(self) -> float:
        """Seconds between pings; Jupyter's own setting, in milliseconds there."""
        return float(self.settings.get("ws_ping_interval", 30_000)) / 1000

    ping_timeout = ping_interval


class DashboardsHandler(BaseHandler):
    """``api/dashboards``: the list, and adding to it."""

    @web.authenticated
    @allowed_to("read")
    async def get(self) -> None:
        """Answer all dashboards, looked for now."""
        self.answer(200, await self.registry.refresh())

    @web.authenticated
    @allowed_to("write")
    async def post(self) -> None:
        """Add a stock dashboard: ``{"url"}``."""
        await self.answer_new({"url": "http://127.0.0.1:8787"}, self.registry.add)


class DashboardHandler(BaseHandler):
    """``api/dashboards/<id>``: taking one off the list, or closing a recording."""

    @web.authenticated
    @allowed_to("write")
    async def delete(self, dashboard_id: str) -> None:
        """Remove a dashboard that was added, or a recording that was opened, by hand."""
        if not await self.registry.remove(dashboard_id):
            self.refuse(404, "There is no dashboard with this id that was added by hand.")
            return
        self.set_status(204)
        self.finish()


class RecordingsHandler(BaseHandler):
    """``api/recordings``: opening a file of Jupyter's."""

    @web.authenticated
    @allowed_to("execute")
    @allowed_to("read", "contents")
    async def post(self) -> None:
        """Open a recording: ``{"path"}``."""
        await self.answer_new({"path": "folder/etl.daskrun"}, self._open)

    async def _open(self, path: str) -> tuple[DashboardInfo, bool]:
        return await self.registry.open(await self._file_at(path))

    async def _file_at(self, path: str) -> Path:
        """Return a file that Jupyter shows, below its root folder."""
        manager: Any = self.contents_manager  # untyped, and perhaps of another make
        refusal = NotAllowedError(f"There is no file {path} below Jupyter's root folder.", 404)
        try:
            await ensure_async(manager.get(path, content=False))  # its rules for hidden files hold
            root = Path(manager.root_dir).resolve(strict=True)
            file = Path(to_os_path(ApiPath(path), str(root))).resolve(strict=True)
        except (web.HTTPError, OSError, AttributeError):  # Jupyter's files may be on no disk
            raise refusal from None
        if not file.is_file() or not file.is_relative_to(root):
            raise refusal
        return file


class EventsHandler(BaseWebSocketHandler):
    """``api/events``: sends all dashboards at once, then what changes."""

    max_message_size = 1024  # nothing is expected from the browser here
    _sender: asyncio.Task[None] | None = None

    @ws_authenticated
    @allowed_to("read")
    async def get(self) -> None:
        """Become a websocket; returns when it has closed."""
        await super().get()

    def open(self) -> None:
        """Begin to send."""
        self._sender = asyncio.create_task(self._send())

    def on_close(self) -> None:
        """Send no more."""
        if self._sender is not None:
            self._sender.cancel()

    def on_message(self, message: str | bytes) -> None:
        """Ignore what a browser sends."""

    async def _send(self) -> None:
        async with aclosing(self.registry.messages()) as messages:
            with suppress(WebSocketClosedError):  # it left
                async for message in messages:
                    await self.write_message(json.dumps(message))
