"""The timeline on a real cluster: pauses, retirement, moves; and messages of other people's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from distributed import Status

from dask_diag_lab.collector.events import EventLog
from dask_diag_lab.schema import EVENTS
from dask_diag_lab.schema.columns import decoded
from dask_diag_lab.store import Store
from dask_diag_lab.store.events import KINDS
from tests.kernel.transport.live_cluster import (
    Seen,
    cluster,
    connected,
    feeding,
    registered,
    until,
)


def graphs(seen: Seen) -> list[Mapping[str, Any]]:
    return seen.happened("update-graph")


def inc(x: int) -> int:
    return x + 1


def test_pausing_and_going_on_are_events_and_closing_a_paused_worker_is_no_resuming() -> None:
    async def run() -> None:
        # Otherwise the worker sees soon that it has memory enough, and goes on by itself.
        config = {"distributed.worker.memory.monitor-interval": "1h"}
        async with cluster(2, config=config) as (s, (a, b), _), feeding(s.address) as (_, seen):
            await until(lambda: seen.batches)
            for worker in (a, b):
                worker.status = Status.paused
            await until(lambda: len(seen.happened("worker-paused")) == 2)
            a.status = Status.running
            await until(lambda: seen.happened("worker-resumed"))
            await b.close()
            await until(lambda: seen.happened("worker-removed"))
            assert seen.happened("worker-resumed") == [{"worker": a.address}]
            assert {kind for _, kind, _ in seen.events} <= set(KINDS)

    asyncio.run(run())


def test_workers_that_came_before_the_collector_are_told_with_the_time_of_that() -> None:
    async def run() -> None:
        async with cluster(2) as (s, workers, _):
            s.log_event("all", {"action": "add-worker", "worker": ["of a user"]})
            attached = time.time()
            async with feeding(s.address) as (_, seen):
                await until(lambda: seen.happened("worker-added"))
                came = [event for event in seen.events if event[1] == "worker-added"]
                assert [detail["worker"] for _, _, detail in came] == [w.address for w in workers]
                assert all(attached - 60 < at < attached for at, _, _ in came)

    asyncio.run(run())


def test_graphs_and_clients_from_before_the_collector_are_told_with_the_time_of_that() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            await c.gather(c.map(inc, range(3)))
            async with connected(s.address) as other:
                await other.submit(inc, 7)
            s.log_event("scheduler", {"action": "update-graph", "status": "error"})
            s.log_event(c.id, {"action": "update-graph", "metrics": {"new_tasks": "of a user"}})
            attached = time.time()
            async with feeding(s.address) as (_, seen):
                await until(lambda: seen.happened("update-graph"))
                assert [(d["client"], d["graphs"], d["tasks"]) for d in graphs(seen)] == [
                    (c.id, 1, 3),
                    (other.id, 1, 1),
                ]
                assert seen.happened("client-added") == [{"client": c.id}, {"client": other.id}]
                assert seen.happened("client-removed") == [{"client": other.id}]
                times = [at for at, _, _ in seen.events]
                assert times == sorted(times)
                assert all(attached - 60 < at < attached for at in times)

    asyncio.run(run())


def test_a_collector_that_comes_back_tells_no_graph_twice_and_those_that_nobody_heard_of() -> None:
    async def run() -> None:
        store = Store()
        async with cluster() as (s, _, c):
            futures = []
            for size in (3, 5):  # the second one while nobody feeds the store
                futures += c.map(inc, range(10 * size, 11 * size))
                await c.gather(futures)
                async with feeding(s.address, on_batch=store.apply) as (feed, _):
                    futures += c.map(inc, range(100 * size, 101 * size))
                    await c.gather(futures)
                    await feed.pull_now()
                assert registered(s) is None
        told = [detail for _, kind, detail in store.events.rows if kind == "update-graph"]
        assert sum(detail["graphs"] for detail in told) == 4
        assert sum(detail["tasks"] for detail in told) == 3 + 3 + 5 + 5
        assert [kind for _, kind, _ in store.events.rows].count("client-added") == 1

    asyncio.run(run())


def test_retiring_workers_is_told_from_the_wish_to_the_end() -> None:
    async def run() -> None:
        async with cluster(2) as (s, (a, _), c), feeding(s.address) as (_, seen):
            await until(lambda: seen.batches)
            future = c.submit(inc, 1, workers=[a.address])
            await future
            await c.retire_workers([a.address])
            await until(lambda: seen.happened("worker-removed"))
            await until(lambda: seen.happened("workers-retired"))
            assert seen.happened("worker-closing") == [{"worker": a.address}]
            assert seen.happened("workers-retired") == [{"count": 1}]
            (removed,) = seen.happened("worker-removed")
            assert (removed["worker"], removed["cause"]) == (a.address, "it was retired")

    asyncio.run(run())


def test_messages_that_users_log_do_not_disturb_the_collector() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
            messages: list[Any] = [(), 7, "confirm", ("confirm",), ["confirm"], {"action": []}]
            for topic in ("stealing", "all", "mine"):
                for message in messages:
                    s.log_event(topic, message)
            assert await c.submit(inc, 1) == 2
            await until(lambda: "inc" in seen.prefixes)
            plugin = registered(s)
            assert plugin is not None
            assert not plugin._error

    asyncio.run(run())


def events_of(log: EventLog) -> list[tuple[float, str, dict[str, Any]]]:
    """Return all events as they arrive."""
    sent, _ = log.since(0)
    assert sent is not None
    columns = decoded(EVENTS, sent["columns"])
    return list(zip(*(column.tolist() for column in columns.values()), strict=True))


def test_tasks_given_up_with_one_worker_are_one_event_for_each_prefix() -> None:
    log = EventLog()
    for at in (1.0, 2.0):
        log.add_failure(at, "inc", "tcp://a:1")
    log.add_failure(2.0, "dec", "tcp://a:1")
    told = [(at, detail) for at, kind, detail in events_of(log) if kind == "task-erred"]
    assert [(at, d["prefix"], d["count"], d["until"]) for at, d in told] == [
        (1.0, "inc", 2, 2.0),
        (2.0, "dec", 1, 2.0),
    ]


def test_moves_between_two_pulls_are_one_event_in_their_order() -> None:
    log = EventLog()
    for at in (1.0, 1.5, 2.0):
        log.add_move(at)
    log.add(3.0, "restart")
    log.add_move(4.0)
    assert events_of(log) == [
        (1.0, "steal-burst", {"count": 3, "until": 2.0}),
        (3.0, "restart", {}),
        (4.0, "steal-burst", {"count": 1, "until": 4.0}),
    ]
