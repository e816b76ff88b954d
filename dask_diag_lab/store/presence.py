"""Which workers were there when: names, departures, and the threads of the cluster over time."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from dask_diag_lab.schema import Batch
from dask_diag_lab.store.arrays import Floats, GrowingArray, Ints

MOST: Final = 10_000


class LeftAt:
    """Times by address, of those that left last."""

    def __init__(self) -> None:
        self._times: dict[str, float] = {}

    def note(self, address: str, time: float) -> None:
        """Note that a worker left; of what is told twice the first is right."""
        self._times.setdefault(address, time)
        if len(self._times) > MOST:
            del self._times[next(iter(self._times))]

    def forget(self, address: str) -> None:
        """Forget it: the worker is there again."""
        self._times.pop(address, None)

    def get(self, address: str) -> float | None:
        """Return when a worker left, None where it is not known to have."""
        return self._times.get(address)


DEPARTURES: Final = frozenset({"worker-removed", "worker-killed"})
"""Kinds of events that tell of a worker's end."""


class Departures:
    """The ends of workers, from events and from what is not told any more, which comes later."""

    def __init__(self) -> None:
        self._told = LeftAt()

    def of(self, batch: Batch, known: Container[str], removed: Iterable[str]) -> dict[str, float]:
        """Return when each worker left that is gone now, by address, on the scheduler's clock.

        Those that came and left before anybody looked are told of by their events alone.

        Parameters
        ----------
        batch : Batch
        known : container of str
            The workers that were there before the batch.
        removed : iterable of str
            Those of them that the batch does not have any more.
        """
        told: dict[str, float] = {}
        for at, kind, detail in batch.rows("events"):
            address = str(detail.get("worker", ""))
            if kind in DEPARTURES:
                self._told.note(address, at)
                told[address] = at
            elif kind == "worker-added":
                self._told.forget(address)
                told.pop(address, None)
        workers = batch.tables.get("workers")
        still = set() if workers is None else set(workers.columns["address"])
        left = {a: at for a, at in told.items() if a not in still and a not in known}
        for address in removed:
            left[address] = self._told.get(address) or batch.time
        for address in left:
            self._told.forget(address)
        return left


MAX_NAMES = 20_000


class SeenWorkers:
    """Names by address of the workers that are or were there; the longest known are forgotten.

    Attributes
    ----------
    version : int
        Moves when a name was learnt.
    """

    def __init__(self, limit: int = MAX_NAMES) -> None:
        self.version = 0
        self._limit = limit
        self._names: dict[str, str] = {}

    @property
    def names(self) -> Mapping[str, str]:
        """Names by address, in the order in which they were learnt."""
        return MappingProxyType(self._names)

    def learn(self, batch: Batch) -> None:
        """Take up the workers of a batch, also those that came and left before it was sent."""
        arrived = (detail for _, kind, detail in batch.rows("events") if kind == "worker-added")
        named = (detail for detail in arrived if detail.get("name") not in (None, ""))
        self.see((str(detail.get("worker")), str(detail["name"])) for detail in named)
        if "workers" in batch.tables:
            columns = batch.tables["workers"].columns
            self.see(zip(columns["address"], columns["name"], strict=True))

    def see(self, workers: Iterable[tuple[str, str]]) -> None:
        """Take up (address, name) pairs; an address may be used again under another name."""
        for address, name in workers:
            if self._names.get(address) == name:
                continue
            self._names.pop(address, None)
            self._names[address] = name
            self.version += 1
            if len(self._names) > self._limit:
                del self._names[next(iter(self._names))]


MAX_ENTRIES = 100_000


class ThreadHistory:
    """Steps of the total thread count: from ``times[i]`` on there were ``values[i]``."""

    def __init__(self, limit: int = MAX_ENTRIES) -> None:
        self.version = 0
        self._limit = limit
        self._times: GrowingArray[np.float64] = GrowingArray(np.float64)
        self._values: GrowingArray[np.int64] = GrowingArray(np.int64)

    @property
    def times(self) -> Floats:
        """Seconds since the epoch, ascending."""
        return self._times.values

    @property
    def values(self) -> Ints:
        """Threads from that time on."""
        return self._values.values

    def extend(self, entries: Sequence[tuple[float, int]]) -> None:
        """Append (time, threads); what is older than the newest known entry is skipped.

        A collector that starts anew sends the scheduler's whole history again.
        """
        last = self.times[-1] if len(self._times) else -np.inf
        known = set(self.values[self.times == last].tolist())
        new = [(t, n) for t, n in entries if t > last or (t == last and n not in known)]
        if not new:
            return
        self._times.extend([t for t, _ in new])
        self._values.extend([n for _, n in new])
        if len(self._times) > self._limit:
            self._times.replace(self.times[-self._limit // 2 :])
            self._values.replace(self.values[-self._limit // 2 :])
        self.version += 1
