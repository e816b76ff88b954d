"""The relay: which requests pass, with which headers, and what comes back as fast as it is read.

Deny by default: lists of what may pass in both directions. Cookies, authorization, origins and
forwarding headers are on no list. See docs/decisions/0001-own-relay.md.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote, unquote_plus, urljoin, urlsplit

from jupyter_server.auth.decorator import allow_unauthenticated, ws_authenticated
from jupyter_server.utils import url_path_join
from tornado import web
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.httputil import HTTPHeaders
from tornado.iostream import StreamClosedError
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketError,
    websocket_connect,
)

from dask_diag_lab.proxy.client import (
    Address,
    Exchange,
    NotAllowedError,
    UpstreamError,
    UpstreamTimeoutError,
)
from dask_diag_lab.proxy.dashboard import Dashboard
from dask_diag_lab.proxy.handlers import BaseWebSocketHandler, allowed_to
from dask_diag_lab.proxy.messages import Kind
from dask_diag_lab.proxy.stock import StockDashboard

# So long a request may wait for its first byte, and for each next one. A kernel that holds the
# interpreter answers only when it lets go.
ANSWER_S: Final = 30.0

# A larger message closes its socket, from either side.
MAX_MESSAGE_BYTES: Final = 64 * 2**20

# Query arguments that hold the browser's rights on the Jupyter server.
DROPPED_ARGUMENTS: Final = frozenset(("token", "_xsrf"))

# What the key of a sandboxed page is signed as, and how long it opens its dashboard.
KEY_NAME: Final = "dask-diag-lab-frame"
KEY_DAYS: Final = 1.0

_ODD = re.compile(r"^/|(?:^|/)\.\.?(?:/|$)|[\\\x00-\x1f\x7f]")

# First segments of the stock dashboard's own pages and data. Left out on purpose: "proxy", which
# forwards to any host, "jupyter", a Jupyter server without a password, and "api".
_STOCK_PAGE: Final = re.compile(
    r"(?:status|workers|tasks|system|profile|profile-server|graph|groups|stealing|events|exceptions"
    r"|counters|shuffle|hardware|gpu|info|json|statics?|eventstream|individual-.*|sitemap\.json"
    r"|health|metrics|favicon\.ico)?"
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

# Bokeh names the scripts of its extensions from the root of the server, all others from the page.
# Both are of one length: the answer's stays what its head says.
_FROM_ROOT: Final = b' src="/static/extensions/'
_FROM_PAGE: Final = b'  src="static/extensions/'

# BokehJS makes style elements, and plots connect to their websocket.
_SHARED_POLICY: Final = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)
# Our own pages run on Jupyter's origin. Scripts with this page's nonce run, and what they load:
# neither an injected one nor a file of the user's, which are on the same origin.
_OUR_POLICY: Final = f"{_SHARED_POLICY}; script-src "
NONCE_HEADER: Final = "X-Dask-Diag-Nonce"
# Pages that somebody else wrote have scripts inside, which run without any right on Jupyter:
# without allow-same-origin the page's origin is none, and even its own scripts are foreign to it.
_STOCK_POLICY: Final = {
    "Content-Security-Policy": "sandbox allow-scripts allow-popups allow-downloads allow-modals; "
    f"{_SHARED_POLICY}; script-src 'self' 'unsafe-inline' 'unsafe-eval'"
}


def check_path(kind: Kind, path: str) -> None:
    """Refuse a path (as in the URL, without its first slash) that is not relayed.

    Raises
    ------
    NotAllowedError
        For parent folders, also encoded ones, backslashes, control characters and the like, and
        for places of a stock dashboard that are not its own pages.
    """
    if not is_plain(path):
        raise NotAllowedError("This address cannot be relayed.", 400)
    if kind == "stock" and not _STOCK_PAGE.fullmatch(unquote(path).partition("/")[0]):
        raise NotAllowedError("This part of a stock dashboard is not relayed.")


def is_plain(path: str) -> bool:
    """Tell whether everybody takes a path, as in a URL without its first slash, for the same."""
    return path.isascii() and _ODD.search(unquote(path)) is None


def kept_query(query: str) -> str:
    """Return a query with its question mark and without the browser's rights; '' if empty.

    Some servers end an argument at a semicolon, so none behind one is kept either. What may not
    stand in a request line is escaped.
    """
    kept = [
        argument
        for argument in query.split("&")
        if argument and not any(map(_is_right, argument.split(";")))
    ]
    text = quote("&".join(kept), safe="".join(map(chr, range(0x21, 0x7F))))
    return f"?{text}" if text else ""


def _is_right(argument: str) -> bool:
    return unquote_plus(argument.partition("=")[0]).strip().lower() in DROPPED_ARGUMENTS


def request_headers(dashboard: Dashboard, browser: Mapping[str, str]) -> dict[str, str]:
    """Return the headers for a dashboard: its own credentials, and no right of the browser."""
    return {
        "Origin": dashboard.address.origin,
        **{name: browser[name] for name in _REQUEST_HEADERS if name in browser},
        **dashboard.credentials,
    }


def answer_headers(kind: Kind, dashboard: HTTPHeaders, nonce: str) -> dict[str, str]:
    """Return the headers for the browser, with the policy that every answer gets.

    The policy is on every type of answer: SVG and XML run scripts too. ``nonce`` is that of one of
    our own pages, empty for anything else.
    """
    headers = {
        "Content-Type": "application/octet-stream",
        **{name: dashboard[name] for name in _ANSWER_HEADERS if name in dashboard},
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    if kind == "stock":
        return headers | _STOCK_POLICY
    if nonce:
        headers["Cache-Control"] = "no-store"  # it would come back with an old nonce
    scripts = f"'nonce-{nonce}' 'strict-dynamic'" if nonce else "'none'"
    headers["Content-Security-Policy"] = f"{_OUR_POLICY}{scripts}"
    return headers | {"Cross-Origin-Resource-Policy": "same-origin"}


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
    inside = f"{address.origin}{address.prefix}/"
    try:
        place = urljoin(f"{address.origin}{target}", location)
        parts = urlsplit(place)
    except ValueError:  # brackets without an IPv6 address
        return None
    if not place.startswith(inside):
        return None
    path = parts.path.removeprefix(f"{address.prefix}/")
    # A browser takes %2e%2e for a parent folder and a backslash for a slash.
    if not is_plain(path):
        return None
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{root}{path}{kept_query(parts.query)}{fragment}"


async def open_socket(
    dashboard: Dashboard, target: str, protocols: list[str]
) -> WebSocketClientConnection:
    """Open a websocket to a dashboard; of Dask's own, a token rides as the second protocol.

    Raises
    ------
    NotAllowedError
        When it does not open.
    """
    try:
        request = HTTPRequest(
            f"{dashboard.address.origin.replace('http', 'ws', 1)}{target}",
            headers=HTTPHeaders(request_headers(dashboard, {})),
            ssl_options=dashboard.address.tls,
            connect_timeout=ANSWER_S,
            request_timeout=ANSWER_S,
        )
        return await websocket_connect(
            request,
            max_message_size=MAX_MESSAGE_BYTES,
            subprotocols=protocols or None,
            resolver=dashboard.address.resolver,
            # No pings: a kernel that holds the interpreter cannot answer, and is not dead for it.
        )
    except (HTTPClientError, WebSocketError, OSError):
        dashboard.is_suspect = True
        raise NotAllowedError(f"{dashboard.name} does not open this plot.", 502) from None


class RelayHandler(BaseWebSocketHandler):
    """``dashboards/<id>/<path>``, by HTTP or as a websocket.

    Of a websocket each message waits until the other side has taken the one before.
    """

    route = "dask-diag-lab/dashboards"
    max_message_size = MAX_MESSAGE_BYTES
    _dashboard: Dashboard
    _target: str  # what is asked of the dashboard, without the browser's own arguments
    _exchange: Exchange | None = None
    _is_begun = False
    _nonce = ""
    _held: bytes | None = None  # of a stock page, what may be the beginning of `_FROM_ROOT`
    _upstream: WebSocketClientConnection
    _pump: asyncio.Task[None] | None = None

    @ws_authenticated
    @allowed_to("execute")
    async def get(self, dashboard_id: str, _path: str) -> None:
        """Relay this request to a dashboard, or say why not."""
        await self._answer(dashboard_id)

    head = get

    async def _answer(self, dashboard_id: str) -> None:
        method, path = self.request.method or "", self._place[1]
        try:
            dashboard = self._dashboard = await self.registry.find(dashboard_id)
            check_path(dashboard.kind, path)
            self._target = f"{dashboard.address.prefix}/{path}{kept_query(self.request.query)}"
            if method == "GET" and self.request.headers.get("Upgrade", "").lower() == "websocket":
                await self._relay_socket(path)
            elif isinstance(dashboard, StockDashboard) and self._is_page:
                self._redirect_to_frame(dashboard, path)
            else:
                await self._relay(method)
        except NotAllowedError as error:
            self.refuse(error.status, str(error))

    @property
    def _place(self) -> tuple[str, str]:
        """The dashboard's root here, ending with a slash, and the path on it; as in the URL."""
        before, route, rest = self.request.path.partition(f"{self.route}/")
        name, slash, path = rest.partition("/")
        return f"{before}{route}{name}{slash}", path

    @property
    def _is_page(self) -> bool:
        accepted = self.request.headers.get("Accept", "")
        return self.request.method == "GET" and "text/html" in accepted

    # --- by HTTP

    async def _relay(self, method: str) -> None:
        dashboard = self._dashboard
        self._exchange = Exchange(dashboard.address, ANSWER_S, self._take_head, self._pass_on)
        headers = request_headers(dashboard, self.request.headers)
        if dashboard.kind == "diagnostics" and self._is_page:
            self._nonce = headers[NONCE_HEADER] = secrets.token_urlsafe(16)
            for name in ("If-None-Match", "If-Modified-Since"):
                headers.pop(name, None)
        if dashboard.kind == "stock" and "text/html" in headers.get("Accept", ""):
            headers.pop("Accept-Encoding", None)  # links of pages are changed
        try:
            await self._exchange.run(method, self._target, headers)
        except UpstreamError as error:
            if self._is_begun:
                self.detach().close()  # the head is out: the only honest end is a broken one
                return
            self.clear()
            dashboard.is_suspect = True
            status = 504 if isinstance(error, UpstreamTimeoutError) else 502
            raise NotAllowedError(dashboard.failure(error), status) from None
        with contextlib.suppress(StreamClosedError):  # a browser that has it all may leave
            await self.finish(self._held or None)  # a 304 has no body

    def _take_head(self, code: int, answered: HTTPHeaders) -> None:
        dashboard = self._dashboard
        headers = answer_headers(dashboard.kind, answered, self._nonce)
        if location := answered.get("Location"):
            place = relayed_location(dashboard.address, self._target, location, self._place[0])
            if place is None:
                raise NotAllowedError(f"{dashboard.name} redirects to another place.", 502)
            headers["Location"] = place
        self.set_status(code)
        for name, value in headers.items():
            self.set_header(name, value)
        if dashboard.kind == "stock" and headers["Content-Type"].startswith("text/html"):
            self._held = b""

    async def _pass_on(self, chunk: bytes) -> None:
        self._is_begun = True
        if self._held is not None:
            page = (self._held + chunk).replace(_FROM_ROOT, _FROM_PAGE)
            end = max(0, len(page) - len(_FROM_ROOT) + 1)
            chunk, self._held = page[:end], page[end:]
        self.write(chunk)
        await self.flush()

    def on_connection_close(self) -> None:
        """The browser left: do not read on for nobody."""
        super().on_connection_close()
        if self._exchange is not None:
            self._exchange.close()

    def _redirect_to_frame(self, dashboard: StockDashboard, path: str) -> None:
        signed = self.create_signed_value(KEY_NAME, dashboard.id)
        key = base64.urlsafe_b64encode(signed).decode().rstrip("=")
        place = url_path_join(self.base_url, FrameHandler.route, key)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        # What is in the page's address can be read by the page: no token may be left in it.
        self.redirect(f"{place}/{path}{kept_query(self.request.query)}")

    # --- as a websocket

    async def _relay_socket(self, path: str) -> None:
        is_ours = self._dashboard.kind == "diagnostics"
        is_live = path == "stream" if is_ours else path.endswith("/ws") or path == "eventstream"
        if not is_live:
            raise NotAllowedError("There is no live plot at this address.")
        offered = self.request.headers.get("Sec-WebSocket-Protocol", "").split(",")
        protocols = [name.strip() for name in offered if name.strip()]
        self._upstream = await open_socket(self._dashboard, self._target, protocols)
        self._dashboard.sockets.add(self)
        try:
            await super().get()
        finally:
            self._dashboard.sockets.discard(self)
            self._upstream.close(*sendable_close(self.close_code, self.close_reason))
            if self._pump is not None:
                await self._pump

    def open(self, *_parts: str) -> None:
        """Begin to pass on what the dashboard sends."""
        # Else the second of two small messages waits up to 40 ms until the first is acknowledged.
        self.set_nodelay(True)
        if self._upstream.protocol is not None:
            self._upstream.protocol.set_nodelay(True)
        self._pump = asyncio.create_task(self._pass_messages())

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """Return what the dashboard has chosen of what the browser offered."""
        chosen = self._upstream.selected_subprotocol
        return chosen if chosen in subprotocols else None

    async def on_message(self, message: str | bytes) -> None:
        """Pass a message on; the next one is not read before this one is out."""
        with contextlib.suppress(WebSocketClosedError):  # the pump sees the end, too
            await self._upstream.write_message(message, binary=isinstance(message, bytes))

    async def _pass_messages(self) -> None:
        # Reads to the end even when the browser is gone: an unread message would keep tornado
        # from seeing the close.
        while (message := await self._upstream.read_message()) is not None:
            with contextlib.suppress(WebSocketClosedError):
                await self.write_message(message, binary=isinstance(message, bytes))
        self.close(*sendable_close(self._upstream.close_code, self._upstream.close_reason))


