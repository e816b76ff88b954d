"""Shares of thread time: they add up, over one window, whatever tasks do."""

from __future__ import annotations

import time
from typing import Any

import pytest
from distributed import Client, Event, LocalCluster, Scheduler, wait, worker_client

import dask_diag_lab
from tests.kernel.serving import wait_until
from tests.kernel.situations_real.clusters import LIMIT_S, Cluster, cluster

Seconds = dict[str, float]


def nap(x: int, seconds: float = 0.5) -> int:
    time.sleep(seconds)
    return x


def spin(seconds: float) -> float:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass
    return seconds


def wait_for(x: int, name: str) -> int:
    Event(name).wait()
    return x


def nested(x: int) -> int:
    with worker_client() as client:
        return int(client.submit(nap, x, 1.5, pure=False).result())


def computed_s(dask_scheduler: Scheduler) -> float:
    """Return the seconds of computing that heartbeats have told."""
    metrics = dask_scheduler.cumulative_worker_metrics
    return float(sum(v for key, v in metrics.items() if "thread-cpu" in key))


def budget(found: Cluster) -> tuple[Seconds, float]:
    """Return the seconds of each category in Where the Time Goes, and what was offered."""

    def read(view: Any, _: object) -> tuple[Seconds, float]:  # a `WhereTheTimeGoes`
        its = view.budget
        return ({}, 0.0) if its is None else (its.seconds, its.offered_s)

    return found.drawn("budget", read)


def settled(found: Cluster, least: Seconds) -> tuple[Seconds, float]:
    """Return the budget once heartbeats have brought these; it adds up."""
    shown = found.until(
        lambda: budget(found),
        lambda shown: all(shown[0].get(name, 0.0) >= s for name, s in least.items()),
    )
    seconds, offered_s = shown
    assert sum(seconds.values()) == pytest.approx(offered_s, rel=0.001)
    return shown


def test_what_waits_in_a_worker_client_holds_no_thread() -> None:
    with cluster(n_workers=1, threads_per_worker=2) as found:
        began = time.time()
        wait(found.client.map(nested, range(4)))
        _, offered_s = settled(found, {"waiting-in-tasks": 4 * 1.5 - 0.1})
        # Four naps on two threads, and nothing for what waited for them.
        assert offered_s <= 2 * (time.time() - began + 0.5)  # by the worker's clock


def test_tasks_that_wait_are_no_computing_before_one_of_them_ends() -> None:
    with cluster(n_workers=1, threads_per_worker=2, processes=True) as found:
        event = Event("go", client=found.client)
        waiting = found.client.map(wait_for, range(2), name="go")
        seconds, offered_s = settled(found, {"waiting-in-tasks": 3.0})
        assert seconds.get("computing", 0.0) < 0.2 * offered_s
        event.set()
        wait(waiting)


def test_a_late_attach_shows_idle_threads_of_its_own_time() -> None:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=4, processes=False, dashboard_address=":0"
        ) as made,
        Client(made) as client,
    ):
        wait([client.submit(spin, 0.5, pure=False) for _ in range(8)])
        # What heartbeats tell after the attach would count as done since.
        wait_until(
            lambda: client.run_on_scheduler(computed_s) >= 8 * 0.5,
            "the workers' heartbeats lack tasks",
            LIMIT_S,
        )
        with dask_diag_lab.attach(client) as diagnostics:
            found = Cluster(client, diagnostics)
            found.becomes(
                lambda: diagnostics.submit(lambda live: live.feed_state.state).result(LIMIT_S),
                "live",
            )
            wait(client.submit(nap, 1, 2.0))
            seconds, offered_s = settled(found, {"waiting-in-tasks": 1.9})
            assert seconds["dependencies"] / offered_s == pytest.approx(0.75, abs=0.05)
            assert seconds.get("computing", 0.0) < 1.0
            notes = [found.caption(p).note for p in ("budget", "aggregate-time-per-action")]
            assert "that all threads were there" in notes[0]
            assert "also two at one time, transfers included, recorded since" in notes[1]
            assert "thread time offered in view" in found.caption("task-stream").note
