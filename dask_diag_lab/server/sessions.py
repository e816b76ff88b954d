"""Tokens for Bokeh sessions, and which parts of BokehJS a plot needs in the browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from bokeh.util.token import generate_jwt_token, generate_session_id

from dask_diag_lab.views.look import LIGHT

if TYPE_CHECKING:
    from bokeh.model import Model

    from dask_diag_lab.server.site import Site
    from dask_diag_lab.views.registry import Plot

CORE: Final = "static/js/bokeh.min.js"
EXTRA: Final = (
    ("dask_diag_lab.views.scripted", "static/dask-diag-lab/dist/dask_diag_lab.js"),
    ("bokeh.models.widgets.tables", "static/js/bokeh-tables.min.js"),
    ("bokeh.models.widgets", "static/js/bokeh-widgets.min.js"),
)
WEBGL: Final = "static/js/bokeh-gl.min.js"


def new_session(
    site: Site, plot: Plot, look: Mapping[str, str], arguments: Mapping[str, str]
) -> dict[str, Any]:  # JSON
    """Return token, Bokeh's version and the scripts that the page has to load, in order.

    The token lasts 5 minutes; a page that reconnects later asks for another.
    """
    session_id = generate_session_id(site.secret, signed=True)
    payload = {"plot": plot.name, "look": dict(look), "arguments": dict(arguments)}
    token = generate_jwt_token(session_id, site.secret, signed=True, extra_payload=payload)
    if plot.name not in site.scripts and (found := _scripts_of_plot(site, plot, arguments)):
        site.scripts[plot.name] = found
    return {"token": token, "bokeh": site.bokeh, "scripts": site.scripts.get(plot.name, [CORE])}


def _scripts_of_plot(site: Site, plot: Plot, arguments: Mapping[str, str]) -> list[str]:
    """Return what one picture needs, nothing when it cannot be built: with others it may."""
    try:
        with closing(plot.load()(site.store, LIGHT, arguments)) as view:
            return scripts_for(view.build().references())
    except Exception:  # noqa: BLE001  # the page itself will show what is wrong with this view
        return []


def scripts_for(models: Iterable[Model]) -> list[str]:
    """Return the parts of BokehJS that `models` need, the core first, in loading order."""
    models = list(models)
    modules = {kind.__module__ for model in models for kind in type(model).__mro__}
    needed = [CORE]
    for module, script in reversed(EXTRA):
        if any(name == module or name.startswith(f"{module}.") for name in modules):
            needed.append(script)
    if any(getattr(model, "output_backend", "") == "webgl" for model in models):
        needed.append(WEBGL)
    return needed
