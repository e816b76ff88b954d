"""The table of routes: the only place that says which path is answered by what."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tornado.routing import Rule, URLSpec
from tornado.web import RequestHandler

from dask_diag_lab.server import handlers, html
from dask_diag_lab.server.site import NEAREST, Site

STATIC: Final = Path(__file__).parent / "static"
NAME: Final = r"([A-Za-z0-9][A-Za-z0-9_-]*)"

SITE_ROUTES: Final[tuple[tuple[str, type[handlers.SiteHandler]], ...]] = (
    (r"/", html.RootHandler),
    (r"/plots\.json", handlers.PlotsHandler),
    (r"/individual-plots\.json", handlers.StockPlotsHandler),
    (r"/health", handlers.HealthHandler),
    (r"/status", html.StatusHandler),
    (rf"/plots/{NAME}", html.PlotPageHandler),
    (rf"/plots/{NAME}\.(json|csv)", handlers.TableHandler),
    (rf"/plots/{NAME}/session", handlers.SessionHandler),
    (rf"/(individual-[A-Za-z0-9_-]+|{'|'.join(NEAREST)})", html.StockPageHandler),
)


def site_rules(site: Site) -> list[Rule]:
    """Return the rules that need no Bokeh; `nothing` goes last, after all others."""
    return [URLSpec(path, handler, {"site": site}) for path, handler in SITE_ROUTES]


def static_rules(bokeh_static: Path | None) -> list[Rule]:
    """Return the rules for our files and, where there is one, BokehJS."""
    rules: list[Rule] = [_files(r"/static/dask-diag-lab/(.*)", STATIC)]
    if bokeh_static is not None:
        rules.append(_files(r"/static/(.*)", bokeh_static))
    return rules


def _files(path: str, folder: Path) -> Rule:
    handler: type[RequestHandler] = handlers.FilesHandler
    arguments: dict[str, Any] = {"path": str(folder)}  # tornado's kwargs
    return URLSpec(path, handler, arguments)


def nothing(site: Site) -> Rule:
    """Return the rule for every path that no other rule knows."""
    return URLSpec(r"/.*", html.NothingHandler, {"site": site})
