"""Rows of task groups: those that are there, and those that ended."""

from __future__ import annotations

from dask_diag_lab.collector.tasks import TaskTables
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, inc


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
