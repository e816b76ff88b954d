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
    from dask_diag_lab.views.bars import BarPlot, Level, Part
    from dask_diag_lab.views.data import Column
    from dask_diag_lab.views.figure_view import FigureView
    from dask_diag_lab.views.registry import register_plot
    from dask_diag_lab.views.series import Line, Points, SeriesPlot
    from dask_diag_lab.views.tables import TablePlot
    from dask_diag_lab.views.view import Caption, Table, View

__all__ = [
    "BarPlot",
    "Caption",
    "Column",
    "Diagnostics",
    "FigureView",
    "Level",
    "Line",
    "Listener",
    "Part",
    "Points",
    "SeriesPlot",
    "Table",
    "TablePlot",
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
    "BarPlot": "dask_diag_lab.views.bars",
    "Column": "dask_diag_lab.views.data",
    "Diagnostics": "dask_diag_lab.session",
    "Level": "dask_diag_lab.views.bars",
    "Line": "dask_diag_lab.views.series",
    "Part": "dask_diag_lab.views.bars",
    "Points": "dask_diag_lab.views.series",
    "SeriesPlot": "dask_diag_lab.views.series",
    "TablePlot": "dask_diag_lab.views.tables",
    "FigureView": "dask_diag_lab.views.figure_view",
    "Listener": "dask_diag_lab.capture.listen",
    "Caption": "dask_diag_lab.views.view",
    "Table": "dask_diag_lab.views.view",
    "View": "dask_diag_lab.views.view",
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
