"""Every kind of thing that a worker's thread does leaves its row, and nothing else does."""

from __future__ import annotations

import os
import time
from typing import Any

from distributed import Reschedule

from dask_diag_lab.schema import Kind, Outcome
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding


def inc(x: int) -> int:
    return x + 1


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
