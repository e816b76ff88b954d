"""What is said in the place of a picture while there are no workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dask_diag_lab.views import format as fmt

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

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
