"""Extra tables are worked out for who wants them, once for all, and cannot do harm."""

from __future__ import annotations

import logging
import math
from types import SimpleNamespace
from typing import Any

import pytest

from dask_diag_lab.collector.on_demand import OnDemandTables, Shuffles, system_since
from dask_diag_lab.collector.wire import Answer
from dask_diag_lab.schema.columns import decoded
from dask_diag_lab.schema.tables import EXTRA_NAMES, TABLES
from dask_diag_lab.transport.feed import KEPT
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding


def rows_of(name: str, answer: Answer) -> list[tuple[Any, ...]]:  # types differ
    """Return the rows of a table as they arrive."""
    sent, _ = answer
    assert sent is not None
    columns = decoded(TABLES[name], sent["rows"])
    return list(zip(*(column.tolist() for column in columns.values()), strict=True))


async def test_an_extra_is_brought_when_somebody_wants_it_and_at_once() -> None:
    async with (
        cluster() as (s, _, _),
        feeding(s.address, interval_s=60, idle_interval_s=60) as (feed, seen),
    ):
        await until(lambda: seen.batches)
        feed.watch(False, frozenset({"counters"}))
        await until(lambda: seen.history.extras["counters"].is_known)
        came = {name for batch in seen.batches for name in batch.tables}
        assert (came & EXTRA_NAMES) - KEPT == {"counters"}


def failing() -> Any:  # rows of any table
    raise ZeroDivisionError("made by a test")


def test_an_extra_that_fails_is_no_empty_table_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scheduler: Any = SimpleNamespace(bandwidth_types={"a": 1.0})
    extras = OnDemandTables(scheduler, scheduler, Shuffles(scheduler), failing)
    with caplog.at_level(logging.ERROR):
        for _ in range(2):
            assert extras.since("errors", 0) == (None, 0)
            assert rows_of("bandwidth-types", extras.since("bandwidth-types", 0)) == [("a", 1.0)]
    assert [record.args for record in caplog.records] == [("errors",)]
    assert extras.failed == {"errors": "ZeroDivisionError: made by a test"}


def test_a_rate_that_no_host_reaches_stays_out() -> None:
    quantities = {"time": [1.0, 2.0], "cpu": [5.0, 6.0], "host_net_io.read_bps": [498e9, 3e4]}
    monitor = SimpleNamespace(quantities=quantities, count=2)
    scheduler: Any = SimpleNamespace(monitor=monitor, _tick_interval_observed=0.02)
    rows = rows_of("system", system_since(scheduler, 0))
    assert [row[1] for row in rows] == [5.0, 6.0]
    assert math.isnan(rows[0][3])
    assert rows[1][3] == 3e4
