"""Answers to plain HTTP requests: indexes, health, tables, session tokens.

Each handler reads the `Site` and changes nothing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from tornado.web import HTTPError, RequestHandler, StaticFileHandler

from dask_diag_lab.server.export import to_csv, to_json
from dask_diag_lab.server.health import health_of
from dask_diag_lab.server.site import Site, index_of, stock_title

if TYPE_CHECKING:
    from dask_diag_lab.views.registry import Plot

logger = logging.getLogger(__name__)

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    # style 'unsafe-inline': BokehJS puts <style> elements into its shadow roots.
    # script 'unsafe-eval': BokehJS makes functions of the views' CustomJS formatters, whose text
    # comes from our own files only; inline scripts and other origins stay shut out.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
        " img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
}
MAX_SESSION_BODY_BYTES: Final = 8192


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
        said = error.log_message if isinstance(error, HTTPError) else None
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{said or self._reason}\n")

    def log_exception(self, *args: Any) -> None:  # tornado's exc_info triple
        if not isinstance(args[1], HTTPError):
            logger.warning("Answering %s failed", self.request.path, exc_info=args)

    def plot(self, name: str) -> Plot:
        """Return plot `name` or answer 404, 503 when no plot can be shown at all."""
        if self.site.missing:
            raise HTTPError(503, self.site.missing.replace("%", "%%"))
        if name not in self.site.plots:
            raise HTTPError(404, "There is no plot of that name here. See plots.json.")
        return self.site.plots[name]

    def write_json(self, answer: object) -> None:
        """End with `answer` as JSON."""
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(answer, allow_nan=False))

    def head(self, *args: str) -> None:
        """Answer as to GET; tornado leaves the body out."""
        self.get(*args)


class PlotsHandler(SiteHandler):
    """``/plots.json``."""

    def get(self) -> None:
        self.write_json({"plots": index_of(self.site.plots)})


class StockPlotsHandler(SiteHandler):
    """``/individual-plots.json``: the stock mapping of titles to routes."""

    def get(self) -> None:
        names = self.site.plots
        self.write_json({stock_title(name): f"/individual-{name}" for name in names})


class HealthHandler(SiteHandler):
    """``/health``."""

    def get(self) -> None:
        health = health_of(self.site.store)
        if self.site.missing and health["state"] == "live":
            health["state"] = "degraded"
            health["reason"] = self.site.missing
        self.write_json(health)


class TableHandler(SiteHandler):
    """``/plots/<name>.json`` and ``.csv``: what the picture shows, as columns."""

    draws = True

    def get(self, name: str, kind: str) -> None:
        plot = self.plot(name)
        view = plot.load()(self.site.store)
        try:
            table = view.table()
        finally:
            view.close()
        if kind == "json":
            self.set_header("Content-Type", "application/json; charset=utf-8")
            self.finish(to_json(table))
        else:
            self.set_header("Content-Type", "text/csv; charset=utf-8")
            self.set_header("Content-Disposition", f'attachment; filename="{plot.name}.csv"')
            self.finish(to_csv(table))


class SessionHandler(SiteHandler):
    """``POST /plots/<name>/session``: a signed token for one Bokeh session, and what to load."""

    draws = True

    def post(self, name: str) -> None:
        from dask_diag_lab.server.sessions import new_session

        plot = self.plot(name)
        look = self._look()
        self.write_json(new_session(self.site, plot, look))

    def get(self, name: str) -> None:  # noqa: ARG002  # of the route
        raise HTTPError(405, "A session is asked for with POST.")

    def _look(self) -> dict[str, str]:
        from dask_diag_lab.server.control import read_look

        body = self.request.body
        if len(body) > MAX_SESSION_BODY_BYTES:
            raise HTTPError(413, "The body may have %d bytes.", MAX_SESSION_BODY_BYTES)
        try:
            asked = json.loads(body) if body.strip() else {}
            given = asked.get("look") if isinstance(asked, Mapping) else asked
            return asdict(read_look(json.dumps(given or {})))
        except ValueError as error:
            raise HTTPError(400, 'The body is JSON like {"look": {"name": "dark"}}.') from error


class FilesHandler(StaticFileHandler):
    """Scripts and styles, ours and BokehJS: kept by the browser, checked by their hash."""

    def set_extra_headers(self, path: str) -> None:  # noqa: ARG002  # tornado's
        for name, value in SECURITY_HEADERS.items():
            self.set_header(name, value)
        self.set_header("Cache-Control", "private, max-age=3600")
        self.clear_header("Server")

    def log_exception(self, *args: Any) -> None:  # tornado's exc_info triple
        if not isinstance(args[1], HTTPError):
            logger.warning("Answering %s failed", self.request.path, exc_info=args)
