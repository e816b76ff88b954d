"""Relays HTTP: which requests pass, with which headers, and the answer as fast as it is read.

Deny by default: lists of what may pass in both directions. Cookies, authorization, origins and
forwarding headers are on no list. See docs/decisions/0001-own-relay.md.
"""

from __future__ import annotations

import contextlib
import re
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit, urlunsplit

from jupyter_server.utils import url_path_join
from tornado import web
from tornado.http1connection import HTTP1Connection
from tornado.httputil import HTTPHeaders
from tornado.iostream import StreamClosedError

from dask_diag_lab.proxy.client import (
    Address,
    Exchange,
    RefusedError,
    UpstreamError,
    UpstreamTimeoutError,
)
from dask_diag_lab.proxy.dashboard import Dashboard
from dask_diag_lab.proxy.handlers import BaseHandler, allowed_to
from dask_diag_lab.proxy.messages import Kind
from dask_diag_lab.proxy.stock import FrameKey

MAX_PATH: Final = 4096
MAX_BODY_BYTES: Final = 256 * 1024
"""Only ``plots/<name>/session`` has a body: the looks of the page, under 1 kB."""

DROPPED_ARGUMENTS: Final = frozenset(("token", "_xsrf"))
"""Query arguments that hold the browser's rights on the Jupyter server."""

_SESSION = re.compile(r"plots/[^/]+/session")

# First segments of the stock dashboard's own pages and data. Left out on purpose: "proxy", which
# forwards to any host, "jupyter", a Jupyter server without a password, and "api".
_STOCK_PAGES: Final = frozenset(
    (
        *("status", "workers", "tasks", "system", "profile", "profile-server", "graph", "groups"),
        *("stealing", "events", "exceptions", "counters", "shuffle", "hardware", "gpu", "info"),
        *("json", "static", "statics", "eventstream", "individual-plots.json", "sitemap.json"),
        *("health", "metrics", "favicon.ico"),
    )
)

_REQUEST_HEADERS: Final = (
    *("Accept", "Accept-Encoding", "Accept-Language", "Content-Type"),
    *("If-Modified-Since", "If-None-Match", "If-Range", "Range"),
)
_ANSWER_HEADERS: Final = (
    *("Accept-Ranges", "Cache-Control", "Content-Disposition", "Content-Encoding"),
    *("Content-Language", "Content-Length", "Content-Range", "Content-Type", "ETag"),
    *("Expires", "Last-Modified", "Retry-After", "Vary"),
)

# BokehJS makes style elements, and plots connect to their session and websocket.
_SHARED_POLICY: Final = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)
CONTENT_POLICIES: Final[dict[Kind, str]] = {
    # Our own pages run on Jupyter's origin: their template has no script inside, so an injected one
    # does not run, and no text of a document runs as code.
    "diagnostics": f"{_SHARED_POLICY}; script-src 'self'",
    # Pages that somebody else wrote have scripts inside, which run without any right on Jupyter:
    # without allow-same-origin the page's origin is none.
    "stock": (
        f"sandbox allow-scripts allow-popups allow-downloads; {_SHARED_POLICY}; "
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'"
    ),
}


# --- decisions


def check_path(kind: Kind, path: str) -> None:
    """Refuse a path (as in the URL, without its first slash) that must not be relayed.

    Raises
    ------
    RefusedError
        For parent folders, also encoded ones, backslashes, control characters and the like, and
        for places of a stock dashboard that are not its own pages.
    """
    plain = unquote(path)
    is_odd = (
        len(path) > MAX_PATH
        or path.startswith("/")
        or "\\" in plain
        or any(segment in (".", "..") for segment in plain.split("/"))
        or any(ord(character) < 32 or ord(character) == 127 for character in plain)
        or not path.isascii()
    )
    if is_odd:
        raise RefusedError("This address cannot be relayed.", 400)
    page = plain.partition("/")[0]
    if kind == "stock" and page and page not in _STOCK_PAGES and page[:11] != "individual-":
        raise RefusedError("This part of a stock dashboard is not relayed.")


def check_method(kind: Kind, method: str, path: str) -> None:
    """Refuse an HTTP method that a dashboard of this kind has no use for."""
    is_session = kind == "diagnostics" and method == "POST" and _SESSION.fullmatch(path)
    if method not in ("GET", "HEAD") and not is_session:
        raise RefusedError("Plots are read only: this request is not relayed.", 405)


