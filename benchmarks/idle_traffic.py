"""Frames and bytes that one viewer is sent while nothing changes on a cluster of 100 workers."""

from __future__ import annotations

import time
from contextlib import ExitStack

from distributed import Client

from benchmarks.clusters import quiet_cluster
from benchmarks.report import Figure
from benchmarks.targets import Target, our_targets, stock_targets
from benchmarks.viewers import Viewers
from dask_diag_lab import attach

TITLE = "A viewer of four plots while nothing changes, 100 workers"
_SECONDS = 15.0


def _rates(targets: list[Target]) -> tuple[float, float]:
    """Return frames and bytes per second, after a first picture has settled."""
    with Viewers(targets) as viewers:
        time.sleep(5)
        viewers.counts()
        begin = time.monotonic()
        time.sleep(_SECONDS)
        counts = viewers.counts()
        elapsed = time.monotonic() - begin
    return counts["frames"] / elapsed, counts["bytes"] / elapsed / 1000


def measure() -> list[Figure]:
    """Return data frames and kB per second, stock and ours on the same cluster in turn."""
    with ExitStack() as stack:
        cluster = stack.enter_context(quiet_cluster(100))
        stock = _rates(stock_targets(cluster.dashboard))
        client = stack.enter_context(Client(cluster.address))
        diagnostics = attach(client)
        stack.callback(diagnostics.close)
        time.sleep(3)
        ours = _rates(our_targets(diagnostics))
    return [
        Figure("data frames", "1/s", ours[0], stock[0], 0),
        Figure("data", "kB/s", ours[1], stock[1], 0),
    ]
