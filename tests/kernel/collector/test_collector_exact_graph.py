"""The graph of single tasks, as a real scheduler has it, for who wants it."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.schema import GRAPH, STATES
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding

MEMORY = STATES.index("memory")


def inc(x: int) -> int:
    return x + 1


async def test_exact_graph_follows_tasks_gives_up_when_too_many_and_comes_back() -> None:
    config = {"distributed.dashboard.graph-max-items": 50}
    async with (
        cluster(config=config) as (s, _, c),
        feeding(s.address, wanted=[GRAPH]) as (_, seen),
    ):
        xs = c.map(inc, range(10))
        total = c.submit(sum, xs, key="total")
        await total
        await until(lambda: len(seen.nodes) == 11)
        names = {node[0]: n for n, node in seen.nodes.items()}
        assert set(seen.nodes[names["total"]][3]) == {names[x.key] for x in xs}
        await until(lambda: set(seen.node_states.values()) == {MEMORY})
        many = c.map(inc, range(1000, 1100))
        await c.gather(many)
        await until(lambda: not seen.nodes)
        change: Any = seen.last.graph
        assert (change.is_exact, change.limit, change.total) == (False, 50, 111)
        del many
        await until(lambda: len(seen.nodes) == 11)
        assert {node[0] for node in seen.nodes.values()} == set(names)
        assert not set(seen.nodes) & set(names.values()), "node numbers are never used again"
        del xs, total
        await until(lambda: not seen.nodes)


async def test_graph_keeps_up_with_tasks_that_come_and_go_between_pulls() -> None:
    async with (
        cluster() as (s, _, c),
        feeding(s.address, wanted=[GRAPH], interval_s=0.3, idle_interval_s=0.3) as (_, seen),
    ):
        for _ in range(5):  # the same keys again and again
            xs = [c.submit(inc, i, key=f"again-{i}") for i in range(20)]
            await c.gather(xs)
            del xs
            await until(lambda: not s.tasks)
        kept = c.submit(inc, 1, key="kept")
        await kept
        await until(lambda: [n[0] for n in seen.nodes.values()] == ["kept"])
