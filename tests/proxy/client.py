"""A browser, or a script with the token, that asks the Jupyter server under test."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from jupyter_server.auth.identity import User
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.web import create_signed_value
from tornado.websocket import WebSocketClientConnection

from tests.proxy.backends import Backend

Fetch = Callable[..., Awaitable[HTTPResponse]]


class Client:
    """Asks the Jupyter server; errors are answers too."""

    def __init__(
        self,
        fetch: Fetch,
        ws_fetch: Callable[..., Any],  # Any: pytest-jupyter is not typed
        app: ServerApp,
        port: int,
    ) -> None:
        self._fetch = fetch
        self._ws_fetch = ws_fetch
        self.app = app
        self.port = port
        self.base_url = str(app.base_url)
        self.token = str(app.identity_provider.token)

    async def raw(self, path: str, **options: Any) -> HTTPResponse:  # Any: tornado's options
        """Get a path that must arrive exactly as it is written."""
        options.setdefault("headers", {"Authorization": f"token {self.token}"})
        request = HTTPRequest(
            f"http://127.0.0.1:{self.port}{path}", follow_redirects=False, **options
        )
        return await AsyncHTTPClient().fetch(request, raise_error=False)

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
        """Return the answer, whatever its status."""
        options.setdefault("follow_redirects", False)
        try:
            return await self._fetch("dask-diag-lab", *parts, **options)
        except HTTPClientError as error:
            if error.response is None:
                raise
            return error.response

    async def post(self, *parts: str, **options: Any) -> HTTPResponse:  # Any: tornado's options
        """Send a body."""
        return await self.get(*parts, method="POST", **options)

    async def dashboards(self) -> list[dict[str, Any]]:  # Any: JSON
        """Return the list."""
        answer = await self.get("api", "dashboards")
        assert answer.code == 200
        return list(json.loads(answer.body)["dashboards"])

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
        connection = await self._ws_fetch("dask-diag-lab", *parts, **options)
        try:
            yield connection
        finally:
            connection.close()
