"""Live diagnostics for Dask inside JupyterLab.

Importing this package is cheap: nothing of Dask, Bokeh or NumPy is loaded before it is used.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask_diag_lab.capture.listen import Listener, listen
    from dask_diag_lab.capture.task_stream import get_task_stream
    from dask_diag_lab.notebook.plot import plot, plots
    from dask_diag_lab.notebook.progress import progress
    from dask_diag_lab.session import Diagnostics, attach
    from dask_diag_lab.views.base import Notice, Table, View
    from dask_diag_lab.views.figure_view import FigureView
    from dask_diag_lab.views.registry import register_plot

__all__ = [
    "Diagnostics",
    "FigureView",
    "Listener",
    "Notice",
    "Table",
    "View",
    "__version__",
    "attach",
    "get_task_stream",
    "listen",
    "plot",
    "plots",
    "progress",
    "register_plot",
]

_HOME = {
    "Diagnostics": "dask_diag_lab.session",
    "FigureView": "dask_diag_lab.views.figure_view",
    "Listener": "dask_diag_lab.capture.listen",
    "Notice": "dask_diag_lab.views.base",
    "Table": "dask_diag_lab.views.base",
    "View": "dask_diag_lab.views.base",
    "attach": "dask_diag_lab.session",
    "get_task_stream": "dask_diag_lab.capture.task_stream",
    "listen": "dask_diag_lab.capture.listen",
    "plot": "dask_diag_lab.notebook.plot",
    "plots": "dask_diag_lab.notebook.plot",
    "progress": "dask_diag_lab.notebook.progress",
    "register_plot": "dask_diag_lab.views.registry",
}

# A library does not print; without a handler Python would write warnings into the running cell.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:  # module attributes have many types
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "dask-diag-lab"}]
