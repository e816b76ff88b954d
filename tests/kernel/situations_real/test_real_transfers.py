"""Data that moves from worker to worker: logs, bytes, rates and the stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from distributed import Scheduler, Worker, wait

from tests.kernel.situations_real.reading import (
    AnyFuture,
    Situation,
    measure_bandwidth,
    near,
    situation,
    sums,
)

MIB = 2**20
SIZE = 24 * MIB
# Else copies are dropped again as soon as nobody needs them.
CONFIG = {"distributed.scheduler.active-memory-manager.start": False}


@pytest.fixture(scope="module")
def moved() -> Iterator[tuple[Situation, list[AnyFuture]]]:
    """Three arrays of 24 MiB went from the first worker to the second, one to the third."""
    with situation(CONFIG, processes=True, n_workers=3, threads_per_worker=1) as found:
        one, two, three = found.addresses
        parts = [
            found.client.submit(np.ones, SIZE // 8, workers=[one], key=f"part-{i}")
            for i in range(3)
        ]
        wait(parts)
        used = [
            found.client.submit(np.sum, part, workers=[two], key=f"used-{i}")
            for i, part in enumerate(parts)
        ]
        wait(used)
        used.append(found.client.submit(np.sum, parts[0], workers=[three], key="used-3"))
        wait(used)
        yield found, parts + used


def logs(found: Situation) -> list[tuple[str, str, str, int]]:
    """Return worker, direction, peer and bytes of each entry of the workers' own logs."""

    def read(dask_worker: Worker) -> list[tuple[str, str, int]]:
        return [
            (direction, entry["who"], int(entry["total"]))
            for direction, log in (
                ("received", dask_worker.transfer_incoming_log),
                ("sent", dask_worker.transfer_outgoing_log),
            )
            for entry in log
        ]

    rows = [(worker, *row) for worker, log in found.client.run(read).items() for row in log]
    return sorted(rows)


def test_rows_of_the_log_are_those_of_the_workers(moved: tuple[Situation, Any]) -> None:
    found, _ = moved
    theirs = logs(found)
    assert len([row for row in theirs if row[1] == "received"]) >= 2

    def ours() -> list[tuple[str, str, str, int]]:
        rows = found.rows("transfers")
        return sorted((r["worker"], r["direction"], r["peer"], int(r["nbytes"])) for r in rows)

    assert found.seen(ours, theirs.__eq__) == theirs


def test_bytes_received_are_those_that_had_to_move(moved: tuple[Situation, Any]) -> None:
    found, _ = moved
    _, two, three = found.addresses

    def ours() -> dict[str, float]:
        rows = [r for r in found.rows("transfers") if r["direction"] == "received"]
        return sums(rows, "worker", "nbytes")

    wanted = {two: 3.0 * SIZE, three: 1.0 * SIZE}
    found.seen(ours, lambda told: near(0.001)(told, wanted))


def test_the_page_of_a_worker_has_its_own_transfers(moved: tuple[Situation, Any]) -> None:
    found, _ = moved
    _, two, _ = found.addresses
    names = found.by("worker", "workers", "name")
    of_two = [row for row in logs(found) if row[0] == two]
    theirs = sorted((two, way, str(names[peer]), size) for _, way, peer, size in of_two)
    assert "received" in {row[1] for row in theirs}

    def ours() -> list[tuple[str, str, str, int]]:
        rows = found.rows("worker", worker=two, show="transfers")
        return sorted((two, row["direction"], row["peer"], int(row["nbytes"])) for row in rows)

    found.seen(ours, theirs.__eq__)


def test_bandwidth_of_each_pair_and_type_is_the_engines(moved: tuple[Situation, Any]) -> None:
    found, _ = moved
    one, two, three = found.addresses
    measure_bandwidth(found, one, two)
    told = found.agree(
        lambda: {
            (row["destination"], row["source"]): row["rate"]
            for row in found.rows("bandwidth-workers")
        },
        lambda scheduler: dict(scheduler.bandwidth_workers),
        lambda theirs: (two, one) in theirs,
        near(1e-9),
    )
    # The third may take it from the second, which has it by then.
    assert set(told) <= {(two, one), (three, one), (three, two)}
    types = found.agree(
        lambda: found.by("type", "bandwidth-types", "rate"),
        lambda scheduler: dict(scheduler.bandwidth_types),
        bool,
        near(1e-9),
    )
    assert set(types) == {"numpy.ndarray"}


def test_transfers_of_the_stream_take_as_long_as_the_engine_says(
    moved: tuple[Situation, Any],
) -> None:
    found, _ = moved

    def engine(scheduler: Scheduler) -> dict[str, float]:
        prefixes = scheduler.task_prefixes.values()
        return {"transfer": sum(p.all_durations.get("transfer", 0.0) for p in prefixes)}

    found.agree(
        lambda: {"transfer": sums(found.rows("task-stream"), "kind", "duration")["transfer"]},
        engine,
        lambda theirs: theirs["transfer"] > 0,
        near(1e-3),
    )
    peers = {r["source"] for r in found.rows("task-stream") if r["kind"] == "transfer"}
    assert {found.addresses[0]} <= peers <= set(found.addresses[:2])


def test_the_task_page_knows_who_has_the_result(moved: tuple[Situation, Any]) -> None:
    found, _ = moved

    def ours() -> set[str]:
        rows = found.rows("task", key="part-0", show="workers")
        return {r["worker"] for r in rows if r["role"] == "has the result"}

    found.agree(
        ours,
        lambda scheduler: {ws.address for ws in scheduler.tasks["part-0"].who_has or ()},
        lambda theirs: len(theirs) == 3,
    )


def test_bytes_in_flight_are_told_while_a_transfer_is_under_way(
    moved: tuple[Situation, Any],
) -> None:
    found, _ = moved
    found.agree(
        lambda: found.by("worker", "workers-transfer-bytes", "incoming_bytes", "outgoing_bytes"),
        lambda scheduler: {
            ws.address: tuple(
                ws.metrics["transfer"][name] for name in ("incoming_bytes", "outgoing_bytes")
            )
            for ws in scheduler.workers.values()
        },
    )
