"""What workers are called, also those that are gone, and what a click on such a name opens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.base import View

LEFT: Final = " (left)"
"""Follows the name of a worker that is not there any more."""

_PIECES: Final = re.compile(
    # A number at the end of a word is a piece of its own, those inside a hash are not.
    r"[A-Za-z]+(?=[0-9]+(?![0-9A-Za-z]))|[0-9A-Za-z]+|[^0-9A-Za-z]"
)


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
    row = store.workers.row(address)
    if row is not None:
        return readable_name(str(row["name"]))
    name = store.seen_workers.names.get(address)
    return readable_name(address) if name is None else readable_name(name) + LEFT


def name_in_words(name: str) -> str:
    """Return a worker's name as it stands by itself or among other words.

    A bare number says of nobody that it is a worker: ``0`` is written ``worker 0``. Other names
    stay as they are. Only beside the word, such as under a heading or along an axis that says
    "worker", `readable_name` is enough.
    """
    name = readable_name(name)
    return f"worker {name}" if name.removesuffix(LEFT).isdecimal() else name


def worker_in_words(store: Store, address: str) -> str:
    """Return `worker_name` as it stands among other words, such as ``worker 0``."""
    return name_in_words(worker_name(store, address))


def open_worker(view: View, address: str) -> None:
    """Open the page of a worker, if it is still there."""
    if address in view.store.workers:
        view.open("worker", worker=address)


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Return names that are at most ``width`` characters long and still tell workers apart.

    Names that all fit stay; of others the pieces are left out that all have in common, as in
    ``SLURMCluster-7`` or in addresses of one network; what is still too long loses its middle,
    or its beginning where only the ends differ.
    """
    names = list(names)
    if all(len(name) <= width for name in names):
        return names
    rest = _without_common_pieces(names)
    cut = [fmt.elide(name, width) for name in rest]
    if len(set(cut)) == len(set(names)):
        return cut
    ends = [name if len(name) <= width else _end(name, width) for name in rest]
    return ends if len(set(ends)) > len(set(cut)) else cut


def _end(name: str, width: int) -> str:
    """Return the end of a name that is longer than ``width``."""
    return "…"[:width] + name[len(name) + 1 - width :]


def _without_common_pieces(names: Sequence[str]) -> list[str]:
    """Return names without the pieces that begin and end all of them."""
    if len(set(names)) < 2:
        return list(names)
    pieces = [_PIECES.findall(name) for name in names]
    for end in (0, -1):
        while all(len(found) > 1 for found in pieces) and len({p[end] for p in pieces}) == 1:
            for found in pieces:
                del found[end]
    return ["".join(found) for found in pieces]
