"""What ran on a worker that is gone leaves its row, and what had not begun leaves none."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.schema import Outcome
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding, wait_for

LOST_CONNECTION = "handle-worker-cleanup-1"
"""As `distributed`'s id of what ended a worker begins where it did not leave by itself."""


async def test_a_worker_that_dies_after_a_retirement_was_given_up_was_killed() -> None:
    async with cluster() as (s, (w,), _), feeding(s.address) as (_, seen):
        await until(lambda: seen.batches)
        for number, status in enumerate(("closing_gracefully", "running")):
            s.handle_worker_status_change(status, w.address, f"test-{number}")
        await s.remove_worker(w.address, stimulus_id=LOST_CONNECTION)
        (event,) = await until(lambda: seen.happened("worker-killed"))
        assert event["cause"] == "the connection was lost"


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