def kept_query(query: str) -> str:
    """Return a query with its question mark and without the browser's rights; '' if empty."""
    kept = [
        argument
        for argument in query.split("&")
        if argument and unquote(argument.partition("=")[0]).strip().lower() not in DROPPED_ARGUMENTS
    ]
    return f"?{'&'.join(kept)}" if kept else ""


def request_headers(dashboard: Dashboard, browser: HTTPHeaders) -> dict[str, str]:
    """Return the headers for a dashboard: its own credentials, and no right of the browser."""
    return {
        "Host": dashboard.address.netloc,
        "Origin": dashboard.address.origin,
        **{name: browser[name] for name in _REQUEST_HEADERS if name in browser},
        **dashboard.credentials,
    }


def answer_headers(kind: Kind, dashboard: HTTPHeaders) -> dict[str, str]:
    """Return the headers for the browser, with the policy that every answer gets.

    The policy is on every type of answer: SVG and XML run scripts too.
    """
    headers = {
        "Content-Type": "application/octet-stream",
        **{name: dashboard[name] for name in _ANSWER_HEADERS if name in dashboard},
        "Content-Security-Policy": CONTENT_POLICIES[kind],
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    if kind == "diagnostics":
        # Not for stock pages: to a page without an origin even its own scripts are foreign.
        headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return headers


def relayed_location(address: Address, target: str, location: str, root: str) -> str | None:
    """Return a redirect's target as the browser has to see it, None if it leaves the dashboard.

    Parameters
    ----------
    target : str
        Path that was asked of the dashboard.
    location : str
        Its ``Location`` header.
    root : str
        Path of the dashboard's root on the Jupyter server, ending with a slash.
    """
    try:
        parts = urlsplit(urljoin(f"{address.origin}{target}", location))
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return None
    is_inside = (parts.scheme, parts.hostname, port) == (address.scheme, address.host, address.port)
    if not is_inside or not parts.path.startswith(f"{address.prefix}/"):
        return None
    path = parts.path.removeprefix(f"{address.prefix}/").lstrip("/")
    arguments = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in arguments if name.lower() not in DROPPED_ARGUMENTS]
    return urlunsplit(("", "", f"{root}{path}", urlencode(kept), parts.fragment))


# --- handlers


class RelayedHandler(BaseHandler):
    """A request below ``dashboards/<id>/``, by HTTP or websocket."""

    route = "dask-diag-lab/dashboards"

    async def dashboard(self, dashboard_id: str) -> Dashboard:
        """Return the dashboard that is asked for, when it may be contacted and the path relayed.

        Raises
        ------
        RefusedError
            When relaying is switched off, there is none, or it has no such place.
        """
        if not self.state.settings.relay:
            raise RefusedError("Showing plots is switched off on this Jupyter server.")
        dashboard = await self.state.registry.find(dashboard_id)
        check_path(dashboard.kind, self.place[1])
        return dashboard

    @property
    def place(self) -> tuple[str, str]:
        """The dashboard's root here, ending with a slash, and the path on it; as in the URL."""
        route = f"{url_path_join(self.base_url, self.route)}/"
        path = self.request.path
        if not path.startswith(route):
            raise web.HTTPError(404)
        name, slash, rest = path.removeprefix(route).partition("/")
        return f"{route}{name}{slash}", rest

    def target(self, dashboard: Dashboard) -> str:
        """Return what to ask of the dashboard, without the browser's own arguments."""
        return f"{dashboard.address.prefix}/{self.place[1]}{kept_query(self.request.query)}"


class FramedHandler(RelayedHandler):
    """A request below ``frames/<key>/``, of a sandboxed page: its key stands for its login."""

    route = "dask-diag-lab/frames"
    frame: FrameKey

    async def prepare(self, **options: object) -> None:  # noqa: ARG002  # Jupyter's own
        """Let the key speak for the user that it was made for; cookies are not looked at."""
        frame = self.state.frame_keys.find(self.path_args[0]) if self.check_host() else None
        if frame is None:
            self.current_user = self._jupyter_current_user = None
            raise web.HTTPError(403, "This page is no longer open. Open it again from the sidebar.")
        self.frame = frame
        self.current_user = self._jupyter_current_user = frame.user

    async def dashboard(self, dashboard_id: str) -> Dashboard:
        """Return the dashboard that the key opens; the key stands where an id would."""
        del dashboard_id
        return await super().dashboard(self.frame.dashboard_id)

    def _log(self) -> None:
        """Keep the key, which is in the path, out of the access log."""


