"""What workers are called, by their addresses, and what a click on such a name opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.base import View


def worker_names(store: Store) -> dict[str, str]:
    """Return the names of the workers there are, by address."""
    workers = store.workers
    return dict(zip(workers.address, map(str, workers.name), strict=True))


def worker_words(store: Store) -> dict[str, str]:
    """Return ``Worker <name>`` of the workers there are, by address."""
    return {address: f"Worker {name}" for address, name in worker_names(store).items()}


def open_worker(view: View, words: str) -> None:
    """Open the page of the worker that is shown as `words`, if it is still there."""
    for address, shown in worker_words(view.store).items():
        if shown == words:
            view.open("worker", worker=address)
            return
