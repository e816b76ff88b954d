"""The table of routes: the only place that says which path is answered by what."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from tornado.routing import Rule, URLSpec
from tornado.web import RequestHandler

from dask_diag_lab.server import handlers, html
from dask_diag_lab.server.info_page import InfoHandler
from dask_diag_lab.server.packed import Packed
from dask_diag_lab.server.page_plans import INFO, MOVED, MOVED_WITH_ARGUMENT, PLANS
from dask_diag_lab.server.site import Site

STATIC: Final = Path(__file__).parent / "static"
MODELS: Final = Path(__file__).parents[1] / "dist"
"""Where Bokeh looks for the script of our own models, see `views.scripted`."""
NAME: Final = r"([A-Za-z0-9][A-Za-z0-9_-]*)"

SITE_ROUTES: Final[tuple[tuple[str, type[handlers.SiteHandler]], ...]] = (
    (r"/plots\.json", handlers.PlotsHandler),
    (r"/individual-plots\.json", handlers.StockPlotsHandler),
    (r"/health", handlers.HealthHandler),
    (rf"/plots/{NAME}", html.PlotPageHandler),
    (rf"/plots/{NAME}\.(json|csv)", handlers.TableHandler),
    (rf"/plots/{NAME}/session", handlers.SessionHandler),
    (rf"/({'|'.join(plan.name for plan in PLANS)})", html.PlannedPageHandler),
    (rf"/{INFO}", InfoHandler),
    (rf"/({'|'.join(map(re.escape, MOVED))})", html.MovedHandler),
    (rf"/individual-{NAME}", html.IndividualHandler),
    (rf"/({'|'.join(row[0] for row in MOVED_WITH_ARGUMENT)})(.+)\.html", html.OneOfManyHandler),
)


def site_rules(site: Site) -> list[Rule]:
    """Return the rules that need no Bokeh; `nothing` goes last, after all others."""
    return [URLSpec(path, handler, {"site": site}) for path, handler in SITE_ROUTES]


def static_rules(packed: Packed, bokeh_static: Path | None) -> list[Rule]:
    """Return the rules for our files and, where there is one, BokehJS."""
    rules: list[Rule] = [
        _files(r"/static/dask-diag-lab/dist/(.*)", MODELS, packed),
        _files(r"/static/dask-diag-lab/(.*)", STATIC, packed),
    ]
    if bokeh_static is not None:
        rules.append(_files(r"/static/(.*)", bokeh_static, packed))
    return rules


def _files(path: str, folder: Path, packed: Packed) -> Rule:
    handler: type[RequestHandler] = handlers.FilesHandler
    arguments: dict[str, Any] = {"path": str(folder), "packed": packed}  # tornado's kwargs
    return URLSpec(path, handler, arguments)


def nothing(site: Site) -> Rule:
    """Return the rule for every path that no other rule knows."""
    return URLSpec(r"/.*", html.NothingHandler, {"site": site})
