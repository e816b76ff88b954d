"""Every kind of thing that a worker's thread does leaves its row, and nothing else does."""

from __future__ import annotations

import time
from math import isnan
from typing import Any

from distributed import Reschedule

from dask_diag_lab.schema import Kind, Outcome
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding, inc, wait_for


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
        await until(lambda: "cancelled" in seen.running)
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


def moments(row: dict[str, Any]) -> tuple[float, float, float]:
    """Return when the task of a row was ready, when it was assigned, and when it began."""
    return row["start"] - row["ready"], row["start"] - row["assigned"], row["start"]


async def test_a_task_is_ready_when_it_waits_for_no_other_and_assigned_when_a_worker_gets_it(
    tmp_path: Any,
) -> None:
    gate = str(tmp_path / "gate")
    async with cluster(2) as (s, (a, b), c):
        early = c.submit(wait_for, gate, key="early", workers=[a.address])
        await until(lambda: "early" in s.tasks and s.tasks["early"].state == "processing")
        async with feeding(s.address) as (_, seen):
            came = time.time()
            first = c.submit(wait_for, gate, came, key="first", workers=[b.address])
            many = c.map(inc, [first] * 3, key=["x", "y", "z"], workers=[a.address])
            held = c.submit(inc, 1, key="held", workers=["tcp://10.0.0.1:1"])
            await until(lambda: "held" in s.tasks and s.tasks["held"].state == "no-worker")
            opened = time.time()
            (tmp_path / "gate").touch()
            await c.gather(many)
            await held.cancel()
            await early
            await until(lambda: {"early", "first", *"xyz"} == {row["key"] for row in seen.computed})
            of = {row["key"]: row for row in seen.computed}
            assert isnan(of["early"]["ready"])
            assert isnan(of["early"]["assigned"])
            ready, assigned, start = moments(of["first"])
            assert came <= ready <= assigned < min(start + 0.01, opened)
            for key in "xyz":
                ready, assigned, start = moments(of[key])
                assert opened <= ready <= assigned <= start + 0.01
            others = [row for row in seen.rows if row["kind"] is not Kind.COMPUTE]
            assert others
            assert all(isnan(row["ready"]) and isnan(row["assigned"]) for row in others)


async def test_what_is_queued_is_ready_since_its_graph_came_and_assigned_when_a_thread_is_free(
    tmp_path: Any,
) -> None:
    gate = str(tmp_path / "gate")
    async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
        keys = [f"wait-{i}" for i in range(9)]
        found = c.map(wait_for, [gate] * 9, key=keys)
        await until(lambda: s.queued and s.workers)
        opened = time.time()
        (tmp_path / "gate").touch()
        await c.gather(found)
        rows = await until(lambda: len(seen.computed) == 9 and seen.computed)
        ready, assigned, _ = zip(*map(moments, rows), strict=True)
        assert max(ready) - min(ready) < 0.001
        assert max(ready) < opened
        assert [moment > opened for moment in assigned].count(True) == len(keys) - 2
