"""A cluster restarted after failures: what was recorded stays, what is now is told apart."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest
from distributed import Scheduler, wait

from dask_diag_lab.server.health import TaskCounts, health_of
from tests.kernel.situations_real.reading import LIMIT_S, Situation, situation

CONFIG = {"distributed.scheduler.allowed-failures": 0}


def flaky(x: int) -> int:
    if x % 2:
        raise ValueError("odd")
    return x


def die(x: int) -> int:
    time.sleep(0.2)  # long enough to have begun before it is over
    os.kill(os.getpid(), signal.SIGKILL)
    return x


def add(x: int, y: int) -> int:
    return x + y


def exceptions(found: Situation) -> dict[tuple[str, str], tuple[int, Any, bool]]:
    """Return tasks, workers and whether there is a traceback by function and first word."""
    return {
        (row["prefix"], row["exception"].partition(":")[0].partition("(")[0]): (
            row["tasks"],
            row["workers"],
            "in flaky" in row["traceback"],
        )
        for row in found.rows("exceptions")
    }


def summary(found: Situation) -> TaskCounts:
    return found.diagnostics.submit(health_of).result(LIMIT_S)["tasks"]


def n_erred(scheduler: Scheduler) -> int:
    return sum(prefix.states["erred"] for prefix in scheduler.task_prefixes.values())


def of_progress(found: Situation) -> int:
    return sum(found.table("progress")["erred"])


@pytest.fixture(scope="module")
def restarted() -> Any:
    """Eight failures and a task that killed its worker; then a restart and functions as before."""
    with situation(CONFIG, processes=True, n_workers=2, threads_per_worker=1) as found:
        one, other = found.addresses
        futures = [
            *found.client.map(flaky, range(16), workers=[one]),
            found.client.submit(die, 1, workers=[other]),
        ]
        wait(futures)
        before = found.seen(lambda: exceptions(found), lambda rows: len(rows) == 2)
        assert found.seen(lambda: summary(found)["erred"], (9).__eq__) == found.engine(n_erred) == 9
        found.client.wait_for_workers(2)  # the one that died is back
        cluster: Any = found.client.cluster  # has no types
        nannies = cluster.workers.values()
        found.seen(lambda: {nanny.status.name for nanny in nannies}, {"running"}.__eq__)
        # On a busy machine a nanny may start its worker twice, and then none comes back.
        found.client.restart(wait_for_workers=False)
        cluster.scale(3)
        del futures
        fine = found.client.map(flaky, [0, 2, 4])
        wait(found.client.submit(add, fine[0], fine[1]))
        found.seen(lambda: found.by("prefix", "progress", "done"), lambda done: "add" in done)
        yield found, before, (one, other)


def test_exceptions_of_before_a_restart_stay_with_traceback_workers_and_count(
    restarted: tuple[Situation, Any, tuple[str, str]],
) -> None:
    found, before, (one, other) = restarted
    assert found.engine(lambda scheduler: len(scheduler.erred_tasks)) == 0
    assert before == {
        ("flaky", "ValueError"): (8, one, True),
        ("die", "KilledWorker"): (1, other, False),
    }
    assert exceptions(found) == before


def test_the_status_bar_counts_what_is_erred_now_and_progress_what_ever_failed(
    restarted: tuple[Situation, Any, tuple[str, str]],
) -> None:
    found, before, _ = restarted
    found.seen(lambda: summary(found)["processing"], (0).__eq__)
    assert summary(found)["erred"] == found.engine(n_erred) == 0
    assert summary(found)["total"] == summary(found)["done"]
    assert of_progress(found) == sum(tasks for tasks, _, _ in before.values()) == 9


def test_a_task_of_the_same_key_that_fails_again_counts_again(
    restarted: tuple[Situation, Any, tuple[str, str]],
) -> None:
    found, _, _ = restarted
    failed = found.client.submit(flaky, 1)
    wait(failed)
    found.seen(lambda: exceptions(found)["flaky", "ValueError"][0], (9).__eq__)
    assert found.seen(lambda: summary(found)["erred"], (1).__eq__) == found.engine(n_erred)
    assert found.seen(lambda: of_progress(found), (10).__eq__) == 10
    assert len(exceptions(found)) == 2
    del failed
    found.seen(lambda: summary(found)["erred"], (0).__eq__)


def test_a_restart_of_two_workers_is_two_workers_that_left(
    restarted: tuple[Situation, Any, tuple[str, str]],
) -> None:
    found, _, _ = restarted
    kinds = found.seen(
        lambda: found.table("events")["kind"], lambda kinds: kinds.count("worker-removed") >= 2
    )
    assert kinds.count("worker-removed") == 2
    assert "worker-closing" not in kinds


def test_a_graph_counts_the_tasks_that_are_new(
    restarted: tuple[Situation, Any, tuple[str, str]],
) -> None:
    found, _, _ = restarted

    def new_tasks(scheduler: Scheduler) -> int:
        return sum(
            message["metrics"]["new_tasks"]
            for _, message in scheduler.get_events("scheduler")
            if isinstance(message, dict) and message.get("action") == "update-graph"
        )

    def told() -> int:
        texts = [r["event"] for r in found.rows("events") if r["kind"] == "update-graph"]
        return sum(int(text.partition(" of ")[2].split()[0]) for text in texts)

    assert found.engine(new_tasks) in (21, 22)  # 16 + 1, 3, 1 and perhaps the one of above
    found.seen(told, found.engine(new_tasks).__eq__)
