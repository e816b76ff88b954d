"""What captures cost: how long the scheduler's loop is held, and how large the file is."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed
from distributed import Client, wait

import dask_diag_lab
from benchmarks.clusters import separate_cluster
from benchmarks.report import Figure

_TASKS = 100_000
_AT_ONCE = 5_000
_EXTENSION = "benchmark-watch"


def performance_reports() -> list[Figure]:
    """Return what a report of 100 000 tasks costs, stock's and ours, each on a new cluster."""
    with TemporaryDirectory() as folder:
        stock, ours = (
            _report(made.performance_report, Path(folder) / f"{made.__name__}.html")
            for made in (distributed, dask_diag_lab)
        )
    note = f"{_TASKS:,} tasks, scheduler in a process of its own"
    return [
        Figure("scheduler's loop held, longest", "ms", 1000 * ours[0], 1000 * stock[0], 50, note),
        Figure("end of the block", "s", ours[1], stock[1]),
        Figure("file", "MB", ours[2], stock[2], 3),
    ]


def _report(kind: Any, file: Path) -> tuple[float, float, float]:  # a class of either
    """Return the longest turn of the scheduler's loop and the time to write (s), and size (MB)."""
    with separate_cluster() as cluster, Client(cluster.address) as client:
        report: AbstractContextManager[object] = kind(str(file))
        with report:
            for first in range(0, _TASKS, _AT_ONCE):
                wait(client.map(_inc, range(first, first + _AT_ONCE)))
            time.sleep(2)
            client.run_on_scheduler(_watch)
            began = time.perf_counter()
        took_s = time.perf_counter() - began
        longest_s = client.run_on_scheduler(_longest_s)
    return longest_s, took_s, file.stat().st_size / 1e6


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
