"""Metrics that workers report of their own accord: columns of the user's, and GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from distributed import Scheduler, Worker

from tests.kernel.situations_real.reading import Situation, situation

GIB = 2**30
GPU: dict[str, Callable[[Any], Any]] = {
    "gpu_utilization": lambda _worker: 73,
    "gpu_memory_used": lambda _worker: 3 * GIB,
    "gpu-memory-total": lambda _worker: 16 * GIB,
    "rmm": lambda _worker: {"rmm-used": GIB, "rmm-total": 2 * GIB},
}


@pytest.fixture(scope="module")
def reporting() -> Iterator[Situation]:
    """Two workers that report what a worker with a GPU reports, as given to `Worker`."""
    with situation(n_workers=2, threads_per_worker=1, metrics=GPU) as found:
        yield found


def test_gpu_use_is_that_of_the_heartbeats(reporting: Situation) -> None:
    told = reporting.agree(
        lambda: reporting.by("worker", "gpu-utilization", "gpu_utilization"),
        lambda scheduler: {
            ws.address: ws.metrics["gpu_utilization"] for ws in scheduler.workers.values()
        },
        lambda theirs: len(theirs) == 2,
    )
    assert set(told.values()) == {73}


def test_gpu_memory_is_that_of_the_heartbeats(reporting: Situation) -> None:
    told = reporting.agree(
        lambda: reporting.by("worker", "gpu-memory", "gpu_memory_used", "gpu_memory_total"),
        lambda scheduler: {
            ws.address: (ws.metrics["gpu_memory_used"], ws.metrics["gpu-memory-total"])
            for ws in scheduler.workers.values()
        },
    )
    assert set(told.values()) == {(3 * GIB, 16 * GIB)}


def test_memory_of_rmm_is_that_of_the_heartbeats(reporting: Situation) -> None:
    told = reporting.agree(
        lambda: reporting.by("worker", "rmm-memory", "rmm_used", "rmm_pool"),
        lambda scheduler: {
            ws.address: (ws.metrics["rmm"]["rmm-used"], ws.metrics["rmm"]["rmm-total"])
            for ws in scheduler.workers.values()
        },
    )
    assert set(told.values()) == {(GIB, 2 * GIB)}


def test_a_metric_of_ones_own_is_a_column_from_its_first_report_on(reporting: Situation) -> None:
    one, other = reporting.addresses

    def report(dask_worker: Worker) -> None:
        dask_worker.metrics["temperature"] = lambda _worker: 36.6

    assert "temperature" not in reporting.table("workers")
    reporting.client.run(report, workers=[one])

    def ours() -> dict[str, Any]:
        columns = reporting.table("workers")
        if "temperature" not in columns:
            return {}
        told = dict(zip(columns["worker"], columns["temperature"], strict=True))
        del told[None]
        return told

    def engine(scheduler: Scheduler) -> dict[str, Any]:
        found = {ws.address: ws.metrics.get("temperature") for ws in scheduler.workers.values()}
        return found if any(found.values()) else {}

    assert reporting.agree(ours, engine) == {one: 36.6, other: None}
