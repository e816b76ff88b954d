"""Which workers share a host, and what is known of the host through them.

A heartbeat tells the network and disk traffic of the whole host: adding up its workers would
count it several times. Pure NumPy; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hosts:
    """Hosts in the order of their first workers.

    Attributes
    ----------
    names : list of str
    of_worker : ndarray of int64
        Index of the host of each worker.
    """

    names: list[str]
    of_worker: Ints

    @classmethod
    def of(cls, hosts: Sequence[str]) -> Hosts:
        """Return the hosts of workers, given one name for each."""
        numbers: dict[str, int] = {}
        index = [numbers.setdefault(host, len(numbers)) for host in hosts]
        return cls(list(numbers), np.array(index, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def workers(self) -> Ints:
        """Number of workers of each host."""
        return np.bincount(self.of_worker, minlength=len(self))

    def newest(self, values: Floats, last_seen: Floats) -> Floats:
        """Return for each host what the worker says that was heard of last; NaN: nobody does."""
        known = np.flatnonzero(np.isfinite(values))
        found = np.full(len(self), np.nan)
        in_time = known[np.argsort(last_seen[known], kind="stable")]
        found[self.of_worker[in_time]] = values[in_time]  # the last one written stays
        return found
