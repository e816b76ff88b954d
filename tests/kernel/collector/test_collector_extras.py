"""Extra tables are worked out for who wants them, once for all, and cannot do harm."""

from __future__ import annotations

import asyncio
import logging
import math
from types import SimpleNamespace
from typing import Any

import pytest

from dask_diag_lab.collector.extra_system import QUANTITIES, SystemSource
from dask_diag_lab.collector.extras import Extras, Source, sources
from dask_diag_lab.collector.shuffles import Shuffles
from dask_diag_lab.records import EXTRA_NAMES, EXTRAS
from tests.kernel.transport.live_cluster import cluster, feeding, registered, until


def inc(x: int) -> int:
    return x + 1


def nothing(_: Any) -> int:
    return 0


def known(seen: Any, name: str) -> Any:
    return lambda: seen.extras[name].is_known


def test_every_extra_has_a_source_of_its_shape() -> None:
    filled = sources(nothing, nothing, Shuffles(), list)
    assert set(filled) == EXTRA_NAMES
    for extra in EXTRAS:
        source = filled[extra.name]
        assert (source.n_columns, source.max_rows) == (len(extra.columns), extra.max_rows)
        assert source.is_log == extra.is_log


def test_nothing_is_worked_out_that_nobody_wants() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c), feeding(s.address) as (feed, seen):
            await c.gather(c.map(inc, range(5)))
            await until(lambda: "inc" in seen.prefixes)
            plugin = registered(s)
            assert plugin is not None
            assert not plugin._state._extras._tables
            assert not any(batch.extras for batch in seen.batches)
            feed.wanted = frozenset({"durations"})
            await until(known(seen, "durations"))
            assert set(plugin._state._extras._tables) == {"durations"}
            assert {name for batch in seen.batches for name in batch.extras} == {"durations"}

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


class _Bare:
    """A scheduler of another version: nothing of what the extras look at is there."""

    tasks: dict[str, Any]

    def __init__(self) -> None:
        self.tasks = {}


def test_a_scheduler_that_lacks_the_sources_gives_empty_tables() -> None:
    extras = Extras(_Bare(), sources(nothing, nothing, Shuffles(), list))  # type: ignore[arg-type]
    answers = extras.answer(sorted(EXTRA_NAMES), {})
    rows = {name: len(columns[0]) for name, (columns, _, _) in answers.items()}
    assert rows == dict.fromkeys(EXTRA_NAMES, 0) | {"counters": 1}


def test_an_extra_that_fails_is_left_empty_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls: list[str] = []

    def broken(_: Any) -> Any:
        calls.append("broken")
        raise ZeroDivisionError("made by a test")

    def good(_: Any) -> Any:
        calls.append("good")
        return [(len(calls),)]

    extras = Extras(
        _Bare(),  # type: ignore[arg-type]  # neither looks at it
        {"broken": Source(2, 10, broken), "good": Source(1, 10, good)},
    )
    cursors: dict[str, int] = {}
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            answers = extras.answer(["broken", "good"], cursors)
            cursors |= {name: answer[-1] for name, answer in answers.items()}
            for throttle in extras._throttles.values():
                throttle.reset()
    assert calls.count("broken") == 1
    assert calls.count("good") == 3
    assert len(caplog.records) == 1
    assert "table broken empty" in caplog.text


def test_rows_that_nobody_wants_any_more_are_let_go_and_made_anew() -> None:
    rows = [(1,)]
    extras = Extras(
        _Bare(),  # type: ignore[arg-type]  # it is not looked at
        {"few": Source(1, 3, lambda _: rows)},
    )
    cursor = extras.answer(["few"], {})["few"][-1]
    extras.forget_unwanted()
    assert extras.answer(["few"], {"few": cursor}) == {}
    extras.forget_unwanted(kept_s=-1)
    assert extras._tables["few"]._rows is None
    rows = [(2,)]
    assert extras.answer(["few"], {"few": cursor})["few"] == (((2,),), 0, cursor + 1)


def test_rows_beyond_the_limit_are_left_out_and_counted() -> None:
    extras = Extras(
        _Bare(),  # type: ignore[arg-type]  # it is not looked at
        {"many": Source(1, 3, lambda _: [(i,) for i in range(10)])},
    )
    assert extras.answer(["many"], {})["many"] == (((7, 8, 9),), 7, 1)
    assert extras.answer(["many"], {"many": 1}) == {}


def test_a_rate_that_no_host_reaches_stays_out() -> None:
    quantities = {"time": [1.0, 2.0], "cpu": [5.0, 6.0], "host_net_io.read_bps": [498e9, 3e4]}
    monitor = SimpleNamespace(quantities=quantities, count=2)
    rows, lost = SystemSource(SimpleNamespace(monitor=monitor)).read()  # type: ignore[arg-type]
    received = QUANTITIES.index("host_net_io.read_bps")
    assert math.isnan(rows[0][received])
    assert (rows[1][received], rows[0][1], lost) == (3e4, 5.0, 0)
