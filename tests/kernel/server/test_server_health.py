"""What the sidebar is told of a scheduler that cannot have a collector."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from dask_diag_lab.server.health import TaskCounts, health_of
from dask_diag_lab.store import Store
from tests.kernel.serving import run, until
from tests.kernel.store.batches import BatchMaker, prefix_row
from tests.kernel.transport.live_cluster import cluster, feeding


def tasks_of(store: Store) -> TaskCounts:
    return health_of(store)["tasks"]


@asynccontextmanager
async def without_collector() -> AsyncIterator[tuple[Store, Any]]:  # the engine's Client
    """Follow a real scheduler that lets nobody register a plugin."""
    store = Store()
    async with cluster() as (s, _, c):
        s.blocked_handlers = ["register_scheduler_plugin"]
        async with feeding(s.address, on_batch=store.apply):
            await until(lambda: store.degraded, "it has a collector")
            yield store, c


def invert(x: int) -> float:
    return 1 / x


def test_tasks_are_counted_by_prefix_where_no_groups_are_told() -> None:
    store = Store()
    rows = [prefix_row("inc", processing=2, memory=10, erred=1), prefix_row("add", waiting=4)]
    store.apply(BatchMaker().batch(degraded="No plugins here.", prefixes=rows))
    assert tasks_of(store) == {"total": 17, "done": 10, "erred": 1, "processing": 2}


def test_tasks_of_a_scheduler_without_collector_are_counted() -> None:
    async def story() -> None:
        async with without_collector() as (store, client):
            futures = client.map(invert, range(6))
            counts = {"total": 6, "done": 5, "erred": 1, "processing": 0}
            await until(lambda: tasks_of(store) == counts, "they were not counted")
            del futures

    run(story())


def test_what_a_scheduler_without_collector_forgot_is_counted_no_more() -> None:
    async def story() -> None:
        async with without_collector() as (store, client):
            futures = client.map(invert, range(1, 6))
            await until(lambda: tasks_of(store)["done"] == 5, "they were not counted")
            del futures
            await until(lambda: tasks_of(store)["total"] == 0, "they are still counted")

    run(story())
