"""Rows of workers say what the scheduler knows of them, and which share a process."""

from __future__ import annotations

from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding


async def test_workers_in_one_process_say_so_and_those_of_nannies_do_not() -> None:
    async with cluster(2) as (s, _, _c), feeding(s.address) as (_, seen):
        await until(lambda: set(seen.workers) == set(s.workers))
        own = {ws.pid for ws in s.workers.values()}
        assert {row["process"] for row in seen.workers.values()} == {f"127.0.0.1/{own.pop()}"}
        for ws in s.workers.values():
            ws.nanny = "tcp://127.0.0.1:1"
        await until(lambda: not any(row["process"] for row in seen.workers.values()))
        for ws in s.workers.values():
            ws.nanny = None
