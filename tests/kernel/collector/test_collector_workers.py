"""Rows of workers say what the scheduler knows of them, and which share a process."""

from __future__ import annotations

import time
from typing import Any

from dask_diag_lab.collector.workers import process_of
from dask_diag_lab.schema import WORKERS
from tests.kernel.transport.live_cluster import cluster, feeding, until


def wait_for(path: Any) -> None:
    while not path.exists():
        time.sleep(0.01)


async def test_workers_in_one_process_say_so_and_those_of_nannies_do_not() -> None:
    async with cluster(2) as (s, _, _c), feeding(s.address) as (_, seen):
        await until(lambda: set(seen.workers) == set(s.workers))
        own = {ws.pid for ws in s.workers.values()}
        assert {row["process"] for row in seen.workers.values()} == {f"127.0.0.1/{own.pop()}"}
    assert process_of("inproc://10.0.0.1/17/4", "10.0.0.1", 17, None) == "inproc://10.0.0.1/17"
    assert process_of("tcp://10.0.0.1:5", "10.0.0.1", 17, "tcp://10.0.0.1:6") == ""
    assert process_of("tcp://10.0.0.1:5", "10.0.0.1", 17, None) == "10.0.0.1/17"
    assert process_of("tcp://10.0.0.1:5", "10.0.0.1", 0, None) == ""


async def test_workers_have_all_their_columns_and_custom_metrics() -> None:
    options = {
        "memory_limit": 0,
        "metrics": {"answer": lambda _: 42, "odd": lambda _: {"deep": 1.5, "bad": [1]}},
    }
    async with (
        cluster(1, nthreads=3, worker=options) as (s, (w,), c),
        feeding(s.address) as (_, seen),
    ):
        await until(lambda: w.address in seen.workers)
        ws = s.workers[w.address]
        # A heartbeat may come between.
        await until(lambda: seen.workers[w.address]["memory"] == ws.memory.process > 0)
        row = seen.workers[w.address]
        assert set(row) == {column.name for column in WORKERS.columns}
        assert (row["name"], row["host"], row["nthreads"]) == ("w0", "127.0.0.1", 3)
        assert row["memory_limit"] == 0
        assert row["status"] == "running"
        parts = (row["managed"], row["unmanaged_old"], row["unmanaged_recent"])
        assert sum(parts) == row["memory"]
        assert row["is_idle"]
        assert not row["is_saturated"]
        assert row["metrics"]["answer"] == 42
        assert row["metrics"]["odd.deep"] == 1.5
        assert "odd.bad" not in row["metrics"]
        big = c.submit(bytes, 2_000_000)
        await big
        await until(lambda: seen.workers[w.address]["managed"] >= 2_000_000)
        assert seen.workers[w.address]["in_memory"] == 1
        assert seen.last.scheduler.nthreads == 3
        assert seen.last.scheduler.memory_limit == 0


async def test_backlog_shows_as_processing_and_occupancy(tmp_path: Any) -> None:
    async with cluster() as (s, (w,), c), feeding(s.address) as (_, seen):
        gate = tmp_path / "gate"
        tasks = [c.submit(wait_for, gate, key=f"held-{i}", workers=[w.address]) for i in range(5)]
        await until(lambda: w.address in seen.workers)
        await until(lambda: seen.workers[w.address]["processing"] == 5)
        assert seen.workers[w.address]["occupancy"] > 0
        await until(lambda: seen.workers[w.address]["executing"] == 1)
        gate.touch()
        await c.gather(tasks)
        await until(lambda: seen.workers[w.address]["processing"] == 0)
