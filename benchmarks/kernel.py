"""What the kernel pays: attaching, live plots, and a history of a million tasks."""

from __future__ import annotations

import gc
import pickle
import time
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

import psutil
from distributed import Client

from benchmarks.clusters import idle_cluster
from benchmarks.program import Served, running
from benchmarks.report import Figure
from benchmarks.simulator import Simulation
from benchmarks.viewers import our_targets, watching
from dask_diag_lab import attach
from dask_diag_lab.analysis.case import case_of
from dask_diag_lab.analysis.findings import findings_of
from dask_diag_lab.store import History
from dask_diag_lab.store.sums import ALL
from dask_diag_lab.views.format import write

_BUCKETS = 1200
"""About as many as a wide screen has pixels."""
_REPEATS = 5
_SECONDS = 10.0


def _ms(work: Callable[[], object]) -> float:
    """Return the milliseconds of this thread that ``work`` takes."""
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1e3


def _window_ms(history: History, begin: float, share: float) -> float:
    """Return the median of windows that move a little, as a live one does."""
    actions = history.actions
    span = actions.last_stop - actions.first_start
    seen = []
    for number in range(_REPEATS):
        t0 = actions.first_start + begin * span + number * 1e-5
        query = (t0, t0 + share * span, None, _BUCKETS)
        seen.append(_ms(lambda query=query: actions.query(*query).answer()))  # type: ignore[misc]  # a default
    return median(seen)


def _findings_ms(n_workers: int, n_tasks: int) -> float:
    """Return what budget and findings of a run on workers of four threads take."""
    history = History()
    for batch in Simulation(n_workers, 4, n_tasks).batches():
        history.apply(batch)
    read = case_of(history, ALL, history.actions.last_stop, run=1)
    return median(_ms(lambda: findings_of(read(), write)) for _ in range(_REPEATS))


def million_tasks() -> list[Figure]:
    """Return windows of several widths, and batches at the begin and the end."""
    history, batches = History(), list[float]()
    for batch in Simulation(64, 4, 1_000_000).batches(rows=5000):
        batches.append(_ms(lambda batch=batch: history.apply(batch)))  # type: ignore[misc]  # a default
    late = f"{median(batches[20:70]):.1f} of the first ones"
    return [
        Figure("a window of all of it, 256 threads", "ms", _window_ms(history, 0.0, 1.0), None, 30),
        Figure("a window of 1 % of it", "ms", _window_ms(history, 0.53, 0.01), None, 30),
        Figure("a batch of 5000 rows, mean", "ms", mean(batches)),
        Figure("a batch at the end, median", "ms", median(batches[-50:]), None, None, late),
        Figure("its budget and findings, 1000 threads", "ms", _findings_ms(250, 10**6), None, 2e3),
        Figure("the same of 10,000 tasks", "ms", _findings_ms(16, 10_000), None, 50),
    ]


def _live() -> tuple[float, float]:
    """Return seconds to attach, and per cent of a core with four plots of 100 workers open."""
    process = psutil.Process()
    with idle_cluster(100, "moving") as cluster, Client(cluster.address) as client:
        alone = process.cpu_percent(_SECONDS)
        began = time.monotonic()
        with attach(client) as diagnostics:
            targets = our_targets(diagnostics)  # waits until it is served
            attach_s = time.monotonic() - began
            with watching(targets):
                time.sleep(3)
                return attach_s, process.cpu_percent(_SECONDS) - alone


@asynccontextmanager
async def kept(batches: str) -> Served:
    """Give the MB that the process gains by a history of the batches in a file."""
    process = psutil.Process()
    with Path(batches).open("rb") as file:  # noqa: ASYNC230 - there is nothing else to do
        before, history = process.memory_info().rss, History()
        with suppress(EOFError):
            while True:
                history.apply(pickle.load(file))  # noqa: S301 - of `_kept_mb`
    gc.collect()
    yield (process.memory_info().rss - before) / 1e6, lambda: history.actions.total


def _kept_mb(n_tasks: int) -> float:
    """Return what `kept` measures of so many tasks and their keys."""
    with TemporaryDirectory() as folder:
        batches = Path(folder) / "batches"
        with batches.open("wb") as file:
            for batch in Simulation(n_workers=64, n_threads=4, n_tasks=n_tasks).batches():
                pickle.dump(batch, file)
        # A process of its own: memory that this one has freed would be used again, and not seen.
        with running("kernel.kept", batches) as program:
            return float(program.info)


def kernel_cost() -> list[Figure]:
    """Return the figures of the design's last row."""
    attach_s, share = _live()
    return [
        Figure("attach() until it is served", "s", attach_s, None, 0.3),
        Figure("four plots of 100 workers, changing", "% of a core", share, None, 5),
        Figure("1 000 000 tasks kept, resident", "MB", _kept_mb(1_000_000), None, 150),
    ]
