"""The plots of tasks against a real scheduler and real workers in known situations."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from dask_diag_lab.collector.errors import MAX_ERRORS
from dask_diag_lab.schema import EXTRA_NAMES, GRAPH, Kind
from dask_diag_lab.store import Store
from dask_diag_lab.views.tasks.by_prefix import ComputeTimePerKey, MemoryByKey
from dask_diag_lab.views.tasks.events import Events
from dask_diag_lab.views.tasks.exceptions import Exceptions
from dask_diag_lab.views.tasks.group_graph import TaskGroupGraph
from dask_diag_lab.views.tasks.group_progress import TaskGroupProgress
from tests.kernel.transport.live_cluster import cluster, feeding, until


@asynccontextmanager
async def watched(**options: Any) -> AsyncIterator[tuple[Store, Any]]:  # a Client
    """Run a cluster, and a store that gets all that any plot can want of it."""
    store = Store()
    async with (
        cluster(**options) as (scheduler, _workers, client),
        feeding(scheduler.address, on_batch=store.apply) as (feed, _seen),
    ):
        feed.watch(True, EXTRA_NAMES | {GRAPH})
        yield store, client


def run(scenario: Any) -> None:  # a coroutine
    asyncio.run(asyncio.wait_for(scenario, 60))


def big(n: int) -> bytes:
    return b"x" * n


def divide(n: int) -> float:
    return 1 / n


def parse(row: int) -> None:
    raise ValueError(f"row {row} is bad")


def die(_: int) -> None:
    os._exit(1)


def test_bytes_in_memory_are_those_of_the_scheduler_and_leave_with_the_futures() -> None:
    async def scenario() -> None:
        async with watched() as (store, client):
            view = MemoryByKey(store)
            futures = client.map(big, [1_000_000 + i for i in range(4)], key="big")
            await client.gather([client.submit(len, future) for future in futures])
            await until(lambda: dict(zip(*_two(view), strict=True)).get("big", 0) > 4_000_000)
            half = futures[:2]
            del futures
            await until(lambda: 1_900_000 < dict(zip(*_two(view), strict=True))["big"] < 2_100_000)
            del half
            await until(lambda: "big" not in _two(view)[0])

    run(scenario())


def _two(view: MemoryByKey) -> tuple[list[str], list[int]]:
    columns = view.table().columns
    return list(columns["prefix"]), list(columns["nbytes"])


def test_failed_tasks_are_counted_by_error_and_nothing_else_is() -> None:
    async def scenario() -> None:
        async with watched() as (store, client):
            exceptions, groups = Exceptions(store), TaskGroupGraph(store)
            await until(lambda: store.extras["errors"].is_known)
            assert exceptions.table().columns["tasks"] == []
            futures = client.map(divide, [0, 1, 2, 0], pure=False)
            await client.gather(futures, errors="skip")
            await until(lambda: len(store.extras["errors"]) == 2)
            assert exceptions.table().columns["tasks"] == [2]
            columns = exceptions.table().columns
            assert columns["prefix"] == ["divide"]
            assert "division by zero" in columns["exception"][0]
            assert "in divide" in columns["traceback"][0]
            await until(lambda: sum(groups.table().columns["erred"]) == 2)

    run(scenario())


def test_failures_with_a_text_each_are_one_row_with_all_tasks_and_other_errors_stay() -> None:
    async def scenario() -> None:
        async with watched() as (store, client):
            view = Exceptions(store)
            view.build()
            await client.gather(client.map(divide, [0]), errors="skip")
            await client.gather(client.map(parse, range(250)), errors="skip")
            await until(lambda: max(store.extras["errors"]["kind_count"], default=0) == 250)
            view.update()
            data = view.sortable.source.data
            assert (data["prefix"], list(data["tasks"])) == (["parse", "divide"], [250, 1])
            assert data["exception"][0].endswith("is bad') and other texts (up to 249)")
            table = view.table().columns
            texts = [text for text in table["exception"] if "is bad" in text]
            assert len(set(texts)) == len(texts) == MAX_ERRORS
            assert sum(table["tasks"]) == 251
            assert table["kind"][0].startswith("ValueError, File ")
            assert table["kind"][0].endswith(", in parse")
            assert table["kind_first"][0] <= min(filter(None, table["time"][: len(texts)]))

    run(scenario())


def test_killed_worker_is_an_event_and_its_task_an_error() -> None:
    async def scenario() -> None:
        options = {"nanny": True, "config": {"distributed.scheduler.allowed-failures": 0}}
        async with watched(**options) as (store, client):
            exceptions, events = Exceptions(store), Events(store)
            await client.gather([client.submit(die, 1)], errors="skip")
            await until(lambda: "worker-killed" in events.table().columns["kind"])
            await until(lambda: len(store.extras["errors"]) == 1)
            assert exceptions.table().columns["prefix"] == ["die"]
            assert "KilledWorker" in exceptions.table().columns["exception"][0]

    run(scenario())


def test_times_of_tasks_are_the_same_by_prefix_and_over_time() -> None:
    async def scenario() -> None:
        async with watched(nthreads=2) as (store, client):
            times, threads = ComputeTimePerKey(store), TaskGroupProgress(store)
            await client.gather(client.map(big, range(50), pure=False))
            await until(lambda: store.actions.count >= 50)
            await until(lambda: times.table().columns["prefix"] == ["big"])
            table = threads.table().columns
            spans = zip(table["start"], table["stop"], table["threads"], strict=True)
            total = sum((stop - start) * number for start, stop, number in spans)
            rows = store.actions.since(0)[1]
            # On a busy machine a worker takes long to deserialize a task, and tells that too.
            took = (rows["stop"] - rows["start"])[rows["kind"] == Kind.COMPUTE]
            assert len(took) == 50
            assert abs(total - float(took.sum())) < 1e-3

    run(scenario())
