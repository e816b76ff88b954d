"""As many real workers as a test machine carries: nobody and nothing is lost among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from distributed import get_worker, wait

from tests.kernel.situations_real.clusters import OVER_TCP, Cluster, cluster

N_WORKERS = 32
N_TASKS = 1000
CONFIG = {
    # In one process each worker's sampling thread would sample the threads of all the others.
    "distributed.worker.profile.enabled": False,
}


def where(*_: object) -> str:
    """Return the worker that computed it, as the stream calls it."""
    return f"worker {get_worker().name}"


@pytest.fixture(scope="module")
def crowd() -> Iterator[Cluster]:
    """They computed 1000 tasks, and then 1000 that each need two of them from anywhere."""
    with cluster(CONFIG, n_workers=N_WORKERS, threads_per_worker=1, **OVER_TCP) as found:
        first = found.client.map(where, range(N_TASKS))
        second = found.client.map(where, first, first[::-1])
        found.held = [*first, *second]
        wait(found.held)
        yield found


def test_every_task_is_in_the_stream_at_the_worker_that_computed_it(crowd: Cluster) -> None:
    crowd.becomes(
        lambda: Counter(row["worker"] for row in crowd.computed()),
        Counter(crowd.client.gather(crowd.held)),
    )


def test_every_plot_of_workers_has_all_of_them(crowd: Cluster) -> None:
    workers = crowd.by("worker", "workers", "nthreads")
    assert workers.pop(None) == N_WORKERS
    assert set(workers) == set(crowd.addresses)
    for plot in ("workers-memory", "nprocessing", "cpu", "occupancy"):
        assert sorted(crowd.table(plot)["worker"]) == sorted(crowd.addresses)
