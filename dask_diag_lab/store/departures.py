"""When the workers left that a batch tells of: the engine's events know it to the moment."""

from __future__ import annotations

from typing import Final

from dask_diag_lab.records import Batch
from dask_diag_lab.store.left_at import LeftAt
from dask_diag_lab.store.workers import WorkerTable

DEPARTURES: Final = frozenset({"worker-removed", "worker-killed"})
"""Kinds of events that tell of a worker's end."""


class Departures:
    """The ends of workers, from events and from what is not told any more, which comes later."""

    def __init__(self) -> None:
        self._told = LeftAt()

    def of(self, batch: Batch, known: WorkerTable) -> dict[str, float]:
        """Return when each worker left that is gone now, by address, on the scheduler's clock.

        Those that came and left before anybody looked are told of by their events alone.

        Parameters
        ----------
        batch : Batch
        known : WorkerTable
            The workers that were there before the batch.
        """
        told: dict[str, float] = {}
        for at, kind, detail in batch.events:
            address = str(detail.get("worker", ""))
            if kind in DEPARTURES:
                self._told.note(address, at)
                told[address] = at
            elif kind == "worker-added":
                self._told.forget(address)
                told.pop(address, None)
        still = {row["address"] for row in batch.workers or ()}
        left = {a: at for a, at in told.items() if a not in still and a not in known}
        for address in batch.removed_workers:
            left[address] = self._told.get(address) or batch.time
        for address in left:
            self._told.forget(address)
        return left
