"""All that is known of each worker as a sortable table, with totals as facts.

Metrics of the user's own are columns that come and go with the workers that report them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import Column, ColumnData, Rows, Unit
from dask_diag_lab.views.names import readable_name
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.tables import TablePlot
from dask_diag_lab.views.view import Table
from dask_diag_lab.views.workers import common
from dask_diag_lab.views.workers.common import (
    IN_HISTORY,
    WorkerPlot,
    custom_metrics,
    metric,
    newest_by_host,
    shared_note,
)

SILENT_S: Final = 60.0
"""A worker not heard of for this long is marked; the stock dashboard's limit as well."""

COLUMNS: Final = (
    Column("name", "Name", "key", width=104),
    Column("cpu", "CPU", "percent", width=62),
    Column("memory", "Process memory", "bytes", width=112),
    Column("memory_share", "of limit", "percent", width=64),
    Column("status", "Status", width=76),
    Column("nthreads", "Threads", "number", width=64),
    Column("memory_limit", "Limit", "bytes", width=84),
    Column("managed", "Managed", "bytes", width=84),
    Column("unmanaged_old", "Unmanaged", "bytes", width=90),
    Column("unmanaged_recent", "Unm. recent", "bytes", width=92),
    Column("spilled", "Spilled", "bytes", width=84),
    Column("processing", "Processing", "number", width=84),
    Column("executing", "Executing", "number", width=78),
    Column("in_memory", "In memory", "number", width=82),
    Column("occupancy", "Occupancy", "seconds", width=104),
    Column("network_read", "Host net in", "rate", width=104),
    Column("network_write", "Host net out", "rate", width=112),
    Column("disk_read", "Host disk read", "rate", width=120),
    Column("disk_write", "Host disk write", "rate", width=122),
    Column("fds", "Open files", "number", width=80),
    Column("event_loop", "Event loop", "seconds", width=108),
    Column("last_seen", "Last seen", "time", width=78),
    Column("host", "Host", width=110),
)
ADDRESS: Final = Column("worker", "Address", width=190)

_FROM_METRICS: Final[Mapping[str, str]] = {
    "network_read": common.NETWORK_READ,
    "network_write": common.NETWORK_WRITE,
    "disk_read": common.DISK_READ,
    "disk_write": common.DISK_WRITE,
    "fds": common.FDS,
    "event_loop": common.EVENT_LOOP,
}
_SUMMED: Final = (
    *("nthreads", "cpu", "memory", "managed", "unmanaged_old", "unmanaged_recent", "spilled"),
    *("processing", "executing", "in_memory", "occupancy", "fds"),
)
_PER_HOST: Final = ("network_read", "network_write", "disk_read", "disk_write")
_BYTES: Final = frozenset(
    {common.GPU_MEMORY, common.GPU_MEMORY_TOTAL, common.RMM_USED, common.RMM_TOTAL}
)


@register_plot
class WorkersTable(WorkerPlot, TablePlot):
    """One row a worker."""

    name = "workers"

    columns: Sequence[Column] = (*COLUMNS, ADDRESS)
    key: ClassVar[str] = "worker"
    frozen: ClassVar[int] = 1

    def rows(self) -> Rows:
        """Return a row for each worker; sets `columns`, of which some are metrics of the user's."""
        workers = self.history.workers
        own = [(_metric_column(name, cells), cells) for name, cells in custom_metrics(workers)]
        self.columns = (*COLUMNS, *(column for column, _ in own), ADDRESS)
        limit = np.where(workers.memory_limit > 0, workers.memory_limit.astype(np.float64), np.nan)
        return {
            **{c.name: workers.column(c.name) for c in COLUMNS if c.name in IN_HISTORY},
            **{name: metric(workers, key) for name, key in _FROM_METRICS.items()},
            "worker": list(workers.address),
            "memory_share": workers.memory / limit * 100,
            "memory_limit": limit,
            **{column.name: _known(column, cells) for column, cells in own},
        }

    def cells(self, rows: Rows) -> Rows:
        """Return names as people read them, and who is silent; see `TablePlot.cells`."""
        status = [
            "silent" if is_silent else name.replace("_", " ")
            for name, is_silent in zip(rows["status"], self.state(), strict=True)
        ]
        return {**rows, "name": list(map(readable_name, rows["name"])), "status": status}

    def state(self) -> list[bool]:
        """Return which workers were not heard of for long; see `View.state`."""
        silent: list[bool] = (self.live.time - self.history.workers.last_seen > SILENT_S).tolist()
        return silent

    def headline(self) -> str:
        """Return how many workers there are; see `DataPlot.headline`."""
        workers = self.history.workers
        hosts = fmt.plural(len(set(workers.host)), "host")
        return f"{fmt.plural(len(workers), 'worker')} on {hosts}"

    def note(self) -> str:
        """Return who shares a process; see `DataPlot.note`."""
        return shared_note(self.history.workers)

    def open_row(self, key: str) -> None:
        """Open the page of the worker with this address."""
        self.open("worker", worker=key)

    def facts(self, rows: Rows) -> Sequence[tuple[str, str]]:
        """Return the totals; see `TablePlot.facts`."""
        sums = self._sums(rows)
        text = {c.name: fmt.write(c.unit, sums[c.name]) for c in self.columns if c.name in sums}
        limit = sums["memory_limit"]
        if limit > 0:
            text["memory"] += f" of {text['memory_limit']} · {fmt.percent(sums['memory'] / limit)}"
        text["cpu"] += f" of {fmt.percent(sums['nthreads'])}"
        del text["memory_limit"]
        return [(column.label, text[column.name]) for column in COLUMNS if column.name in text]

    def table(self) -> Table:
        """Return the total as the first row, then one row a worker."""
        plain = super().table()
        sums: dict[str, Any] = {**self._sums(self.rows()), "name": "Total"}
        totals = {name: None if (s := sums.get(name)) != s else s for name in plain.columns}
        columns = {name: [totals[name], *cells] for name, cells in plain.columns.items()}
        return Table(columns, plain.units)

    def _sums(self, rows: Rows) -> dict[str, float]:
        """Return the total of each column that has one; one of a host once."""
        workers = self.history.workers
        sums = {name: float(np.nansum(rows[name])) for name in _SUMMED}
        sums["memory_limit"] = float(workers.totals().memory_limit) or float("nan")
        for name in _PER_HOST:
            newest = newest_by_host(workers, np.asarray(rows[name]))
            sums[name] = float(np.nansum(list(newest.values())))
        return sums


def _metric_column(name: str, cells: Sequence[object]) -> Column:
    is_number = all(cell is None or isinstance(cell, (int, float)) for cell in cells)
    unit: Unit = "text" if not is_number else "bytes" if name in _BYTES else "number"
    is_taken = any(column.name == name for column in (*COLUMNS, ADDRESS))
    return Column(f"metric:{name}" if is_taken else name, name, unit, width=120)


def _known(column: Column, cells: Sequence[Any]) -> ColumnData:
    texts = ["" if cell is None else str(cell) for cell in cells]
    return texts if column.is_text else np.array(cells, dtype=np.float64)  # NaN for None
