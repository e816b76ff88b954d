"""Bytes that each worker receives from and sends to others right now."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.worker_names import name_in_words
from dask_diag_lab.views.workers.in_out_bars import Floats, InOutBars

_MIB = 1024.0**2


class DataTransfer(InOutBars):
    """Bytes in flight of each worker, on a scale of their own."""

    unit = "bytes"
    ticks: ClassVar[Callable[[float, int], list[float]]] = staticmethod(fmt.binary_ticks)
    heading = "Bytes in transfer"
    sorted_by = "transfer"
    _end = _MIB

    def amounts(self) -> tuple[Floats, Floats]:
        """Return bytes of results coming in and going out; see `InOutBars.amounts`."""
        workers = self.store.workers
        return (
            workers.incoming_bytes.astype(np.float64),
            workers.outgoing_bytes.astype(np.float64),
        )

    def end_of(self, largest: float) -> float:
        """Return a power of two, which binary ticks divide well; shrinks late."""
        if largest > self._end or largest < self._end / 8:
            self._end = float(2 ** math.ceil(math.log2(max(largest, _MIB))))
        return self._end

    def write(self, amount: float) -> str:
        """Return bytes in words."""
        return fmt.binary(amount)

    def headline(self, index: int) -> tuple[str, str]:
        """Return name and address of a worker."""
        workers = self.store.workers
        return name_in_words(workers.name[index]), workers.address[index]

    def table(self) -> Table:
        """Return one row a worker, in bytes."""
        workers = self.store.workers
        columns: dict[str, Sequence[object]] = {
            "worker": list(workers.address),
            "name": list(workers.name),
            "incoming_bytes": workers.incoming_bytes.tolist(),
            "outgoing_bytes": workers.outgoing_bytes.tolist(),
        }
        return Table(columns, {"incoming_bytes": "B", "outgoing_bytes": "B"})
