"""Tokens for Bokeh sessions, and which parts of BokehJS a plot needs in the browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from bokeh.util.token import generate_jwt_token, generate_session_id

if TYPE_CHECKING:
    from bokeh.model import Model

    from dask_diag_lab.server.site import Site
    from dask_diag_lab.views.registry import Plot

CORE: Final = "static/js/bokeh.min.js"
EXTRA: Final = (
    ("bokeh.models.widgets.tables", "static/js/bokeh-tables.min.js"),
    ("bokeh.models.widgets", "static/js/bokeh-widgets.min.js"),
)
WEBGL: Final = "static/js/bokeh-gl.min.js"


def new_session(site: Site, plot: Plot, look: Mapping[str, str]) -> dict[str, Any]:  # JSON
    """Return token, Bokeh's version and the scripts that the page has to load, in order.

    The token lasts 5 minutes; a page that reconnects later asks for another.
    """
    session_id = generate_session_id(site.secret, signed=True)
    token = generate_jwt_token(
        session_id, site.secret, signed=True, extra_payload={"look": dict(look)}
    )
    if plot.name not in site.scripts:
        site.scripts[plot.name] = _scripts_of_plot(site, plot)
    return {"token": token, "bokeh": site.bokeh, "scripts": site.scripts[plot.name]}


def _scripts_of_plot(site: Site, plot: Plot) -> list[str]:
    try:
        view = plot.load()(site.store)
        models: Iterable[Model] = view.build().references()
    except Exception:  # noqa: BLE001  # the page itself will show what is wrong with this view
        return [CORE]
    try:
        return scripts_for(models)
    finally:
        view.close()


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
