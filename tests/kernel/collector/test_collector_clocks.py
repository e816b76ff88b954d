"""Times of disk work come on the worker's own clock and are brought to the scheduler's."""

from __future__ import annotations

import time

import pytest

from dask_diag_lab.schema import Kind
from tests.kernel.transport.live_cluster import cluster, feeding, registered, until


async def test_spilling_of_a_worker_whose_clock_is_ahead_is_shown_when_it_was() -> None:
    numpy = pytest.importorskip("numpy")
    config = {"distributed.worker.memory.target": 1e-7, "distributed.worker.memory.spill": False}

    async with (
        cluster(worker={"memory_limit": 2**40}, config=config) as (s, (a,), c),
        feeding(s.address) as (_, seen),
    ):
        await until(lambda: seen.state == "live")
        collector = registered(s)
        assert collector is not None

        def is_known() -> bool:
            s.workers[a.address].time_delay = -5000.0  # heartbeats tell the truth again
            return collector._log._clocks.behind_s(a.address) == -5000.0

        await until(is_known)
        big = c.submit(numpy.random.default_rng(1).bytes, 60_000_000, key="big")
        await c.submit(len, big, key="total")
        disk = await until(
            lambda: [r for r in seen.rows if r["kind"] in {Kind.DISK_READ, Kind.DISK_WRITE}]
        )
        computed = [r for r in seen.rows if r["kind"] is Kind.COMPUTE]
        assert all(abs(r["start"] - time.time() + 5000) < 60 for r in disk)
        assert all(abs(r["start"] - time.time()) < 60 for r in computed)
