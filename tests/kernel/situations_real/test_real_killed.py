"""A worker that dies at work, and one that is restarted: what ran, what was lost, what comes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from functools import partial

import pytest
from distributed import Scheduler, wait

from tests.kernel.situations_real.reading import AnyFuture, Situation, situation

CONFIG = {"distributed.scheduler.allowed-failures": 0}


def die(x: int) -> int:
    time.sleep(0.2)  # long enough to have begun before it is over
    os.kill(os.getpid(), signal.SIGKILL)
    return x


@pytest.fixture(scope="module")
def killed() -> Iterator[tuple[Situation, AnyFuture, str]]:
    """Two workers of which the first died while it ran a task; it came back."""
    with situation(CONFIG, processes=True, n_workers=2, threads_per_worker=1) as found:
        dead = found.addresses[0]
        future = found.client.submit(die, 1, workers=[dead])
        wait(future)
        found.agree(lambda: len(found.table("workers-memory")["worker"]), _n_workers, (2).__eq__)
        yield found, future, dead


def _n_workers(scheduler: Scheduler) -> int:
    return len(scheduler.workers)


def test_the_task_is_drawn_to_the_death_of_its_worker(
    killed: tuple[Situation, AnyFuture, str],
) -> None:
    found, future, _ = killed

    def engine(scheduler: Scheduler) -> float:
        return max(
            float(when)
            for when, event in scheduler.get_events("all")
            if isinstance(event, dict) and event.get("action") == "remove-worker"
        )

    died_at = found.engine(engine)
    (row,) = found.seen(
        lambda: [r for r in found.rows("task-stream") if r["outcome"] == "killed"], bool
    )
    assert row["key"] == future.key
    # Each is a time of the moment it is written, and a busy machine writes one after the other.
    assert row["stop"] == pytest.approx(died_at, abs=1)
    assert 0 < row["duration"] < 30


def test_the_exception_is_said_though_the_engine_has_no_text(
    killed: tuple[Situation, AnyFuture, str],
) -> None:
    found, future, dead = killed
    (row,) = found.seen(lambda: found.rows("exceptions"), bool)
    assert type(future.exception()).__name__ in row["exception"]
    assert (row["key"], row["workers"], row["tasks"]) == (future.key, dead, 1)


def test_death_and_return_are_events(killed: tuple[Situation, AnyFuture, str]) -> None:
    found, _, dead = killed
    told = found.seen(
        lambda: [(row["kind"], row["event"]) for row in found.rows("events")],
        lambda events: {"worker-killed", "worker-added"} <= {kind for kind, _ in events},
    )
    kinds = [kind for kind, _ in told]
    assert kinds.count("worker-killed") == 1
    event = dict(told)["worker-killed"]
    assert "1 task ran on it" in event
    assert "connection was lost" in event
    assert dead in event or "worker 0" in event


def test_the_dead_worker_is_in_no_plot_of_workers(killed: tuple[Situation, AnyFuture, str]) -> None:
    found, _, dead = killed
    for plot in ("workers", "workers-memory", "nprocessing", "occupancy", "cpu"):
        assert dead not in found.agree(partial(_shown, found, plot), _addresses)


def _shown(found: Situation, plot: str) -> set[str]:
    return set(found.table(plot)["worker"]) - {None}  # without the row of sums


def _addresses(scheduler: Scheduler) -> set[str]:
    return set(scheduler.workers)


def test_a_restart_is_one_event_and_no_death(killed: tuple[Situation, AnyFuture, str]) -> None:
    found, _, _ = killed
    deaths = found.table("events")["kind"].count("worker-killed")
    found.client.restart()
    told = found.seen(lambda: found.table("events")["kind"], lambda kinds: "restart" in kinds)
    assert told.count("restart") == 1
    kinds = found.seen(
        lambda: found.table("events")["kind"],
        lambda kinds: kinds.count("worker-removed") >= 2,
    )
    assert kinds.count("worker-killed") == deaths
