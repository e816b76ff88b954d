"""Who may pass: decides on each request by token, host and origin before anything else sees it.

Must not answer for any route; it only lets through, refuses or turns ``?token=`` into a cookie.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tornado import httputil
from tornado.routing import Router
from tornado.web import Application, RequestHandler

logger = logging.getLogger(__name__)

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Pass:
    """The request may go on."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The request ends here with ``status`` and a sentence for people."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """A token came in the query: keep it in a cookie and go to ``location`` without it."""

    location: str


Verdict = Pass | Refusal | Welcome

REFUSED = (
    "This is the diagnostics server of a Dask client. It answers only with its token: open the"
    " plots from JupyterLab's Dask sidebar, or use the link that `Diagnostics.url` gives. Programs"
    " send the token in it as a header: `Authorization: token …`."
)
FOREIGN_HOST = "This server answers on the loopback address only."
FOREIGN_ORIGIN = "A page of another origin may not use this server."


def cookie_name(dashboard_id: str) -> str:
    """Return the name of the cookie that lets a browser into dashboard `dashboard_id`."""
    return f"dask-diag-lab-{dashboard_id}"


def cookie_value(token: str) -> str:
    """Return what the cookie holds: made from the token, which cannot be found from it.

    Browsers send a cookie to every port of a host, so a program of somebody else on this machine
    may be sent it. That must not give the token away.
    """
    return hmac.new(token.encode(), b"dask-diag-lab cookie", hashlib.sha256).hexdigest()


def host_name(host: str) -> str:
    """Return the name in a ``Host`` header or a URL's netloc, without port and brackets."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a request matters here; see `judge`."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]

    @property
    def is_websocket(self) -> bool:
        return self.headers.get("Upgrade", "").lower() == "websocket"


def judge(asked: Asked, *, token: str, cookie: str) -> Verdict:
    """Decide on one request.

    The relay and scripts send ``Authorization: token …``: nothing a foreign page can do, so their
    origin does not matter. A cookie is sent by the browser for any page of this host, whatever
    its port, so with a cookie the origin, where given, must be the host that was asked.

    A foreign ``Host`` is refused even with a token, which stops DNS rebinding.
    """
    host = asked.headers.get("Host", "")
    if host_name(host) not in LOOPBACK_NAMES:
        return Refusal(403, FOREIGN_HOST)
    scheme, _, given = asked.headers.get("Authorization", "").partition(" ")
    if scheme.lower() in ("token", "bearer"):
        return Pass() if _is_same(given.strip(), token) else Refusal(403, REFUSED)
    origin = asked.headers.get("Origin", "")
    if origin and _netloc(origin) != host.lower():
        return Refusal(403, FOREIGN_ORIGIN)
    query = parse_qsl(asked.query, keep_blank_values=True)
    if any(_is_same(value, token) for name, value in query if name == "token"):
        if asked.is_websocket:
            return Pass()
        if asked.method in ("GET", "HEAD"):
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            path = "/" + asked.path.lstrip("/\\")  # "//host" and "/\host" are another server
            return Welcome(f"{path}?{rest}" if rest else path)
    if _is_same(_cookie_given(asked.headers.get("Cookie", ""), cookie), cookie_value(token)):
        return Pass()
    return Refusal(403, REFUSED)


def _netloc(origin: str) -> str:
    """Return host and port of an origin, '' when it is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # half an IPv6 address
        return ""


def _is_same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _cookie_given(header: str, name: str) -> str:
    try:
        morsel = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


class Gate(Router):
    """Stands before the whole application, so that no handler of it can be reached unasked.

    Parameters
    ----------
    application : Application
        Everything that needs the token; another one may take its place while requests come.
    token : str
        The secret, at least 32 bytes of randomness.
    dashboard_id : str
        Names the cookie.
    """

    def __init__(self, application: Application, *, token: str, dashboard_id: str) -> None:
        self.application = application
        self._token = token
        self._cookie = cookie_name(dashboard_id)

    def find_handler(
        self,
        request: httputil.HTTPServerRequest,
        **kwargs: object,  # noqa: ARG002  # tornado's
    ) -> httputil.HTTPMessageDelegate | None:
        """Return the application's handler for `request`, or one that refuses or redirects."""
        asked = Asked(request.method or "", request.path, request.query, request.headers)
        verdict = judge(asked, token=self._token, cookie=self._cookie)
        if isinstance(verdict, Pass):
            return self.application.find_handler(request)
        answer = {"verdict": verdict, "cookie": self._cookie, "token": self._token}
        return self.application.get_handler_delegate(request, GateHandler, answer)


class GateHandler(RequestHandler):
    """Says no, or sets the cookie and redirects; for every method and for websockets alike."""

    def initialize(self, verdict: Refusal | Welcome, cookie: str, token: str) -> None:
        self._verdict = verdict
        self._cookie_name = cookie
        self._token = token

    def set_default_headers(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.clear_header("Server")

    def log_exception(self, *args: Any) -> None:  # tornado's exc_info triple
        """Log the path alone: tornado's own line has the query, where the token may be."""
        logger.warning("Answering %s failed", self.request.path, exc_info=args)

    def check_xsrf_cookie(self) -> None:
        """Nothing is changed here, so there is nothing to forge."""

    def _answer(self) -> None:
        if isinstance(self._verdict, Welcome):
            value = cookie_value(self._token)
            self.set_cookie(self._cookie_name, value, httponly=True, samesite="Lax", path="/")
            self.set_status(302)
            self.set_header("Location", self._verdict.location)
            self.finish()
            return
        self.set_status(self._verdict.status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(self._verdict.message + "\n")

    get = head = post = put = patch = delete = options = _answer
