"""A scheduler with workers that measure nothing: their heartbeats are made up.

Usage: number of workers, then ``still`` (always the same figures) or ``moving`` (CPU and memory
change with every heartbeat). Ends when its input closes.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

from distributed import LocalCluster, Worker

_CONSTANT = {
    "cpu": 2.0,
    "memory": 150_000_000,
    "num_fds": 20,
    "host_net_io": {"read_bps": 0.0, "write_bps": 0.0},
    "host_disk_io": {"read_bps": 0.0, "write_bps": 0.0},
    "event_loop_interval": 0.02,
    "managed_bytes": 0,
    "spilled_bytes": {"memory": 0, "disk": 0},
    "transfer": {
        "incoming_bytes": 0,
        "incoming_count": 0,
        "incoming_count_total": 0,
        "outgoing_bytes": 0,
        "outgoing_count": 0,
        "outgoing_count_total": 0,
    },
    "task_counts": {},
    "bandwidth": {"total": 1e8, "workers": {}, "types": {}},
    "digests_total_since_heartbeat": {},
}


class StillWorker(Worker):
    """A worker of which only the heartbeat's time moves."""

    async def get_metrics(self) -> dict[str, Any]:
        return {**_CONSTANT, "time": 0.0}


class MovingWorker(Worker):
    """A worker whose CPU and memory change with every heartbeat."""

    async def get_metrics(self) -> dict[str, Any]:
        cpu, memory = random.uniform(0, 100), random.randrange(100_000_000, 500_000_000)
        return {**_CONSTANT, "cpu": cpu, "memory": memory, "time": 0.0}


def main() -> None:
    """Serve until standard input closes; the first line printed says where."""
    with LocalCluster(
        n_workers=int(sys.argv[1]),
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        worker_class=MovingWorker if sys.argv[2] == "moving" else StillWorker,
        memory_limit=10**9,
    ) as cluster:
        dashboard = cluster.dashboard_link.removesuffix("/status")
        where = {"address": cluster.scheduler_address, "dashboard": dashboard}
        print(json.dumps(where), flush=True)  # noqa: T201 - the parent reads it
        sys.stdin.read()


if __name__ == "__main__":
    main()
