"""A worker whose results do not fit: bytes on disk, levels, and what that cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from distributed import Scheduler, wait

from tests.kernel.situations_real.reading import AnyFuture, Situation, near, situation, sums

MIB = 2**20
PARTS = ("memory", "managed", "unmanaged_old", "unmanaged_recent", "spilled", "memory_limit")
CONFIG = {
    "distributed.worker.memory.target": 0.3,
    "distributed.worker.memory.spill": False,  # by tracked bytes alone, so it is known how much
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}


@pytest.fixture(scope="module")
def spilling() -> Iterator[tuple[Situation, list[AnyFuture]]]:
    """Twelve results of 20 MiB on one of two workers with 400 MiB, of which 120 MiB are kept."""
    with situation(
        CONFIG, processes=True, n_workers=2, threads_per_worker=1, memory_limit="400MiB"
    ) as found:
        one = found.addresses[0]
        held = [
            found.client.submit(np.ones, 20 * MIB // 8, workers=[one], pure=False)
            for _ in range(12)
        ]
        wait(held)
        back = [
            found.client.submit(np.sum, part, workers=[one], pure=False) for part in held[:2]
        ]  # these were spilled first, so they are read again
        wait(back)
        yield found, held + back


def memory(scheduler: Scheduler) -> dict[str, tuple[int, ...]]:
    """Return what the engine knows of each worker's memory."""
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


def test_bytes_of_each_worker_are_the_engines(spilling: tuple[Situation, Any]) -> None:
    found, _ = spilling
    told = found.agree(
        lambda: found.by("worker", "workers-memory", *PARTS),
        memory,
        lambda theirs: sum(parts[4] for parts in theirs.values()) >= 100 * MIB,
    )
    one, other = found.addresses
    assert told[other][4] == 0
    assert told[one][4] >= 100 * MIB


def test_the_workers_table_has_them_as_well_and_their_sums(
    spilling: tuple[Situation, Any],
) -> None:
    found, _ = spilling

    def engine(scheduler: Scheduler) -> dict[str | None, tuple[int, ...]]:
        each = memory(scheduler)
        told: dict[str | None, tuple[int, ...]] = {
            None: tuple(map(sum, zip(*each.values(), strict=True)))
        }
        told.update(each.items())
        return told

    found.agree(lambda: found.by("worker", "workers", *PARTS), engine)


def test_the_cluster_is_the_sum_of_its_workers(spilling: tuple[Situation, Any]) -> None:
    found, _ = spilling

    def engine(scheduler: Scheduler) -> dict[str, int]:
        whole = scheduler.memory
        return {
            "memory": whole.process,
            "managed": whole.managed,
            "unmanaged_old": whole.unmanaged_old,
            "unmanaged_recent": whole.unmanaged_recent,
            "spilled": whole.spilled,
            "memory_limit": sum(ws.memory_limit for ws in scheduler.workers.values()),
            "workers": len(scheduler.workers),
        }

    found.agree(
        lambda: {name: cells[0] for name, cells in found.table("cluster-memory").items()}, engine
    )


def test_the_level_is_that_of_the_process_memory(spilling: tuple[Situation, Any]) -> None:
    found, _ = spilling

    def engine(scheduler: Scheduler) -> dict[str, str]:
        return {
            ws.address: "may spill" if ws.memory.process >= 0.3 * ws.memory_limit else "ok"
            for ws in scheduler.workers.values()
        }

    one, other = found.addresses
    wanted = {one: "may spill", other: "ok"}
    found.agree(lambda: found.by("worker", "workers-memory", "level"), engine, wanted.__eq__)


def test_spilled_results_still_count_in_memory_by_key(spilling: tuple[Situation, Any]) -> None:
    found, held = spilling
    nbytes = sum(found.client.nbytes(summary=False).values())
    assert nbytes >= 12 * 20 * MIB

    def ours() -> tuple[int, int]:
        told = found.by("prefix", "memory-by-key", "nbytes", "count").values()
        return sum(row[0] for row in told), sum(row[1] for row in told)

    found.seen(ours, (nbytes, len(held)).__eq__)


def test_disk_reads_in_the_stream_are_those_of_the_task_stream_and_of_the_sums(
    spilling: tuple[Situation, Any],
) -> None:
    found, _ = spilling

    def engine(scheduler: Scheduler) -> dict[str, float]:
        seconds: dict[str, float] = {}
        for prefix in scheduler.task_prefixes.values():
            for action, took in prefix.all_durations.items():
                seconds[action] = seconds.get(action, 0.0) + took
        return seconds

    told = found.agree(
        lambda: sums(found.rows("aggregate-time-per-action"), "action", "seconds"),
        engine,
        lambda theirs: "disk-read" in theirs,
        near(1e-6),
    )
    wanted = {kind: told[kind] for kind in ("disk-read", "compute")}

    def ours() -> dict[str, float]:
        stream = sums(found.rows("task-stream"), "kind", "duration")
        return {kind: stream.get(kind, 0.0) for kind in wanted}

    found.seen(ours, lambda stream: near(1e-3)(stream, wanted))


def test_the_event_says_which_worker_began_to_spill(spilling: tuple[Situation, Any]) -> None:
    found, _ = spilling
    told = found.seen(
        lambda: [row for row in found.rows("events") if row["kind"] == "spill-began"], bool
    )
    assert len(told) == 1
    assert "worker 0 began to spill" in told[0]["event"]


def test_memory_over_time_saw_what_was_spilled(spilling: tuple[Situation, Any]) -> None:
    found, _ = spilling
    now = found.agree(
        lambda: sum(found.table("workers-memory")["spilled"]),
        lambda scheduler: scheduler.memory.spilled,
    )
    told = found.seen(
        lambda: found.table("workers-memory-timeseries"),
        lambda columns: columns["spilled_total"][-1] == now,
    )
    assert max(v for v in told["spilled_high"] if v is not None) >= now
