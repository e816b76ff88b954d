"""What ended before the collector came is counted: what ran, once each time, and nothing else."""

from __future__ import annotations

from tests.kernel.transport.live_cluster import cluster, feeding, until


def inc(x: int) -> int:
    return x + 1


def fail(x: object) -> None:
    raise ValueError(x)


async def test_tasks_that_ended_before_the_collector_came_are_counted() -> None:
    async with cluster() as (s, _, c):
        kept = c.map(inc, range(5))
        gone = c.map(inc, range(10, 13))
        await c.gather([*kept, *gone])
        for future in gone:
            future.release()
        await until(lambda: len(s.tasks) == 5)
        async with feeding(s.address) as (_, seen):
            await until(lambda: seen.state == "live")
            assert seen.last.left_out["before"] == 8
            await c.submit(inc, 100)
            await until(lambda: len(seen.computed) == 1)
            assert seen.last.left_out["before"] == 8
