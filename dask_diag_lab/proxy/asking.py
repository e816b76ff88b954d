"""What every request handler of this extension shares: its state, its rights, its errors.

Must not know any route.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http.client import responses
from typing import Any, Final, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from tornado import web
from tornado.websocket import WebSocketHandler

from dask_diag_lab.proxy.config import Settings
from dask_diag_lab.proxy.frames import Frames
from dask_diag_lab.proxy.lookout import Lookout
from dask_diag_lab.proxy.registry import Dashboards

AUTH_RESOURCE: Final = "dask-diag-lab"
"""What Jupyter's authorizers are asked for; actions are read, write and execute (relay)."""


_Verb = TypeVar("_Verb", bound=Callable[..., Awaitable[None]])


def may(action: str) -> Callable[[_Verb], _Verb]:
    """Let a verb through only when Jupyter's authorizer allows the user this action here."""
    guard: Callable[[_Verb], _Verb] = authorized(action, resource=AUTH_RESOURCE)
    return guard


@dataclass(frozen=True, slots=True)
class State:
    """Everything that the extension holds while the Jupyter server runs."""

    settings: Settings
    dashboards: Dashboards
    lookout: Lookout
    frames: Frames
    sockets: set[WebSocketHandler] = field(default_factory=set)


class AskingHandler(JupyterHandler):
    """A handler whose errors are JSON ``{"message"}`` and that counts as no activity.

    Jupyter's ``APIHandler`` is not used: it answers every error with a warning in the log and its
    ``finish`` sets a JSON content type on what is relayed.
    """

    auth_resource = AUTH_RESOURCE
    _track_activity = False

    def initialize(self, state: State) -> None:
        """Take the state from the route."""
        self.state = state

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
        error = kwargs.get("exc_info", (None, None))[1]
        message = responses.get(status_code, "Error")
        if isinstance(error, web.HTTPError) and error.log_message and not error.args:
            message = error.log_message
        self.refuse(status_code, message)

    def answer(self, status: int, text: str) -> None:
        """End with JSON that nothing may keep."""
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")
        self.finish(text)

    def refuse(self, status: int, message: str) -> None:
        """End with an error."""
        self.answer(status, json.dumps({"message": message}))
