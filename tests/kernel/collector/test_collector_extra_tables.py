"""Each extra table holds what `distributed` holds, in real situations."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import pytest
from distributed import Variable

from dask_diag_lab.collector.extras import moves_of
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding


def inc(x: int) -> int:
    return x + 1


def slow_inc(x: int, delay_s: float = 0.02) -> int:
    time.sleep(delay_s)
    return x + 1


def wait_for(x: Any, path: Path) -> Any:  # a number or an array
    while not path.exists():
        time.sleep(0.01)
    return x


def fail(x: int) -> int:
    raise ValueError(f"bad input {x} " + "é" * 5000)


def total(*parts: Any) -> int:
    return sum(len(part) for part in parts)


async def test_errors_tell_key_workers_exception_and_traceback_cut() -> None:
    async with cluster() as (s, (w,), c), feeding(s.address, wanted=["errors"]) as (_, seen):
        bad = c.submit(fail, 7, key=("fail-1", 0))
        worse = c.submit(inc, bad, key="victim-1")
        with pytest.raises(ValueError, match="bad input"):
            await worse
        row = (await until(lambda: seen.extra("errors")))[-1]
        assert (row["key"], row["prefix"]) == ("('fail-1', 0)", "fail")
        assert row["workers"] == (w.address,)
        assert row["exception"].startswith("ValueError('bad input 7 é")
        assert len(row["exception"]) < 2100
        assert "characters)" in row["exception"]
        assert 'raise ValueError(f"bad input' in row["traceback"]
        assert abs(row["time"] - time.time()) < 60
        # One that failed only because of another is not told as an error of its own.
        assert [r["key"] for r in seen.extra("errors")] == ["('fail-1', 0)"]


async def test_system_has_the_scheduler_s_samples_of_before_and_goes_on() -> None:
    async with cluster() as (s, _, _):
        for _ in range(5):
            s.monitor.update()
        async with feeding(s.address, wanted=["system"]) as (feed, seen):
            await until(lambda: len(seen.extras["system"]) >= 6)
            rows = seen.extra("system")
            assert [r["time"] for r in rows] == list(s.monitor.quantities["time"])[: len(rows)]
            assert all(r["memory"] > 1e6 for r in rows)
            assert rows[-1]["loop_s"] > 0
            n, count = len(rows), s.monitor.count
            feed.watch(True, frozenset())
            s.monitor.update()
            s.monitor.update()
            feed.watch(True, frozenset({"system"}))
            await until(lambda: len(seen.extras["system"]) >= n + 2)
            assert s.monitor.count >= count + 2
            times = [r["time"] for r in seen.extra("system")]
            assert times == sorted(set(times))
            assert seen.extras["system"].dropped == 0


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (("already-computing", "k", "executing", "v", "t", "s"), ("already-computing", "v", "t")),
        (("reschedule", True, "k", None, "v", "t", "s"), ("reschedule", "v", "t")),
        (("stale-response", "k", "ready", "v", "s"), ("stale-response", "v", "")),
        (("already-aborted", "k", "ready", None, "s"), ("already-aborted", "", "")),
    ],
)
def test_moves_that_came_to_nothing_say_why(message: Any, row: tuple[str, str, str]) -> None:
    ((at, event, key, level, victim, thief, *occupancies),) = moves_of(3.0, message)
    assert (at, key, level) == (3.0, "k", -1)
    assert (event, victim, thief) == row
    assert all(math.isnan(value) for value in occupancies)


async def test_clients_are_those_connected_and_whatever_else_keeps_keys() -> None:
    async with cluster() as (s, _, c), feeding(s.address, wanted=["clients"]) as (_, seen):
        futures = c.map(inc, range(3))
        await Variable("kept", client=c).set(futures[0])

        def wanted() -> dict[str, tuple[bool, int]]:
            return {r["name"]: (r["is_connected"], r["wanted"]) for r in seen.extra("clients")}

        await until(lambda: wanted() == {c.id: (True, 3), "variable-kept": (False, 1)})
        del futures
        await until(lambda: wanted() == {c.id: (True, 0), "variable-kept": (False, 1)})
