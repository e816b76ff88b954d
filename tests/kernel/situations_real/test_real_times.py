"""When tasks ran and for how long: stream, sums and profile against the engine's own records."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Scheduler, wait

from dask_diag_lab.transport import following
from tests.kernel.situations_real.reading import (
    LIMIT_S,
    AnyFuture,
    Situation,
    near,
    situation,
    sums,
)

CONFIG = {
    "distributed.worker.profile.interval": "10ms",
    "distributed.worker.profile.cycle": "200ms",
}


def slow(x: int) -> int:
    time.sleep(0.15)
    return x


def fast(x: int) -> int:
    time.sleep(0.02)
    return x


@pytest.fixture(scope="module")
def timed() -> Iterator[tuple[Situation, list[dict[str, Any]], list[AnyFuture]]]:
    """Eight slow tasks and twelve fast ones, and what the engine's task stream says of them."""
    with situation(CONFIG, n_workers=2, threads_per_worker=2) as found:
        found.client.get_task_stream()  # the engine records from the first question on
        futures = [*found.client.map(slow, range(8)), *found.client.map(fast, range(12))]
        wait(futures)
        stream = list(found.client.get_task_stream())
        yield found, stream, futures


def computed(found: Situation) -> list[dict[str, Any]]:
    """Return the rows of work."""
    return [row for row in found.rows("task-stream") if row["kind"] == "compute"]


def test_rectangles_are_those_of_the_engines_task_stream(timed: tuple[Situation, Any, Any]) -> None:
    found, stream, _ = timed
    theirs = {
        (task["key"], action["action"]): (action["start"], action["stop"], task["nbytes"])
        for task in stream
        for action in task["startstops"]
    }
    # More where 5 ms passed on a busy machine: the engine calls that disk work.
    assert sum(kind == "compute" for _, kind in theirs) == 20
    ours = found.seen(
        lambda: {
            (row["key"], row["kind"]): (row["start"], row["stop"], row["nbytes"])
            for row in found.rows("task-stream")
        },
        lambda ours: ours.keys() == theirs.keys(),
    )
    for key, numbers in theirs.items():
        assert ours[key] == pytest.approx(numbers, abs=1e-5)


def test_no_thread_does_two_things_at_once(timed: tuple[Situation, Any, Any]) -> None:
    found, stream, _ = timed
    threads: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for row in found.seen(lambda: computed(found), lambda rows: len(rows) == len(stream)):
        threads.setdefault((row["worker"], row["thread"]), []).append((row["start"], row["stop"]))
    assert len(threads) == len({(task["worker"], task["thread"]) for task in stream}) == 4
    for spans in threads.values():
        spans.sort()
        assert all(a[1] <= b[0] + 1e-3 for a, b in itertools.pairwise(spans))


def test_compute_time_of_each_prefix_is_the_engines(timed: tuple[Situation, Any, Any]) -> None:
    found, _, _ = timed
    told = found.agree(
        lambda: found.by("prefix", "compute-time-per-key", "seconds"),
        lambda scheduler: {
            prefix.name: prefix.all_durations["compute"]
            for prefix in scheduler.task_prefixes.values()
        },
        is_same=near(1e-6),
    )
    assert told["slow"] >= 8 * 0.149  # a busy machine sleeps longer


def test_time_of_each_action_is_the_engines(timed: tuple[Situation, Any, Any]) -> None:
    found, stream, _ = timed
    theirs: dict[str, float] = {}
    for task in stream:
        for action in task["startstops"]:
            took = action["stop"] - action["start"]
            theirs[action["action"]] = theirs.get(action["action"], 0.0) + took
    found.seen(
        lambda: sums(found.rows("aggregate-time-per-action"), "action", "seconds"),
        lambda told: near(1e-3)(told, theirs),
    )


