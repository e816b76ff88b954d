"""Every plot of a stretch of time is of that alone, whatever was computed before and after."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from distributed import wait

from tests.kernel.situations_real.clusters import OVER_TCP, Cluster, cluster, sums

APART_S = 0.5
"""How far the clock of a worker is off is known to some 0.1 s, and less well on a busy machine."""


class Two(NamedTuple):
    """A cluster that computed twice, and the period of the second computation."""

    found: Cluster
    period: dict[str, str]
    length_s: float


def first(x: int, *_: object) -> bytes:
    time.sleep(0.2)
    if x == 5:
        raise ValueError("of before")
    return bytes(2_000_000)


def second(x: int, *_: object) -> bytes:
    time.sleep(0.3)
    if x == 3:
        raise ZeroDivisionError("of the period")
    return bytes(2_000_000)


def compute(found: Cluster, function: Any) -> None:
    """Compute on each worker, then move the results to the other one."""
    addresses = found.addresses
    made = [
        found.client.submit(function, x, workers=addresses[x % 2], pure=False) for x in range(6)
    ]
    wait(made)
    good = [future for future in made if future.status == "finished"]
    moved = [
        found.client.submit(len, future, workers=address, pure=False)
        for future in good
        for address in addresses
    ]
    wait(moved)
    found.held += [*made, *moved]


@pytest.fixture(scope="module")
def two() -> Iterator[Two]:
    with cluster(n_workers=2, threads_per_worker=2, processes=False, **OVER_TCP) as found:
        compute(found, first)
        found.until(lambda: metrics(found), lambda known: known.get("first", 0.0) > 1.0)
        time.sleep(APART_S)
        begin = time.time()
        compute(found, second)
        # Workers tell with a heartbeat what their tasks did.
        found.until(lambda: metrics(found), lambda known: known.get("second", 0.0) > 1.5)
        time.sleep(1.0)  # between two checkpoints that are kept
        end = time.time()
        time.sleep(APART_S)
        compute(found, first)
        period = {"start": f"{begin:.6f}", "stop": f"{end:.6f}"}
        yield Two(found, period, end - begin)


def metrics(found: Cluster) -> dict[str, float]:
    """Return the seconds of each function in Fine Metrics."""
    return sums(found.rows("fine-performance-metrics"), "label", "value")


def took(two: Two, prefix: str, outcome: str = "") -> list[float]:
    """Return what the tasks of a prefix took on their threads; a busy machine takes longer."""
    return [r["duration"] for r in two.found.computed(outcome=outcome) if r["prefix"] == prefix]


@pytest.mark.parametrize("plot", ["compute-time-per-key", "progress", "group-progress"])
def test_only_what_ran_in_a_period_is_shown(two: Two, plot: str) -> None:
    rows = two.found.rows(plot, **two.period)
    assert {row["prefix"] for row in rows} == {"second", "len"}
    assert "first" in {row["prefix"] for row in two.found.rows(plot)}


def test_tasks_and_their_times_are_those_of_the_period(two: Two) -> None:
    times = two.found.by("prefix", "compute-time-per-key", "count", "mean_s", **two.period)
    n, mean_s = times["second"]
    assert n == 5
    assert mean_s == pytest.approx(sum(took(two, "second", "ok")) / 5, rel=0.01)
    states = two.found.by("prefix", "progress", "released", "erred", **two.period)
    assert states["second"] == (5, 1)


def test_shares_of_a_period_are_of_all_threads_in_it(two: Two) -> None:
    seconds = sums(two.found.rows("budget", **two.period), "category", "seconds")
    assert sum(seconds.values()) == pytest.approx(4 * two.length_s, rel=0.001)
    in_tasks = sum(seconds.get(n, 0.0) for n in ("computing", "waiting-in-tasks", "failed"))
    of_len = sum(took(two, "len"))  # of other periods, too
    assert in_tasks == pytest.approx(sum(took(two, "second")), abs=of_len + 0.1)


def test_errors_and_events_are_those_of_the_period(two: Two) -> None:
    errors = two.found.rows("exceptions", **two.period)
    assert [row["exception"] for row in errors] == ["ZeroDivisionError('of the period')"]
    assert [row["tasks"] for row in errors] == [1]
    start, stop = map(float, two.period.values())
    events = two.found.rows("events", **two.period)
    assert events
    assert all(row["until"] >= start and row["time"] <= stop for row in events)
    assert len(events) < len(two.found.rows("events"))


def test_transfers_and_bandwidths_are_those_of_the_period(two: Two) -> None:
    start, stop = map(float, two.period.values())
    rows = two.found.rows("transfers", **two.period)
    assert rows
    assert all(start <= row["stop"] <= stop + 1.0 for row in rows)
    pairs = two.found.rows("bandwidth-workers", **two.period)
    assert {(row["source"], row["destination"]) for row in pairs} == {
        (one, other) for one in two.found.addresses for other in two.found.addresses if one != other
    }
    assert not two.found.rows("bandwidth-workers", start="1", stop="2")


def test_fine_metrics_are_what_the_period_gained(two: Two) -> None:
    known = sums(two.found.rows("fine-performance-metrics", **two.period), "label", "value")
    of_all_time = metrics(two.found)
    # A heartbeat tells of what ended before it: in the period of the last task before that, and of
    # the last one in it too late.
    assert known["second"] > of_all_time["second"] / 2
    assert known.get("first", 0.0) < of_all_time["first"] / 2


def test_a_plot_says_which_period_it_is_of(two: Two) -> None:
    for plot in ("budget", "progress", "exceptions", "compute-time-per-key", "events"):
        caption = two.found.caption(plot, **two.period)
        assert " from " in caption.headline + caption.note
