"""Rows of task groups: those that are there, and those that ended."""

from __future__ import annotations

from operator import add
from typing import Any

import pytest

from dask_diag_lab.collector.tasks import TaskTables
from tests.kernel.transport.live_cluster import cluster, feeding, states, until


def inc(x: int) -> int:
    return x + 1


async def test_groups_know_their_prefix_structure_and_times() -> None:
    async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
        a = c.submit(inc, 1, key=("load-1a", 0))
        b = c.submit(inc, a, key=("shift-2b", 0))
        d = c.submit(add, a, b, key=("join-3c", 0))
        assert await d == 5
        await until(lambda: len(seen.groups) == 3)
        await until(lambda: states(seen.groups["join-3c"])["memory"] == 1)
        assert seen.groups["join-3c"]["prefix"] == "join"
        assert set(seen.groups["join-3c"]["dependencies"]) == {"load-1a", "shift-2b"}
        assert seen.groups["load-1a"]["dependencies"] == ()
        group = s.task_groups["shift-2b"]
        row = seen.groups["shift-2b"]
        assert (row["start"], row["stop"]) == (group.start, group.stop)
        assert row["duration"] == pytest.approx(group.duration)
        del a, b, d
        await until(lambda: all(row["is_ended"] for row in seen.groups.values()))
        assert [sum(row["states"]) for row in seen.groups.values()] == [1, 1, 1]
        assert set(seen.groups["join-3c"]["dependencies"]) == {"load-1a", "shift-2b"}


def raise_unless(path: Any, n: int) -> int:
    if not path.exists():
        raise ValueError(n)
    return n


async def test_a_task_that_is_tried_again_did_not_fail_unless_it_ends_so(tmp_path: Any) -> None:
    async with cluster(1) as (s, _, c), feeding(s.address) as (_, seen):
        gate = tmp_path / "go"
        futures = [c.submit(raise_unless, gate, n, key=("try-1", n)) for n in range(5)]
        futures.append(c.submit(inc, futures[0], key=("after-1", 0)))
        await until(lambda: all(f.status == "error" for f in futures))
        await c.retry(futures)
        await until(lambda: all(f.status == "error" for f in futures))
        gate.touch()
        await c.retry(futures[:2])
        await c.retry(futures[-1:])
        await until(lambda: [f.status for f in futures].count("finished") == 3)
        futures.clear()
        await until(lambda: not s.tasks)
        await until(lambda: [row["is_ended"] for row in seen.groups.values()] == [True, True])
        for table in (seen.prefixes, seen.groups):
            rows = {name.partition("-")[0]: states(row) for name, row in table.items()}
            assert (rows["try"]["erred"], rows["try"]["forgotten"]) == (3, 2)
            assert (rows["after"]["erred"], rows["after"]["forgotten"]) == (0, 1)


async def test_a_group_goes_on_from_what_those_of_its_name_did() -> None:
    async with cluster(1) as (s, _, c), feeding(s.address) as (_, seen):

        def counts() -> dict[str, int]:
            row = seen.groups.get("part-1")
            return {} if row is None else {k: n for k, n in states(row).items() if n}

        async def compute(n: int) -> list[Any]:
            futures = [c.submit(inc, i, key=("part-1", i)) for i in range(n)]
            await c.gather(futures)
            return futures

        await compute(4)
        await until(lambda: counts() == {"forgotten": 4})
        assert seen.groups["part-1"]["is_ended"]
        before = seen.groups["part-1"]
        kept = await compute(5)
        await until(lambda: counts() == {"forgotten": 4, "memory": 5})
        row = seen.groups["part-1"]
        assert not row["is_ended"]
        assert row["start"] == before["start"]
        assert row["duration"] >= before["duration"]
        del kept
        await until(lambda: counts() == {"forgotten": 9})


async def test_rows_of_groups_that_ended_are_bounded_and_counted() -> None:
    async with cluster(1) as (s, _, c):
        tables = TaskTables(s, max_groups=2)
        for n in range(4):
            futures = [c.submit(inc, i, key=(f"part-{n}", i)) for i in range(n + 1)]
            await c.gather(futures)
            tables.refresh()
            for ts in s.tasks.values():  # what the hook would tell
                tables.touched.add(ts.group)
                tables.forgotten(ts, "")
            del futures, ts
            await until(lambda: not s.tasks)
            tables.refresh()
        assert "part-2" in tables.groups
        assert "part-3" in tables.groups
        assert tables.n_dropped == 2
