"""Brings the scheduler's data into this process: one comm, cursors, batches, restarts.

Must not import bokeh or views.
"""

from __future__ import annotations

from dask_diag_lab.transport.feed import Feed, QueryRunner
from dask_diag_lab.transport.link import LinkLostError

__all__ = ["Feed", "LinkLostError", "QueryRunner"]
