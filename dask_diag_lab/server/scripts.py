"""The scripts that draw a document in a browser: BokehJS, and our own models."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import bokeh

from dask_diag_lab.server.handlers import CORE, MODELS, OWN

if TYPE_CHECKING:
    from bokeh.model import Model

SCRIPTS: Final = (
    ("bokeh.models.widgets", "static/js/bokeh-widgets.min.js"),
    ("bokeh.models.widgets.tables", "static/js/bokeh-tables.min.js"),
    ("bokeh.models.plots", OWN),  # what is added to one later is painted by models of ours
    ("dask_diag_lab.views.models", OWN),
    ("dask_diag_lab.views.table_cells", "static/dask-diag-lab/dist/table_cells.js"),
)
"""The script that draws the models of a module, after `CORE`, in loading order."""
_OWN_FILES: Final = b"".join(file.read_bytes() for file in sorted(MODELS.glob("*.js")))
VERSION: Final = f"{bokeh.__version__}-{hashlib.sha256(_OWN_FILES).hexdigest()[:12]}"
"""Of all scripts together; a page keeps versions apart, so that each plot is drawn by its own."""


def address_of(script: str) -> str:
    """Return where a page finds a script of this version."""
    return f"{script}?v={VERSION}"


def scripts_for(models: Iterable[Model]) -> list[str]:
    """Return the parts of BokehJS that `models` need, the core first, in loading order."""
    modules = {kind.__module__ for model in models for kind in type(model).__mro__}
    needed = [
        script
        for module, script in SCRIPTS
        if any(name == module or name.startswith(f"{module}.") for name in modules)
    ]
    return list(dict.fromkeys([CORE, *needed]))


HINTS: Final = (address_of(CORE), address_of(OWN))
"""What a browser is to fetch at once, not one after the other as it finds them."""
