"""The whole catalogue over one real cluster at work: what every plot says of it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from distributed import Client, Scheduler, span, wait

from dask_diag_lab.views.registry import PLOTS
from tests.kernel.serving import wait_until
from tests.kernel.situations_real.reading import Table, situation

Ask = Callable[..., Table]

NOT_REPORTED = {
    *("gpu-utilization", "gpu-memory", "rmm-memory"),  # no worker has a GPU
    *("hardware", "stealing", "task"),  # nothing measured unasked, stolen, or asked for
    "shuffle",  # one that is over within a heartbeat reports nothing
}
"""Empty here; each has a test of its own in `tests/kernel/situations_real`."""

if sys.version_info[:2] == (3, 11):  # the engine does not sample event loops there
    NOT_REPORTED.add("profile-server")

NAMES = [plot.name for plot in PLOTS]


def double(x: int) -> int:
    time.sleep(0.02)
    return 2 * x


def fail(x: int) -> int:
    raise ValueError(f"part {x} has no header")


def die(x: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return x


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Run everything there is to see once, and return how to get a plot's table."""
    config = {"distributed.scheduler.allowed-failures": 0}
    with situation(config, processes=True, n_workers=2, threads_per_worker=2) as found:
        held = _work(found.client)
        yield found.table
        del held


def _knows_bandwidth(dask_scheduler: Scheduler) -> bool:
    return bool(dask_scheduler.bandwidth_types)


def _work(client: Client) -> list[Any]:  # futures and collections
    with span("doubling"):
        doubled = client.map(double, range(40))
        wait(doubled)
    wait(client.map(fail, range(3)))
    wait(client.submit(die, 0))
    wait_until(lambda: len(client.scheduler_info()["workers"]) == 2, "the worker came not back")
    one, other = client.scheduler_info()["workers"]
    sent = client.submit(np.ones, 2**20, workers=[one], pure=False)
    summed = client.submit(np.sum, sent, workers=[other], pure=False)
    wait(summed)
    wait_until(
        lambda: client.run_on_scheduler(_knows_bandwidth), "no heartbeat told of the transfer"
    )
    return [doubled, sent, summed]


@pytest.mark.parametrize("name", NAMES)
def test_every_plot_has_a_table_of_equal_columns(ask: Ask, name: str) -> None:
    columns = ask(name)
    assert len({len(column) for column in columns.values()}) <= 1
    if name not in NOT_REPORTED:
        assert columns
        assert all(columns.values()), f"{name} says nothing of a cluster at work"


def test_the_stream_has_what_was_computed_moved_failed_and_killed(ask: Ask) -> None:
    stream = ask("task-stream")
    assert {"compute", "transfer"} <= set(stream["kind"])
    assert {"ok", "erred", "killed"} <= {str(outcome).lower() for outcome in stream["outcome"]}
    assert stream["prefix"].count("double") >= 40


def test_exceptions_name_what_failed(ask: Ask) -> None:
    assert any("has no header" in text for text in ask("exceptions")["exception"])


def test_the_death_of_a_worker_is_an_event(ask: Ask) -> None:
    assert any("kill" in str(kind) for kind in ask("events")["kind"])


def test_fine_metrics_know_the_span(ask: Ask) -> None:
    metrics = ask("fine-performance-metrics")
    assert any("doubling" in name for name in metrics["span"])
    assert {"execute", "gather-dep"} <= set(metrics["context"])


def test_costs_include_computing_and_idle_threads(ask: Ask) -> None:
    costs = ask("costs")
    seconds: dict[str, float] = {}
    for name, amount in zip(costs["class"], costs["seconds"], strict=True):
        seconds[name] = seconds.get(name, 0.0) + amount
    assert seconds["Computing"] > 0
    assert seconds["Waiting in tasks"] > 0.5  # forty naps of 20 ms
    assert seconds["Idle threads"] > 0


def test_bandwidth_knows_the_type_of_what_was_moved(ask: Ask) -> None:
    assert any("ndarray" in name for name in ask("bandwidth-types")["type"])


def test_the_profile_of_a_prefix_has_its_function(ask: Ask) -> None:
    profile = ask("profile", prefix="double")
    assert any("double" in str(name) for name in profile["function"])
