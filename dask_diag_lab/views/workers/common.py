"""What the plots of workers share: a row for each worker, hosts, metrics, empty states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot
from dask_diag_lab.views.data import Column
from dask_diag_lab.views.worker_names import name_in_words, no_workers

if TYPE_CHECKING:
    from dask_diag_lab.store.workers import WorkerTable

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

WORKER: Final = (Column("worker", shown=False), Column("name", shown=False))
"""Address and name as they begin each row of a table."""


class WorkerBars(BarPlot):
    """A bar for each worker; a click opens its page."""

    reads = ("workers", "nthreads")
    noun = "worker"
    label = "label"
    key = "worker"

    def worker_rows(self, picked: Ints | None = None) -> dict[str, Any]:
        """Return addresses, names and hosts of all workers, or of those with some numbers."""
        workers = self.store.workers
        numbers = range(len(workers)) if picked is None else picked.tolist()
        names = [workers.name[row] for row in numbers]
        return {
            "worker": [workers.address[row] for row in numbers],
            "name": names,
            "label": [name_in_words(name) for name in names],
            "host": [workers.host[row] for row in numbers],
        }

    def why_empty(self) -> str:
        """Return why there is no worker, or none with a value; see `DataPlot.why_empty`."""
        return self.empty if len(self.store.workers) else no_workers(self.store)

    def open_row(self, key: str) -> None:
        """Open the page of the worker with this address."""
        if key in self.store.workers:
            self.open("worker", worker=key)


def sharing_note(workers: WorkerTable) -> str:
    """Return how many workers share a process; '' for none."""
    processes = workers.processes
    if not processes.n_shared:
        return ""
    is_one = processes.n_shared == 1
    where = "one process" if is_one else f"{fmt.count(processes.n_shared)} processes"
    return f"{fmt.plural(processes.n_sharing, 'worker')} share {where}"


def shared_note(workers: WorkerTable) -> str:
    """Return how many workers share a process, and what their numbers mean; '' for none."""
    sharing = sharing_note(workers)
    if not sharing:
        return ""
    return f"{sharing}, counted once in totals: CPU and memory are those of the process"


@dataclass(frozen=True, slots=True)
class Hosts:
    """Hosts in the order of their first workers, and what is known of a host through them.

    A heartbeat tells the network and disk traffic of the whole host: adding up its workers would
    count it several times.

    Attributes
    ----------
    names : list of str
    of_worker : ndarray of int64
        Index of the host of each worker.
    """

    names: list[str]
    of_worker: Ints

    @classmethod
    def of(cls, hosts: Sequence[str]) -> Hosts:
        """Return the hosts of workers, given one name for each."""
        numbers: dict[str, int] = {}
        index = [numbers.setdefault(host, len(numbers)) for host in hosts]
        return cls(list(numbers), np.array(index, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def workers(self) -> Ints:
        """Number of workers of each host."""
        return np.bincount(self.of_worker, minlength=len(self))

    def newest(self, values: Floats, last_seen: Floats) -> Floats:
        """Return for each host what the worker says that was heard of last; NaN: nobody does."""
        known = np.flatnonzero(np.isfinite(values))
        found = np.full(len(self), np.nan)
        in_time = known[np.argsort(last_seen[known], kind="stable")]
        found[self.of_worker[in_time]] = values[in_time]  # the last one written stays
        return found


# --- heartbeat metrics: those that Dask always sends, and those of users

NETWORK_READ: Final = "host_net_io.read_bps"
NETWORK_WRITE: Final = "host_net_io.write_bps"
DISK_READ: Final = "host_disk_io.read_bps"
DISK_WRITE: Final = "host_disk_io.write_bps"
FDS: Final = "num_fds"
IN_MEMORY: Final = "task_counts.memory"
EVENT_LOOP: Final = "event_loop_interval"
GPU_MEMORY: Final = "gpu_memory_used"
GPU_MEMORY_TOTAL: Final = "gpu-memory-total"
RMM_USED: Final = "rmm.rmm-used"
RMM_TOTAL: Final = "rmm.rmm-total"

MAX_CUSTOM: Final = 40
"""Columns of custom metrics in a table; more cannot be read."""

_DASKS_OWN: Final = frozenset(
    {
        *(NETWORK_READ, NETWORK_WRITE, DISK_READ, DISK_WRITE, FDS, EVENT_LOOP),
        *("managed_bytes", "cpu", "memory", "time"),
    }
)
_DASKS_OWN_PARTS: Final = ("task_counts.", "spilled_bytes.", "transfer.", "host_cpu.", "bandwidth.")


def metric(workers: WorkerTable, key: str) -> Floats:
    """Return one metric of each worker as a number; NaN where a worker does not report it."""
    rows = workers.metrics
    try:  # the common case, five times as fast: all report it, as a number
        return np.fromiter(map(itemgetter(key), rows), np.float64, len(rows))
    except (KeyError, TypeError, ValueError):
        if not any(key in row for row in rows):
            return np.full(len(rows), np.nan)
        return np.array([_number(row.get(key)) for row in rows], dtype=np.float64)


def custom_metrics(workers: WorkerTable) -> tuple[dict[str, list[Any]], int]:
    """Return the metrics that Dask does not always send, and how many more there are.

    The first has one list a metric, by name, with one number or text for each worker and None
    where it does not report it; at most `MAX_CUSTOM`.
    """
    # Workers of a kind report the same names in the same order: few different ones to look at.
    found = set().union(*{tuple(row) for row in workers.metrics})
    names = sorted(n for n in found - _DASKS_OWN if not n.startswith(_DASKS_OWN_PARTS))
    shown = names[:MAX_CUSTOM]
    return {name: [row.get(name) for row in workers.metrics] for name in shown}, len(names) - len(
        shown
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")
