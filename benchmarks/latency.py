"""From the end of a task to the frame that draws it, as a viewer of the task stream receives it."""

from __future__ import annotations

import time
from contextlib import ExitStack

import numpy as np
from distributed import Client

from benchmarks.clusters import separate_cluster
from benchmarks.report import Figure
from benchmarks.targets import Target, our_targets, stock_targets
from benchmarks.viewers import Viewers
from dask_diag_lab import attach

TITLE = "From a task's end to its frame"
_TASKS = 40


def _end(_: int) -> float:
    return time.time()


def _latencies(client: Client, target: Target) -> list[float]:
    found = []
    with Viewers([target]) as viewers:
        client.submit(_end, -1, pure=False).result()
        time.sleep(2)
        for i in range(_TASKS):
            viewers.counts()
            ended = client.submit(_end, i, pure=False).result()
            deadline = time.monotonic() + 10
            while (last := viewers.counts()["last"]) < ended and time.monotonic() < deadline:
                time.sleep(0.01)
            found.append(last - ended)
            # A step that is no multiple of any polling interval meets each of their phases.
            time.sleep(0.137)
    return found


def measure() -> list[Figure]:
    """Return median and 95th percentile, in milliseconds."""
    with ExitStack() as stack:
        cluster = stack.enter_context(separate_cluster())
        client = stack.enter_context(Client(cluster.address))
        stock = _latencies(client, stock_targets(cluster.dashboard, ["task-stream"])[0])
        diagnostics = attach(client)
        stack.callback(diagnostics.close)
        ours = _latencies(client, our_targets(diagnostics, ["task-stream"])[0])
    at = {name: np.percentile(v, [50, 95]) * 1000 for name, v in (("s", stock), ("o", ours))}
    return [
        Figure("median", "ms", float(at["o"][0]), float(at["s"][0])),
        Figure("95th percentile", "ms", float(at["o"][1]), float(at["s"][1]), 1000),
    ]
