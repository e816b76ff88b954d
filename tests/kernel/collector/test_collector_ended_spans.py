"""What is kept of spans that are over is what a look at all of them tells, on a real scheduler."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from distributed import Client, Scheduler, span

from dask_diag_lab.collector.extra_metrics import FineTable
from dask_diag_lab.collector.extra_spans import SpanTable
from tests.kernel.transport.live_cluster import cluster, until


def nap(x: int) -> int:
    time.sleep(0.01)
    return x


async def compute(client: Client, scheduler: Scheduler, n: int = 3) -> None:
    """Compute some tasks and have them forgotten."""
    await client.gather(client.map(nap, range(n), pure=False))
    await until(lambda: not scheduler.tasks)


def spans_now(scheduler: Scheduler) -> list[Any]:
    return SpanTable(lambda _: 0, lambda _: 0).rows(scheduler)


def test_a_span_that_is_over_is_looked_at_once() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            table = SpanTable(lambda _: 0, lambda _: 0)
            for number in range(3):
                with span(f"round {number}"):
                    await compute(c, s)
            held = c.map(nap, range(2), key="held")
            await c.gather(held)
            first, second = table.rows(s), table.rows(s)
            assert first == second == spans_now(s)
            assert [a is b for a, b in zip(first, second, strict=True)] == [True] * 3 + [False]

    asyncio.run(run())


def test_a_span_that_goes_on_after_a_pause_is_counted_on() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            table = SpanTable(lambda _: 0, lambda _: 0)
            with span("training"):
                await compute(c, s)
                assert table.rows(s) == table.rows(s) == spans_now(s)
                await compute(c, s)
            (row,) = table.rows(s)
            assert sum(row[5]) == 6
            assert [row] == spans_now(s)

    asyncio.run(run())


def test_spans_inside_a_span_stay_in_its_sums() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            table = SpanTable(lambda _: 0, lambda _: 0)
            with span("outer"):
                for name in ("one", "two"):
                    with span(name):
                        await compute(c, s)
                    assert table.rows(s) == spans_now(s)
            assert [sum(row[5]) for row in table.rows(s)] == [6, 3, 3]

    asyncio.run(run())


async def metrics_are_there(scheduler: Scheduler, n_spans: int) -> None:
    """Wait for the heartbeats that bring what the last span computed."""
    known = scheduler.extensions["spans"].spans
    await until(
        lambda: (
            len(known) == n_spans
            and all(one._cumulative_worker_metrics for one in known.values())
            and not any(ws.processing for ws in scheduler.workers.values())
        )
    )


def by_name(rows: list[Any]) -> dict[str, float]:
    """Return seconds by span of fine metrics."""
    sums: dict[str, float] = {}
    for row in rows:
        if row[4] == "seconds":
            sums[row[0]] = sums.get(row[0], 0.0) + row[5]
    return sums


def test_metrics_of_spans_that_are_over_are_those_of_a_look_at_all() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            for number in range(3):
                with span("same" if number < 2 else "other"):
                    await compute(c, s)
            await metrics_are_there(s, 3)
            whole = by_name(FineTable().rows(s))
            assert {"same", "other"} <= whole.keys()
            table = FineTable(late_s=0.0)
            for _ in range(2):  # the second time nothing but kept sums is there
                assert by_name(table.rows(s)) == pytest.approx(whole)
            assert len(table._over) == 3

    asyncio.run(run())


def test_a_span_that_is_no_longer_among_the_newest_gives_its_metrics_to_no_span() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            table = FineTable(late_s=0.0, max_spans=1)
            for name in ("first", "second"):
                with span(name):
                    await compute(c, s)
                await metrics_are_there(s, 1 if name == "first" else 2)
                told = by_name(table.rows(s))
                assert {"first", "second"} & told.keys() == {name}
            assert sum(told.values()) == pytest.approx(sum(by_name(FineTable().rows(s)).values()))
            assert len(table._over) == len(table._over_since) == 1

    asyncio.run(run())


def test_metrics_that_come_after_the_end_are_waited_for() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            table = FineTable()
            with span("late"):
                await compute(c, s)
            table.rows(s)  # perhaps before the heartbeat
            await metrics_are_there(s, 1)
            assert by_name(table.rows(s)) == pytest.approx(by_name(FineTable().rows(s)))
            assert not table._over

    asyncio.run(run())


def test_a_span_that_went_on_is_waited_for_again() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            table = FineTable(late_s=0.5)
            with span("training"):
                await compute(c, s)
                table.rows(s)
                await asyncio.sleep(0.5)  # the wait itself is what is tested
                table.rows(s)
                assert len(table._over) == 1
                await compute(c, s)
            table.rows(s)
            assert not table._over

    asyncio.run(run())
