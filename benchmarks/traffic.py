"""What viewers are sent, how much and how soon: counted at their websockets."""

from __future__ import annotations

import time

import numpy as np
from distributed import Client

from benchmarks.clusters import idle_cluster, separate_cluster
from benchmarks.program import running
from benchmarks.report import Figure
from benchmarks.viewers import Target, our_targets, stock_targets, watching
from dask_diag_lab import attach

_WORKERS = 1000
_HEARTBEAT_S = 6.0
"""The heartbeat interval of `distributed` at 1000 workers: n / 200 + 1 s."""
_SHOWN = ("cluster-memory", "workers-memory", "nprocessing", "task-stream", "progress")
"""The five panes of a status page, with the first of the three tabs in front."""
_TASKS = 40


def _rates(targets: list[Target], settle_s: float, seconds: float) -> tuple[float, float]:
    """Return frames and kB a second, after a first picture has settled."""
    with watching(targets) as viewers:
        time.sleep(settle_s)
        viewers.ask()
        begin = time.monotonic()
        time.sleep(seconds)
        counts = viewers.ask()
        elapsed = time.monotonic() - begin
    return counts["frames"] / elapsed, counts["bytes"] / elapsed / 1000


def idle_traffic() -> list[Figure]:
    """Return data frames and kB per second, stock and ours on the same cluster in turn."""
    with idle_cluster(100) as cluster:
        stock = _rates(stock_targets(cluster.dashboard), 5, 15)
        with Client(cluster.address) as client, attach(client) as diagnostics:
            time.sleep(3)
            ours = _rates(our_targets(diagnostics), 5, 15)
    return [
        Figure("data frames", "1/s", ours[0], stock[0], 0),
        Figure("data", "kB/s", ours[1], stock[1], 0),
    ]


def _status_page_kbps(module: str) -> float:
    """Return kB/s while everything changes."""
    with running(f"{module}.status_page", _WORKERS, _HEARTBEAT_S) as program:
        url, token = program.info["url"], program.info.get("token", "")
        is_stock = module == "stock"
        targets: list[Target] = [(f"{url}/status", "", ()) if is_stock else (url, token, _SHOWN)]
        return _rates(targets, 2 * _HEARTBEAT_S, 5 * _HEARTBEAT_S)[1]


def status_page() -> list[Figure]:
    """Return bytes of one page of 1000 workers, at their heartbeat rate."""
    stock, ours = _status_page_kbps("stock"), _status_page_kbps("ours")
    note = "every figure of every worker changes every 6 s"
    return [Figure("everything changes", "kB/s", ours, stock, 50, note)]


def _end(_: int) -> float:
    return time.time()


def _latencies_ms(client: Client, target: Target) -> tuple[float, float]:
    """Return median and 95th percentile from the end of a task to the frame that draws it."""
    found = []
    with watching([target]) as viewers:
        client.submit(_end, -1, pure=False).result()
        time.sleep(2)
        for i in range(_TASKS):
            viewers.ask()
            ended = client.submit(_end, i, pure=False).result()
            deadline = time.monotonic() + 10
            while (last := viewers.ask()["last"]) < ended and time.monotonic() < deadline:
                time.sleep(0.01)
            found.append(last - ended)
            # A step that is no multiple of any polling interval meets each of their phases.
            time.sleep(0.137)
    median, late = np.percentile(found, [50, 95]) * 1000
    return float(median), float(late)


def latency() -> list[Figure]:
    """Return median and 95th percentile, in milliseconds."""
    with separate_cluster() as cluster, Client(cluster.address) as client:
        stock = _latencies_ms(client, stock_targets(cluster.dashboard, ["task-stream"])[0])
        with attach(client) as diagnostics:
            ours = _latencies_ms(client, our_targets(diagnostics, ["task-stream"])[0])
    return [
        Figure("median", "ms", ours[0], stock[0]),
        Figure("95th percentile", "ms", ours[1], stock[1], 1000),
    ]
