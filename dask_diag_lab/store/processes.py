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

from dask_diag_lab.store.arrays import Ints, frozen


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of some workers.

    Attributes
    ----------
    told_by : ndarray of int64
        For each process the index of the worker that was heard of last.
    of_worker : ndarray of int64
        For each worker the index of its process.
    n_shared : int
        Processes of more than one worker.
    n_sharing : int
        Workers in these.
    """

    told_by: Ints
    of_worker: Ints
    n_shared: int = 0
    n_sharing: int = 0

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
            sum(sizes),
        )

    def sums(self, values: Ints) -> Ints:
        """Return the sum over the workers of each process, given one value a worker."""
        result = np.zeros(len(self.told_by), dtype=np.int64)
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
        lowest = np.full(len(self.told_by), none)
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
        whole = memory[self.told_by]
        own = np.minimum(self.sums(managed), whole)
        late = np.minimum(recent[self.told_by], whole - own)
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
