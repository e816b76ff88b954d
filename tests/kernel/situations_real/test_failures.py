"""Failures, a worker's death and a restart."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Scheduler, wait

from dask_diag_lab.server.handlers import health_of
from tests.kernel.situations_real.clusters import LIMIT_S, Cluster, bytes_in_memory, cluster

CONFIG = {"distributed.scheduler.allowed-failures": 0}


def double(x: int) -> int:
    time.sleep(0.02)
    return 2 * x


def fail_if_odd(x: int) -> int:
    if x % 2:
        raise ValueError("odd")
    return x


def die(x: int) -> int:
    time.sleep(0.2)  # long enough to have begun before it is over
    os.kill(os.getpid(), signal.SIGKILL)
    return x


def summary(found: Cluster) -> dict[str, int]:
    return dict(found.diagnostics.submit(health_of).result(LIMIT_S)["tasks"])


def exceptions(found: Cluster) -> dict[tuple[str, str], tuple[int, str, bool]]:
    """Return tasks, workers and whether there is a traceback, by prefix and kind of exception."""
    return {
        (row["prefix"], row["exception"].partition(":")[0].partition("(")[0]): (
            row["tasks"],
            row["workers"],
            "in fail_if_odd" in row["traceback"],
        )
        for row in found.rows("exceptions")
    }


@pytest.fixture(scope="module")
def busy() -> Iterator[tuple[Cluster, str, str]]:
    """Results, eight failures on one worker, a death of the other; where they were."""
    with cluster(CONFIG, processes=True, n_workers=2, threads_per_worker=2) as found:
        client, (one, dying) = found.client, found.addresses
        doubled = client.map(double, range(40))
        failed = client.map(fail_if_odd, range(16), workers=[one])
        wait([*doubled, *failed])
        killed = client.submit(die, 0, workers=[dying])
        wait(killed)
        # It comes back under another address.
        found.until(lambda: set(found.addresses) - {dying}, lambda now: len(now) == 2)
        found.held = [*doubled, *failed, killed]
        yield found, one, dying


Busy = tuple[Cluster, str, str]


def test_a_task_is_drawn_to_the_death_of_its_worker(busy: Busy) -> None:
    def last_removal(scheduler: Scheduler) -> float:
        return max(
            float(when)
            for when, event in scheduler.get_events("all")
            if isinstance(event, dict) and event.get("action") == "remove-worker"
        )

    found, _, _ = busy
    (row,) = found.until(lambda: found.computed(outcome="killed"), bool)
    assert row["prefix"] == "die"
    # Each is a time of the moment it is written, and a busy machine writes one after the other.
    assert row["stop"] == pytest.approx(found.ask(last_removal), abs=10)
    assert 0 < row["duration"] < 30


def test_a_death_is_an_event_with_its_cause_and_what_ran(busy: Busy) -> None:
    found, _, _ = busy
    (row,) = found.until(lambda: found.events("worker-killed"), bool)
    assert "1 task ran on it" in row["event"]
    assert "connection was lost" in row["event"]
    found.until(lambda: found.events("worker-added"), lambda added: added[-1]["time"] > row["time"])


def test_results_that_were_computed_again_count_once(busy: Busy) -> None:
    found, _, _ = busy
    found.agree(lambda: found.by("prefix", "memory-by-key", "nbytes"), bytes_in_memory)


def test_exceptions_are_counted_by_kind_with_their_workers(busy: Busy) -> None:
    found, one, dead = busy
    assert found.until(lambda: exceptions(found), lambda rows: len(rows) == 2) == {
        ("fail_if_odd", "ValueError"): (8, one, True),
        ("die", "KilledWorker"): (1, dead, False),
    }
    found.becomes(lambda: summary(found)["erred"], 9)


@pytest.fixture(scope="module")
def restarted() -> Iterator[tuple[Cluster, dict[tuple[str, str], Any]]]:
    """A cluster that was restarted, with results again, and the exceptions of before.

    Without nannies: on a busy machine one may start its worker twice, and then none comes back.
    """
    with cluster(n_workers=2, threads_per_worker=2) as found:
        failed = found.client.map(fail_if_odd, range(16))
        wait(failed)
        before = found.until(lambda: exceptions(found), bool)
        found.becomes(lambda: summary(found)["erred"], 8)
        found.client.restart(wait_for_workers=False)
        local: Any = found.client.cluster  # has no types
        local.scale(4)  # it counts the two that ended
        found.held = found.client.map(fail_if_odd, [0, 2, 4])
        wait(found.held)
        found.becomes(lambda: summary(found)["done"], 3)
        yield found, before


Restarted = tuple[Cluster, dict[tuple[str, str], Any]]


def test_exceptions_of_before_a_restart_stay(restarted: Restarted) -> None:
    found, before = restarted
    assert found.ask(lambda scheduler: len(scheduler.erred_tasks)) == 0
    assert exceptions(found) == before


def test_the_status_bar_counts_what_is_erred_now_and_progress_what_ever_failed(
    restarted: Restarted,
) -> None:
    found, _ = restarted
    assert summary(found)["erred"] == 0
    assert summary(found)["total"] == summary(found)["done"]
    assert sum(found.table("progress")["erred"]) == 8
    failed = found.client.submit(fail_if_odd, 1)
    wait(failed)
    found.becomes(lambda: sum(found.table("progress")["erred"]), 9)
    found.becomes(lambda: exceptions(found)["fail_if_odd", "ValueError"][0], 9)


def test_a_restart_is_one_event_and_no_death(restarted: Restarted) -> None:
    found, _ = restarted
    found.becomes(lambda: len(found.events("restart")), 1)
    found.becomes(lambda: len(found.events("worker-removed")), 2)
    assert not found.events("worker-killed")