class FrameHandler(RelayHandler):
    """``frames/<key>/<path>``: what a sandboxed stock page loads, itself included.

    The browser sends no cookie for it. Its key, which stands for a login, is a signed value of
    tornado's: it opens one dashboard for reading, for `KEY_DAYS` from when a user who may relay
    that asked for the page.
    """

    route = "dask-diag-lab/frames"
    _is_page = False  # it is in its frame already

    async def prepare(self, **_options: object) -> None:
        """Take the dashboard from the key; cookies are not looked at."""
        try:
            signed = base64.urlsafe_b64decode(self.path_args[0] + "==").decode()
        except ValueError:
            signed = ""
        # Version 1 has a weaker signature.
        dashboard_id = self.get_signed_cookie(KEY_NAME, signed, KEY_DAYS, min_version=2)
        if dashboard_id is None or not self.check_host():
            raise web.HTTPError(403, "This page is no longer open. Open it again from the sidebar.")
        self.path_args[0] = dashboard_id.decode()

    @allow_unauthenticated
    async def get(self, dashboard_id: str, _path: str) -> None:
        """Relay this request, or say why not."""
        await self._answer(dashboard_id)

    head = get

    def check_origin(self, origin: str = "") -> bool:  # noqa: ARG002  # tornado's
        """Let any origin in: a sandboxed page has none, and its key is what lets it in."""
        return True

    def _log(self) -> None:
        """Keep the key, which is in the path, out of the access log."""


def sendable_close(code: int | None, reason: str | None) -> tuple[int, str]:
    """Return a close code and reason that may be sent on, for those that were received.

    1005, 1006 and 1015 only stand for "none", "lost" and "TLS failed" and must not be sent
    (RFC 6455, 7.4.1).
    """
    if code is None or code in (1005, 1006, 1015):
        return 1001, "The other side is gone."
    return code, reason or ""
