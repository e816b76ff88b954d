"""Dask's own dashboard over made-up workers and tasks."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import dask
from distributed import LocalCluster, Scheduler
from distributed.core import Status
from distributed.dashboard.components import scheduler as stock
from distributed.diagnostics.task_stream import TaskStreamPlugin
from distributed.scheduler import WorkerState

from benchmarks.clusters import metrics
from benchmarks.program import Served

COMPONENTS: Final[Mapping[str, str]] = {
    "cluster-memory": "ClusterMemory",
    "workers-memory": "WorkersMemory",
    "occupancy": "Occupancy",
    "workers-transfer-bytes": "WorkersTransferBytes",
    "workers": "WorkerTable",
    "workers-network": "WorkerNetworkBandwidth",
    "progress": "TaskProgress",
    "memory-by-key": "MemoryByKey",
    "workers-cpu-timeseries": "SystemTimeseries",
    "contention": "Contention",
}
"""Our plot's name, and the stock class that shows the same, where this scheduler has data."""
MOST_TASKS: Final = 100_000
"""A million real task states of `distributed` take minutes to make and gigabytes to keep."""
_STEPS: Final = 5
_SLOTS: Final = 64
_DURATION_S: Final = 0.05


@asynccontextmanager
async def _scheduler(n_workers: int, *, dashboard: bool) -> AsyncIterator[Scheduler]:
    """Run a scheduler with workers that exist nowhere else."""
    async with Scheduler(
        host="127.0.0.1",
        port=0,
        dashboard=dashboard,
        dashboard_address="127.0.0.1:0",
        validate=False,
    ) as scheduler:
        for i in range(n_workers):
            ws = WorkerState(
                address=f"tcp://10.0.{i // 250}.{i % 250 + 1}:{40_000 + i}",
                status=Status.running,
                pid=i,
                name=i,
                nthreads=4,
                memory_limit=8 << 30,
                local_directory="",
                nanny="",
                server_id=str(i),
                services={},
                versions={},
                extra={},
                scheduler=scheduler,
            )
            scheduler.workers[ws.address] = ws
            scheduler.aliases[ws.name] = ws.address
            scheduler.running.add(ws)
            scheduler.total_nthreads += 4
        _change(scheduler)
        yield scheduler
        # They have no connection to be closed, and nobody waits for their tasks.
        scheduler.workers.clear()
        scheduler.running.clear()


def _change(scheduler: Scheduler) -> None:
    """Give every worker other figures, as a heartbeat does."""
    for ws in scheduler.workers.values():
        memory, moved = random.randrange(10**8, 6 * 10**9), random.randrange(10**9)
        ws.last_seen = time.time()
        ws.metrics = {**metrics(random.uniform(0, 400), memory, moved), "time": ws.last_seen}


def updates(n_workers: int, n_tasks: int) -> dict[str, float]:
    """Return median milliseconds of `update` by our plot names, encoding not included.

    At most `MOST_TASKS` tasks are made.
    """
    return asyncio.run(_updates(n_workers, min(n_tasks, MOST_TASKS)))


async def _updates(n_workers: int, n_tasks: int) -> dict[str, float]:
    async with _scheduler(n_workers, dashboard=False) as scheduler:
        workers = list(scheduler.workers.values())
        for i in range(n_tasks):
            ts = scheduler.new_task(f"prefix{i % 8}-{i}", None, "released")
            ts.nbytes = 10**6
            ts.state = "memory"
            scheduler.add_replica(ts, workers[i % len(workers)])
        return {
            name: _median_ms(getattr(stock, kind)(scheduler), scheduler)
            for name, kind in COMPONENTS.items()
        }


def _median_ms(component: Any, scheduler: Scheduler) -> float:  # of several classes
    seen = []
    for _ in range(_STEPS):
        _change(scheduler)
        began = time.perf_counter()
        component.update()
        seen.append((time.perf_counter() - began) * 1000)
    return statistics.median(seen)


@asynccontextmanager
async def status_page(n_workers: str, interval_s: str) -> Served:
    """Serve workers that all change each ``interval_s``."""
    async with _scheduler(int(n_workers), dashboard=True) as scheduler:

        async def go_on() -> None:
            while True:
                _change(scheduler)
                await asyncio.sleep(float(interval_s))

        going = asyncio.create_task(go_on())
        port = scheduler.identity()["services"]["dashboard"]
        yield {"url": f"http://127.0.0.1:{port}"}, lambda: None
        going.cancel()


@asynccontextmanager
async def task_stream(n_tasks: str) -> Served:
    """Serve a task stream that holds tasks of 64 threads."""
    n = int(n_tasks)
    settings = {"distributed.scheduler.dashboard.tasks.task-stream-length": n}
    address = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "protocol": "tcp"}
    with dask.config.set(settings):
        async with LocalCluster(0, processes=False, asynchronous=True, **address) as cluster:
            plugin = TaskStreamPlugin(cluster.scheduler, maxlen=n)
            _fill(plugin, n)
            cluster.scheduler.add_plugin(plugin)
            url = cluster.dashboard_link.removesuffix("/status")
            yield {"url": f"{url}/tasks"}, lambda: None


def _fill(plugin: TaskStreamPlugin, n_tasks: int) -> None:
    """Append finished tasks as `transition` would have."""
    chance = random.Random(0)
    begin = time.time() - n_tasks / _SLOTS * _DURATION_S * 1.2
    for i in range(n_tasks):
        slot = i % _SLOTS
        start = begin + i // _SLOTS * _DURATION_S * 1.2
        stop = start + chance.uniform(0.2, 1.0) * _DURATION_S
        plugin.transition(
            f"prefix{i % 8}-{i}",
            "processing",
            "memory",
            worker=f"tcp://10.0.0.{slot // 4}:4000",
            thread=slot,
            status="OK",
            nbytes=1000,
            startstops=({"action": "compute", "start": start, "stop": stop},),
        )
