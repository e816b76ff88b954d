"""What the kernel pays: attaching, four live plots of 100 workers, a million tasks kept."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import ExitStack

import psutil
from distributed import Client

from benchmarks.clusters import quiet_cluster
from benchmarks.report import Figure
from benchmarks.simulator import Simulation
from benchmarks.targets import our_targets
from benchmarks.viewers import Viewers
from dask_diag_lab import attach
from dask_diag_lab.store import Store

TITLE = "What the kernel pays"
_SECONDS = 10.0


def _cpu_share(process: psutil.Process, seconds: float) -> float:
    """Return per cent of one core that ``process`` used over ``seconds``."""
    before = process.cpu_times()
    begin = time.monotonic()
    time.sleep(seconds)
    after = process.cpu_times()
    used = after.user + after.system - before.user - before.system
    return float(used / (time.monotonic() - begin) * 100)


def _live() -> tuple[float, float]:
    """Return seconds to attach, and per cent of a core with four plots of 100 workers open."""
    process = psutil.Process()
    with ExitStack() as stack:
        cluster = stack.enter_context(quiet_cluster(100, "moving"))
        client = stack.enter_context(Client(cluster.address))
        alone = _cpu_share(process, _SECONDS)
        began = time.monotonic()
        diagnostics = attach(client)
        targets = our_targets(diagnostics)  # waits until it is served
        attach_s = time.monotonic() - began
        stack.callback(diagnostics.close)
        with Viewers(targets):
            time.sleep(3)
            return attach_s, _cpu_share(process, _SECONDS) - alone


def _million_tasks() -> float:
    """Return MB of memory that a store of a million tasks and its keys holds."""
    batches = list(Simulation(n_workers=64, n_threads=4, n_tasks=1_000_000).batches())
    tracemalloc.start()
    try:
        store = Store()
        for batch in batches:
            store.apply(batch)
        return tracemalloc.get_traced_memory()[0] / 1e6
    finally:
        tracemalloc.stop()


def measure() -> list[Figure]:
    """Return the three figures of the design's last row."""
    attach_s, share = _live()
    return [
        Figure("attach() until it is served", "s", attach_s, None, 0.3),
        Figure("four plots of 100 workers, changing", "% of a core", share, None, 5),
        Figure("1 000 000 tasks kept", "MB", _million_tasks(), None, 150),
    ]
