"""Which requests pass the relay, and as what path they arrive. Pure decisions, deny by default."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from dask_diag_lab.proxy.addresses import Address
from dask_diag_lab.proxy.wire import Kind

MAX_PATH: Final = 4096
MAX_BODY_BYTES: Final = 256 * 1024
"""Only ``plots/<name>/session`` has a body: the looks of the page, under 1 kB."""

DROPPED_ARGUMENTS: Final = frozenset(("token", "_xsrf"))
"""Query arguments that hold the browser's rights on the Jupyter server."""

_SESSION = re.compile(r"plots/[^/]+/session")

# First segments of the stock dashboard's own pages and data. Left out on purpose: "proxy", which
# forwards to any host, "jupyter", a Jupyter server without a password, and "api".
_STOCK_PLACES: Final = frozenset(
    {
        *("status", "workers", "tasks", "system", "profile", "profile-server", "graph", "groups"),
        *("stealing", "events", "exceptions", "counters", "shuffle", "hardware", "gpu", "info"),
        *("json", "static", "statics", "eventstream", "individual-plots.json", "sitemap.json"),
        *("health", "metrics", "favicon.ico"),
    }
)


class RefusedError(Exception):
    """A request that does not pass; the text is for the user."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def check_path(path: str) -> None:
    """Refuse a path (as in the URL, without its first slash) that could mean another place.

    Raises
    ------
    RefusedError
        For parent folders, also encoded ones, backslashes, control characters and the like.
    """
    plain = unquote(path)
    segments = plain.replace("\\", "/").split("/")
    is_odd = (
        len(path) > MAX_PATH
        or path.startswith("/")
        or "\\" in plain
        or any(segment in (".", "..") for segment in segments)
        or any(ord(character) < 32 or ord(character) == 127 for character in plain)
        or not path.isascii()
    )
    if is_odd:
        raise RefusedError(400, "This address cannot be relayed.")


def check_request(kind: Kind, method: str, path: str) -> None:
    """Refuse an HTTP request that a dashboard of this kind has no use for.

    Raises
    ------
    RefusedError
        With status 403 for a place, 405 for a method.
    """
    check_path(path)
    if kind == "stock" and not _is_stock_place(path):
        raise RefusedError(403, "This part of a stock dashboard is not relayed.")
    if method in ("GET", "HEAD"):
        return
    if method == "POST" and kind == "diagnostics" and _SESSION.fullmatch(path):
        return
    raise RefusedError(405, "Plots are read only: this request is not relayed.")


def check_socket(kind: Kind, path: str) -> None:
    """Refuse a websocket that is neither a plot's nor the stock dashboard's event stream."""
    check_path(path)
    if kind == "stock" and not _is_stock_place(path):
        raise RefusedError(403, "This part of a stock dashboard is not relayed.")
    if not path.endswith("/ws") and not (kind == "stock" and path == "eventstream"):
        raise RefusedError(403, "There is no live plot at this address.")


def _is_stock_place(path: str) -> bool:
    place = unquote(path).partition("/")[0]
    return place == "" or place in _STOCK_PLACES or place.startswith("individual-")


def upstream_path(address: Address, path: str, query: str) -> str:
    """Return the request target for the dashboard, without the browser's own arguments."""
    return f"{address.prefix}/{path}{kept_query(query)}"


def kept_query(query: str) -> str:
    """Return a query with its question mark and without the browser's rights; '' if empty."""
    kept = [
        argument
        for argument in query.split("&")
        if argument and unquote(argument.partition("=")[0]).strip().lower() not in DROPPED_ARGUMENTS
    ]
    return f"?{'&'.join(kept)}" if kept else ""
