"""Memory of all workers together by use, in the colour of the worst worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.processes import common_limit
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.workers.bar_measure import Measure, Words
from dask_diag_lab.views.workers.memory_bars import PARTS, MemoryBars
from dask_diag_lab.views.workers.memory_colors import MemoryLevel, marks, memory_levels, worst
from dask_diag_lab.views.workers.worker_hosts import Hosts
from dask_diag_lab.views.workers.workers_memory import (
    COLUMNS,
    SIGNS,
    amount,
    memory_title,
    short_memory_title,
    signed,
)


class ClusterMemory(MemoryBars):
    """One stacked bar over all workers."""

    unit = "bytes"
    ticks = staticmethod(fmt.binary_ticks)
    hover_lines = 8
    value_characters = 13
    row_max_px = 110
    has_names = False

    def measure(self) -> Measure:
        """Return what to draw now: arrays of one value; see `WorkerBars.measure`."""
        sums = self._sums()
        process, spilled, limit = sums["memory"], sums["spilled"], sums["memory_limit"]
        more = f" · {fmt.percent(process / limit)} of {fmt.binary(limit)}" if limit else ""
        marked = np.array([float(limit) if limit else np.nan])
        shares = [share for _, share in marks(self._thresholds)]
        return Measure(
            title=memory_title(process, spilled) + more,
            short_title=short_memory_title(process, spilled),
            order_by=np.array([process]),
            lengths=[np.array([sums[name]]) for name in COLUMNS],
            level=np.array([self._level()], dtype=np.uint8),
            track=np.array([limit]),
            end=float(max(limit, process + spilled, 1)),
            marks=[marked, *(marked * share for share in shares)],
        )

    @property
    def _thresholds(self) -> Mapping[str, float | None]:
        return self.store.scheduler.thresholds if self.store.scheduler else {}

    def _sums(self) -> dict[str, int]:
        workers = self.store.workers
        totals = workers.totals()
        sums = {name: getattr(totals, name) for name in ("memory", *COLUMNS)}
        limits = workers.processes.limits(workers.memory_limit)
        return sums | {"memory_limit": common_limit(limits)}

    def _levels(self) -> npt.NDArray[np.uint8]:
        workers = self.store.workers
        return memory_levels(workers.memory, workers.memory_limit, workers.status, self._thresholds)

    def _level(self) -> MemoryLevel:
        return worst(self._levels())

    def words_of(self, worker: int) -> Words:
        """Return what is said about the bar; ``worker`` is 0."""
        del worker
        sums, levels = self._sums(), self._levels()
        limit = sums["memory_limit"]
        may_spill = int((levels == MemoryLevel.MAY_SPILL).sum())
        critical = int((levels == MemoryLevel.CRITICAL).sum())
        states = [
            f"▴ {fmt.plural(may_spill, 'worker')} may spill" if may_spill else "",
            f"‼ {fmt.plural(critical, 'worker')} paused or at the limit" if critical else "",
        ]
        return Words(
            signed(worst(levels), sums["memory"]),
            SIGNS[worst(levels)],
            (
                fmt.plural(len(levels), "worker"),
                ", ".join(state for state in states if state),
                f"Process memory {amount(sums['memory'], limit)}",
                *(
                    f"{part.name.capitalize()} {amount(sums[name], limit)}"
                    for part, name in zip(PARTS, COLUMNS, strict=True)
                ),
                f"Limit {fmt.binary(limit)}" if limit else self._no_limit(),
            ),
        )

    def _no_limit(self) -> str:
        limits = self.store.workers.memory_limit
        number = int((limits <= 0).sum())
        if number == len(limits):
            return "No memory limit"
        return f"{fmt.count(number)} of {fmt.plural(len(limits), 'worker')} without memory limit"

    def hosts(self) -> Hosts:
        """Return one host: there is one bar."""
        return Hosts.of([""])

    def open_one(self, worker: int) -> None:
        """Open the memory of each worker."""
        del worker
        self.open("workers-memory")

    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about all workers: there is one bar, it has no groups."""
        del members
        return self.words_of(0)

    def table(self) -> Table:
        """Return one row for the cluster, in bytes."""
        sums = self._sums()
        columns: dict[str, Sequence[object]] = {name: [value] for name, value in sums.items()}
        columns["workers"] = [len(self.store.workers.address)]
        return Table(columns, dict.fromkeys(sums, "B"))
