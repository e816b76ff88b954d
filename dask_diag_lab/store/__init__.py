"""Columnar history and live tables of one scheduler, and the queries that plots make of them."""

from __future__ import annotations

from dask_diag_lab.store.lod import LevelOfDetail
from dask_diag_lab.store.running import RunningRows
from dask_diag_lab.store.store import FeedStateView, Store
from dask_diag_lab.store.workers import Totals

__all__ = ["FeedStateView", "LevelOfDetail", "RunningRows", "Store", "Totals"]
