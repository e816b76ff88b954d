"""Name, dtype and unit of every column that travels from the scheduler to a plot.

Must not import anything else of this package: every other package may read this one. Without NumPy,
which a scheduler may lack; what makes arrays of columns is in `schema.columns`.
"""

from __future__ import annotations

from dask_diag_lab.schema.batch import Batch, Change, FeedState, GraphChange, SchedulerInfo
from dask_diag_lab.schema.tables import (
    ACTIONS,
    EVENTS,
    EXTRA_NAMES,
    EXTRAS,
    GRAPH,
    GRAPHS,
    GROUPS,
    NODE_STATES,
    NODES,
    NTHREADS,
    OTHER_PREFIXES,
    PREFIXES,
    PROTOCOL,
    QUERIES,
    RUNNING,
    STATES,
    TABLES,
    THRESHOLDS,
    WORKERS,
    Field,
    Kind,
    Outcome,
    TableSchema,
)

__all__ = [
    "ACTIONS",
    "EVENTS",
    "EXTRAS",
    "EXTRA_NAMES",
    "GRAPH",
    "GRAPHS",
    "GROUPS",
    "NODES",
    "NODE_STATES",
    "NTHREADS",
    "OTHER_PREFIXES",
    "PREFIXES",
    "PROTOCOL",
    "QUERIES",
    "RUNNING",
    "STATES",
    "TABLES",
    "THRESHOLDS",
    "WORKERS",
    "Batch",
    "Change",
    "FeedState",
    "Field",
    "GraphChange",
    "Kind",
    "Outcome",
    "SchedulerInfo",
    "TableSchema",
]
