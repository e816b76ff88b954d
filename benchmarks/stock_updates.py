"""What one update of the stock dashboard's components costs on a scheduler of made-up workers."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from typing import Any, Final

from distributed import Scheduler
from distributed.core import Status
from distributed.dashboard.components import scheduler as stock
from distributed.scheduler import WorkerState

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
"""A million real task states of the engine take minutes to make and gigabytes to keep."""
STEPS: Final = 5


def made_up_metrics() -> dict[str, Any]:
    io = {"read_bps": random.uniform(0, 1e8), "write_bps": random.uniform(0, 1e8)}
    transfer = dict.fromkeys(
        (
            *("incoming_bytes", "incoming_count", "incoming_count_total"),
            *("outgoing_bytes", "outgoing_count", "outgoing_count_total"),
        ),
        random.randrange(10**6),
    )
    return {
        "cpu": random.uniform(0, 400),
        "memory": random.randrange(10**8, 6 * 10**9),
        "num_fds": 30,
        "host_net_io": io,
        "host_disk_io": io,
        "event_loop_interval": 0.02,
        "gil_contention": 0.1,
        "managed_bytes": 10**8,
        "spilled_bytes": {"memory": 0, "disk": random.randrange(10**8)},
        "transfer": transfer,
        "time": time.time(),
    }


def add_workers(scheduler: Scheduler, n_workers: int) -> list[WorkerState]:
    """Put workers that exist nowhere else into ``scheduler``."""
    workers = []
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
        ws.last_seen = time.time()
        scheduler.workers[ws.address] = ws
        scheduler.aliases[ws.name] = ws.address
        scheduler.running.add(ws)
        scheduler.total_nthreads += 4
        workers.append(ws)
    return workers


def _add_tasks(scheduler: Scheduler, workers: list[WorkerState], n_tasks: int) -> None:
    for i in range(n_tasks):
        ts = scheduler.new_task(f"prefix{i % 8}-{i}", None, "released")
        ts.nbytes = 10**6
        ts.state = "memory"
        scheduler.add_replica(ts, workers[i % len(workers)])


def _median_ms(component: Any, workers: list[WorkerState]) -> float:
    seen = []
    for _ in range(STEPS):
        for ws in workers:
            ws.metrics = made_up_metrics()
        began = time.perf_counter()
        component.update()
        seen.append((time.perf_counter() - began) * 1000)
    return sorted(seen)[STEPS // 2]


async def _measure(n_workers: int, n_tasks: int) -> dict[str, float]:
    async with Scheduler(dashboard=False, port=0, host="127.0.0.1", validate=False) as scheduler:
        workers = add_workers(scheduler, n_workers)
        for ws in workers:
            ws.metrics = made_up_metrics()
        _add_tasks(scheduler, workers, min(n_tasks, MOST_TASKS))
        costs = {
            name: _median_ms(getattr(stock, kind)(scheduler), workers)
            for name, kind in COMPONENTS.items()
        }
        # They have no connection to be closed, and nobody waits for their tasks.
        scheduler.workers.clear()
        scheduler.running.clear()
        return costs


def stock_updates(n_workers: int, n_tasks: int) -> dict[str, float]:
    """Return median milliseconds of `update` by our plot names, encoding not included.

    At most `MOST_TASKS` tasks are made.
    """
    return asyncio.run(_measure(n_workers, n_tasks))
