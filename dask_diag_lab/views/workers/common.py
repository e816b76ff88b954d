"""What the plots of workers share: a row for each worker, hosts, metrics, empty states."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dask_diag_lab.schema.tables import WORKERS
from dask_diag_lab.store.arrays import Floats, Ints
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot
from dask_diag_lab.views.data import Column, DataPlot, Rows
from dask_diag_lab.views.names import name_label, no_workers, open_worker

if TYPE_CHECKING:
    from dask_diag_lab.store.workers import WorkerTable

NO_NETWORK: Final = "No worker tells the network traffic of its host yet; heartbeats bring it."
NO_DISK: Final = (
    "No worker tells the disk traffic of its host. Either no heartbeat has come yet, or "
    "distributed.admin.system-monitor.disk is off or the system does not count it."
)
WORKER: Final = (Column("worker", shown=False), Column("name", shown=False))
"""Address and name as they begin each row of a table."""


IN_HISTORY: Final = frozenset(column.name for column in WORKERS.columns)


class WorkerPlot(DataPlot):
    """A plot of what workers report."""

    reads: ClassVar[Sequence[str]] = ("workers",)

    def why_empty(self) -> str:
        """Return why there is no worker, or none with a value; see `DataPlot.why_empty`."""
        return self.empty if len(self.history.workers) else no_workers(self.history)


class WorkerBars(WorkerPlot, BarPlot):
    """A bar for each worker; a click opens its page."""

    noun = "worker"
    label = "label"
    key = "worker"

    def worker_rows(self, picked: Ints | None = None) -> dict[str, Any]:
        """Return addresses, names and hosts of all workers, or of those with some numbers."""
        workers = self.history.workers
        numbers = range(len(workers)) if picked is None else picked.tolist()
        columns = (workers.address, workers.name, workers.host)
        addresses, names, hosts = ([column[row] for row in numbers] for column in columns)
        labels = [name_label(name) for name in names]
        return {"worker": addresses, "name": names, "label": labels, "host": hosts}

    def rows(self) -> Rows:
        """Return a row for each worker: those of `columns` that the history has, and `derived`."""
        workers, names = self.history.workers, [column.name for column in self.columns]
        of_history = {name: workers.column(name) for name in names if name in IN_HISTORY}
        return {**of_history, **self.worker_rows(), **self.derived()}

    def derived(self) -> Rows:
        """Return columns that the history does not have, with a value for each worker."""
        return {}

    def open_row(self, key: str) -> None:
        """Open the page of the worker with this address, if it is still there."""
        open_worker(self, key)


def shared_note(workers: WorkerTable) -> str:
    """Return how many workers share a process, and what their numbers mean; '' for none."""
    shared = list(filter(None, workers.process))
    if not shared:
        return ""
    n_processes = len(workers) - len(shared) + len(set(shared))
    where = "one process" if n_processes == 1 else f"{fmt.count(n_processes)} processes"
    return (
        f"{fmt.plural(len(workers), 'worker')} in {where}: each has an equal part of the CPU and"
        " memory, and of the limit, of its process"
    )


def newest_by_host(workers: WorkerTable, values: Floats) -> dict[str, float]:
    """Return for each host what the worker says that was heard of last; NaN: nobody does.

    A heartbeat tells the network and disk traffic of the whole host: adding up its workers would
    count it several times.
    """
    in_time = sorted(zip(workers.last_seen, workers.host, values.tolist(), strict=True))
    found = dict.fromkeys(workers.host, float("nan"))
    found.update((host, value) for _, host, value in in_time if isfinite(value))
    return found


# --- heartbeat metrics: those that Dask always sends, and those of users

NETWORK_READ: Final = "host_net_io.read_bps"
NETWORK_WRITE: Final = "host_net_io.write_bps"
DISK_READ: Final = "host_disk_io.read_bps"
DISK_WRITE: Final = "host_disk_io.write_bps"
FDS: Final = "num_fds"
EVENT_LOOP: Final = "event_loop_interval"
GPU_MEMORY: Final = "gpu_memory_used"
GPU_MEMORY_TOTAL: Final = "gpu-memory-total"
RMM_USED: Final = "rmm.rmm-used"
RMM_TOTAL: Final = "rmm.rmm-total"

_DASKS_OWN: Final = frozenset(
    {
        *(NETWORK_READ, NETWORK_WRITE, DISK_READ, DISK_WRITE, FDS, EVENT_LOOP),
        *("managed_bytes", "cpu", "memory", "time"),
    }
)
_DASKS_OWN_PARTS: Final = ("task_counts.", "spilled_bytes.", "transfer.", "host_cpu.", "bandwidth.")


def metric(workers: WorkerTable, key: str) -> Floats:
    """Return one metric of each worker as a number; NaN where a worker does not report it."""
    found = [row.get(key) for row in workers.metrics]
    return np.array([v if isinstance(v, (int, float)) else np.nan for v in found], np.float64)


def custom_metrics(workers: WorkerTable) -> list[tuple[str, list[Any]]]:
    """Return name and values of the metrics that Dask does not always send, by name.

    Each has one number or text for each worker, and None where it does not report it.
    """
    # Workers of a kind report the same names in the same order: few different ones to look at.
    found = set().union(*{tuple(row) for row in workers.metrics})
    names = sorted(n for n in found - _DASKS_OWN if not n.startswith(_DASKS_OWN_PARTS))
    return [(name, [row.get(name) for row in workers.metrics]) for name in names]
