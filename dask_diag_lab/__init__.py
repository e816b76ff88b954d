"""Live diagnostics for Dask inside JupyterLab.

Importing this package is cheap: nothing of Dask, Bokeh or NumPy is loaded before it is used.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask_diag_lab.capture.compare import Comparison, compare
    from dask_diag_lab.capture.memory_sampler import MemorySampler
    from dask_diag_lab.capture.performance_report import performance_report
    from dask_diag_lab.capture.profile import profile
    from dask_diag_lab.capture.run import Run, run, runs
    from dask_diag_lab.capture.task_stream import TaskStreamCapture, get_task_stream
    from dask_diag_lab.capture.transfers import transfers
    from dask_diag_lab.notebook.plot import plot, plots
    from dask_diag_lab.notebook.progress import progress
    from dask_diag_lab.session import Diagnostics, attach, load
    from dask_diag_lab.views.bars import BarPlot, Level, Part
    from dask_diag_lab.views.data import Column
    from dask_diag_lab.views.figure import FigureView
    from dask_diag_lab.views.registry import register_plot
    from dask_diag_lab.views.series import Line, Points, SeriesPlot
    from dask_diag_lab.views.tables import TablePlot
    from dask_diag_lab.views.view import Caption, Table, View

__all__ = [
    "BarPlot",
    "Caption",
    "Column",
    "Comparison",
    "Diagnostics",
    "FigureView",
    "Level",
    "Line",
    "MemorySampler",
    "Part",
    "Points",
    "Run",
    "SeriesPlot",
    "Table",
    "TablePlot",
    "TaskStreamCapture",
    "View",
    "__version__",
    "attach",
    "compare",
    "get_task_stream",
    "load",
    "performance_report",
    "plot",
    "plots",
    "profile",
    "progress",
    "register_plot",
    "run",
    "runs",
    "transfers",
]

_HOME = {
    "capture.compare": ("Comparison", "compare"),
    "capture.memory_sampler": ("MemorySampler",),
    "capture.performance_report": ("performance_report",),
    "capture.profile": ("profile",),
    "capture.run": ("Run", "run", "runs"),
    "capture.task_stream": ("TaskStreamCapture", "get_task_stream"),
    "capture.transfers": ("transfers",),
    "notebook.plot": ("plot", "plots"),
    "notebook.progress": ("progress",),
    "session": ("Diagnostics", "attach", "load"),
    "views.bars": ("BarPlot", "Level", "Part"),
    "views.data": ("Column",),
    "views.figure": ("FigureView",),
    "views.registry": ("register_plot",),
    "views.series": ("Line", "Points", "SeriesPlot"),
    "views.tables": ("TablePlot",),
    "views.view": ("Caption", "Table", "View"),
}
"""Where the public names are, which are imported when they are used."""

# A library does not print; without a handler Python would write warnings into the running cell.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:  # module attributes have many types
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:  # an InteractiveShell
    """Make ``%%dask_diag`` known: ``%load_ext dask_diag_lab``; where Dask attaches us, it is."""
    from dask_diag_lab.notebook.magic import add_magic

    add_magic(shell)


def __dir__() -> list[str]:
    return sorted(__all__)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "dask-diag-lab"}]
