"""Times of disk work come on the worker's own clock and are brought to the scheduler's."""

from __future__ import annotations

import asyncio
import struct
import time

import pytest

from dask_diag_lab.collector.actions import ROW, ActionLog
from dask_diag_lab.collector.clocks import SURE_S, Clocks
from dask_diag_lab.collector.strings import Strings
from dask_diag_lab.records import Kind
from tests.kernel.transport.live_cluster import cluster, feeding, registered, until

ACTIONS = (
    {"action": "disk-read", "start": 1.0, "stop": 2.0},
    {"action": "compute", "start": 102.0, "stop": 103.0},
    {"action": "disk-write", "start": 3.0, "stop": 4.0},
)


def times(log: ActionLog) -> list[tuple[float, float]]:
    return [row[:2] for row in struct.iter_unpack(ROW, log.since(0, 0).rows)]


def test_disk_times_of_a_worker_whose_clock_is_behind_are_brought_forward() -> None:
    clocks = Clocks()
    clocks.heard("w", 100.0)
    log = ActionLog(Strings(), clocks=clocks)
    log.add("key", "p", "w", 1, 0, 0, ACTIONS)
    assert times(log) == [(101.0, 102.0), (102.0, 103.0), (103.0, 104.0)]


def test_times_of_other_workers_stay() -> None:
    clocks = Clocks()
    clocks.heard("other", 100.0)
    clocks.heard("gone", 100.0)
    clocks.forget("gone")
    log = ActionLog(Strings(), clocks=clocks)
    for worker in ("w", "gone"):
        log.add("key", "p", worker, 1, 0, 0, ACTIONS[:1])
    assert times(log) == [(1.0, 2.0), (1.0, 2.0)]


def test_what_a_heartbeat_takes_is_no_difference_of_clocks() -> None:
    clocks = Clocks()
    clocks.heard("w", 3.0)  # the scheduler was busy
    clocks.heard("w", 0.9 * SURE_S)
    clocks.heard("w", 2.0)
    assert clocks.behind_s("w") == 0.0


def test_spilling_of_a_worker_whose_clock_is_ahead_is_shown_when_it_was() -> None:
    numpy = pytest.importorskip("numpy")
    config = {"distributed.worker.memory.target": 1e-7, "distributed.worker.memory.spill": False}

    async def run() -> None:
        async with (
            cluster(worker={"memory_limit": 2**40}, config=config) as (s, (a,), c),
            feeding(s.address) as (_, seen),
        ):
            await until(lambda: seen.state == "live")
            collector = registered(s)
            assert collector is not None

            def is_known() -> bool:
                s.workers[a.address].time_delay = -5000.0  # heartbeats tell the truth again
                return collector._state.log._clocks.behind_s(a.address) == -5000.0

            await until(is_known)
            big = c.submit(numpy.random.default_rng(1).bytes, 60_000_000, key="big")
            await c.submit(len, big, key="total")
            disk = await until(
                lambda: [r for r in seen.rows if r["kind"] in {Kind.DISK_READ, Kind.DISK_WRITE}]
            )
            computed = [r for r in seen.rows if r["kind"] is Kind.COMPUTE]
            assert all(abs(r["start"] - time.time() + 5000) < 60 for r in disk)
            assert all(abs(r["start"] - time.time()) < 60 for r in computed)

    asyncio.run(run())
