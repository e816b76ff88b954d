"""The graph of single tasks, as a real scheduler has it, for who wants it."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.schema import STATES
from dask_diag_lab.schema.tables import GRAPH
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding, inc

MEMORY = STATES.index("memory")


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
        before, graph = set(seen.nodes), seen.history.graph
        needed = set(graph.nodes.dependencies[seen.nodes.index("total")])
        assert needed == {x.key for x in xs}
        await until(lambda: set(graph.state.tolist()) == {MEMORY})
        many = c.map(inc, range(1000, 1100))
        await c.gather(many)
        await until(lambda: not seen.nodes)
        change: Any = seen.last.graph
        assert (change.is_exact, change.limit, change.total) == (False, 50, 111)
        del many
        await until(lambda: len(seen.nodes) == 11)
        assert set(seen.nodes) == before
        del xs, total
        await until(lambda: not seen.nodes)


async def test_long_keys_that_begin_alike_are_tasks_of_their_own() -> None:
    async with cluster() as (s, _, c), feeding(s.address, wanted=[GRAPH]) as (_, seen):
        first, second = (c.submit(inc, i, key=f"{'long-' * 200}{i}") for i in range(2))
        await c.gather([first, second])
        await until(lambda: len(seen.nodes) == 2)
        del first
        await until(lambda: len(seen.nodes) == 1)
