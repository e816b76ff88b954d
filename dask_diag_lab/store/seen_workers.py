"""What workers were called, also those that are gone: events and errors know addresses only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from dask_diag_lab.records import Batch

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
        arrived = (detail for _, kind, detail in batch.events if kind == "worker-added")
        named = (detail for detail in arrived if detail.get("name") not in (None, ""))
        self.see((str(detail.get("worker")), str(detail["name"])) for detail in named)
        self.see((row["address"], str(row["name"])) for row in batch.workers or ())

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
