"""Which headers pass the relay, in both directions: lists of what may, everything else stays.

Pure decisions. Cookies, authorization, origins and forwarding headers are on no list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from tornado.httputil import HTTPHeaders

from dask_diag_lab.proxy.addresses import Address
from dask_diag_lab.proxy.relay_policy import DROPPED_ARGUMENTS
from dask_diag_lab.proxy.wire import Kind

_REQUEST: Final = (
    "Accept",
    "Accept-Encoding",
    "Accept-Language",
    "Content-Type",
    "If-Modified-Since",
    "If-None-Match",
    "If-Range",
    "Range",
)

_ANSWER: Final = (
    "Accept-Ranges",
    "Cache-Control",
    "Content-Disposition",
    "Content-Encoding",
    "Content-Language",
    "Content-Length",
    "Content-Range",
    "Content-Type",
    "ETag",
    "Expires",
    "Last-Modified",
    "Retry-After",
    "Vary",
)

_SHARED_POLICY: Final = (
    "default-src 'none'",
    "style-src 'self' 'unsafe-inline'",  # BokehJS makes style elements
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",  # the plot's websocket and session
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "form-action 'none'",
)

DIAGNOSTICS_POLICY: Final = "; ".join([*_SHARED_POLICY, "script-src 'self'"])
"""For our own pages, which run on Jupyter's origin: their template has no script inside, so an
injected one does not run, and no text of a document runs as code.
See docs/decisions/0001-own-relay.md."""

STOCK_POLICY: Final = "; ".join(
    [
        # Without allow-same-origin the page's origin is none: it has no right on Jupyter.
        "sandbox allow-scripts allow-popups allow-downloads",
        *_SHARED_POLICY,
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",  # stock pages have scripts inside
    ]
)
"""For pages that somebody else wrote: scripts run, but without any right on Jupyter."""


def request_headers(
    address: Address, browser: HTTPHeaders, credentials: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the headers for the dashboard; ``credentials`` are those of the dashboard itself."""
    passed = [(name, browser[name]) for name in _REQUEST if name in browser]
    return [
        ("Host", address.netloc),
        ("Connection", "close"),
        ("Origin", address.origin),
        *passed,
        *credentials,
    ]


def answer_headers(kind: Kind, dashboard: HTTPHeaders) -> list[tuple[str, str]]:
    """Return the headers for the browser, with the policy that every answer gets.

    The policy is on every type of answer: SVG and XML run scripts too.
    """
    passed = [(name, dashboard[name]) for name in _ANSWER if name in dashboard]
    policy = DIAGNOSTICS_POLICY if kind == "diagnostics" else STOCK_POLICY
    headers = [
        *passed,
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
    ]
    if kind == "diagnostics":
        # Not for stock pages: to a page without an origin even its own scripts are foreign.
        headers.append(("Cross-Origin-Resource-Policy", "same-origin"))
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
        is_inside = (parts.scheme, parts.hostname, parts.port or _default(parts.scheme)) == (
            address.scheme,
            address.host,
            address.port,
        )
    except ValueError:
        return None
    if not is_inside or not parts.path.startswith(f"{address.prefix}/"):
        return None
    path = parts.path.removeprefix(f"{address.prefix}/").lstrip("/")
    arguments = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in arguments if name.lower() not in DROPPED_ARGUMENTS]
    return urlunsplit(("", "", f"{root}{path}", urlencode(kept), parts.fragment))


def _default(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def offered_subprotocols(header: str) -> list[str]:
    """Return the websocket subprotocols that a browser offers.

    Bokeh's session token rides there, as the second one.
    """
    return [name for name in (part.strip() for part in header.split(",")) if name]


def sendable_close(code: int | None, reason: str | None) -> tuple[int, str]:
    """Return a close code and reason that may be sent on, for those that were received.

    1005, 1006 and 1015 only stand for "none", "lost" and "TLS failed" and must not be sent
    (RFC 6455, 7.4.1); a reason may have 123 bytes.
    """
    is_sendable = code is not None and (
        code in (1000, 1001, 1002, 1003) or 1007 <= code <= 1014 or 3000 <= code <= 4999
    )
    if code is None or not is_sendable:
        return 1001, "The other side is gone."
    return code, (reason or "").encode()[:123].decode(errors="ignore")
