"""Fine performance metrics, spans, costs and counters of finished work."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Scheduler, span, wait
from distributed.metrics import context_meter

from tests.kernel.situations_real.reading import Situation, near, situation


def nap(x: int) -> int:
    time.sleep(0.02)
    context_meter.digest_metric("pages", 3, "pages")
    return x


def spin(x: int) -> int:
    until = time.thread_time() + 0.02
    while time.thread_time() < until:
        pass
    return x


@pytest.fixture(scope="module")
def measured() -> Iterator[Situation]:
    """Ten naps and ten spins in spans, one inside the other."""
    with situation(n_workers=2, threads_per_worker=2) as found:
        with span("ingest"):
            napped = found.client.map(nap, range(10))
            with span("clean"):
                spun = found.client.map(spin, range(10))
        wait([*napped, *spun])
        yield found


def totals(scheduler: Scheduler) -> dict[tuple[str, ...], float]:
    """Return the engine's sums that have a context."""
    found = scheduler.cumulative_worker_metrics.items()
    return {tuple(map(str, key)): float(v) for key, v in found if isinstance(key, tuple)}


def as_keys(rows: list[dict[str, Any]]) -> dict[tuple[str, ...], float]:
    """Return our rows under the engine's keys, summed over spans."""
    told: dict[tuple[str, ...], float] = {}
    for row in rows:
        parts = ("context", "label", "activity", "unit")
        key = tuple(row[part] for part in parts if row[part])
        told[key] = told.get(key, 0.0) + row["value"]
    return told


def test_sums_are_the_schedulers(measured: Situation) -> None:
    def is_all(theirs: dict[tuple[str, ...], float]) -> bool:
        slept = theirs.get(("execute", "nap", "thread-noncpu", "seconds"), 0.0)
        spun = theirs.get(("execute", "spin", "thread-cpu", "seconds"), 0.0)
        is_long = min(slept, spun) >= 0.199  # ten of 20 ms each
        return is_long and theirs.get(("execute", "nap", "pages", "pages")) == 30

    measured.agree(
        lambda: as_keys(measured.rows("fine-performance-metrics")), totals, is_all, near(1e-6)
    )


def test_spans_are_named_and_have_their_own_sums(measured: Situation) -> None:
    def engine(scheduler: Scheduler) -> dict[str, float]:
        spans = scheduler.extensions["spans"].spans.values()
        return {
            " > ".join(found.name): float(sum(own.values()))
            for found in spans
            if (
                own := {
                    key: value
                    for key, value in found._cumulative_worker_metrics.items()
                    if key[-1] == "seconds"
                }
            )
        }

    def ours() -> dict[str, float]:
        told: dict[str, float] = {}
        for row in measured.rows("fine-performance-metrics"):
            if row["span"] and row["unit"] == "seconds":
                told[row["span"]] = told.get(row["span"], 0.0) + row["value"]
        return told

    names = {"ingest", "ingest > clean"}
    measured.agree(ours, engine, lambda theirs: names <= set(theirs), near(1e-6))


def test_costs_tell_computing_from_waiting_in_seconds_of_the_engine(measured: Situation) -> None:
    def engine(scheduler: Scheduler) -> dict[str, float]:
        sums = {"Computing": 0.0, "Waiting in tasks": 0.0}
        words = {"thread-cpu": "Computing", "thread-noncpu": "Waiting in tasks"}
        for key, value in scheduler.cumulative_worker_metrics.items():
            if isinstance(key, tuple) and key[0] == "execute" and key[2] in words:
                sums[words[key[2]]] += value
        return sums

    def ours() -> dict[str, float]:
        sums = {"Computing": 0.0, "Waiting in tasks": 0.0}
        for row in measured.rows("costs"):
            if row["class"] in sums:
                sums[row["class"]] += row["seconds"]
        return sums

    measured.agree(ours, engine, lambda theirs: theirs["Computing"] > 0, near(1e-6))


def test_costs_and_idle_threads_fill_the_time_of_all_threads(measured: Situation) -> None:
    """Within a tenth: time passes between the two questions."""

    def engine(scheduler: Scheduler) -> float:
        history = [*scheduler.total_nthreads_history, (time.time(), 0)]
        return float(
            sum(n * (until - since) for (since, n), (until, _) in itertools.pairwise(history))
        )

    def ours() -> float:
        rows = measured.rows("costs")
        return float(sum(row["seconds"] for row in rows if row["context"] == "execute"))

    measured.agree(ours, engine, is_same=lambda a, b: a == pytest.approx(b, rel=0.1))


def test_counters_are_the_schedulers(measured: Situation) -> None:
    told = measured.agree(
        lambda: measured.by("name", "counters", "value")["transitions"],
        lambda scheduler: float(scheduler.transition_counter),
    )
    assert told >= 40
    measured.agree(
        lambda: measured.by("name", "counters", "value")["update-graph-duration"],
        lambda scheduler: scheduler.digests_total["update-graph-duration"],
        is_same=lambda ours, theirs: ours == pytest.approx(theirs),
    )


def test_progress_by_span_counts_their_tasks(measured: Situation) -> None:
    def ours() -> dict[str, int]:
        return measured.by("span", "progress", "done", by="span")

    measured.seen(ours, {"ingest": 20, "ingest > clean": 10}.__eq__)
