"""Heartbeat metrics of workers as columns: those that Dask always sends, and those of users.

Knows the store's worker table; knows nothing of Bokeh.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from dask_diag_lab.store.workers import WorkerTable

Floats = npt.NDArray[np.float64]

NETWORK_READ: Final = "host_net_io.read_bps"
NETWORK_WRITE: Final = "host_net_io.write_bps"
DISK_READ: Final = "host_disk_io.read_bps"
DISK_WRITE: Final = "host_disk_io.write_bps"
FDS: Final = "num_fds"
IN_MEMORY: Final = "task_counts.memory"
EVENT_LOOP: Final = "event_loop_interval"
GPU_UTILIZATION: Final = "gpu_utilization"
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
