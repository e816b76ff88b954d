"""What workers are called, also those that are gone, and what is said while there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.view import View

LEFT: Final = " (left)"
"""Follows the name of a worker that is not there any more."""

COLUMN_CHARACTERS: Final = 14
"""What fits into a column of names in a table, about."""


def readable_name(name: str) -> str:
    """Return a worker's name as people read it: workers without one are called by an address."""
    return name.rpartition("://")[2] or name


def worker_names(store: Store) -> dict[str, str]:
    """Return the names of the workers there are, by address, in the order of all plots."""
    workers = store.workers
    return {
        address: readable_name(str(name))
        for address, name in zip(workers.address, workers.name, strict=True)
    }


def worker_name(store: Store, address: str) -> str:
    """Return the name of one worker, marked when it is gone; an address never seen stays one."""
    name = _name_of_gone(address, store.seen_workers.names)
    return name.removesuffix(LEFT) if address in store.workers else name


def _name_of_gone(address: str, seen: Mapping[str, str]) -> str:
    name = seen.get(address)
    return readable_name(address) if name is None else readable_name(name) + LEFT


@dataclass(frozen=True, slots=True, eq=False)
class NamedWorkers:
    """What workers are called at one moment, for what is worked out beside the store.

    Attributes
    ----------
    there : mapping of str to str
        Names by address of the workers there are, in the order of all plots.
    seen : mapping of str to str
        Names by address as they were reported, also of workers that are gone.
    """

    there: Mapping[str, str]
    seen: Mapping[str, str]

    @classmethod
    def of(cls, store: Store) -> NamedWorkers:
        """Return the names that a store has now; later changes of it do not matter."""
        return cls(worker_names(store), dict(store.seen_workers.names))

    def names(self, addresses: Iterable[str]) -> dict[str, str]:
        """Return `worker_name` of each address."""
        there, seen = self.there, self.seen
        return {a: there[a] if a in there else _name_of_gone(a, seen) for a in addresses}


def name_label(name: str) -> str:
    """Return a worker's name as it stands by itself or among other words.

    A bare number says of nobody that it is a worker: ``0`` is written ``worker 0``. Other names
    stay as they are. Only beside the word, such as under a heading or along an axis that says
    "worker", `readable_name` is enough.
    """
    name = readable_name(name)
    return f"worker {name}" if name.removesuffix(LEFT).isdecimal() else name


def worker_label(store: Store, address: str) -> str:
    """Return `worker_name` as it stands among other words, such as ``worker 0``."""
    return name_label(worker_name(store, address))


def open_worker(view: View, address: str) -> None:
    """Open the page of a worker, if it is still there."""
    if address in view.store.workers:
        view.open("worker", worker=address)


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Return names that are at most ``width`` characters long and still tell workers apart.

    Names that all fit stay; of others the words are left out that begin or end all of them, as in
    ``SLURMCluster-7`` or in addresses of one network; what is still too long keeps its end.
    """
    if all(len(name) <= width for name in names):
        return list(names)
    if len(set(names)) > 1:
        names = _without_common_words(names)
        backwards = _without_common_words([name[::-1] for name in names])
        names = [name[::-1] for name in backwards]
    return [name if len(name) <= width else f"…{name[len(name) + 1 - width :]}" for name in names]


def _without_common_words(names: Sequence[str]) -> list[str]:
    first, last = min(names), max(names)  # what these share, all share
    n_shared = len(commonprefix([first, last]).rstrip(ascii_letters + digits))  # noqa: RUF071  # no paths
    return [name[n_shared:] or name for name in names]


NO_DATA: Final = "Waiting for the first data of this cluster."
NO_WORKERS: Final = "This cluster has no workers yet. Add some with cluster.scale(4)."


def no_workers(store: Store) -> str:
    """Return why no worker is there, and what to do.

    When the last one left is said as a time of day: while nothing changes nothing is drawn
    anew, and a duration would soon be wrong.
    """
    if store.scheduler is None:
        return NO_DATA
    times, threads = store.nthreads.times, store.nthreads.values
    if not threads.any():
        return NO_WORKERS
    ended = "" if threads[-1] else f": the last one left at {fmt.clock(times[-1])}"
    return f"No workers now{ended}. Add some with cluster.scale(4)."
