"""The whole catalogue over one real cluster at work: what every plot says of it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from distributed import span, wait

from dask_diag_lab.views.registry import PLOTS
from tests.kernel.situations_real.reading import (
    Situation,
    Table,
    measure_bandwidth,
    situation,
    sums,
)

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
def busy() -> Iterator[Situation]:
    """Run everything there is to see once."""
    config = {"distributed.scheduler.allowed-failures": 0}
    with situation(config, processes=True, n_workers=2, threads_per_worker=2) as found:
        held = _work(found)
        yield found
        del held


def _work(found: Situation) -> list[Any]:  # futures and collections
    client = found.client
    with span("doubling"):
        doubled = client.map(double, range(40))
        wait(doubled)
    wait(client.map(fail, range(3)))
    before = set(found.addresses)
    wait(client.submit(die, 0))
    # One stayed, and one came back under another address.
    one, other = found.seen(
        lambda: found.addresses, lambda now: len(now) == 2 and len({*before, *now}) == 3
    )
    sent = client.submit(np.ones, 2**20, workers=[one], pure=False)
    summed = client.submit(np.sum, sent, workers=[other], pure=False)
    wait(summed)
    measure_bandwidth(found, one, other)
    kept = [client.submit(double, 1, workers=[each], pure=False) for each in (one, other)]
    wait(kept)
    return [doubled, sent, summed, *kept]


@pytest.mark.parametrize("name", NAMES)
def test_every_plot_has_a_table_of_equal_columns(busy: Situation, name: str) -> None:
    columns = busy.seen(
        lambda: busy.table(name),
        lambda told: name in NOT_REPORTED or (told and all(told.values())),
    )
    assert len({len(column) for column in columns.values()}) <= 1


def test_the_stream_has_what_was_computed_moved_failed_and_killed(busy: Situation) -> None:
    stream = busy.seen(
        lambda: busy.table("task-stream"), lambda told: told["prefix"].count("double") >= 40
    )
    assert {"compute", "transfer"} <= set(stream["kind"])
    assert {"ok", "erred", "killed"} <= {str(outcome).lower() for outcome in stream["outcome"]}


def test_exceptions_name_what_failed(busy: Situation) -> None:
    busy.seen(
        lambda: busy.table("exceptions")["exception"],
        lambda texts: any("has no header" in text for text in texts),
    )


def test_the_death_of_a_worker_is_an_event(busy: Situation) -> None:
    busy.seen(lambda: busy.table("events")["kind"], lambda kinds: "worker-killed" in kinds)


def test_fine_metrics_know_the_span(busy: Situation) -> None:
    def is_told(metrics: Table) -> bool:
        return any("doubling" in name for name in metrics["span"]) and (
            {"execute", "gather-dep"} <= set(metrics["context"])
        )

    busy.seen(lambda: busy.table("fine-performance-metrics"), is_told)


def test_costs_include_computing_and_idle_threads(busy: Situation) -> None:
    def is_told(seconds: dict[str, float]) -> bool:
        waited = seconds.get("Waiting in tasks", 0.0) > 0.5  # forty naps of 20 ms
        return waited and min(seconds.get(name, 0.0) for name in ("Computing", "Idle threads")) > 0

    busy.seen(lambda: sums(busy.rows("costs"), "class", "seconds"), is_told)


def test_bandwidth_knows_the_type_of_what_was_moved(busy: Situation) -> None:
    busy.seen(
        lambda: busy.table("bandwidth-types")["type"],
        lambda types: any("ndarray" in name for name in types),
    )


def test_the_profile_of_a_prefix_has_its_function(busy: Situation) -> None:
    busy.seen(
        lambda: busy.table("profile", prefix="double")["function"],
        lambda functions: any("double" in str(name) for name in functions),
    )
