"""What ran on a worker that is gone leaves its row, and what had not begun leaves none."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from dask_diag_lab.schema import Outcome
from tests.kernel.transport.live_cluster import cluster, feeding, until

LOST_CONNECTION = "handle-worker-cleanup-1"
"""As `distributed`'s id of what ended a worker begins where it did not leave by itself."""


def inc(x: int) -> int:
    return x + 1


def wait_for(path: str, x: object = None) -> object:
    while not os.path.exists(path):  # noqa: PTH110 - runs on a worker
        time.sleep(0.01)
    return x


@pytest.mark.slow
async def test_tasks_that_die_with_their_worker_leave_rows_and_queued_ones_do_not(
    tmp_path: Any,
) -> None:
    async with (
        cluster(1, nanny=True, nthreads=2) as (s, (nanny,), c),
        feeding(s.address) as (_, seen),
    ):
        victim = nanny.worker_address
        gate = str(tmp_path / "gate")
        done = c.submit(inc, 1, key="done")
        await done
        held = [c.submit(wait_for, gate, key=f"held-{i}") for i in range(2)]
        await until(lambda: {key for key, *_ in seen.running} == {"held-0", "held-1"})
        starts = {key: start for key, _, _, start in seen.running}
        queued = c.submit(wait_for, gate, key="queued", workers=[victim])
        await until(lambda: len(s.workers[victim].processing) == 3, "assigned, not running")
        (pid,) = (await c.run(os.getpid)).values()
        os.kill(pid, signal.SIGKILL)
        (event,) = await until(lambda: seen.happened("worker-killed"))
        assert (event["worker"], event["lost_tasks"]) == (victim, 2)
        assert event["cause"] == "the connection was lost"
        await until(lambda: victim not in seen.workers)
        killed = [r for r in seen.rows if r["outcome"] is Outcome.KILLED]
        assert {r["key"] for r in killed} == {"held-0", "held-1"}
        for row in killed:
            assert row["worker"] == victim
            assert row["prefix"] == "held"
            assert abs(row["start"] - starts[row["key"]]) < 0.5
            assert row["start"] < row["stop"] <= time.time()
        (tmp_path / "gate").touch()  # the nanny's next worker ends them
        await c.gather([f for f in held if f.status != "error"])
        del queued


@pytest.mark.parametrize(
    ("stimulus", "is_expected", "lost"),
    [
        (LOST_CONNECTION, False, 1),
        ("nanny-close-1", False, 1),
        ("retire-workers-1", True, 0),
        ("close-worker-1", False, 0),
    ],
)
async def test_a_task_that_no_heartbeat_named_is_lost_only_with_a_worker_that_was_killed(
    stimulus: str, is_expected: bool, lost: int, tmp_path: Any
) -> None:
    async with cluster() as (s, (w,), c), feeding(s.address) as (_, seen):
        await until(lambda: seen.batches)
        w.periodic_callbacks["heartbeat"].stop()
        task = c.submit(wait_for, str(tmp_path / "gate"), key="task")
        await until(lambda: w.state.executing)
        await s.remove_worker(w.address, stimulus_id=stimulus, expected=is_expected)
        (tmp_path / "gate").touch()
        kind = "worker-killed" if lost else "worker-removed"
        (event,) = await until(lambda: seen.happened(kind))
        assert event["lost_tasks"] == lost
        assert [row["outcome"] for row in seen.of("task")] == [Outcome.KILLED] * lost
        del task


@pytest.mark.slow
async def test_each_run_that_ended_its_worker_leaves_a_row_and_the_last_an_error() -> None:
    config = {"distributed.scheduler.allowed-failures": 1}
    async with (
        cluster(1, nanny=True, config=config) as (s, _, c),
        feeding(s.address, wanted=["errors"]) as (_, seen),
    ):
        deadly = c.submit(os._exit, 1, key="deadly")
        assert type(await deadly.exception()).__name__ == "KilledWorker"
        await until(lambda: len(seen.of("deadly")) == 2)
        assert all(row["outcome"] is Outcome.KILLED for row in seen.of("deadly"))
        await until(lambda: len(seen.happened("worker-killed")) == 2)
        assert [event["lost_tasks"] for event in seen.happened("worker-killed")] == [1, 1]
        (failure,) = await until(lambda: seen.happened("task-erred"))
        assert (failure["prefix"], failure["count"]) == ("deadly", 1)
        (error,) = await until(lambda: seen.extra("errors"))
        assert (error["key"], error["workers"]) == ("deadly", (failure["worker"],))
        assert error["exception"].startswith("KilledWorker")
        await until(lambda: s.workers)  # closing a nanny that starts a worker may fail
