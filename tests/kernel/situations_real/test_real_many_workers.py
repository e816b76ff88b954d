"""As many real workers as a test machine carries: nobody and nothing is lost among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from distributed import get_worker, wait

from tests.kernel.situations_real.reading import AnyFuture, Situation, situation

N_WORKERS = 48
N_TASKS = 1500
CONFIG = {
    # In one process each worker's sampling thread would sample the threads of all the others.
    "distributed.worker.profile.enabled": False,
}


def where(_: int) -> str:
    """Return the worker that computed it, as the stream calls it."""
    return f"worker {get_worker().name}"


def where_both(*_: str) -> str:
    """Return the worker that computed it, most often from what others hold."""
    return f"worker {get_worker().name}"


@pytest.fixture(scope="module")
def crowd() -> Iterator[tuple[Situation, list[AnyFuture]]]:
    """48 workers computed 1500 tasks, and then 1500 that each need two of them from anywhere."""
    options: dict[str, Any] = {
        "protocol": "tcp",
        "host": "127.0.0.1",
        # Each takes the memory of the whole process for its own, and would pause.
        "memory_limit": "64 GiB",
    }
    with situation(CONFIG, n_workers=N_WORKERS, threads_per_worker=1, **options) as found:
        first = found.client.map(where, range(N_TASKS))
        second = found.client.map(where_both, first, first[::-1])
        wait(second)
        yield found, first + second


def test_every_task_is_in_the_stream_at_the_worker_that_computed_it(
    crowd: tuple[Situation, list[AnyFuture]],
) -> None:
    found, futures = crowd
    computed_by = Counter(found.client.gather(futures))

    def ours() -> Counter[str]:
        rows = found.rows("task-stream")
        return Counter(row["worker"] for row in rows if row["kind"] == "compute")

    assert sum(found.seen(ours, computed_by.__eq__).values()) == 2 * N_TASKS


def test_every_worker_has_its_row(crowd: tuple[Situation, list[AnyFuture]]) -> None:
    found, _ = crowd
    workers = found.by("worker", "workers", "nthreads")
    assert set(workers) == {*found.addresses, None}
    assert workers[None] == N_WORKERS


@pytest.mark.parametrize("plot", ["workers-memory", "nprocessing", "cpu", "occupancy"])
def test_every_plot_of_workers_shows_all_of_them(
    crowd: tuple[Situation, list[AnyFuture]], plot: str
) -> None:
    found, _ = crowd
    assert set(found.by("worker", plot, "worker")) == set(found.addresses)
