"""Which rectangle of a task stream is under the pointer, and which one is chosen.

Pure NumPy over what was drawn last: knows neither Bokeh nor a page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.views.stream.rects import DISK_HEIGHT, FULL_HEIGHT, MOVE_HEIGHT, Columns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

REACH_PX: Final = 3
"""A rectangle this close to the pointer counts as hit: many are thinner than a pointer."""

_HEIGHTS: Final = np.array(
    [
        {Kind.COMPUTE: FULL_HEIGHT, Kind.TRANSFER: MOVE_HEIGHT}.get(kind, DISK_HEIGHT)
        for kind in Kind
    ]
)


@dataclass(frozen=True, slots=True)
class Target:
    """One rectangle that was drawn.

    Attributes
    ----------
    prefix : int
        String id; of a merged rectangle the one of its longest task, as is ``task``.
    task : int
        Ordinal of the task; -1 for one that runs.
    key : str
        Key of a task that runs, else ''.
    kind : int
    row : int
    start, stop : float
        Seconds since the epoch.
    """

    prefix: int
    task: int
    key: str
    kind: int
    row: int
    start: float
    stop: float

    @property
    def top(self) -> float:
        """Upper edge on the axis of rows."""
        return self.bottom - float(_HEIGHTS[self.kind])

    @property
    def bottom(self) -> float:
        """Lower edge on the axis of rows."""
        return self.row + FULL_HEIGHT / 2

    def is_same(self, other: Target) -> bool:
        """Whether both are the same action of the same task."""
        mine = (self.task, self.key, self.kind)
        return mine == (other.task, other.key, other.kind)


def recorded_at(columns: Columns, time: float, row: float, reach_s: float) -> Target | None:
    """Return the rectangle at a moment and a position on the axis of rows; None where none is.

    Parameters
    ----------
    columns : dict of str to ndarray
        What was drawn, from `to_columns`.
    time, row : float
    reach_s : float
        A rectangle this far away still counts: the nearest one, of these the one on top.
    """
    if not columns:
        return None
    lane = round(row)
    is_near = columns["lane"] == lane
    is_near &= (columns["start"] <= time + reach_s) & (columns["stop"] >= time - reach_s)
    near = np.flatnonzero(is_near)
    to_bottom = lane + FULL_HEIGHT / 2 - row
    near = near[(to_bottom >= 0) & (to_bottom <= _HEIGHTS[columns["kind"][near]])]
    if not near.size:
        return None
    away = np.maximum(columns["start"][near] - time, time - columns["stop"][near])
    outcome = columns["outcome"][near].astype(np.int64)
    level = np.where(outcome != Outcome.OK, 2 + outcome, columns["kind"][near] != Kind.COMPUTE)
    best = int(near[np.lexsort((-level, np.maximum(away, 0.0)))[0]])
    return Target(
        prefix=int(columns["prefix"][best]),
        task=int(columns["task"][best]),
        key="",
        kind=int(columns["kind"][best]),
        row=lane,
        start=float(columns["start"][best]),
        stop=float(columns["stop"][best]),
    )


def running_at(
    running: Mapping[str, Any],  # columns differ in dtype
    time: float,
    row: float,
    now: float,
    reach_s: float,
) -> Target | None:
    """Return the running task at a moment and a position; None where none is.

    Parameters
    ----------
    running : mapping of str to ndarray
        ``key``, ``prefix``, ``lane`` (row of the picture), ``start``.
    time, row : float
    now : float
        Up to when they are drawn.
    reach_s : float
    """
    lane = round(row)
    if not running or abs(row - lane) > FULL_HEIGHT / 2:
        return None
    is_hit = (running["lane"] == lane) & (running["start"] <= time + reach_s)
    hits = np.flatnonzero(is_hit) if time <= now + reach_s else np.empty(0, dtype=np.int64)
    if not hits.size:
        return None
    index = int(hits[0])
    return Target(
        prefix=int(running["prefix"][index]),
        task=-1,
        key=str(running["key"][index]),
        kind=int(Kind.COMPUTE),
        row=lane,
        start=float(running["start"][index]),
        stop=now,
    )
