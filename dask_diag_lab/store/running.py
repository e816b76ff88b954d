"""Tasks that run now, each in a slot of its own; must not show what is recorded as done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from dask_diag_lab.schema import Kind
from dask_diag_lab.store.arrays import Columns, Floats, Ints, Objects
from dask_diag_lab.store.slots import CLOCK_SLACK_S, SlotTable


class RunningRows(TypedDict):
    """Running tasks as columns: key (text), prefix (string id), slot (row), start (seconds)."""

    key: Objects
    prefix: Ints
    slot: Ints
    start: Floats


@dataclass(slots=True)
class _Task:
    prefix: int
    start: float
    slot: int  # id


class RunningTable:
    """The tasks of the last heartbeats. A task keeps its slot until it ends.

    Parameters
    ----------
    slots : SlotTable
    """

    def __init__(self, slots: SlotTable) -> None:
        self.version = 0
        self._slots = slots
        self._tasks: dict[tuple[int, str], _Task] = {}
        self._done: dict[tuple[int, str], float] = {}
        self._keys: set[str] = set()
        self._keys_version = 0
        self._names: tuple[Objects, Ints] | None = None
        self._names_version = 0
        self._places: tuple[Ints, Floats] | None = None
        self._places_version = 0

    @property
    def count(self) -> int:
        """Running tasks."""
        return len(self._tasks)

    @property
    def keys(self) -> set[str]:
        """Keys of all running tasks."""
        if self._keys_version != self.version:
            self._keys = {key for _, key in self._tasks}
            self._keys_version = self.version
        return self._keys

    def slot_of(self, worker: int, key: str) -> int | None:
        """Return the slot id of a task on a worker (by string id), None where it does not run."""
        task = self._tasks.get((worker, key))
        return None if task is None else task.slot

    def of_key(self, key: str) -> list[tuple[int, float]]:
        """Return worker (string id) and start of each run of a task, in general of one."""
        if key not in self.keys:
            return []
        return [(place[0], task.start) for place, task in self._tasks.items() if place[1] == key]

    def among(
        self, rows: Columns, keys: Mapping[int, str]
    ) -> tuple[dict[int, int], list[tuple[int, str, float]]]:
        """Return slot ids by action of tasks shown as running, and which of them ended.

        Parameters
        ----------
        rows : dict of str to ndarray
            Actions, in the store's ids.
        keys : mapping of int to str
            Key by task; of no others actions are looked at.
        """
        seats: dict[int, int] = {}
        ended: list[tuple[int, str, float]] = []
        if not keys:
            return seats, ended
        found = np.flatnonzero(np.isin(rows["task"], list(keys)))
        columns = [found] + [rows[name][found] for name in ("task", "worker", "kind", "stop")]
        for row, task, worker, kind, stop in zip(*map(np.ndarray.tolist, columns), strict=True):
            seat = self.slot_of(worker, keys[task])
            if seat is not None:
                seats[row] = seat
            if kind == Kind.COMPUTE:
                ended.append((worker, keys[task], stop))
        return seats, ended

    def replace(self, rows: Iterable[tuple[str, int, int, float]]) -> None:
        """Take over (key, worker, prefix, start) of all running tasks, with the store's ids."""
        before = self._tasks
        tasks: dict[tuple[int, str], _Task] = {}
        self._tasks = tasks
        is_changed = False
        done: dict[tuple[int, str], float] = {}
        new: list[tuple[tuple[int, str], _Task]] = []
        for key, worker, prefix, start in rows:
            place = (worker, key)
            old = before.get(place)
            if old is not None:
                tasks[place] = old
                if abs(old.start - start) > CLOCK_SLACK_S:  # less is jitter, or a bar would shake
                    old.start = start
                    is_changed = True
                continue
            stop = self._done.get(place)
            if stop is not None and stop >= start - CLOCK_SLACK_S:
                done[place] = stop
            else:
                new.append((place, _Task(prefix, start, -1)))
        self._done = done
        is_changed |= bool(new) or len(tasks) != len(before)
        is_changed |= self._seat(new + self._misplaced())
        self.version += is_changed

    def finish(self, ended: Iterable[tuple[int, str, float]]) -> None:
        """Take away tasks (worker, key, stop) that were recorded as done."""
        count = len(self._tasks)
        for worker, key, stop in ended:
            self._done[worker, key] = stop
            task = self._tasks.get((worker, key))
            if task is not None and stop >= task.start - CLOCK_SLACK_S:
                del self._tasks[worker, key]
        self.version += len(self._tasks) != count

    def settle(self) -> None:
        """Move tasks out of slots in which others were recorded since."""
        self.version += self._seat(self._misplaced())

    def clear(self) -> None:
        """Forget all tasks."""
        self._done = {}
        if self._tasks:
            self._tasks = {}
            self.version += 1

    def rows(self, now: float) -> RunningRows:
        """Return what runs at a time; a start that lies after it is moved back to it."""
        if self._names is None or self._names_version != self.version:
            self._names, self._names_version = self._make_names(), self.version
        (key, prefix), (slot, start) = self._names, self.places(now)
        return RunningRows(key=key, prefix=prefix, slot=slot, start=start)

    def places(self, now: float) -> tuple[Ints, Floats]:
        """Return slot and start of `rows` alone, in half of the time."""
        if self._places is None or self._places_version != self.version:
            self._places, self._places_version = self._make_places(), self.version
        slot, start = self._places
        return self._slots.position[slot], np.minimum(start, now)

    # Kept, as several plots ask at each tick.

    def _make_names(self) -> tuple[Objects, Ints]:
        """Return key and prefix of what runs."""
        tasks = self._tasks.values()
        keys = np.empty(len(tasks), dtype=np.object_)
        keys[:] = [key for _, key in self._tasks]
        return keys, np.array([task.prefix for task in tasks], dtype=np.int64)

    def _make_places(self) -> tuple[Ints, Floats]:
        """Return slot id and start of what runs."""
        tasks = self._tasks.values()
        return (
            np.array([task.slot for task in tasks], dtype=np.int64),
            np.array([task.start for task in tasks], dtype=np.float64),
        )

    def _misplaced(self) -> list[tuple[tuple[int, str], _Task]]:
        """Return the tasks in whose slots others were recorded that ended after their start."""
        start = np.array([task.start for task in self._tasks.values()], dtype=np.float64)
        slot = np.array([task.slot for task in self._tasks.values()], dtype=np.int64)
        wrong = np.flatnonzero(self._slots.last_stop[slot] > start + CLOCK_SLACK_S)
        if not wrong.size:
            return []
        tasks = list(self._tasks.items())
        return [tasks[i] for i in wrong]

    def _seat(self, tasks: list[tuple[tuple[int, str], _Task]]) -> bool:
        """Give each task the best slot that no other has; tell whether a slot is another one."""
        if not tasks:
            return False
        for place, _ in tasks:
            self._tasks.pop(place, None)
        taken = {task.slot for task in self._tasks.values()}
        tasks.sort(key=lambda item: item[1].start)
        slots = self._slots.free_slots([(place[0], task.start) for place, task in tasks], taken)
        is_moved = False
        for (place, task), slot in zip(tasks, slots, strict=True):
            is_moved |= task.slot != slot
            task.slot = slot
            self._tasks[place] = task
        return is_moved
