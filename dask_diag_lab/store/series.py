"""Quantities of the workers in the course of time, recorded since the store was made.

Must not look further back: what nobody recorded is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

import numpy as np

from dask_diag_lab.store.arrays import Floats
from dask_diag_lab.store.workers import WorkerTable, newest_of

COLUMNS: Final = (
    *("cpu", "memory", "managed", "unmanaged_old", "unmanaged_recent", "spilled"),
    *("processing", "executing", "occupancy", "nthreads", "incoming_bytes", "outgoing_bytes"),
)
"""Columns of `WORKERS` that are recorded."""

UNMANAGED: Final = "unmanaged"
"""The sum of its two columns."""

METRICS: Final = (
    *("event_loop_interval", "gil_contention", "num_fds"),
    *("gpu_utilization", "gpu_memory_used", "rmm.rmm-used"),
)
"""Metrics of heartbeats that are each worker's own."""

HOST_METRICS: Final = (
    *("host_net_io.read_bps", "host_net_io.write_bps"),
    *("host_disk_io.read_bps", "host_disk_io.write_bps"),
)
"""Metrics of heartbeats that count for the whole host: each of its workers tells the same."""

NAMES: Final = (*COLUMNS, UNMANAGED, *METRICS, *HOST_METRICS)

OF_PROCESS: Final = (
    *("cpu", "memory", "managed", "unmanaged_old", "unmanaged_recent", UNMANAGED, "spilled"),
    *("gil_contention", "num_fds"),
)
"""What is taken of processes: most of it each worker in one tells of all of it; what its workers
manage and spill adds up, so that all parts of its memory are of the same thing."""

