"""Every kind of thing that a worker's thread does leaves its row, and nothing else does."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from distributed import Reschedule

from dask_diag_lab.schema import Kind, Outcome
from tests.kernel.transport.live_cluster import cluster, feeding, until


def inc(x: int) -> int:
    return x + 1


def fail(x: object) -> None:
    raise ValueError(x)


def wait_for(path: str, x: object = None) -> object:
    while not os.path.exists(path):  # noqa: PTH110 - runs on a worker
        time.sleep(0.01)
    return x


def first_time(path: str, error: type[Exception]) -> str:
    """Raise the first time only."""
    try:
        with open(path, "x"):  # noqa: PTH123 - runs on a worker
            pass
    except FileExistsError:
        return "well"
    raise error


async def test_compute_has_its_times_worker_thread_prefix_and_size() -> None:
    async with cluster(2) as (s, _, c), feeding(s.address) as (_, seen):
        before = time.time()
        futures = c.map(inc, range(20))
        assert await c.gather(futures) == list(range(1, 21))
        await until(lambda: len(seen.computed) == 20)
        assert Kind.TRANSFER not in {row["kind"] for row in seen.rows}
        for row in seen.computed:
            assert row["outcome"] is Outcome.OK
            assert row["prefix"] == "inc"
            assert row["worker"] in s.workers
            assert row["thread"] > 0
            assert row["source"] == ""
            assert before - 1 < row["start"] <= row["stop"] < time.time() + 1
        assert {row["key"] for row in seen.computed} == {f.key for f in futures}
        assert {row["nbytes"] for row in seen.rows} == {28}


async def test_transfer_names_the_peer_it_came_from() -> None:
    async with cluster(2) as (s, workers, c), feeding(s.address) as (_, seen):
        a, b = (w.address for w in workers)
        x = c.submit(inc, 1, workers=[a], key="x")
        y = c.submit(inc, x, workers=[b], key="y")
        assert await y == 3
        rows = await until(lambda: seen.of("y"))
        transfer = next(row for row in rows if row["kind"] is Kind.TRANSFER)
        assert (transfer["worker"], transfer["source"]) == (b, a)
        assert Kind.TRANSFER not in {row["kind"] for row in seen.of("x")}


async def test_spilling_and_reading_back_are_rows() -> None:
    numpy = pytest.importorskip("numpy")
    config = {
        "distributed.worker.memory.target": 1e-7,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
    }

    options = {"memory_limit": 2**40}
    async with (
        cluster(worker=options, config=config) as (s, _, c),
        feeding(s.address) as (_, seen),
    ):
        # `distributed` keeps no row of disk work under 5 ms: 60 MB take longer on any disk.
        big = c.submit(numpy.random.default_rng(1).bytes, 60_000_000, key="big")
        total = c.submit(len, big, key="total")
        assert await total == 60_000_000
        written = await until(lambda: [r for r in seen.rows if r["kind"] is Kind.DISK_WRITE])
        read = await until(lambda: [r for r in seen.rows if r["kind"] is Kind.DISK_READ])
        assert (written[0]["key"], read[0]["key"]) == ("big", "total")
        assert all(r["stop"] - r["start"] > 0.005 for r in (*written, *read))
        await until(lambda: any(w["spilled"] > 10_000_000 for w in seen.workers.values()))


async def test_erred_tasks_are_marked_and_their_dependents_leave_no_row() -> None:
    async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
        bad = c.submit(fail, 1, key="bad")
        after = c.submit(inc, bad, key="after")
        with pytest.raises(ValueError, match="1"):
            await after
        (row,) = await until(lambda: [r for r in seen.computed if r["key"] == "bad"])
        assert row["outcome"] is Outcome.ERRED
        assert row["nbytes"] == -1
        await until(lambda: "after" in seen.prefixes)
        await until(lambda: seen.prefixes["after"]["states"][6] == 1)
        assert seen.of("after") == []


async def test_attempts_are_rows_and_rescheduled_and_cancelled_tasks_are_not_killed(
    tmp_path: Any,
) -> None:
    async with (
        cluster(2) as (s, _, c),
        feeding(s.address, wanted=["errors"]) as (_, seen),
    ):
        path = str(tmp_path / "tried")
        assert await c.submit(first_time, path, ValueError, retries=1, key="retried") == "well"
        path = str(tmp_path / "moved")
        assert await c.submit(first_time, path, Reschedule, key="rescheduled") == "well"
        gate = str(tmp_path / "gate")
        long = c.submit(wait_for, gate, key="cancelled")
        await until(lambda: any(key == "cancelled" for key, *_ in seen.running))
        await long.cancel()
        await until(lambda: not seen.running)
        (tmp_path / "gate").touch()
        assert await c.submit(inc, 1, key="last") == 2
        await until(lambda: seen.of("last"))
        failed = [r for r in seen.computed if r["outcome"] is not Outcome.OK]
        assert [(r["key"], r["outcome"]) for r in failed] == [("retried", Outcome.RETRIED)]
        assert failed[0]["stop"] <= seen.of("retried")[-1]["start"] + 0.05
        assert seen.of("cancelled") == []
        (error,) = await until(lambda: seen.extra("errors"))
        assert (error["key"], error["is_attempt"], error["kind_attempts"]) == ("retried", True, 1)


async def test_a_long_task_is_running_until_its_end_is_recorded(tmp_path: Any) -> None:
    async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
        submitted = time.time()
        future = c.submit(wait_for, str(tmp_path / "gate"), key="long")
        key, worker, prefix, start = (await until(lambda: seen.running))[0]
        assert (key, prefix) == ("long", "long")
        assert worker in s.workers
        assert submitted - 0.5 < start < time.time()
        (tmp_path / "gate").touch()
        await future
        await until(lambda: seen.of("long"))
        recorded = next(b for b in seen.batches if b.rows("actions"))
        assert not recorded.rows("running")
        assert seen.running == []
