"""Memory of the workers by use, against limits and thresholds, and when it is near them.

Colours follow ``distributed.dashboard.components.scheduler.MemoryColor``: it judges *process*
memory, so orange means that the worker may be spilling, not that it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.workers import common_limit
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.bars import BarPlot, Level, Part
from dask_diag_lab.views.data import Column, Rows
from dask_diag_lab.views.look import (
    MANAGED_ALPHA,
    UNMANAGED_OLD_ALPHA,
    UNMANAGED_RECENT_ALPHA,
)
from dask_diag_lab.views.registry import register_plot
from dask_diag_lab.views.workers.common import WORKER, WorkerBars, WorkerPlot, shared_note

RUNNING: Final = "running"

CRITICAL: Final = 2
PAUSED: Final = 3
LEVEL_NAMES: Final = ("ok", "may spill", "critical", "paused")
REMARKS: Final = ("", "may spill to disk", "at its memory limit")
PARTS: Final = ("memory", "managed", "unmanaged_old", "unmanaged_recent", "spilled")


class MemoryBars(WorkerPlot, BarPlot):
    """Bars where a colour is a level and a shade of it is a part.

    The parts but for the last add up to the resident set size of the process.
    """

    parts = (
        Part("managed", "managed", alpha=MANAGED_ALPHA),
        Part("unmanaged_old", "unmanaged, old", alpha=UNMANAGED_OLD_ALPHA),
        Part("unmanaged_recent", "unmanaged, recent", alpha=UNMANAGED_RECENT_ALPHA),
        Part("spilled", "spilled to disk", "spilled"),
    )
    levels = (
        *(Level("memory_ok"), Level("memory_near", "▴"), Level("memory_over", "‼")),
        Level("memory_over", "‖", "paused: begins no task", "|"),
    )
    merged_level = "worst"
    columns: Sequence[Column] = (
        Column("memory", "Process memory", "bytes", share_of="memory_limit"),
        Column("managed", "Managed", "bytes", share_of="memory_limit"),
        Column("unmanaged_old", "Unmanaged, old", "bytes", share_of="memory_limit"),
        Column("unmanaged_recent", "Unmanaged, recent", "bytes", share_of="memory_limit"),
        Column("spilled", "Spilled to disk", "bytes", share_of="memory_limit"),
        Column("memory_limit", "Memory limit", "bytes"),
    )
    value = ("memory",)
    limit = "memory_limit"

    def memory_levels(self) -> npt.NDArray[np.uint8]:
        """Return the index in `LEVEL_NAMES` of each worker, and set the marks of the thresholds.

        Orange begins at the lower one of target and spill, red at terminate or with another status;
        a paused worker has a pattern as well.
        Without a limit only the status can turn a worker red. Thresholds are shares of the limit;
        one that is off is None.
        """
        workers, scheduler = self.history.workers, self.history.scheduler
        on = (
            {name: share for name, share in scheduler.thresholds.items() if share}
            if scheduler
            else {}
        )
        self.marks = sorted((mark for mark in on.items() if mark[1] < 1), key=lambda mark: mark[1])
        used = workers.memory / np.where(workers.memory_limit > 0, workers.memory_limit, np.inf)
        may_spill = used >= min(on.get("target", np.inf), on.get("spill", np.inf))
        levels = np.where(used >= min(on.get("terminate", 1.0), 1.0), CRITICAL, may_spill)
        of_status = {RUNNING: 0, "paused": PAUSED}
        status = [of_status.get(status, CRITICAL) for status in workers.status]
        return np.maximum(levels, np.array(status, dtype=np.int64)).astype(np.uint8)

    def headline(self) -> str:
        """Return the memory of all processes; see `DataPlot.headline`."""
        totals = self.history.workers.totals()
        more = f" + {fmt.binary(totals.spilled)} spilled to disk" if totals.spilled else ""
        return f"Process memory: {fmt.binary(totals.memory)}{more}"

    def note(self) -> str:
        """Return who shares a process; see `DataPlot.note`."""
        return shared_note(self.history.workers)


def _known_limits(limits: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return limits with NaN for none: the bars write "no limit", and a table nothing."""
    return np.where(limits > 0, limits, np.nan)


@register_plot
class WorkersMemory(MemoryBars, WorkerBars):
    """Memory of each worker by use, against its limit and thresholds."""

    name = "workers-memory"

    columns = (
        *WORKER,
        Column("status", shown=False),
        Column("level", shown=False),
        *MemoryBars.columns,
    )
    sort_by = "memory"

    def derived(self) -> Rows:
        """Return the levels, and what they mean; see `WorkerBars.derived`."""
        workers, levels = self.history.workers, self.memory_levels()
        return {
            "memory_limit": _known_limits(workers.memory_limit),
            "level": [LEVEL_NAMES[level] for level in levels.tolist()],
            "level_index": levels,
            "remark": [
                REMARKS[level] if status == RUNNING else status.replace("_", " ")
                for level, status in zip(levels.tolist(), workers.status, strict=True)
            ],
        }

    def headline(self) -> str:
        """Return the memory of all processes; see `DataPlot.headline`."""
        return f"{super().headline()} · {fmt.plural(len(self.history.workers), 'worker')}"


@register_plot
class ClusterMemory(MemoryBars):
    """Memory of all workers together by use, in the colour of the worst worker."""

    name = "cluster-memory"

    columns = (*MemoryBars.columns, Column("workers", "Workers", "count"))
    noun = "cluster"
    label = "label"

    def rows(self) -> Rows:
        """Return one row; none without workers."""
        workers = self.history.workers
        if not len(workers):
            return {"label": [], **{column.name: [] for column in self.columns}}
        totals, levels = workers.totals(), self.memory_levels()
        n_critical = fmt.plural(int((levels >= CRITICAL).sum()), "worker")
        remarks = (*REMARKS[:2], *[f"{n_critical} paused or at the limit"] * 2)
        return {
            "label": [""],
            **{name: np.array([getattr(totals, name)]) for name in PARTS},
            "memory_limit": _known_limits(np.array([self.cluster_limit()])),
            "workers": [len(workers)],
            "level_index": np.array([levels.max()], dtype=np.uint8),
            "remark": [remarks[int(levels.max())]],
        }

    def headline(self) -> str:
        """Return the memory of all processes and its share; see `DataPlot.headline`."""
        limit = self.cluster_limit()
        share = fmt.percent(self.history.workers.totals().memory / max(limit, 1))
        return super().headline() + (f" · {share} of {fmt.binary(limit)}" if limit else "")

    def cluster_limit(self) -> int:
        """Return the sum of the limits of all processes; 0 where one has none."""
        workers = self.history.workers
        return common_limit(workers.processes.limits(workers.memory_limit))

    def open_row(self, key: str) -> None:
        """Open the memory of each worker."""
        del key
        self.open("workers-memory")