MAX_POINTS: Final = 7_200
FIRST_ROOM: Final = 128
BUCKET_S: Final = 0.5
"""Heartbeats do not come more often: what is taken in less time makes one point."""

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity over time; all arrays are of equal length, `times` ascend.

    Attributes
    ----------
    times : ndarray of float64
        When each point begins, scheduler's clock.
    mean, low, high : ndarray of float64
        Over all workers (hosts or processes, for what counts for these) and all samples of the
        point. NaN where the quantity was not reported.
    total : ndarray of float64
        Sum over all workers (hosts, processes): the mean of the samples' sums.
    n : ndarray of float64
        Workers (hosts, processes) that reported, the mean of the samples.
    """

    times: Floats
    mean: Floats
    low: Floats
    high: Floats
    total: Floats
    n: Floats


class SeriesTable:
    """Points of half a second at first; when there are too many, the older half is thinned.

    Two neighbours become one with the exact extremes of both, so that a peak never disappears.
    Each time this happens what is oldest gets coarser once more, and what is new stays fine.

    Parameters
    ----------
    limit : int
        Points kept at most; a multiple of 4.
    """

    def __init__(self, limit: int = MAX_POINTS) -> None:
        if limit < 4 or limit % 4:
            raise ValueError(f"the number of points must be a multiple of 4, not {limit}")
        self.version = 0
        self._limit = limit
        self._size = 0
        self._times = np.empty(0)
        # Of each point and quantity: samples that had it, and over these the sum of all values,
        # the number of values, the least and the largest.
        shape = (0, len(NAMES))
        self._samples, self._sum, self._n = np.empty(shape), np.empty(shape), np.empty(shape)
        self._low, self._high = np.empty(shape), np.empty(shape)

    def __len__(self) -> int:
        return self._size

    @property
    def names(self) -> tuple[str, ...]:
        """Quantities that were reported at least once, in the order of `NAMES`."""
        known = np.flatnonzero(self._samples[: self._size].any(axis=0))
        return tuple(NAMES[column] for column in known.tolist())

    def get(self, name: str) -> Series:
        """Return a series.

        Raises
        ------
        KeyError
            There is no such quantity; one that was not reported yet is all NaN.
        """
        if name not in NAMES:
            raise KeyError(f"no series {name!r}; there are {', '.join(NAMES)}")
        points, column = slice(self._size), NAMES.index(name)
        samples = self._samples[points, column]
        is_known = samples > 0
        total, n = self._sum[points, column], self._n[points, column]
        return Series(
            times=self._times[points].copy(),
            mean=_ratio(total, n),
            low=np.where(is_known, self._low[points, column], np.nan),
            high=np.where(is_known, self._high[points, column], np.nan),
            total=_ratio(total, samples),
            n=np.divide(n, samples, out=np.zeros(self._size), where=is_known),
        )

    def record(self, time: float, workers: WorkerTable) -> None:
        """Take a sample; a cluster without workers has none."""
        if len(workers):
            self._add(time, sample(workers))

    def _add(self, time: float, values: Matrix) -> None:
        """Add a sample: one row a quantity of sum, number, least and largest of its values."""
        self.version += 1
        bucket = np.floor(time / BUCKET_S) * BUCKET_S
        last = self._size - 1
        # A clock that was set back adds to the newest point: times must ascend.
        if last >= 0 and bucket <= self._times[last]:
            self._merge_into(last, values)
            return
        if self._size == self._limit:
            self._thin()
        elif self._size == len(self._times):
            self._grow()
        row, self._size = self._size, self._size + 1
        self._times[row] = bucket
        self._samples[row] = self._sum[row] = self._n[row] = 0
        self._low[row], self._high[row] = np.inf, -np.inf
        self._merge_into(row, values)

    def _merge_into(self, row: int, values: Matrix) -> None:
        total, n, low, high = values
        self._samples[row] += n > 0
        self._sum[row] += total
        self._n[row] += n
        np.minimum(self._low[row], low, out=self._low[row])
        np.maximum(self._high[row], high, out=self._high[row])

    def _grow(self) -> None:
        """Make room for more points: an hour of them takes 7 MB."""
        room = min(self._limit, max(FIRST_ROOM, 2 * self._size))
        for name in ("_times", "_samples", "_sum", "_n", "_low", "_high"):
            before = getattr(self, name)
            column = np.empty((room, *before.shape[1:]))
            column[: self._size] = before[: self._size]
            setattr(self, name, column)

    def _thin(self) -> None:
        """Make one of each two points in the older half."""
        half, quarter, n = self._limit // 2, self._limit // 4, self._size
        for column, merge in (
            (self._samples, np.add),
            (self._sum, np.add),
            (self._n, np.add),
            (self._low, np.minimum),
            (self._high, np.maximum),
        ):
            column[:quarter] = merge(column[0:half:2], column[1:half:2])
            column[quarter : n - quarter] = column[half:n].copy()
        self._times[:quarter] = self._times[0:half:2]
        self._times[quarter : n - quarter] = self._times[half:n].copy()
        self._size = n - quarter


def sample(workers: WorkerTable) -> Matrix:
    """Return sum, number, least and largest value of each of `NAMES` over all workers.

    Returns
    -------
    ndarray of float64, shape (4, len(NAMES))
        A quantity that nobody reports has the sum 0 of 0 values, least inf and largest -inf.
    """
    columns = [np.asarray(workers.column(name), dtype=np.float64) for name in COLUMNS]
    columns.append(columns[COLUMNS.index("unmanaged_old")])
    columns[-1] = columns[-1] + columns[COLUMNS.index("unmanaged_recent")]
    metrics = workers.metrics
    columns += [_metric(metrics, name) for name in METRICS]
    per_host = [metrics[index] for index in newest_of(workers.host, workers.last_seen.tolist())]
    result = np.empty((4, len(NAMES)))
    own = np.array(columns)
    _count_processes_once(own, workers)
    hosts = np.array([_metric(per_host, name) for name in HOST_METRICS])
    for values, place in ((own, slice(len(own))), (hosts, slice(len(own), None))):
        is_told = np.isfinite(values)
        result[0, place] = np.where(is_told, values, 0).sum(axis=1)
        result[1, place] = is_told.sum(axis=1)
        result[2, place] = np.where(is_told, values, np.inf).min(axis=1)
        result[3, place] = np.where(is_told, values, -np.inf).max(axis=1)
    return result


def _count_processes_once(values: Matrix, workers: WorkerTable) -> None:
    """Leave one value a process in the rows of `OF_PROCESS`, given one a worker in all rows."""
    processes = workers.processes
    if not processes.n_shared:
        return
    parts = workers.memory_by_process()
    parts[UNMANAGED] = parts["memory"] - parts["managed"]
    parts["spilled"] = processes.sums(workers.spilled)
    for name, part in parts.items():
        values[NAMES.index(name), processes.told_by] = part
    repeated = np.delete(np.arange(len(workers)), processes.told_by)
    for name in OF_PROCESS:
        values[NAMES.index(name), repeated] = np.nan


def _metric(metrics: Sequence[Mapping[str, Any]], name: str) -> Floats:
    """Return a metric of each; NaN where it is missing or no number: users make their own."""
    try:
        return np.fromiter(map(itemgetter(name), metrics), np.float64, len(metrics))
    except (KeyError, TypeError, ValueError):
        if not any(name in entry for entry in metrics):  # the most common case, and cheap to tell
            return np.full(len(metrics), np.nan)
        values = (entry.get(name) for entry in metrics)
        numbers = (v if type(v) in (int, float) else np.nan for v in values)
        return np.fromiter(numbers, np.float64, len(metrics))


def _ratio(values: Floats, by: Floats) -> Floats:
    """Return the quotient, NaN where nothing is divided."""
    quotient: Floats = np.divide(values, by, out=np.full(len(values), np.nan), where=by > 0)
    return quotient
