"""Rows of task groups: those that are there, and those that ended."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.collector.tasks import TaskTables
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding, inc, states


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


async def test_groups_that_come_and_go_beside_a_full_table_leave_nothing_behind() -> None:
    async with cluster(1) as (s, _, c):
        tables = TaskTables(s, max_groups=1)
        stays = c.submit(inc, 0, key=("stays", 0))
        await stays
        tables.refresh()
        futures = [c.submit(inc, 1, key=(f"short-{n}", 0)) for n in range(3)]
        await c.gather(futures)
        for ts in s.tasks.values():  # what the hook would tell
            if ts.key != stays.key:
                tables.touched.add(ts.group)
                tables.forgotten(ts, "")
        del futures, ts
        await until(lambda: len(s.tasks) == 1)
        tables.refresh()
        assert "stays" in tables.groups
        assert tables.n_dropped == 3
        assert not [name for name in tables._done if name.startswith("short")]
