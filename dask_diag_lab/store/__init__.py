"""The history of one scheduler in columns, the live session beside it, and what plots ask of them.

Must not import distributed, tornado or bokeh.
"""

from __future__ import annotations

from dask_diag_lab.store.history import History
from dask_diag_lab.store.live import LiveSession
from dask_diag_lab.store.lod import LevelOfDetail
from dask_diag_lab.store.slots import RunningRows
from dask_diag_lab.store.workers import Totals

__all__ = [
    "History",
    "LevelOfDetail",
    "LiveSession",
    "RunningRows",
    "Totals",
]
