"""The exact task graph is followed for who wants it, and costs nothing when nobody does."""

from __future__ import annotations

import asyncio
import time

from dask_diag_lab.collector.timing import Leases
from dask_diag_lab.schema import GRAPH, STATES
from tests.kernel.transport.live_cluster import cluster, feeding, registered, until


def inc(x: int) -> int:
    return x + 1


def test_transitions_touch_nothing_of_the_graph_that_nobody_wants() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
            futures = c.map(inc, range(20))
            await c.gather(futures)
            await until(lambda: "inc" in seen.prefixes)
            plugin = registered(s)
            assert plugin is not None
            graph = plugin._graph
            assert not graph.touched
            assert not graph._entries
            assert not graph.is_followed
            assert all(batch.graph is None for batch in seen.batches)

    asyncio.run(run())


def test_a_graph_that_is_wanted_later_comes_as_a_snapshot() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address) as (feed, seen):
            xs = c.map(inc, range(5))
            total = c.submit(sum, xs, key="total")
            await total
            feed.wanted = frozenset({GRAPH})
            await until(lambda: len(seen.nodes) == 6)
            change = next(batch.graph for batch in seen.batches if batch.graph is not None)
            assert (change.is_snapshot, change.is_followed, change.total) == (True, True, 6)
            assert set(seen.node_states.values()) == {STATES.index("memory")}
            del total, xs

    asyncio.run(run())


def test_who_looks_away_for_a_moment_is_told_what_happened_meanwhile() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address, wanted=[GRAPH]) as (feed, seen):
            kept = c.submit(inc, 1, key="kept")
            await kept
            await until(lambda: [node[0] for node in seen.nodes.values()] == ["kept"])
            (number,) = seen.nodes
            feed.wanted = frozenset()
            first = len(seen.batches) + 1
            other = c.submit(inc, 2, key="other")
            await other
            await until(lambda: len(seen.batches) > first + 10)
            assert all(batch.graph is None for batch in seen.batches[first:])
            feed.wanted = frozenset({GRAPH})
            await until(lambda: len(seen.nodes) == 2)
            assert number in seen.nodes, "the same node, not a new snapshot"
            del kept, other

    asyncio.run(run())


def test_nobody_s_graph_is_dropped_when_the_lease_is_over_and_comes_back() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address, wanted=[GRAPH]) as (feed, seen):
            kept = c.submit(inc, 1, key="kept")
            await kept
            await until(lambda: len(seen.nodes) == 1)
            plugin = registered(s)
            assert plugin is not None
            graph = plugin._graph
            plugin._graph_leases = Leases(0.5, time.monotonic, is_given=False)
            await until(plugin._graph_leases.is_any)
            feed.wanted = frozenset()
            await until(lambda: not graph.is_followed)
            assert not graph._entries
            await until(lambda: not seen.nodes)
            void = [b.graph for b in seen.batches if b.graph and not b.graph.is_followed]
            assert [(change.is_snapshot, change.total) for change in void] == [(True, 1)]
            await c.submit(inc, 5)
            assert not graph.touched
            feed.wanted = frozenset({GRAPH})
            await until(lambda: [node[0] for node in seen.nodes.values()] == ["kept"])
            del kept

    asyncio.run(run())
