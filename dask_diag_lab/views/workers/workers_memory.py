"""Memory of each worker by use, against its limit and thresholds.

Draws what `memory_colors` judges; decides nothing about colours itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.processes import common_limit
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.pane_size import CHARACTER_PX, PaneSize, pane_size
from dask_diag_lab.views.worker_names import name_in_words
from dask_diag_lab.views.workers.bar_measure import Measure, Words
from dask_diag_lab.views.workers.memory_bars import PARTS, MemoryBars
from dask_diag_lab.views.workers.memory_colors import (
    MemoryLevel,
    level_words,
    marks,
    memory_levels,
    worst,
)
from dask_diag_lab.views.workers.worker_rows import Rows

PASSED = (
    "past the limit: spilled, on disk and no longer in memory",
    "past the limit: spilled to disk",
    "beyond the line: on disk",
)
"""What is said of bars that are longer than their limit, in ever fewer words."""

COLUMNS = ("managed", "unmanaged_old", "unmanaged_recent", "spilled")
"""The store's column of each part."""

SIGNS = {MemoryLevel.NORMAL: "", MemoryLevel.MAY_SPILL: "▴", MemoryLevel.CRITICAL: "‼"}
"""What stands beside a bar where there is no room for words."""


NUMBERS_PX = 240
"""Narrower panes have signs alone beside the bars."""

SIGN_AND_NUMBER = 10
"""Characters of a sign and a number."""


def amount(nbytes: float, whole: float) -> str:
    """Return bytes and their share of ``whole``."""
    return fmt.binary(nbytes) + (f" · {fmt.percent(nbytes / whole)}" if whole > 0 else "")


def signed(level: MemoryLevel, nbytes: float) -> str:
    """Return the number beside a bar, behind the sign of its level where that has one."""
    return f"{SIGNS[level]} {fmt.binary(nbytes)}".lstrip()


def memory_title(process: float, spilled: float) -> str:
    """Return the line above a memory plot."""
    more = f" + {fmt.binary(spilled)} spilled to disk" if spilled else ""
    return f"Process memory: {fmt.binary(process)}{more}"


def short_memory_title(process: float, spilled: float) -> str:
    """Return what is said above a memory plot in a narrow pane."""
    if not spilled:
        return memory_title(process, spilled)
    return f"Memory: {fmt.binary(process)} + {fmt.binary(spilled)} spilled"


