"""Workers as they are now, in the order of their slots, and which of them live in one process.

A heartbeat tells CPU and memory of the whole process: adding up its workers would count it several
times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Final, Self

import numpy as np

from dask_diag_lab.schema.tables import WORKERS
from dask_diag_lab.store.arrays import Ints, frozen
from dask_diag_lab.store.slots import SlotTable
from dask_diag_lab.store.tables import NamedTable


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of some workers.

    Attributes
    ----------
    reported_by : ndarray of int64
        For each process the index of the worker that was heard of last.
    of_worker : ndarray of int64
        For each worker the index of its process.
    n_shared : int
        Processes of more than one worker.
    """

    reported_by: Ints
    of_worker: Ints
    n_shared: int = 0

    @classmethod
    def of(cls, process: Sequence[str], last_seen: Iterable[float]) -> Self:
        """Return the processes of workers, given ``process`` and ``last_seen`` of `WORKERS`."""
        if not any(process):
            each = frozen(np.arange(len(process)))
            return cls(each, each)
        names = [name or index for index, name in enumerate(process)]
        index_of = {name: index for index, name in enumerate(dict.fromkeys(names))}
        sizes = [size for size in Counter(names).values() if size > 1]
        return cls(
            frozen(np.array(newest_of(names, last_seen))),
            frozen(np.array([index_of[name] for name in names])),
            len(sizes),
        )

    def sums(self, values: Ints) -> Ints:
        """Return the sum over the workers of each process, given one value a worker."""
        result = np.zeros(len(self.reported_by), dtype=np.int64)
        np.add.at(result, self.of_worker, values)
        return result

    def limits(self, limit: Ints) -> Ints:
        """Return the memory limit of each process; 0 for none.

        Each worker compares all of the process with its own: the lowest counts.

        Parameters
        ----------
        limit : ndarray of int64
            ``memory_limit`` of each worker, 0 for none.
        """
        none = np.iinfo(np.int64).max
        lowest = np.full(len(self.reported_by), none)
        np.minimum.at(lowest, self.of_worker, np.where(limit > 0, limit, none))
        return np.where(lowest == none, 0, lowest)

    def memory_by_use(self, memory: Ints, managed: Ints, recent: Ints) -> dict[str, Ints]:
        """Return the memory of each process and its parts, named as in `WORKERS`.

        A worker takes what the others of its process manage for unmanaged. Unmanaged is what the
        process has beyond that which all of its workers manage.

        Parameters
        ----------
        memory, managed, recent : ndarray of int64
            ``memory``, ``managed`` and ``unmanaged_recent`` of each worker.
        """
        whole = memory[self.reported_by]
        own = np.minimum(self.sums(managed), whole)
        late = np.minimum(recent[self.reported_by], whole - own)
        return {
            "memory": whole,
            "managed": own,
            "unmanaged_old": whole - own - late,
            "unmanaged_recent": late,
        }


def common_limit(limits: Ints) -> int:
    """Return the sum of some memory limits; 0, no limit, unless there is one of each."""
    return int(limits.sum()) if (limits > 0).all() else 0


def newest_of(names: Sequence[object], seen: Iterable[float]) -> list[int]:
    """Return for each name the index of the one with it that was seen last.

    In the order in which the names come first.
    """
    newest: dict[object, tuple[float, int]] = {}
    for index, (name, at) in enumerate(zip(names, seen, strict=True)):
        known = newest.get(name)
        if known is None or at > known[0]:
            newest[name] = (at, index)
    return [index for _, index in newest.values()]


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all workers; zeros when there are none. Names and units as in `WORKERS`.

    A process that several workers share counts once.
    """

    workers: int
    nthreads: int
    memory_limit: int
    memory: int
    managed: int
    unmanaged_old: int
    unmanaged_recent: int
    spilled: int
    processing: int
    executing: int
    incoming_bytes: int
    outgoing_bytes: int
    cpu: float
    occupancy: float


_WHOLE = {column.name for column in WORKERS.columns if column.dtype == "<i8"}
_SUMMED = tuple(field.name for field in fields(Totals) if field.name in _WHOLE)


class WorkerTable(NamedTable):
    """One row a worker that is there; one attribute a column of `WORKERS`.

    Parameters
    ----------
    slots : SlotTable
        Gives the order.
    """

    def __init__(self, slots: SlotTable) -> None:
        super().__init__(WORKERS)
        self._slots = slots
        self._processes: tuple[object, Processes] | None = None

    @property
    def processes(self) -> Processes:
        """Which of the workers share a process."""
        seen = self._order_version()
        if self._processes is None or self._processes[0] != seen:
            self._processes = seen, Processes.of(self.process, self.last_seen.tolist())
        return self._processes[1]

    def totals(self) -> Totals:
        """Return the sums over all workers."""
        sums = {name: int(getattr(self, name).sum()) for name in _SUMMED}
        processes = self.processes
        if processes.n_shared:
            parts = self.memory_by_process()
            sums |= {name: int(values.sum()) for name, values in parts.items()}
        return Totals(
            workers=len(self),
            **sums,
            cpu=float(self.cpu[processes.reported_by].sum()),
            occupancy=float(self.occupancy.sum()),
        )

    def memory_by_process(self) -> dict[str, Ints]:
        """Return memory and its parts of each of `processes`; see `Processes.memory_by_use`."""
        return self.processes.memory_by_use(self.memory, self.managed, self.unmanaged_recent)

    def _order(self) -> Ints:
        rows = [self._index[a] for a in self._slots.rows.addresses if a in self._index]
        return np.array(rows, dtype=np.int64)

    def _order_version(self) -> object:
        return self.version, self._slots.version


MAX_NAMES: Final = 20_000


class SeenWorkers:
    """The workers that are or were there; the longest known are forgotten.

    Attributes
    ----------
    version : int
        Moves when a name was learnt.
    names : mapping of str to str
        Names by address, in the order in which they were learnt.
    """

    SAVED = ("names",)

    def __init__(self) -> None:
        self.version = 0
        self.names: dict[str, str] = {}

    def see(self, workers: Iterable[tuple[str, str]]) -> None:
        """Take up (address, name) pairs; an address may be used again under another name."""
        for address, name in workers:
            if name and self.names.get(address) != name:
                self.names.pop(address, None)
                self.names[address] = name
                self.version += 1
                if len(self.names) > MAX_NAMES:
                    del self.names[next(iter(self.names))]
