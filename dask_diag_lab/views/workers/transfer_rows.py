"""Transfers as rows of a table, the newest first: on the screen, and as data.

Pure; knows neither Bokeh models nor the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from dask_diag_lab.views.base import Table
from dask_diag_lab.views.data_table import TableColumn
from dask_diag_lab.views.workers.transfer_log import TransferLog

COLUMNS: Final = (
    TableColumn("stop", "Ended", "time", 70),
    TableColumn("worker", "Worker", "key", 110),
    TableColumn("direction", "Direction", width=76),
    TableColumn("peer", "Other worker", "key", 110),
    TableColumn("nbytes", "Size", "bytes", 84),
    TableColumn("compressed", "On the wire", "bytes", 92),
    TableColumn("ratio", "of size", "percent", 70),
    TableColumn("seconds", "Duration", "seconds", 96),
    TableColumn("rate", "Rate", "rate", 92),
    TableColumn("keys", "Keys", "number", 56),
    TableColumn("key", "Largest key", "key", 180),
)


def cells(
    log: TransferLog, name: Callable[[str], str] = str, which: slice = slice(None)
) -> dict[str, Any]:  # arrays and lists
    """Return the columns of some transfers, newest first.

    Parameters
    ----------
    log : TransferLog
    name : callable
        Returns what the worker at an address is called in the table.
    which : slice
        Of the log, whose oldest entry is the first.
    """
    order = np.arange(len(log))[which][::-1]
    rows = order.tolist()
    nbytes, compressed = log.nbytes[order], log.compressed[order]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(nbytes > 0, compressed / nbytes, np.nan)
    return {
        "stop": log.stop[order],
        "worker": [name(log.worker[row]) for row in rows],
        "direction": ["received" if log.is_incoming[row] else "sent" for row in rows],
        "peer": [name(log.peer[row]) for row in rows],
        "nbytes": nbytes,
        "compressed": compressed,
        "ratio": ratio,
        "seconds": log.stop[order] - log.start[order],
        "rate": log.rate[order],
        "keys": log.keys[order],
        "key": [log.key[row] for row in rows],
    }


def transfer_table(log: TransferLog) -> Table:
    """Return all transfers, None where something is not known of one."""
    columns: dict[str, Sequence[Any]] = {}  # numbers, text and None
    for name, values in cells(log).items():
        rows = values.tolist() if isinstance(values, np.ndarray) else values
        columns[name] = [None if c != c else c for c in rows]  # noqa: PLR0124 - NaN
    units = {"stop": "s", "nbytes": "B", "compressed": "B", "seconds": "s", "rate": "B/s"}
    return Table(columns, units)
