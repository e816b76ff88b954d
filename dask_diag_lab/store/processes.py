"""Which workers live in one process, and who of them tells what counts for all of it.

A heartbeat tells CPU and memory of the whole process: adding up its workers would count it
several times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from dask_diag_lab.store.arrays import Ints


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of some workers.

    Attributes
    ----------
    told_by : ndarray of int64
        For each process the index of the worker that was heard of last.
    n_shared : int
        Processes of more than one worker.
    n_sharing : int
        Workers in these.
    """

    told_by: Ints
    n_shared: int = 0
    n_sharing: int = 0

    @classmethod
    def of(cls, process: Sequence[str], last_seen: Iterable[float]) -> Self:
        """Return the processes of workers, given ``process`` and ``last_seen`` of `WORKERS`."""
        if not any(process):
            return cls(np.arange(len(process)))
        names = [name or index for index, name in enumerate(process)]
        sizes = [size for size in Counter(names).values() if size > 1]
        return cls(np.array(newest_of(names, last_seen)), len(sizes), sum(sizes))


def newest_of(names: Sequence[object], seen: Iterable[float]) -> list[int]:
    """Return for each name the index of the one with it that was seen last."""
    newest: dict[object, tuple[float, int]] = {}
    for index, (name, at) in enumerate(zip(names, seen, strict=True)):
        known = newest.get(name)
        if known is None or at > known[0]:
            newest[name] = (at, index)
    return [index for _, index in newest.values()]