class WorkersMemory(MemoryBars):
    """Memory of each worker."""

    unit = "bytes"
    ticks = staticmethod(fmt.binary_ticks)
    sorted_by = "memory in use"
    rule = "in the colour of the worst of them"
    hover_lines = 10
    value_characters = 19

    def measure(self) -> Measure:
        """Return what to draw now; see `WorkerBars.measure`."""
        workers = self.store.workers
        process, limit = workers.memory, workers.memory_limit
        total, spilled = workers.totals().memory, int(workers.spilled.sum())
        reach = int((process + workers.spilled).max())
        has_limits = limit > 0
        marked = np.where(has_limits, limit, np.nan).astype(np.float64)
        shares = [share for _, share in marks(self._thresholds)]
        self._levels_now = self._levels()
        self._said_of_limit: dict[int, str] = {}
        return Measure(
            title=f"{memory_title(total, spilled)} · {fmt.plural(len(process), 'worker')}",
            short_title=short_memory_title(total, spilled),
            order_by=process,
            lengths=self._parts(),
            level=self._levels_now,
            track=np.where(has_limits, limit, 0),
            end=float(max(int(limit.max()), reach, 1)),
            marks=[marked, *(marked * share for share in shares)],
        )

    def redraw(self) -> None:
        """Draw the bars, and say why one passes its limit; see `WorkerBars.redraw`."""
        super().redraw()
        workers = self.store.workers
        passed = (workers.memory_limit > 0) & (
            workers.memory + workers.spilled > workers.memory_limit
        )
        if bool((passed & (workers.spilled > 0)).any()):
            self.add_note(*PASSED)

    @property
    def _thresholds(self) -> dict[str, float | None]:
        scheduler = self.store.scheduler
        return dict(scheduler.thresholds) if scheduler else {}

    def _levels(self) -> npt.NDArray[np.uint8]:
        workers = self.store.workers
        return memory_levels(workers.memory, workers.memory_limit, workers.status, self._thresholds)

    def words_of(self, worker: int) -> Words:
        """Return what is said about one worker."""
        workers = self.store.workers
        process, limit = int(workers.memory[worker]), int(workers.memory_limit[worker])
        status = str(workers.status[worker])
        level = MemoryLevel(int(self._levels_now[worker]))
        state = level_words(level, status, self._thresholds)
        said = signed(level, process)
        return Words(
            said + (f" · {status}" if status != "running" else ""),
            said if self._has_room else SIGNS[level],
            (
                name_in_words(workers.name[worker]),
                f"{SIGNS[level]} {state[:1].upper()}{state[1:]}".strip(),
                *_lines(process, [int(column[worker]) for column in self._parts()], limit),
                f"Limit {fmt.binary(limit)}" if limit else "No memory limit",
                self._threshold_words(limit),
                str(workers.address[worker]),
            ),
        )

    def words_of_group(self, members: npt.NDArray[np.int64]) -> Words:
        """Return what is said about a group of workers."""
        process = self.store.workers.memory[members]
        level = worst(self._levels_now[members])
        number = int((self._levels_now[members] == level).sum())
        low, high = fmt.binary(int(process.min())), fmt.binary(int(process.max()))
        means = [float(column[members].mean()) for column in self._parts()]
        limit = common_limit(self.store.workers.memory_limit[members]) / len(members)
        bad = {MemoryLevel.MAY_SPILL: "may spill", MemoryLevel.CRITICAL: "paused or over the limit"}
        said = signed(level, float(process.mean()))
        return Words(
            said,
            said if self._has_room else SIGNS[level],
            (
                f"{SIGNS[level]} {fmt.count(number)} {bad[level]}" if level in bad else "",
                f"Each between {low} and {high}; means:",
                *_lines(float(process.mean()), means, limit),
            ),
        )

    @property
    def _has_room(self) -> bool:
        """Whether a narrow pane has room for numbers beside the bars."""
        return pane_size(self.figure).width >= NUMBERS_PX

    def _room_px(self, rows: Rows, size: PaneSize) -> float:
        room_px = super()._room_px(rows, size)
        if not room_px or not size.is_narrow or not self._has_room:
            return room_px
        return SIGN_AND_NUMBER * CHARACTER_PX + 8

    def _parts(self) -> list[npt.NDArray[np.int64]]:
        return [getattr(self.store.workers, name) for name in COLUMNS]

    def _threshold_words(self, limit: int) -> str:
        """Return the bytes of each threshold: nearly all workers have one limit."""
        if limit not in self._said_of_limit:
            found = marks(self._thresholds) if limit else []
            words = ", ".join(f"{name} {fmt.binary(limit * share)}" for name, share in found)
            self._said_of_limit[limit] = words
        return self._said_of_limit[limit]

    def group_level(self, rows: Rows, level: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Return the worst level of each row."""
        return rows.largest(level)

    def table(self) -> Table:
        """Return one row a worker, in bytes."""
        workers = self.store.workers
        levels = ["ok", "may spill", "critical"]
        names = ("memory", *COLUMNS, "memory_limit")
        columns: dict[str, Sequence[Any]] = {  # numbers and text
            "worker": list(workers.address),
            "name": list(workers.name),
            "status": list(workers.status),
            "level": [levels[level] for level in self._levels().tolist()],
        }
        columns |= {name: getattr(workers, name).tolist() for name in names}
        return Table(columns, dict.fromkeys(names, "B"))


def _lines(process: float, parts: Sequence[float], limit: float) -> list[str]:
    """Return one line for the process and one for each part."""
    said = [f"Process memory {amount(process, limit)}"]
    for part, nbytes in zip(PARTS, parts, strict=True):
        said.append(f"{part.name.capitalize()} {amount(nbytes, limit)}")
    return said
