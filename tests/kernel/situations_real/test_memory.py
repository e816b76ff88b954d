"""A worker whose results do not fit, and one that pauses because its process has grown."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from distributed import Scheduler, wait

from dask_diag_lab.server.handlers import health_of
from tests.kernel.situations_real.clusters import LIMIT_S, Cluster, cluster, near, sums

MIB = 2**20
PARTS = ("memory", "managed", "unmanaged_old", "unmanaged_recent", "spilled", "memory_limit")
CONFIG = {
    "distributed.worker.memory.target": 0.2,
    "distributed.worker.memory.spill": False,  # by tracked bytes alone, so it is known how much
    "distributed.worker.memory.pause": 0.7,
    "distributed.worker.memory.terminate": False,
    # Ones take next to nothing on disk, as they do by default where lz4 is installed.
    "distributed.worker.memory.spill-compression": "zlib",
}
GROWTH = 400 * MIB
BALLAST: list[npt.NDArray[np.float64]] = []
"""Of each worker's process."""


def grow() -> None:
    BALLAST.append(np.ones(GROWTH // 8))


def grow_and_wait() -> None:
    grow()
    time.sleep(60)


def shrink() -> None:
    BALLAST.clear()


@pytest.fixture(scope="module")
def full() -> Iterator[Cluster]:
    """Two workers of 600 MiB: one has twelve results of 20 MiB and keeps 120 MiB in memory."""
    with cluster(
        CONFIG, processes=True, n_workers=2, threads_per_worker=1, memory_limit="600MiB"
    ) as found:
        one = found.addresses[0]
        held = [
            found.client.submit(np.ones, 20 * MIB // 8, workers=[one], pure=False)
            for _ in range(12)
        ]
        wait(held)
        # What was spilled first is read again.
        back = [found.client.submit(np.sum, part, workers=[one], pure=False) for part in held[:2]]
        wait(back)
        found.held = [*held, *back]
        yield found


def test_a_worker_that_is_killed_for_its_memory_stands_where_its_work_is_shown() -> None:
    config = CONFIG | {
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": 0.9,
    }
    with cluster(
        config, processes=True, n_workers=1, threads_per_worker=1, memory_limit="500MiB"
    ) as found:
        found.held = [found.client.submit(grow_and_wait)]
        losses = found.until(
            lambda: found.diagnostics.submit(health_of).result(LIMIT_S)["losses"],
            lambda losses: losses["workers"],
        )
        text = losses["text"].partition(" · ")[0]
        assert text == "worker 0 died: its memory went over the terminate threshold"
        assert 0 < time.time() - losses["time"] < LIMIT_S
        for plot in ("progress", "task-stream"):
            found.until(partial(found.caption, plot), lambda caption: "terminate" in caption.note)
        found.client.cancel(found.held)


def memory(scheduler: Scheduler) -> dict[str | None, tuple[int, ...]]:
    """Return what `distributed` knows of each worker's memory."""
    return {
        ws.address: (
            ws.memory.process,
            ws.memory.managed,
            ws.memory.unmanaged_old,
            ws.memory.unmanaged_recent,
            ws.memory.spilled,
            ws.memory_limit,
        )
        for ws in scheduler.workers.values()
    }


def whole(scheduler: Scheduler) -> tuple[int, ...]:
    """Return the sums over all workers."""
    return tuple(map(sum, zip(*memory(scheduler).values(), strict=True)))


def test_bytes_of_each_worker_are_those_of_the_scheduler(full: Cluster) -> None:
    one, other = full.addresses
    shown = full.agree(
        lambda: full.by("worker", "workers-memory", *PARTS),
        memory,
        lambda theirs: theirs[one][4] > 0,
    )
    assert shown[other][4] == 0


def test_table_and_cluster_memory_have_the_sums(full: Cluster) -> None:
    full.agree(
        lambda: full.by("worker", "workers", *PARTS),
        lambda scheduler: memory(scheduler) | {None: whole(scheduler)},
    )
    full.agree(
        lambda: tuple(full.table("cluster-memory")[part][0] for part in PARTS),
        whole,
    )


def test_spilled_results_count_in_memory_by_key(full: Cluster) -> None:
    nbytes = sum(full.client.nbytes(summary=False).values())
    assert nbytes >= 12 * 20 * MIB

    def shown() -> tuple[int, int]:
        columns = full.table("memory-by-key")
        return sum(columns["nbytes"]), sum(columns["count"])

    full.becomes(shown, (nbytes, len(full.held)))


def test_disk_reads_of_stream_and_actions_are_those_of_the_scheduler(full: Cluster) -> None:
    def seconds(scheduler: Scheduler) -> dict[str, float]:
        found: dict[str, float] = {}
        for prefix in scheduler.task_prefixes.values():
            for action, took in prefix.all_durations.items():
                found[action] = found.get(action, 0.0) + took
        return found

    wanted = full.agree(
        lambda: sums(full.rows("aggregate-time-per-action"), "action", "seconds"),
        seconds,
        lambda theirs: "disk-read" in theirs,
        near(1e-4),
    )
    full.until(
        lambda: sums(full.rows("task-stream"), "kind", "duration"),
        lambda drawn: drawn.get("disk-read", 0) == pytest.approx(wanted["disk-read"], rel=1e-3),
    )


def test_the_event_names_the_worker_that_began_to_spill(full: Cluster) -> None:
    """A spill is judged by what left the memory."""
    (row,) = full.until(lambda: full.events("spill-began"), bool)
    assert "worker 0 began to spill" in row["event"]


def test_a_worker_pauses_and_goes_on(full: Cluster) -> None:
    one, other = full.addresses

    def status(scheduler: Scheduler) -> str:
        return scheduler.workers[other].status.name

    full.client.run(grow, workers=[other])
    full.agree(
        lambda: full.by("worker", "workers", "status")[other],
        status,
        "paused".__eq__,
    )
    full.becomes(lambda: full.by("worker", "workers-memory", "status")[other], "paused")
    levels = full.until(
        lambda: full.by("worker", "workers-memory", "level"),
        lambda levels: levels[other] == "paused",
    )
    assert levels[one] != "paused"
    legend = full.caption("task-stream").legend
    assert "worker paused" in [item.label for item in legend]
    # What grew is memory that Dask knows nothing of.
    full.until(
        lambda: full.by("worker", "workers-memory", "unmanaged_old", "unmanaged_recent")[other],
        lambda unmanaged: sum(unmanaged) >= GROWTH,
    )
    full.client.run(shrink, workers=[other])
    full.agree(
        lambda: full.by("worker", "workers-memory", "status", "level")[other],
        lambda scheduler: (status(scheduler), "ok"),
        lambda theirs: theirs[0] == "running",
    )
    (resumed,) = full.until(lambda: full.events("worker-resumed"), bool)
    (paused,) = full.events("worker-paused")
    assert "worker 1" in paused["event"]
    assert paused["time"] < resumed["time"]
