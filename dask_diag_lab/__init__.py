"""Live diagnostics for Dask inside JupyterLab.

Importing this package is cheap: nothing of Dask, Bokeh or NumPy is loaded before it is used.
"""

from __future__ import annotations

import logging
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask_diag_lab.capture.compare import Comparison as Comparison
    from dask_diag_lab.capture.compare import compare as compare
    from dask_diag_lab.capture.memory_sampler import MemorySampler as MemorySampler
    from dask_diag_lab.capture.performance_report import performance_report as performance_report
    from dask_diag_lab.capture.profile import profile as profile
    from dask_diag_lab.capture.run import Run as Run
    from dask_diag_lab.capture.run import run as run
    from dask_diag_lab.capture.run import runs as runs
    from dask_diag_lab.capture.task_stream import TaskStreamCapture as TaskStreamCapture
    from dask_diag_lab.capture.task_stream import get_task_stream as get_task_stream
    from dask_diag_lab.capture.transfers import transfers as transfers
    from dask_diag_lab.notebook.plot import plot as plot
    from dask_diag_lab.notebook.plot import plots as plots
    from dask_diag_lab.notebook.progress import progress as progress
    from dask_diag_lab.session import Diagnostics as Diagnostics
    from dask_diag_lab.session import attach as attach
    from dask_diag_lab.session import load as load
    from dask_diag_lab.views.bars import BarPlot as BarPlot
    from dask_diag_lab.views.bars import Level as Level
    from dask_diag_lab.views.bars import Part as Part
    from dask_diag_lab.views.data import Column as Column
    from dask_diag_lab.views.figure import FigureView as FigureView
    from dask_diag_lab.views.registry import register_plot as register_plot
    from dask_diag_lab.views.series import Line as Line
    from dask_diag_lab.views.series import Points as Points
    from dask_diag_lab.views.series import SeriesPlot as SeriesPlot
    from dask_diag_lab.views.tables import TablePlot as TablePlot
    from dask_diag_lab.views.view import Caption as Caption
    from dask_diag_lab.views.view import Table as Table
    from dask_diag_lab.views.view import View as View

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

__all__ = list(chain(["__version__"], *_HOME.values()))

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
    from dask_diag_lab.notebook import add_magic

    add_magic(shell)


def __dir__() -> list[str]:
    return sorted(__all__)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "dask-diag-lab"}]
