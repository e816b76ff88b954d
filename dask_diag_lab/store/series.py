"""Quantities of the workers in the course of time, recorded since the history was made.

Must not look further back: what nobody recorded is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dask_diag_lab.store.arrays import Floats
from dask_diag_lab.store.workers import WorkerTable, newest_of

COLUMNS: Final = (
    *("cpu", "memory", "managed", "unmanaged_old", "unmanaged_recent", "spilled"),
    *("processing", "executing", "in_memory", "occupancy", "nthreads"),
    *("incoming_bytes", "outgoing_bytes"),
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

MAX_POINTS: Final = 7_200
BUCKET_S: Final = 0.5
"""Heartbeats do not come more often: what is taken in less time makes one point."""

_SAMPLES, _SUM, _N, _LOW, _HIGH = range(5)
"""What is kept of each point and quantity: samples that had it, and over these the sum of all
values, the number of values, the least and the largest."""
_MERGE: Final = (np.add, np.add, np.add, np.minimum, np.maximum)

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity over time; all arrays are of equal length, `times` ascend.

    Attributes
    ----------
    times : ndarray of float64
        When each point begins, scheduler's clock.
    mean, low, high : ndarray of float64
        Over all workers (hosts, for what counts for these) and all samples of the
        point. NaN where the quantity was not reported.
    total : ndarray of float64
        Sum over all workers (hosts): the mean of the samples' sums.
    n : ndarray of float64
        Workers (hosts) that reported, the mean of the samples.
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

    SAVED = ("_size", "_times", "_points")

    def __init__(self, limit: int = MAX_POINTS) -> None:
        self.version = 0
        self._limit = limit
        self._size = 0
        # Memory that nobody has written to takes none: an hour of points takes 8 MB.
        self._times = np.zeros(limit)
        self._points = np.zeros((len(_MERGE), limit, len(NAMES)))

    def __len__(self) -> int:
        return self._size

    @property
    def names(self) -> tuple[str, ...]:
        """Quantities that were reported at least once, in the order of `NAMES`."""
        is_known = self._points[_SAMPLES, : self._size].any(axis=0)
        return tuple(NAMES[column] for column in np.flatnonzero(is_known).tolist())

    def get(self, name: str) -> Series:
        """Return a series.

        Raises
        ------
        KeyError
            There is no such quantity; one that was not reported yet is all NaN.
        """
        if name not in NAMES:
            raise KeyError(f"no series {name!r}; there are {', '.join(NAMES)}")
        samples, total, n, low, high = self._points[:, : self._size, NAMES.index(name)]
        is_known = samples > 0
        return Series(
            times=self._times[: self._size].copy(),
            mean=_ratio(total, n),
            low=np.where(is_known, low, np.nan),
            high=np.where(is_known, high, np.nan),
            total=_ratio(total, samples),
            n=np.nan_to_num(_ratio(n, samples)),
        )

    def record(self, time: float, workers: WorkerTable) -> None:
        """Take a sample; a cluster without workers has none."""
        if len(workers):
            self.add(time, sample(workers))

    def add(self, time: float, values: Matrix) -> None:
        """Add a sample as `sample` returns it."""
        self.version += 1
        bucket = np.floor(time / BUCKET_S) * BUCKET_S
        # A clock that was set back adds to the newest point: times must ascend.
        if not self._size or bucket > self._times[self._size - 1]:
            if self._size == self._limit:
                self._thin()
            self._times[self._size] = bucket
            self._points[:, self._size] = np.array([0, 0, 0, np.inf, -np.inf])[:, None]
            self._size += 1
        point = self._points[:, self._size - 1]
        for part, value, merge in zip(point, (values[1] > 0, *values), _MERGE, strict=True):
            part[:] = merge(part, value)

    def _thin(self) -> None:
        """Make one of each two points in the older half."""
        half, quarter, n = self._limit // 2, self._limit // 4, self._limit
        for column, merge in zip(self._points, _MERGE, strict=True):
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
    columns.append(np.asarray(workers.unmanaged_old + workers.unmanaged_recent, np.float64))
    metrics = workers.metrics
    columns += [_metric(metrics, name) for name in METRICS]
    per_host = [metrics[index] for index in newest_of(workers.host, workers.last_seen.tolist())]
    parts = []
    for values in (np.array(columns), np.array([_metric(per_host, name) for name in HOST_METRICS])):
        is_known = np.isfinite(values)
        total = np.where(is_known, values, 0).sum(axis=1)
        low = np.where(is_known, values, np.inf).min(axis=1)
        high = np.where(is_known, values, -np.inf).max(axis=1)
        parts.append((total, is_known.sum(axis=1), low, high))
    return np.hstack(parts)


def _metric(metrics: Sequence[Mapping[str, Any]], name: str) -> Floats:
    """Return a metric of each; NaN where it is missing or no number: users make their own."""
    values = (entry.get(name) for entry in metrics)
    numbers = (v if type(v) in (int, float) else np.nan for v in values)
    return np.fromiter(numbers, np.float64, len(metrics))


def _ratio(values: Floats, by: Floats) -> Floats:
    """Return the quotient, NaN where nothing is divided."""
    quotient: Floats = np.divide(values, by, out=np.full(len(values), np.nan), where=by > 0)
    return quotient
