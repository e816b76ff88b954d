"""A worker that pauses by itself because its process has grown, and goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest
from distributed import Scheduler

from tests.kernel.situations_real.reading import Situation, situation

CONFIG = {
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": 0.5,
    "distributed.worker.memory.terminate": False,
}


BALLAST: list[npt.NDArray[np.float64]] = []
"""Of each worker's process."""


def grow() -> None:
    BALLAST.append(np.ones(300 * 2**20 // 8))


def shrink() -> None:
    BALLAST.clear()


@pytest.fixture(scope="module")
def paused() -> Iterator[Situation]:
    """Two workers of 512 MiB; the first holds 300 MiB that Dask knows nothing of."""

    with situation(
        CONFIG, processes=True, n_workers=2, threads_per_worker=1, memory_limit="512MiB"
    ) as found:
        found.client.run(grow, workers=[found.addresses[0]])
        yield found


def statuses(scheduler: Scheduler) -> dict[str, str]:
    """Return the status of each worker."""
    return {ws.address: ws.status.name for ws in scheduler.workers.values()}


def has_paused(theirs: dict[str, str]) -> bool:
    return "paused" in theirs.values()


def test_status_is_the_engines(paused: Situation) -> None:
    told = paused.agree(
        lambda: paused.by("worker", "workers-memory", "status"), statuses, has_paused
    )
    assert told[paused.addresses[0]] == "paused"


def test_a_paused_worker_is_critical_in_memory_and_named_in_the_table(paused: Situation) -> None:
    one, other = paused.addresses
    level = paused.seen(
        lambda: paused.by("worker", "workers-memory", "level"),
        lambda told: told[one] == "critical",
    )
    assert level[other] == "ok"
    paused.seen(lambda: paused.by("worker", "workers", "status")[one], "paused".__eq__)


def test_what_grew_is_memory_that_dask_does_not_manage(paused: Situation) -> None:
    """The status comes at once, the memory with the next heartbeat."""
    one, _ = paused.addresses
    columns = ("managed", "unmanaged_old", "unmanaged_recent")
    managed, old, recent = paused.seen(
        lambda: paused.by("worker", "workers-memory", *columns)[one],
        lambda told: told[1] + told[2] >= 300 * 2**20,
    )
    assert managed == 0
    assert old + recent >= 300 * 2**20


def test_the_worker_goes_on_and_both_changes_are_events(paused: Situation) -> None:
    one, _ = paused.addresses

    paused.agree(lambda: paused.by("worker", "workers", "status")[one], _status_of(one), _is_paused)
    paused.client.run(shrink, workers=[one])
    paused.agree(
        lambda: paused.by("worker", "workers-memory", "status", "level")[one],
        lambda scheduler: (scheduler.workers[one].status.name, "ok"),
        lambda theirs: theirs[0] == "running",
    )
    told = paused.seen(
        lambda: [(row["kind"], row["event"]) for row in paused.rows("events")],
        lambda events: any(kind == "worker-resumed" for kind, _ in events),
    )
    kinds = [kind for kind, _ in told]
    assert kinds.index("worker-paused") < kinds.index("worker-resumed")
    assert all("worker 0" in event for kind, event in told if kind == "worker-paused")


def _is_paused(status: str) -> bool:
    return status == "paused"


def _status_of(address: str) -> Callable[[Scheduler], str]:
    return lambda scheduler: scheduler.workers[address].status.name
