"""The clusters that are measured, most with workers and schedulers in processes of their own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from distributed import LocalCluster, Worker
from distributed.deploy.subprocess import SubprocessCluster

from benchmarks.program import Served, running


@dataclass(frozen=True, slots=True)
class RunningCluster:
    """A scheduler's address and its stock dashboard."""

    address: str
    dashboard: str


@contextmanager
def separate_cluster(
    n_workers: int = 1, worker_class: str = "distributed.Worker"
) -> Iterator[RunningCluster]:
    """Run a scheduler and workers of four threads, each in a process."""
    with SubprocessCluster(
        n_workers=n_workers,
        threads_per_worker=4,
        worker_class=worker_class,
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        dashboard = cluster.dashboard_link.removesuffix("/status")
        yield RunningCluster(cluster.scheduler_address, dashboard)


@contextmanager
def own_cluster() -> Iterator[RunningCluster]:
    """Run a scheduler in this process, as a plain ``Client()`` does, and a worker of four threads.

    The worker has a process of its own.
    """
    with LocalCluster(
        n_workers=1, threads_per_worker=4, dashboard_address="127.0.0.1:0"
    ) as cluster:
        dashboard = cluster.dashboard_link.removesuffix("/status")
        yield RunningCluster(cluster.scheduler_address, dashboard)


@contextmanager
def idle_cluster(n_workers: int, heartbeats: str = "still") -> Iterator[RunningCluster]:
    """Run a scheduler and ``n_workers`` workers that measure nothing, in one process.

    ``heartbeats`` is ``still`` or ``moving``: whether what they report ever changes.
    """
    with running("clusters.idle_workers", n_workers, heartbeats) as program:
        yield RunningCluster(**program.info)


def metrics(cpu: float, memory: int, moved: int = 0) -> dict[str, Any]:
    """Return what a heartbeat tells; ``moved`` bytes went over the network and to the disk."""
    names = [f"{way}_{what}" for way in ("incoming", "outgoing") for what in ("bytes", "count")]
    rates = {"read_bps": moved / 10, "write_bps": moved / 7}
    return {
        "cpu": cpu,
        "memory": memory,
        "num_fds": 20,
        "host_net_io": rates,
        "host_disk_io": rates,
        "event_loop_interval": 0.02,
        "gil_contention": 0.1,
        "managed_bytes": 0,
        "spilled_bytes": {"memory": 0, "disk": moved},
        "transfer": {key: moved for name in names for key in (name, f"{name}_total")},
        "task_counts": {},
        "bandwidth": {"total": 1e8, "workers": {}, "types": {}},
        "digests_total_since_heartbeat": {},
        "time": 0.0,
    }


class _StillWorker(Worker):
    """A worker of which nothing ever changes."""

    async def get_metrics(self) -> dict[str, Any]:
        return metrics(2.0, 150_000_000)


class _MovingWorker(Worker):
    """A worker whose CPU and memory change with every heartbeat."""

    async def get_metrics(self) -> dict[str, Any]:
        return metrics(random.uniform(0, 100), random.randrange(100_000_000, 500_000_000))


@asynccontextmanager
async def idle_workers(n_workers: str, heartbeats: str) -> Served:
    """Serve `idle_cluster`."""
    async with LocalCluster(
        n_workers=int(n_workers),
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        worker_class=_MovingWorker if heartbeats == "moving" else _StillWorker,
        memory_limit=10**9,
        asynchronous=True,
    ) as cluster:
        dashboard = cluster.dashboard_link.removesuffix("/status")
        yield {"address": cluster.scheduler_address, "dashboard": dashboard}, lambda: None