@web.stream_request_body
class RelayHandler(RelayedHandler):
    """``dashboards/<id>/<path>``."""

    _exchange: Exchange | None = None
    _is_begun = False
    _refusal: RefusedError | None = None

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
    @allowed_to("execute")
    async def get(self, dashboard_id: str, _path: str) -> None:
        """Relay this request to a dashboard, or say why not."""
        try:
            dashboard = await self.dashboard(dashboard_id)
            check_method(dashboard.kind, self.request.method or "", self.place[1])
            if dashboard.kind == "stock" and self._is_page():
                self._redirect_to_frame(dashboard)
            else:
                await self._relay(dashboard)
        except RefusedError as error:
            self.refuse(error.status, str(error))

    head = post = get

    async def _relay(self, dashboard: Dashboard) -> None:
        settings, method = self.state.settings, self.request.method or "GET"
        self._exchange = Exchange(dashboard.address, settings.max_answer_bytes)
        try:
            await self._exchange.run(
                method,
                self.target(dashboard),
                request_headers(dashboard, self.request.headers),
                bytes(self._body) if method == "POST" else None,
                silence_s=settings.answer_timeout_s,
                on_chunk=self._pass_on,
                on_head=partial(self._take_head, dashboard),
            )
        except UpstreamError as error:
            if self._is_begun:
                self.detach().close()  # the head is out: the only honest end is a broken one
                return
            dashboard.is_suspect = True
            status = 504 if isinstance(error, UpstreamTimeoutError) else 502
            failure = RefusedError(dashboard.failure(error), status)
            self._refusal = self._refusal or failure
        if self._refusal is not None:
            self.clear()
            raise self._refusal
        with contextlib.suppress(StreamClosedError):  # a browser that has it all may leave
            await self.finish()

    def _take_head(self, dashboard: Dashboard, code: int, answered: HTTPHeaders) -> None:
        headers = answer_headers(dashboard.kind, answered)
        if dashboard.kind == "diagnostics" and code in (401, 403):
            reason = f"The diagnostics of {dashboard.name} refused the request. Restart the kernel."
            self._refusal = RefusedError(reason, 502)
        if "Location" in answered:
            target, root = self.target(dashboard), self.place[0]
            location = relayed_location(dashboard.address, target, answered["Location"], root)
            if location is None:
                reason = f"{dashboard.name} redirects to another place; not followed."
                self._refusal = RefusedError(reason, 502)
            else:
                headers["Location"] = location
        self.set_status(code)
        for name, value in headers.items():
            self.set_header(name, value)
        if dashboard.kind == "diagnostics" and self._is_page():
            # Our own page opens its plots with POST: it needs the cookie that Jupyter checks.
            self.xsrf_token  # noqa: B018  # reading it sets the cookie

    async def _pass_on(self, chunk: bytes) -> None:
        if self._refusal is not None:
            raise StreamClosedError  # nobody takes this body
        self._is_begun = True
        self.write(chunk)
        await self.flush()

    def on_connection_close(self) -> None:
        """The browser left: do not read on for nobody."""
        if self._exchange is not None:
            self._exchange.close()

    def _is_page(self) -> bool:
        accepted = self.request.headers.get("Accept", "")
        return self.request.method == "GET" and "text/html" in accepted

    def _redirect_to_frame(self, dashboard: Dashboard) -> None:
        key = self.state.frame_keys.issue(dashboard.id, self.current_user)
        place = url_path_join(self.base_url, FrameHandler.route, key)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        # What is in the page's address can be read by the page: no token may be left in it.
        self.redirect(f"{place}/{self.place[1]}{kept_query(self.request.query)}")


class FrameHandler(FramedHandler, RelayHandler):
    """``frames/<key>/<path>``: what a sandboxed stock page loads, itself included."""

    def _is_page(self) -> bool:
        return False  # it is in its frame already
