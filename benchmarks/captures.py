"""What captures and bars cost: how long the scheduler's loop is held, how large a file is."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed
from distributed import Client, Future, Scheduler, wait

import dask_diag_lab
from benchmarks.clusters import RunningCluster, own_cluster, separate_cluster
from benchmarks.report import Figure

_TASKS = 100_000
_AT_ONCE = 5_000
_RESULTS = 500
_BEHIND_EACH = 999
"""Tasks that each of these results waits for."""
_LIMIT_S = 120
_EXTENSION = "benchmark-watch"


def performance_reports() -> list[Figure]:
    """Return what a report of 100 000 tasks costs, stock's and ours, each on a new cluster."""
    with TemporaryDirectory() as folder:
        stock, ours, stock_beside, ours_beside = (
            _report(made.performance_report, Path(folder) / f"{made.__name__}.html", cluster)
            for cluster in (separate_cluster, own_cluster)
            for made in (distributed, dask_diag_lab)
        )
    held, note = "scheduler's loop held, longest", f"{_TASKS:,} tasks, scheduler in a process"
    apart, beside = f"{note} of its own", f"{note} with the client, as of a plain Client()"
    return [
        Figure(held, "ms", 1000 * ours[0], 1000 * stock[0], 50, apart),
        Figure(held, "ms", 1000 * ours_beside[0], 1000 * stock_beside[0], 50, beside),
        Figure("end of the block", "s", ours[1], stock[1], note=apart),
        Figure("file", "MB", ours[2], stock[2], 3),
    ]


def _report(
    kind: Any,  # a class of either
    file: Path,
    started: Callable[[], AbstractContextManager[RunningCluster]],
) -> tuple[float, float, float]:
    """Return the longest turn of the scheduler's loop and the time to write (s), and size (MB)."""
    with started() as cluster, Client(cluster.address) as client, ExitStack() as block:
        block.enter_context(kind(str(file)))
        _compute(client)
        longest_s, took_s = _measure(client, block.close)
    return longest_s, took_s, file.stat().st_size / 1e6


def progress() -> list[Figure]:
    """Return what the bars of half a million tasks cost before they move."""
    with separate_cluster() as cluster, Client(cluster.address) as client, ExitStack() as begun:
        client.run_on_scheduler(_fill)
        futures: list[Future[Any]] = [Future(f"total-{i}", client) for i in range(_RESULTS)]

        def ours() -> None:
            bars = dask_diag_lab.progress(futures, notebook=True)
            begun.callback(bars.close)
            _wait_until(lambda: bars.report.is_counted)

        def stock() -> None:
            bars = distributed.progress(futures, notebook=True)
            loop = client.loop.asyncio_loop
            begun.callback(asyncio.run_coroutine_threadsafe(bars.listen(), loop).cancel)
            _wait_until(lambda: bool(bars.widget.children))

        measured = []
        for start in (stock, ours):
            client.run_on_scheduler(gc.collect)  # what came before is not collected meanwhile
            measured.append(_measure(client, start))
        client.run_on_scheduler(_empty)
    (stock_held, stock_took), (ours_held, ours_took) = measured
    held = "the scheduler's loop is held at once, at most"
    return [
        Figure(held, "ms", 1000 * ours_held, 1000 * stock_held, 50.0),
        Figure("from the call to its bars", "s", ours_took, stock_took),
    ]


def _wait_until(has_begun: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _LIMIT_S
    while not has_begun():
        if time.monotonic() > deadline:
            msg = f"no bars after {_LIMIT_S} s"
            raise RuntimeError(msg)
        time.sleep(0.01)


async def _fill(dask_scheduler: Scheduler) -> None:
    """Make tasks that wait for ever: sums, each of as many others."""
    for i in range(_RESULTS):
        total = dask_scheduler.new_task(f"total-{i}", None, "waiting")
        for j in range(_BEHIND_EACH):
            total.add_dependency(dask_scheduler.new_task(f"load-{i}-{j}", None, "waiting"))


def _empty(dask_scheduler: Scheduler) -> None:
    """Forget the tasks at once: letting go of them one by one would take a minute."""
    for client in dask_scheduler.clients.values():
        client.wants_what.clear()
    dask_scheduler.tasks.clear()


def _compute(client: Client) -> None:
    """Run the tasks, and wait until what they leave to do is over."""
    for first in range(0, _TASKS, _AT_ONCE):
        wait(client.map(_inc, range(first, first + _AT_ONCE)))
    time.sleep(2)


def _measure(client: Client, call: Callable[[], object]) -> tuple[float, float]:
    """Return for how long a call held the scheduler's loop at most, and how long it took (s)."""
    client.run_on_scheduler(_watch)
    began = time.perf_counter()
    call()
    took_s = time.perf_counter() - began
    return client.run_on_scheduler(_longest_s), took_s


def _inc(number: int) -> int:
    return number + 1


def _watch(dask_scheduler: Any) -> None:
    """Note on the scheduler how long its loop is held, from now on."""
    turns: dict[str, Any] = {"longest_s": 0.0}
    dask_scheduler.extensions[_EXTENSION] = turns

    async def watch() -> None:
        while _EXTENSION in dask_scheduler.extensions:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            turns["longest_s"] = max(turns["longest_s"], time.perf_counter() - before - 0.001)

    turns["task"] = asyncio.create_task(watch())


def _longest_s(dask_scheduler: Any) -> float:
    """Return the longest time that the loop was held since `_watch`, and watch no more."""
    return float(dask_scheduler.extensions.pop(_EXTENSION)["longest_s"])
