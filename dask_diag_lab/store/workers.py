"""Workers as they are now, in the order of their lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from dask_diag_lab.records import WORKERS
from dask_diag_lab.store.arrays import Bools, Floats, Ints, Row, frozen
from dask_diag_lab.store.lanes import LaneTable
from dask_diag_lab.store.processes import Processes

_DTYPES = {column.name: column.dtype for column in WORKERS}
Values = TypeVar("Values")
Cells = list[Any] | npt.NDArray[Any]  # the column decides


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


_SUMMED = tuple(f.name for f in fields(Totals) if f.name in _DTYPES and _DTYPES[f.name] == "<i8")


class _Column(Generic[Values]):
    """A column of the table as an attribute: ``store.workers.memory``."""

    def __set_name__(self, owner: type[WorkerTable], name: str) -> None:
        self._name = name

    def __get__(self, table: WorkerTable, owner: type[WorkerTable]) -> Values:
        return table.column(self._name)  # type: ignore[return-value]  # the name decides the type


class WorkerTable:
    """One row a worker that is there; one attribute a column of `WORKERS`.

    Columns of text and mappings are lists, the others arrays.

    Parameters
    ----------
    lanes : LaneTable
        Gives the order.
    """

    address = _Column[list[str]]()
    name = _Column[list[str]]()
    host = _Column[list[str]]()
    process = _Column[list[str]]()
    nthreads = _Column[Ints]()
    memory_limit = _Column[Ints]()
    status = _Column[list[str]]()
    last_seen = _Column[Floats]()
    cpu = _Column[Floats]()
    memory = _Column[Ints]()
    managed = _Column[Ints]()
    unmanaged_old = _Column[Ints]()
    unmanaged_recent = _Column[Ints]()
    spilled = _Column[Ints]()
    processing = _Column[Ints]()
    executing = _Column[Ints]()
    occupancy = _Column[Floats]()
    is_idle = _Column[Bools]()
    is_saturated = _Column[Bools]()
    incoming_bytes = _Column[Ints]()
    outgoing_bytes = _Column[Ints]()
    metrics = _Column[list[Row]]()

    def __init__(self, lanes: LaneTable) -> None:
        self.version = 0
        self._lanes = lanes
        self._rows: dict[str, Row] = {}
        self._columns: dict[str, Cells] = {}
        self._processes: Processes | None = None
        self._seen = (-1, -1)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, address: object) -> bool:
        return address in self._rows

    def row(self, address: str) -> Row | None:
        """Return the row of a worker, None where it is not there."""
        return self._rows.get(address)

    def update(self, rows: Iterable[Row], removed: Sequence[str] = ()) -> None:
        """Forget removed workers and take over rows of `WORKERS`; the others stay."""
        is_changed = False
        for address in removed:
            is_changed |= self._rows.pop(address, None) is not None
        for row in rows:
            if self._rows.get(row["address"]) != row:
                self._rows[row["address"]] = dict(row)
                is_changed = True
        self.version += is_changed

    def clear(self) -> None:
        """Forget all workers."""
        self.update((), list(self._rows))

    def column(self, name: str) -> Cells:
        """Return a column by name; KeyError when there is none."""
        self._drop_old()
        if name not in self._columns:
            dtype = _DTYPES[name]
            values = [row[name] for row in self._ordered()]
            self._columns[name] = values if dtype == "O" else frozen(np.array(values, dtype=dtype))
        return self._columns[name]

    @property
    def processes(self) -> Processes:
        """Which of the workers share a process."""
        self._drop_old()
        if self._processes is None:
            self._processes = Processes.of(self.process, self.last_seen.tolist())
        return self._processes

    def totals(self) -> Totals:
        """Return the sums over all workers."""
        sums = {name: int(self.column(name).sum()) for name in _SUMMED}  # type: ignore[union-attr]
        processes = self.processes
        if processes.n_shared:
            parts = self.memory_by_process()
            sums |= {name: int(values.sum()) for name, values in parts.items()}
        return Totals(
            workers=len(self._rows),
            **sums,
            cpu=float(self.cpu[processes.told_by].sum()),
            occupancy=float(self.occupancy.sum()),
        )

    def memory_by_process(self) -> dict[str, Ints]:
        """Return memory and its parts of each of `processes`; see `Processes.memory_by_use`."""
        return self.processes.memory_by_use(self.memory, self.managed, self.unmanaged_recent)

    def _drop_old(self) -> None:
        """Let go of what was worked out of other rows."""
        seen = (self.version, self._lanes.version)
        if self._seen != seen:
            self._columns, self._processes, self._seen = {}, None, seen

    def _ordered(self) -> list[Row]:
        return [self._rows[a] for a in self._lanes.addresses if a in self._rows]
