"""Who may use the server: judges each request by token, host and origin before any route sees it.

Knows no route; it lets through, refuses, or turns ``?token=`` into a cookie.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest, split_host_and_port
from tornado.routing import Router
from tornado.web import Application, HTTPError, RequestHandler

logger = logging.getLogger(__name__)

LOOPBACK: Final = "127.0.0.1"
LOOPBACK_NAMES: Final = frozenset({LOOPBACK, "localhost", "[::1]"})
REFUSED: Final = (
    "This is the diagnostics server of a Dask client. It answers only with its token: open the"
    " plots from JupyterLab's Dask sidebar, or use the link that `Diagnostics.url` gives. Programs"
    " send the token in it as a header: `Authorization: token …`."
)
FOREIGN_HOST: Final = "This server answers on the loopback address only."
FOREIGN_ORIGIN: Final = "A page of another origin may not use this server."

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    # style 'unsafe-inline': BokehJS puts <style> elements into its shadow roots.
    # No text runs as code, not even that of Bokeh's CustomJS: see views/models.py.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
        " img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
}


def in_url(host: str) -> str:
    """Return a host as URLs have it: addresses of IPv6 are in brackets there."""
    return f"[{host}]" if ":" in host else host


def cookie_value(token: str) -> str:
    """Return what the cookie holds: derived from the token, which cannot be computed from it.

    Browsers send a cookie to every port of a host, so somebody else's program on this machine may
    receive it. That must not give the token away.
    """
    return hmac.new(token.encode(), b"dask-diag-lab cookie", hashlib.sha256).hexdigest()


class Gate(Router):
    """Stands before the whole application, so that no handler can be reached without the token.

    Parameters
    ----------
    application : Application
        Everything that needs the token.
    token : str
        The secret, at least 32 bytes of randomness.
    dashboard_id : str
        Names the cookie.
    is_loopback : bool
        Whether it is asked by its loopback address only, and so refuses other names.
    """

    def __init__(
        self, application: Application, *, token: str, dashboard_id: str, is_loopback: bool = True
    ) -> None:
        self._application = application
        self._is_loopback = is_loopback
        self._token = token
        self._cookie = f"dask-diag-lab-{dashboard_id}"

    def find_handler(
        self,
        request: HTTPServerRequest,
        **kwargs: object,  # noqa: ARG002  # tornado's
    ) -> HTTPMessageDelegate | None:
        """Return the application's handler for `request`, or one that refuses or redirects."""
        status, text = self._judge(request)
        if status == 200:
            return self._application.find_handler(request)
        cookie = (self._cookie, cookie_value(self._token)) if status == 302 else None
        answer = {"status": status, "text": text, "cookie": cookie}
        return self._application.get_handler_delegate(request, GateHandler, answer)

    def _judge(self, request: HTTPServerRequest) -> tuple[int, str]:
        """Return 200 for a request that may go on, 302 and a place, or 403 and a sentence.

        The relay and scripts send ``Authorization: token …``: nothing a foreign page can do, so
        their origin does not matter. A cookie is sent by the browser for any page of this host,
        whatever its port, so with a cookie the origin, where given, must be the host that was
        asked. On a loopback address a foreign ``Host`` is refused even with a token, which stops
        DNS rebinding.
        """
        host = request.headers.get("Host", "").lower()
        if self._is_loopback and split_host_and_port(host)[0] not in LOOPBACK_NAMES:
            return 403, FOREIGN_HOST
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() in ("token", "bearer"):
            return (200, "") if _is_same(given.strip(), self._token) else (403, REFUSED)
        origin = request.headers.get("Origin", "").lower()
        if origin and origin not in (f"http://{host}", f"https://{host}"):
            return 403, FOREIGN_ORIGIN
        query = parse_qsl(request.query, keep_blank_values=True)
        if any(_is_same(value, self._token) for name, value in query if name == "token"):
            if request.headers.get("Upgrade", "").lower() == "websocket":
                return 200, ""
            if request.method in ("GET", "HEAD"):
                rest = urlencode([(name, value) for name, value in query if name != "token"])
                path = "/" + request.path.lstrip("/\\")  # "//host" and "/\host" are other servers
                return 302, f"{path}?{rest}" if rest else path
        cookie = request.cookies.get(self._cookie)
        is_known = cookie is not None and _is_same(cookie.value, cookie_value(self._token))
        return (200, "") if is_known else (403, REFUSED)


def _is_same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), secret.encode())


class SafeHandler(RequestHandler):
    """Sends what keeps a browser safe, and logs no query, which may have the token."""

    def set_default_headers(self) -> None:
        for name, value in SECURITY_HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def log_exception(self, *args: Any) -> None:  # tornado's exc_info triple
        if not isinstance(args[1], HTTPError):
            logger.warning("Answering %s failed", self.request.path, exc_info=args)


class GateHandler(SafeHandler):
    """Refuses, or sets the cookie and redirects; for every method and for websockets alike."""

    def initialize(self, status: int, text: str, cookie: tuple[str, str] | None) -> None:
        self._answer_status, self._text, self._cookie = status, text, cookie

    def _answer(self) -> None:
        self.set_status(self._answer_status)
        if self._cookie is not None:
            self.set_cookie(*self._cookie, httponly=True, samesite="Lax", path="/")
            self.set_header("Location", self._text)
            self.finish()
        else:
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(f"{self._text}\n")

    get = head = post = put = patch = delete = options = _answer
