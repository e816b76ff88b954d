"""A scheduler whose stock task stream already holds many tasks; ends when its input closes."""

from __future__ import annotations

import json
import random
import sys
import time

import dask
from distributed import LocalCluster
from distributed.diagnostics.task_stream import TaskStreamPlugin

_LANES = 64
_DURATION_S = 0.05


def _fill(plugin: TaskStreamPlugin, n_tasks: int) -> None:
    """Append finished tasks of 64 threads as `transition` would have."""
    chance = random.Random(0)
    begin = time.time() - n_tasks / _LANES * _DURATION_S * 1.2
    for i in range(n_tasks):
        lane = i % _LANES
        start = begin + i // _LANES * _DURATION_S * 1.2
        stop = start + chance.uniform(0.2, 1.0) * _DURATION_S
        plugin.transition(
            f"prefix{i % 8}-{i}",
            "processing",
            "memory",
            worker=f"tcp://10.0.0.{lane // 4}:4000",
            thread=lane,
            status="OK",
            nbytes=1000,
            startstops=({"action": "compute", "start": start, "stop": stop},),
        )


def main() -> None:
    """Serve until standard input closes; the first line printed says where."""
    n_tasks = int(sys.argv[1])
    settings = {"distributed.scheduler.dashboard.tasks.task-stream-length": n_tasks}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=0,
            processes=False,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
    ):
        plugin = TaskStreamPlugin(cluster.scheduler, maxlen=n_tasks)
        _fill(plugin, n_tasks)
        cluster.scheduler.add_plugin(plugin)
        url = cluster.dashboard_link.removesuffix("/status")
        print(json.dumps({"url": f"{url}/tasks"}), flush=True)  # noqa: T201 - the parent reads it
        sys.stdin.read()


if __name__ == "__main__":
    main()
