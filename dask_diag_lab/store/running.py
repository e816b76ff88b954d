"""Tasks that run now, each in a slot of its own."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import Floats, Ints, Objects
from dask_diag_lab.store.slots import CLOCK_SLACK_S, SlotTable

Place = tuple[int, str]
"""Worker (string id) and key of a task."""


class RunningRows(TypedDict):
    """Running tasks as columns: key (text), prefix (string id), slot (row), start (seconds)."""

    key: Objects
    prefix: Ints
    slot: Ints
    start: Floats


class RunningTable:
    """The tasks of the last heartbeats. A task keeps its slot until it ends.

    Parameters
    ----------
    slots : SlotTable
    """

    SAVED = ("_places", "_slot_at", "_key", "_prefix", "_start", "_slot")

    def __init__(self, slots: SlotTable) -> None:
        self.version = 0
        self._slots = slots
        self._places: list[Place] = []
        self._slot_at: dict[Place, int] = {}  # slot ids
        self._key: Objects = np.empty(0, dtype=object)
        self._prefix: Ints = np.empty(0, dtype=np.int64)
        self._start: Floats = np.empty(0)
        self._slot: Ints = np.empty(0, dtype=np.int64)

    @property
    def count(self) -> int:
        """Running tasks."""
        return len(self._places)

    def slot_of(self, worker: int, key: str) -> int | None:
        """Return the slot id of a task on a worker (by string id), None where it does not run."""
        return self._slot_at.get((worker, key))

    def of_key(self, key: str) -> list[tuple[int, float]]:
        """Return worker (string id) and start of each run of a task, in general of one."""
        runs = np.flatnonzero(self._key == key).tolist()
        return [(self._places[run][0], float(self._start[run])) for run in runs]

    def replace(
        self,
        key: Objects,
        worker: npt.NDArray[np.uint32],
        prefix: npt.NDArray[np.uint32],
        start: Floats,
    ) -> None:
        """Take over all running tasks, with the history's string ids."""
        self._key, self._prefix, self._start = key, prefix.astype(np.int64), start
        self._places = list(zip(worker.tolist(), key.tolist(), strict=True))
        self._slot = np.array([self._slot_at.get(place, -1) for place in self._places], np.int64)
        self._slot_at = dict(zip(self._places, self._slot.tolist(), strict=True))
        self.version += 1
        self.settle()

    def settle(self) -> None:
        """Give slots to tasks that have none, and others to those in whose slots others ended."""
        last_stop = np.append(self._slots.last_stop, np.inf)  # of those that have none
        moved = np.flatnonzero(last_stop[self._slot] > self._start + CLOCK_SLACK_S)
        if not moved.size:
            return
        moved = moved[np.argsort(self._start[moved], kind="stable")]
        tasks = [(self._places[run][0], float(self._start[run])) for run in moved.tolist()]
        slot = self._slot.copy()
        slot[moved] = self._slots.free_slots(tasks, set(np.delete(slot, moved).tolist()))
        self.version += not np.array_equal(slot, self._slot)
        self._slot = slot
        self._slot_at = dict(zip(self._places, slot.tolist(), strict=True))

    def clear(self) -> None:
        """Forget all tasks."""
        if self._places:
            none = np.empty(0, dtype=np.uint32)
            self.replace(np.empty(0, dtype=object), none, none, np.empty(0))

    def rows(self, now: float) -> RunningRows:
        """Return what runs at a time; a start that lies after it is moved back to it."""
        slot, start = self.places(now)
        return RunningRows(key=self._key, prefix=self._prefix, slot=slot, start=start)

    def places(self, now: float) -> tuple[Ints, Floats]:
        """Return slot and start of `rows` alone."""
        return self._slots.rows.position[self._slot], np.minimum(self._start, now)
