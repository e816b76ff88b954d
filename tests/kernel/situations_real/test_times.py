"""When tasks ran and for how long, and what their time went into, as `distributed` recorded it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from typing import Any

import pytest
from distributed import Scheduler, span, wait
from distributed.metrics import context_meter

from dask_diag_lab.store.slots import CLOCK_SLACK_S
from dask_diag_lab.transport import feed
from tests.kernel.situations_real.clusters import LIMIT_S, Cluster, cluster, near, sums

CONFIG = {
    "distributed.worker.profile.interval": "10ms",
    "distributed.worker.profile.cycle": "200ms",
}
Stream = Sequence[Mapping[str, Any]]  # tasks as `distributed` records them


def slow(x: int) -> int:
    context_meter.digest_metric("pages", 3, "pages")
    time.sleep(0.15)
    return x


def fast(x: int) -> int:
    time.sleep(0.02)
    return x


def spin(x: int) -> int:
    until = time.thread_time() + 0.02
    while time.thread_time() < until:
        pass
    return x


@pytest.fixture(scope="module")
def timed() -> Iterator[tuple[Cluster, Stream]]:
    """Eight slow tasks and twelve fast ones in spans, ten that compute; `distributed`'s record."""
    with cluster(CONFIG, n_workers=2, threads_per_worker=2) as found:
        found.client.get_task_stream()  # `distributed` records from the first question on
        with span("ingest"):
            found.held = found.client.map(slow, range(8))
            with span("clean"):
                found.held += found.client.map(fast, range(12))
        found.held += found.client.map(spin, range(10))
        wait(found.held)
        yield found, list(found.client.get_task_stream())


Timed = tuple[Cluster, Stream]


def seconds(scheduler: Scheduler) -> dict[str, float]:
    """Return the seconds that tasks of each prefix were computed."""
    return {p.name: p.all_durations["compute"] for p in scheduler.task_prefixes.values()}


def test_no_thread_does_two_things_at_once(timed: Timed) -> None:
    found, stream = timed

    def by_thread(rows: Stream) -> list[list[Mapping[str, Any]]]:
        its: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
        for row in rows:
            its.setdefault((row["worker"], row["thread"]), []).append(row)
        return list(its.values())

    def is_apart(rows: Stream) -> bool:
        """Whether no clock jumped between these tasks, as it does on a busy machine."""
        ends = [task["startstops"][-1] for task in rows]
        times = sorted((end["start"], end["stop"]) for end in ends)
        return all(after[0] > before[1] - CLOCK_SLACK_S for before, after in pairwise(times))

    rows = found.until(found.computed, lambda rows: len(rows) >= len(stream))
    ours = [sorted(row["key"] for row in rows) for rows in by_thread(rows)]
    theirs = [sorted(task["key"] for task in rows) for rows in by_thread(stream) if is_apart(rows)]
    assert len(ours) == 4
    assert all(keys in ours for keys in theirs)


def test_compute_time_of_each_prefix_is_the_schedulers(timed: Timed) -> None:
    found, _ = timed
    shown = found.agree(
        lambda: found.by("prefix", "compute-time-per-key", "seconds"),
        seconds,
        is_same=near(1e-4),
    )
    assert shown["slow"] >= 8 * 0.149  # a busy machine sleeps longer


def test_fine_metrics_are_the_schedulers(timed: Timed) -> None:
    found, _ = timed

    def theirs(scheduler: Scheduler) -> dict[tuple[str, ...], float]:
        metrics = scheduler.cumulative_worker_metrics.items()
        return {tuple(map(str, key)): float(v) for key, v in metrics if isinstance(key, tuple)}

    def shown() -> dict[tuple[str, ...], float]:
        """Return our rows under `distributed`'s keys, summed over spans."""
        rows = found.rows("fine-performance-metrics")
        for row in rows:
            parts = ("context", "label", "activity", "unit")
            row["key"] = tuple(row[part] for part in parts if row[part])
        return sums(rows, "key", "value")

    def is_complete(metrics: dict[tuple[str, ...], float]) -> bool:
        slept = metrics.get(("execute", "slow", "thread-noncpu", "seconds"), 0.0)
        spun = metrics.get(("execute", "spin", "thread-cpu", "seconds"), 0.0)
        is_long = slept >= 8 * 0.149 and spun >= 0.199
        return is_long and metrics.get(("execute", "slow", "pages", "pages")) == 24

    found.agree(shown, theirs, is_complete, near(1e-6))


def test_the_budget_tells_waiting_in_tasks_from_computing(timed: Timed) -> None:
    """Where the machine is busy, tasks that compute wait for a processor as well."""
    found, _ = timed
    slept_s, ran_s = 8 * 0.149, 0.199

    def is_reported(budget: dict[str, float]) -> bool:
        waited = budget.get("waiting-in-tasks", 0.0)
        return slept_s < waited < waited + budget.get("computing", 0.0) > slept_s + ran_s

    found.until(lambda: sums(found.rows("budget"), "category", "seconds"), is_reported)


def test_profile_of_a_prefix_is_its_function_for_about_as_long_as_it_ran(timed: Timed) -> None:
    """A sample stands for 10 ms: a busy machine takes fewer than the 120 there should be."""
    found, _ = timed
    shown = found.until(
        lambda: found.by("function", "profile", "samples", "total_s", prefix="slow"),
        lambda functions: functions.get("slow", (0, 0.0))[0] >= 5,
    )
    samples, total_s = shown["slow"]
    assert total_s == pytest.approx(0.01 * samples)
    assert total_s <= 1.34 * found.ask(seconds)["slow"]
    assert "fast" not in shown


def test_a_table_that_nobody_looked_at_before_has_what_has_just_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feed, "BRIEFLY_S", LIMIT_S)  # a busy machine takes its time
    with cluster(n_workers=1, threads_per_worker=1) as found:
        wait(found.client.map(fast, range(5)))
        assert len(found.computed()) == 5


def test_what_runs_in_a_pool_of_processes_is_computing() -> None:
    pool = ProcessPoolExecutor(2, get_context("forkserver"))
    with cluster(n_workers=1, threads_per_worker=2, executor=pool) as found:
        found.held = found.client.map(slow, range(8))
        found.until(
            lambda: sums(found.rows("budget"), "category", "seconds"),
            lambda shown: shown.get("computing", 0) >= 8 * 0.14,  # by the clock of each process
        )
