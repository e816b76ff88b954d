"""Counts and events say what the scheduler itself says, and no more often than they change."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.collector.tasks import TaskTables
from dask_diag_lab.schema.columns import decoded
from dask_diag_lab.schema.tables import PREFIXES
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding, inc, states, wait_for


def counts(prefix: Any) -> Any:  # its keys are typed as literals
    return prefix.states


async def test_tasks_cancelled_before_they_ran_are_not_counted_as_done(tmp_path: Any) -> None:
    async with cluster(1) as (s, _, c), feeding(s.address) as (_, seen):
        done = c.map(inc, range(3))
        await c.gather(done)
        held = c.map(wait_for, [str(tmp_path / "go")] * 20, pure=False)
        await until(lambda: "wait_for" in s.task_prefixes)
        await until(lambda: counts(s.task_prefixes["wait_for"])["processing"] > 0)
        await c.cancel(held)
        (tmp_path / "go").touch()
        del done
        await until(lambda: not s.tasks)
        await until(lambda: {"inc", "wait_for"} <= set(seen.prefixes))
        await until(lambda: states(seen.prefixes["inc"])["forgotten"] == 3)
        await until(lambda: not any(list(states(seen.prefixes["wait_for"]).values())[:-1]))
        # Those that a thread had begun may have come to their end before they were cancelled.
        assert states(seen.prefixes["wait_for"])["forgotten"] <= 2


async def test_scattered_data_is_counted_although_it_makes_no_transition() -> None:
    async with cluster() as (s, _, c), feeding(s.address, wanted=["graph"]) as (_, seen):
        future = await c.scatter({"lonely": 1})
        await until(lambda: "lonely" in seen.prefixes)
        assert states(seen.prefixes["lonely"])["memory"] == 1
        await until(lambda: list(seen.nodes) == ["lonely"])
        del future


async def test_too_many_prefixes_are_summed_up_and_groups_are_bounded() -> None:
    async with cluster() as (s, _, c):
        futures = [c.submit(inc, i, key=f"kind{chr(97 + i)}-{i}") for i in range(20)]
        await c.gather(futures)
        tables = TaskTables(s, max_prefixes=5, max_groups=5)
        tables.refresh()
        sent, _ = tables.prefixes.since(0)
        assert sent is not None
        columns = decoded(PREFIXES, sent["rows"])
        assert columns["name"][-1] == "(other)"
        assert columns["states"].sum(axis=1).tolist() == [1] * 5 + [15]
        assert len(tables.groups) == 5
        del futures


async def test_a_quiet_cluster_sends_no_tables_but_workers() -> None:
    async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
        await c.submit(inc, 1)
        await until(lambda: "inc" in seen.prefixes and not s.tasks)
        await until(lambda: states(seen.prefixes["inc"])["forgotten"] == 1)
        # With a heartbeat its worker tells what it did for the task.
        await until(
            lambda: any("inc" in row for one in seen.batches for row in one.rows("activities"))
        )
        first = len(seen.batches)
        await until(lambda: len(seen.batches) > first + 10)
        for batch in seen.batches[first + 1 :]:
            assert batch.tables.keys() <= {"workers", "actions"}
            assert not batch.rows("actions")
            assert batch.graph is None
            assert not batch.strings


async def test_tasks_that_ended_before_the_collector_came_are_counted_once() -> None:
    async with cluster() as (s, _, c):
        kept, gone = c.map(inc, range(5)), c.map(inc, range(10, 13))
        await c.gather([*kept, *gone])
        gone.clear()
        await until(lambda: len(s.tasks) == 5)
        async with feeding(s.address) as (_, seen):
            await c.submit(inc, 100)
            await until(lambda: len(seen.computed) == 1)
            assert seen.last.left_out["before"] == 8


async def test_workers_in_one_process_say_so_and_those_of_nannies_do_not() -> None:
    async with cluster(2) as (s, _, _c), feeding(s.address) as (_, seen):
        await until(lambda: set(seen.workers) == set(s.workers))
        own = {ws.pid for ws in s.workers.values()}
        assert {row["process"] for row in seen.workers.values()} == {f"127.0.0.1/{own.pop()}"}
        whole = max(ws.memory.process for ws in s.workers.values())
        assert seen.history.workers.totals().memory == pytest.approx(whole, rel=0.2)
        for ws in s.workers.values():
            ws.nanny = "tcp://127.0.0.1:1"
        await until(lambda: not any(row["process"] for row in seen.workers.values()))
        for ws in s.workers.values():
            ws.nanny = None
