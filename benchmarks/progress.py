"""How long `progress` of a large graph holds the scheduler's event loop before its bars begin."""

from __future__ import annotations

import asyncio
import gc
import time
from asyncio.events import Handle
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

import distributed
from distributed import Client, Future, Scheduler

import dask_diag_lab
from benchmarks.clusters import separate_cluster
from benchmarks.report import Figure

_RESULTS: Final = 500
_BEHIND_EACH: Final = 999
_LIMIT_S: Final = 120


class _Meter:
    """Times each turn of a loop, in the scheduler's process."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._run: Any = Handle._run  # takes a handle; of asyncio's inside

    def begin(self) -> None:
        run, clock = self._run, time.thread_time  # whatever else computes here
        self.longest_s = 0.0

        def timed(handle: Any) -> None:  # asyncio's
            begun = clock()
            run(handle)
            self.longest_s = max(self.longest_s, clock() - begun)

        Handle._run = timed  # type: ignore[assignment,method-assign]  # the one way in


_METER: Final = _Meter()


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


def _begin() -> None:
    _METER.begin()


def _held_ms() -> float:
    return _METER.longest_s * 1000


def _start(client: Client, start: Callable[[], Callable[[], bool]]) -> tuple[float, float]:
    """Return for how long the loop was held at most (ms), and when the bars began (s)."""
    client.run_on_scheduler(gc.collect)  # what came before leaves nothing to be collected meanwhile
    client.run_on_scheduler(_begin)
    began = time.perf_counter()
    has_begun = start()
    while not has_begun():
        if time.perf_counter() - began > _LIMIT_S:
            msg = f"no bars after {_LIMIT_S} s"
            raise RuntimeError(msg)
        time.sleep(0.01)
    took_s = time.perf_counter() - began
    return client.run_on_scheduler(_held_ms), took_s


def progress() -> list[Figure]:
    """Return what the bars of half a million tasks cost before they move."""
    with (
        separate_cluster() as cluster,
        Client(cluster.address) as client,
        ExitStack() as begun,
    ):
        client.run_on_scheduler(_fill)
        futures: list[Future[Any]] = [Future(f"total-{i}", client) for i in range(_RESULTS)]

        def ours() -> Callable[[], bool]:
            bars = dask_diag_lab.progress(futures, notebook=True)
            begun.callback(bars.close)
            return lambda: bars.report.is_counted

        def stock() -> Callable[[], bool]:
            bars = distributed.progress(futures, notebook=True)
            loop = client.loop.asyncio_loop
            begun.callback(asyncio.run_coroutine_threadsafe(bars.listen(), loop).cancel)
            return lambda: bool(bars.widget.children)

        stock_ms, stock_s = _start(client, stock)
        ours_ms, ours_s = _start(client, ours)
        client.run_on_scheduler(_empty)
    return [
        Figure("the scheduler's loop is held at once, at most", "ms", ours_ms, stock_ms, 50.0),
        Figure("from the call to its bars", "s", ours_s, stock_s),
    ]
