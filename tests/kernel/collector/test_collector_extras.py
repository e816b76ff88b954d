"""Extra tables are worked out for who wants them, once for all, and cannot do harm."""

from __future__ import annotations

import asyncio
import logging
import math
from types import SimpleNamespace
from typing import Any

import pytest

from dask_diag_lab.collector.extras import QUANTITIES, Extras, Shuffles, SystemSource
from dask_diag_lab.schema import EXTRA_NAMES, TABLES
from dask_diag_lab.schema.columns import decoded
from tests.kernel.transport.live_cluster import cluster, feeding, registered, until


def inc(x: int) -> int:
    return x + 1


def known(seen: Any, name: str) -> Any:
    return lambda: seen.extras[name].is_known


def test_nothing_is_worked_out_that_nobody_wants() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address) as (feed, seen):
            await c.gather(c.map(inc, range(5)))
            await until(lambda: "inc" in seen.prefixes)
            plugin = registered(s)
            assert plugin is not None
            assert not plugin._extras._tables
            assert not any(EXTRA_NAMES & batch.tables.keys() for batch in seen.batches)
            feed.wanted = frozenset({"durations"})
            await until(known(seen, "durations"))
            assert set(plugin._extras._tables) == {"durations"}
            told = {name for batch in seen.batches for name in batch.tables}
            assert told & EXTRA_NAMES == {"durations"}

    asyncio.run(run())


def test_wanting_something_wakes_the_feed() -> None:
    async def run() -> None:
        async with (
            cluster() as (s, _, _),
            feeding(s.address, interval_s=60, idle_interval_s=60) as (feed, seen),
        ):
            await until(lambda: seen.batches)
            feed.wanted = frozenset({"counters"})
            await until(known(seen, "counters"), deadline_s=30)

    asyncio.run(run())


def failing(_: object) -> Any:  # rows of any table
    raise ZeroDivisionError("made by a test")


def test_an_extra_that_fails_is_left_empty_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scheduler: Any = object()  # neither looks at it
    n_calls = 0

    def counters(_: object) -> Any:  # rows of `counters`
        nonlocal n_calls
        n_calls += 1
        return [("a", "count", float(n_calls))]

    extras = Extras(scheduler, {"counters": counters, "durations": failing})
    cursor = 0
    with caplog.at_level(logging.ERROR):
        for number in range(1, 3):
            extras.forget_unwanted(kept_s=-1)  # so that the next look is not throttled
            sent, cursor = extras.since("counters", cursor)
            assert sent is not None
            assert decoded(TABLES["counters"], sent["columns"])["value"].tolist() == [number]
            extras.since("durations", 0)
    assert [record.args for record in caplog.records] == [("durations",)]


def test_a_rate_that_no_host_reaches_stays_out() -> None:
    quantities = {"time": [1.0, 2.0], "cpu": [5.0, 6.0], "host_net_io.read_bps": [498e9, 3e4]}
    scheduler: Any = SimpleNamespace(monitor=SimpleNamespace(quantities=quantities, count=2))
    rows, lost = SystemSource(scheduler).read()
    received = QUANTITIES.index("host_net_io.read_bps")
    assert math.isnan(rows[0][received])
    assert (rows[1][received], rows[0][1], lost) == (3e4, 5.0, 0)


def test_what_a_shuffle_moves_between_two_heartbeats_is_a_row() -> None:
    shuffles = Shuffles()
    beats: dict[str, Any] = {"w": {"comm": {"written": 100, "read": 40}, "disk": {}, "start": 1.0}}
    scheduler: Any = SimpleNamespace(
        plugins={"shuffle": SimpleNamespace(heartbeats={"id": beats})},
        workers={"w": SimpleNamespace(last_seen=5.0)},
    )
    reader = shuffles.transfers(scheduler)
    shuffles.note(scheduler)
    beats["w"] = {"comm": {"written": 300, "read": 40}, "disk": {}, "start": 1.0}
    scheduler.workers["w"].last_seen = 7.0
    shuffles.note(scheduler)
    wanted = [(5.0, "id", "w", 100.0, 40.0), (7.0, "id", "w", 200.0, 0.0)]
    assert reader.read() == (wanted, 0)
    assert reader.read() == ([], 0)
