"""Tables that are full serve what is alive, and say what they leave out."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from dask_diag_lab.collector.bounded_table import BoundedTable
from dask_diag_lab.collector.tasks import TaskTables
from tests.kernel.transport.live_cluster import cluster, feeding, registered, until


def inc(x: int) -> int:
    return x + 1


def wait_for(path: Any) -> None:
    while not path.exists():
        time.sleep(0.01)


def rows_of(table: Any) -> dict[str, Any]:  # a row's columns differ in type
    return {row[0]: row for row in table.since(0).rows}


def test_prefixes_that_ended_give_their_rows_to_those_at_work() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            tables = TaskTables(s, max_prefixes=3)
            for name in "abcde":
                await c.gather(c.map(inc, range(4), key=f"old{name}"))
                await until(lambda: not s.tasks)
                tables.touched.update(g for p in s.task_prefixes.values() for g in p.groups)
            # The hook is not there: this is what it would have touched.
            for prefix in s.task_prefixes.values():
                tables._put_prefix(prefix)
            tables.refresh()
            before = rows_of(tables.prefixes)
            assert len(before) == 4
            assert before["(other)"][1][-1] == 8
            cursor = tables.prefixes.version
            futures = c.map(inc, range(2), key="new")
            await c.gather(futures)
            tables.refresh()
            change = tables.prefixes.since(cursor)
            assert change is not None
            assert "new" in {row[0] for row in change.rows}
            assert len(change.removed) == 1
            after = rows_of(tables.prefixes)
            assert len(after) == 4
            assert sum(sum(row[1]) for row in after.values()) == 22
            assert after["(other)"][1][-1] == 12
            again = c.map(inc, range(3), key=change.removed[0])
            await c.gather(again)
            tables.refresh()
            assert sum(rows_of(tables.prefixes)[change.removed[0]][1]) == 7, "with all it counted"
            del futures, again

    asyncio.run(run())


def test_groups_get_a_row_when_one_is_free() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            first = [c.submit(inc, i, key=f"first{chr(97 + i)}-{i}") for i in range(3)]
            await c.gather(first)
            tables = TaskTables(s, max_groups=3)
            tables.refresh()
            later = c.submit(inc, 1, key="later-1")
            await later
            tables.refresh()
            assert "later" not in tables.groups
            tables.touched.update(s.task_groups.values())
            for future in first:
                future.release()
            await until(lambda: len(s.tasks) == 1)
            tables.refresh()
            assert "later" in tables.groups
            assert sum(rows_of(tables.groups)["(other)"][2]) == 0

    asyncio.run(run())


def test_running_tasks_beyond_the_bound_are_counted(tmp_path: Any) -> None:
    async def run() -> None:
        async with cluster(nthreads=3) as (s, _, c), feeding(s.address) as (_, seen):
            await until(lambda: seen.state == "live")
            plugin = registered(s)
            assert plugin is not None
            assert set(seen.last.left_out.values()) == {0}
            plugin._state._running._limit = 1
            gate = tmp_path / "gate"
            futures = [c.submit(wait_for, gate, key=f"long-{i}") for i in range(3)]
            await until(lambda: seen.last.left_out["running"] == 2)
            gate.touch()
            await c.gather(futures)
            await until(lambda: seen.last.left_out["running"] == 0)

    asyncio.run(run())


def test_a_row_that_is_not_kept_is_counted() -> None:
    table = BoundedTable(3, 2, ("(other)",), ())
    table.put("x", ("x", (1, 0), 0), (1, 0), 0, is_live=True)
    table.forget("x")
    table.settle()
    assert (table.changes.names(), table.n_forgotten) == ((), 1)
