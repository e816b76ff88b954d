"""Answers to plain HTTP requests: indexes, health, tables, session tokens.

Each handler reads the `Site` and changes nothing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from tornado.web import HTTPError, RequestHandler, StaticFileHandler

from dask_diag_lab.server.arguments import arguments_in_query, read_arguments, read_json
from dask_diag_lab.server.export import to_csv, to_json
from dask_diag_lab.server.fault_words import cannot_be_read
from dask_diag_lab.server.health import health_of
from dask_diag_lab.server.site import Site, index_of, stock_title

if TYPE_CHECKING:
    from dask_diag_lab.server.packed import Packed
    from dask_diag_lab.views.registry import Plot

logger = logging.getLogger(__name__)

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    # style 'unsafe-inline': BokehJS puts <style> elements into its shadow roots.
    # No text runs as code, not even that of Bokeh's CustomJS: see views/scripted.py.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
        " img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
}
MAX_SESSION_BODY_BYTES: Final = 32_768


def quiet_log(handler: RequestHandler) -> None:
    """Log a request without its query, which may carry a token, and never into a cell."""
    request = handler.request
    logger.debug("%s %s %s", handler.get_status(), request.method, request.path)


class SiteHandler(RequestHandler):
    """What all our handlers share: headers, errors in words, no logging into a cell."""

    draws = False
    """Whether it needs Bokeh, and so waits until that is loaded."""

    def initialize(self, site: Site) -> None:
        self.site = site

    async def prepare(self) -> None:
        if self.draws:
            await self.site.loaded.wait()

    def set_default_headers(self) -> None:
        for name, value in SECURITY_HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def write_error(self, status_code: int, **kwargs: Any) -> None:  # noqa: ARG002  # tornado's
        error = (kwargs.get("exc_info") or (None, None, None))[1]
        # tornado keeps text without arguments as a format with doubled percent signs.
        said = (
            error.log_message % error.args
            if isinstance(error, HTTPError) and error.log_message
            else None
        )
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{said or self._reason}\n")

    def log_exception(self, *args: Any) -> None:  # tornado's exc_info triple
        if not isinstance(args[1], HTTPError):
            logger.warning("Answering %s failed", self.request.path, exc_info=args)

    def plot(self, name: str) -> Plot:
        """Return plot `name` or answer 404, 503 when no plot can be shown at all."""
        if self.site.missing:
            raise HTTPError(503, self.site.missing)
        if name not in self.site.plots:
            raise HTTPError(404, "There is no plot of that name here. See plots.json.")
        return self.site.plots[name]

    def write_json(self, answer: object) -> None:
        """End with `answer` as JSON."""
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(answer, allow_nan=False))

    def arguments(self) -> dict[str, str]:
        """Return what the query says the plot is to show, or answer 400."""
        try:
            return arguments_in_query(self.request.query)
        except ValueError as error:
            raise HTTPError(400, str(error)) from error

    def head(self, *args: str) -> Awaitable[None] | None:
        """Answer as to GET; tornado leaves the body out."""
        answering: Awaitable[None] | None = self.get(*args)
        return answering


class PlotsHandler(SiteHandler):
    """``/plots.json``."""

    def get(self) -> None:
        self.write_json({"plots": index_of(self.site.listed)})


class StockPlotsHandler(SiteHandler):
    """``/individual-plots.json``: the stock mapping of titles to routes."""

    def get(self) -> None:
        names = self.site.plots
        self.write_json({stock_title(name): f"/individual-{name}" for name in names})


class HealthHandler(SiteHandler):
    """``/health``."""

    def get(self) -> None:
        health = health_of(self.site.store, self.site.listing_version)
        if self.site.missing and health["state"] == "live":
            health["state"] = "degraded"
            health["reason"] = self.site.missing
        self.write_json(health)


class TableHandler(SiteHandler):
    """``/plots/<name>.json`` and ``.csv``: what the picture shows, as columns."""

    draws = True

    async def get(self, name: str, kind: str) -> None:
        from dask_diag_lab.server.tables import table_of
        from dask_diag_lab.views.base import ArgumentError

        plot, arguments = self.plot(name), self.arguments()
        try:
            table, note = await table_of(self.site, plot, arguments)
        except ArgumentError as error:
            raise HTTPError(400, str(error)) from error
        except Exception as error:
            logger.warning("The table of plot %s failed", plot.name, exc_info=error)
            raise HTTPError(500, cannot_be_read(plot, error)) from error
        if kind == "json":
            self.set_header("Content-Type", "application/json; charset=utf-8")
            self.finish(to_json(table, note))
        else:
            self.set_header("Content-Type", "text/csv; charset=utf-8")
            self.set_header("Content-Disposition", f'attachment; filename="{plot.name}.csv"')
            self.finish(to_csv(table))


class SessionHandler(SiteHandler):
    """``POST /plots/<name>/session``: a signed token for one Bokeh session, and what to load."""

    draws = True

    async def post(self, name: str) -> None:
        from dask_diag_lab.server.sessions import new_session

        plot = self.plot(name)
        look, arguments, is_ahead = self._asked()
        session = await new_session(self.site, plot, look, arguments, is_ahead=is_ahead)
        self.write_json(session)

    def get(self, name: str) -> None:  # noqa: ARG002  # of the route
        raise HTTPError(405, "A session is asked for with POST.")

    def _asked(self) -> tuple[dict[str, str], dict[str, str], bool]:
        """Return the look and the arguments that the page wants, and whether it may not want it."""
        from dask_diag_lab.server.control import read_look

        body = self.request.body
        if len(body) > MAX_SESSION_BODY_BYTES:
            raise HTTPError(413, "The body may have %d bytes.", MAX_SESSION_BODY_BYTES)
        try:
            asked = read_json(body) if body.strip() else {}
            given = asked if isinstance(asked, Mapping) else {}
            look = read_look(json.dumps(given.get("look") or {}))
            return asdict(look), read_arguments(given.get("arguments")), given.get("ahead") is True
        except ValueError as error:
            raise HTTPError(
                400, 'The body is JSON like {"look": {"name": "dark"}, "arguments": {}}.'
            ) from error


class FilesHandler(StaticFileHandler):
    """Scripts and styles, ours and BokehJS: kept by the browser, checked by their hash."""

    def initialize(self, path: str, packed: Packed) -> None:  # type: ignore[override]  # one more
        super().initialize(path)
        self._packed = packed
        self._content: bytes | None = None  # gzip, where that is what is sent

    def set_extra_headers(self, path: str) -> None:  # noqa: ARG002  # tornado's
        request = self.request.headers
        if "gzip" in request.get("Accept-Encoding", "") and "Range" not in request:
            self._content = self._packed.get(str(self.absolute_path))
        if self._content is not None:
            self.set_header("Content-Encoding", "gzip")  # so tornado does not compress it itself
            content = [self._content]
            # tornado asks the handler for what it sends, and the class for what it hashes.
            self.get_content = lambda *_: content  # type: ignore[assignment,method-assign]
        for name, value in SECURITY_HEADERS.items():
            self.set_header(name, value)
        self.set_header("Cache-Control", "private, max-age=3600")
        self.clear_header("Server")

    def get_content_size(self) -> int:
        """Return the bytes of what is sent."""
        return super().get_content_size() if self._content is None else len(self._content)

    def log_exception(self, *args: Any) -> None:  # tornado's exc_info triple
        if not isinstance(args[1], HTTPError):
            logger.warning("Answering %s failed", self.request.path, exc_info=args)
