"""Name, dtype and unit of every column that travels from the scheduler to a plot.

Must not import anything else of this package: every other room may read this one.
"""

from typing import Final

from dask_diag_lab.records.batch import (
    ActionColumns,
    Batch,
    ExtraChange,
    GraphChange,
    SchedulerInfo,
)
from dask_diag_lab.records.extras import EXTRA_NAMES, EXTRAS, GRAPH, Extra
from dask_diag_lab.records.questions import KINDS, OTHER_PREFIXES, QUESTIONS, Question
from dask_diag_lab.records.tables import (
    ACTIONS,
    GROUPS,
    PREFIXES,
    RUNNING,
    STATES,
    THRESHOLDS,
    WORKERS,
    Column,
    Kind,
    Outcome,
)

__all__ = [
    "ACTIONS",
    "EXTRAS",
    "EXTRA_NAMES",
    "GRAPH",
    "GROUPS",
    "KINDS",
    "OTHER_PREFIXES",
    "PREFIXES",
    "PROTOCOL",
    "QUESTIONS",
    "RUNNING",
    "STATES",
    "THRESHOLDS",
    "WORKERS",
    "ActionColumns",
    "Batch",
    "Column",
    "Extra",
    "ExtraChange",
    "GraphChange",
    "Kind",
    "Outcome",
    "Question",
    "SchedulerInfo",
]

PROTOCOL: Final = 6
"""Version of the wire format between the collector and the transport."""