def test_group_progress_has_the_thread_seconds_of_each_prefix(
    timed: tuple[Situation, Any, Any],
) -> None:
    found, _, _ = timed

    def ours() -> dict[str, float]:
        told: dict[str, float] = {}
        for row in found.rows("group-progress"):
            seconds = (row["stop"] - row["start"]) * row["threads"]
            told[row["prefix"]] = told.get(row["prefix"], 0.0) + seconds
        return told

    found.agree(ours, _seconds, is_same=near(0.02))


def _seconds(scheduler: Scheduler) -> dict[str, float]:
    return {p.name: p.all_durations["compute"] for p in scheduler.task_prefixes.values()}


def test_duration_in_progress_is_the_engines_average(timed: tuple[Situation, Any, Any]) -> None:
    found, _, _ = timed
    found.agree(
        lambda: found.by("prefix", "progress", "duration"),
        lambda scheduler: {p.name: p.duration_average for p in scheduler.task_prefixes.values()},
        is_same=near(1e-6),
    )


def test_profile_of_a_prefix_is_its_function_for_about_as_long_as_it_ran(
    timed: tuple[Situation, Any, Any],
) -> None:
    """A sample stands for 10 ms: a busy machine takes fewer than the 120 there should be."""
    found, _, _ = timed

    def ours() -> dict[str, tuple[int, float]]:
        return found.by("function", "profile", "samples", "total_s", prefix="slow")

    told = found.seen(ours, lambda functions: functions.get("slow", (0, 0.0))[0] >= 20)
    samples, seconds = told["slow"]
    assert seconds == pytest.approx(0.01 * samples)
    assert seconds <= 1.34 * found.engine(_seconds)["slow"]
    assert "fast" not in told


def test_profile_counts_the_samples_of_the_engine(timed: tuple[Situation, Any, Any]) -> None:
    found, _, _ = timed
    told = found.seen(
        lambda: (found.by("function", "profile", "samples"), found.client.profile()["count"]),
        lambda pair: pair[0].get("slow", 0) + pair[0].get("fast", 0) == pair[1] > 0,
    )
    assert told[1] >= 20


def test_times_on_the_task_page_are_those_of_the_stream(timed: tuple[Situation, Any, Any]) -> None:
    found, stream, _ = timed
    task = stream[0]
    rows = found.seen(lambda: found.rows("task", key=task["key"], show="times"), bool)
    (row,) = (row for row in rows if row["action"] == "compute")
    (action,) = (action for action in task["startstops"] if action["action"] == "compute")
    assert row["start"] == pytest.approx(action["start"], abs=1e-5)
    assert row["seconds"] == pytest.approx(action["stop"] - action["start"], abs=1e-5)


def test_the_task_page_says_where_and_when_a_forgotten_task_ran(
    timed: tuple[Situation, Any, Any],
) -> None:
    found, _, _ = timed
    address = found.addresses[1]
    future = found.client.submit(fast, -1, key="gone-1", workers=[address])
    wait(future)
    name = found.engine(lambda scheduler: scheduler.workers[address].name)
    (task,) = (task for task in found.client.get_task_stream() if task["key"] == "gone-1")
    del future
    found.seen(
        lambda: found.engine(lambda scheduler: "gone-1" in scheduler.tasks), lambda is_: not is_
    )
    rows = found.seen(lambda: found.rows("task", key="gone-1", show="times"), bool)
    (row,) = (row for row in rows if row["action"] == "compute")
    (action,) = (action for action in task["startstops"] if action["action"] == "compute")
    assert row["start"] == pytest.approx(action["start"], abs=1e-5)
    assert row["seconds"] == pytest.approx(action["stop"] - action["start"], abs=1e-5)
    assert row["worker"] == f"worker {name}"
    assert row["thread"] in {1, 2}


def test_a_table_that_nobody_looked_at_before_has_what_has_just_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "BRIEFLY_S", LIMIT_S)  # a busy machine takes its time
    with situation(n_workers=1, threads_per_worker=1) as found:
        wait(found.client.map(fast, range(5)))
        assert len(computed(found)) == 5
