"""Workers as they are now, in the order of their slots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from dask_diag_lab.schema.tables import WORKERS
from dask_diag_lab.store.arrays import Ints
from dask_diag_lab.store.slots import SlotTable
from dask_diag_lab.store.tables import NamedTable


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

    There is no limit, 0, unless each worker has one.
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

    def totals(self) -> Totals:
        """Return the sums over all workers."""
        sums = {name: int(getattr(self, name).sum()) for name in _SUMMED}
        if not (self.memory_limit > 0).all():
            sums["memory_limit"] = 0
        return Totals(
            workers=len(self),
            **sums,
            cpu=float(self.cpu.sum()),
            occupancy=float(self.occupancy.sum()),
        )

    def _order(self) -> Ints:
        rows = [self._index[a] for a in self._slots.rows.addresses if a in self._index]
        return np.array(rows, dtype=np.int64)

    def _order_version(self) -> object:
        return self.version, self._slots.version
