"""Where lanes are shown: those of a worker next to each other, workers by host, then by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, nan

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.arrays import Ints, frozen

Natural = list[tuple[int, int, str]]
Place = tuple[Natural, Natural, int]
"""What workers are sorted by: host, name, and when they were first seen."""


@dataclass(slots=True)
class LaneWorker:
    """A worker, its lanes, and which of its threads is in which."""

    string: int
    address: str
    name: str
    nthreads: int = 0
    lanes: list[int] = field(default_factory=list)
    threads: dict[int, int] = field(default_factory=dict)  # identifier to lane id
    is_alive: bool = True
    joined: float = inf
    ended: float = nan
    place: Place = field(init=False)

    def __post_init__(self) -> None:
        self.call(self.name)

    def call(self, name: str) -> None:
        """Give it a name, and with that its place among the workers."""
        self.name = name
        self.place = (natural_order(host_of(self.address)), natural_order(name), self.string)

    def unbound(self, wanted: int | None) -> int | None:
        """Return a lane without a thread, ``wanted`` if it is one; None when all have one."""
        taken = set(self.threads.values())
        if wanted is not None and wanted not in taken:
            return wanted
        return next((lane for lane in self.lanes if lane not in taken), None)

    def end(self, time: float) -> None:
        self.is_alive, self.ended = False, time
        self.threads.clear()

    def revive(self) -> None:
        self.is_alive, self.ended = True, nan
        self.threads.clear()

    def release(self, lane: int) -> None:
        """Take a lane from the threads that have it."""
        self.threads = {thread: used for thread, used in self.threads.items() if used != lane}

    def is_held(self, rows: Ints) -> bool:
        """Tell whether the log has actions in a lane, from its count for each lane id."""
        return bool(rows[self.lanes].any())


class LaneRows:
    """The lanes in the order in which they are shown."""

    def __init__(
        self,
        workers: Mapping[int, LaneWorker],
        worker: npt.NDArray[np.uint32],
        slot: npt.NDArray[np.int32],
    ) -> None:
        shown = sorted(workers.values(), key=lambda worker: worker.place)
        self.addresses = [w.address for w in shown]
        sizes = [len(w.lanes) for w in shown]
        self.ids = np.array([lane for w in shown for lane in w.lanes], dtype=np.int64)
        self.position = np.full(len(worker), -1, dtype=np.int64)
        self.position[self.ids] = np.arange(len(self.ids))
        self.worker = frozen(worker[self.ids].astype(np.int64))
        self.slot = frozen(slot[self.ids].astype(np.int64))
        self.is_alive = frozen(np.repeat(np.array([w.is_alive for w in shown], bool), sizes))
        self.joined = frozen(np.repeat(np.array([w.joined for w in shown], float), sizes))
        self.ended = frozen(np.repeat(np.array([w.ended for w in shown], float), sizes))
        self.label = [
            w.name if len(w.lanes) == 1 else f"{w.name} · {i + 1}"
            for w in shown
            for i in range(len(w.lanes))
        ]


def host_of(address: str) -> str:
    """Return the host in an address: ``10.0.0.1`` of ``tcp://10.0.0.1:4000``."""
    place = (address.partition("://")[2] or address).partition("/")[0]
    return place.rpartition(":")[0] or place


def natural_order(name: str) -> Natural:
    """Return a sort key by which worker-9 comes before worker-10."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p]
