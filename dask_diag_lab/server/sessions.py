"""Tokens for Bokeh sessions, and which parts of BokehJS a plot needs in the browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bokeh.models import Plot as BokehPlot
from bokeh.settings import settings
from bokeh.util.token import generate_jwt_token, generate_session_id

from dask_diag_lab.server.prepared_session import AHEAD_S, AWAITED_S
from dask_diag_lab.server.site import CORE, OWN

if TYPE_CHECKING:
    from bokeh.model import Model

    from dask_diag_lab.server.site import Site
    from dask_diag_lab.views.registry import Plot

EXTRA: Final = (
    ("dask_diag_lab.views.table_cells", "static/dask-diag-lab/dist/table_cells.js"),
    ("dask_diag_lab.views.scripted", OWN),
    ("bokeh.models.plots", OWN),  # what is added to one later is painted by models of ours
    ("bokeh.models.widgets.tables", "static/js/bokeh-tables.min.js"),
    ("bokeh.models.widgets", "static/js/bokeh-widgets.min.js"),
)
WEBGL: Final = "static/js/bokeh-gl.min.js"
USUAL: Final = ("dask_diag_lab.views.scripted", "bokeh.models.widgets")
"""What most plots need of these."""


async def new_session(
    site: Site,
    plot: Plot,
    look: Mapping[str, str],
    arguments: Mapping[str, str],
    *,
    is_ahead: bool,
) -> dict[str, Any]:  # JSON
    """Return token, document, Bokeh's version and the scripts that the page has to load, in order.

    ``document`` is Bokeh's JSON of it: the page draws it while its websocket opens. ``later`` are
    scripts that the next plot is likely to need, for when the page is idle.

    The token is good for one connection, soon; a page that reconnects asks for another. One that
    `is_ahead` was asked for before anybody is sure to want it, and does not wait for long.
    """
    session_id = generate_session_id(site.secret, signed=True)
    payload = {"plot": plot.name, "look": dict(look), "arguments": dict(arguments)}
    token = generate_jwt_token(session_id, site.secret, signed=True, extra_payload=payload)
    awaited_s = AHEAD_S if is_ahead else AWAITED_S
    prepared = await site.prepare(session_id, token, awaited_s)
    scripts = scripts_for(prepared.models)
    later = [name for module, name in EXTRA if module in USUAL and name not in scripts]
    return {
        "token": token,
        "document": prepared.write(),
        "bokeh": site.bokeh,
        "scripts": scripts,
        "later": later,
    }


def scripts_for(models: Iterable[Model]) -> list[str]:
    """Return the parts of BokehJS that `models` need, the core first, in loading order."""
    models = list(models)
    modules = {kind.__module__ for model in models for kind in type(model).__mro__}
    needed = [CORE]
    for module, script in reversed(EXTRA):
        if any(name == module or name.startswith(f"{module}.") for name in modules):
            needed.append(script)
    # By its class: Bokeh answers for a property that a model lacks by looking for similar names.
    if any(isinstance(model, BokehPlot) and model.output_backend == "webgl" for model in models):
        needed.append(WEBGL)
    return list(dict.fromkeys(needed))


def large_scripts() -> list[Path]:
    """Return the files of BokehJS's parts that every second page asks for."""
    names = (CORE, *(script for _, script in EXTRA if script.startswith("static/js/")))
    return [Path(settings.bokehjs_path()) / name.removeprefix("static/") for name in names]
