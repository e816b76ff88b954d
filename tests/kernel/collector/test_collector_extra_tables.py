"""Each extra table holds what `distributed` holds, in real situations."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from distributed import Variable, Worker, span

from dask_diag_lab.collector.extras import moves_of
from dask_diag_lab.schema import STATES
from tests.kernel.transport.live_cluster import cluster, feeding, until


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


async def test_durations_are_those_of_the_prefixes_and_sent_only_when_they_change() -> None:
    async with cluster() as (s, _, c), feeding(s.address, wanted=["durations"]) as (_, seen):
        await c.gather(c.map(slow_inc, range(5)))

        def spent() -> float:
            rows = seen.extra("durations")
            own = [r for r in rows if (r["prefix"], r["action"]) == ("slow_inc", "compute")]
            return float(sum(r["seconds"] for r in own))

        await until(lambda: spent() >= 0.1)
        exact = s.task_prefixes["slow_inc"].all_durations["compute"]
        await until(lambda: spent() == exact)
        first, n = len(seen.batches), sum("durations" in b.tables for b in seen.batches)
        await until(lambda: len(seen.batches) > first + 60)  # the throttle lets it look again
        assert sum("durations" in b.tables for b in seen.batches) == n


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


async def test_transfers_above_1_mb_give_bandwidth_by_type_and_by_pair() -> None:
    wanted = ["bandwidth-types", "bandwidth-workers"]
    async with cluster(2) as (s, (a, b), c), feeding(s.address, wanted=wanted) as (_, seen):
        # `distributed` forgets what was measured while a heartbeat was under way.
        for size in itertools.count(3_000_000):
            big = c.submit(bytes, size, workers=[a.address])
            assert await c.submit(total, big, workers=[b.address]) == size
            if s.bandwidth_workers:
                break
        (row,) = await until(lambda: seen.extra("bandwidth-workers"))
        assert (row["source"], row["destination"]) == (a.address, b.address)
        real = s.bandwidth_workers
        await until(
            lambda: seen.extra("bandwidth-workers")[0]["rate"] == real[b.address, a.address] > 0
        )
        (row,) = await until(lambda: seen.extra("bandwidth-types"))
        assert row["type"] == "bytes"
        types = s.bandwidth_types
        await until(lambda: seen.extra("bandwidth-types")[0]["rate"] == types["bytes"] > 0)


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


async def test_stealing_tells_requests_and_moves_and_the_timeline_counts_them(
    tmp_path: Path,
) -> None:
    async with cluster() as (s, (w,), c), feeding(s.address, wanted=["stealing"]) as (_, seen):
        options = {"workers": [w.address], "allow_other_workers": True}
        futures = c.map(wait_for, range(60), path=tmp_path / "go", **options)
        await until(lambda: len(s.workers[w.address].processing) > 30)
        async with Worker(s.address, nthreads=1, dashboard_address=":0") as thief:
            await until(lambda: any(r["event"] == "confirmed" for r in seen.extra("stealing")))
            (tmp_path / "go").touch()
            await c.gather(futures)
            rows = seen.extra("stealing")
            request = next(r for r in rows if r["event"] == "request")
            assert (request["victim"], request["thief"]) == (w.address, thief.address)
            assert request["key"].startswith("wait_for")
            assert request["level"] >= 0
            assert request["victim_occupancy"] > request["thief_occupancy"] >= 0
            confirmed = next(r for r in rows if r["event"] == "confirmed")
            assert (confirmed["victim"], confirmed["thief"]) == (w.address, thief.address)
            assert math.isnan(confirmed["victim_occupancy"])

            def moves() -> list[int]:
                reported = [r for r in seen.extra("stealing") if r["event"] == "confirmed"]
                return [len(reported), sum(e["count"] for e in seen.happened("steal-burst"))]

            await until(lambda: moves()[0] == moves()[1] > 0)


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


def naps(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["activity"] == "thread-noncpu"]


async def test_spans_and_fine_metrics_carry_the_names_of_spans_and_sum_up_to_the_total() -> None:
    wanted = ["spans", "fine", "activities"]
    async with cluster() as (s, _, c), feeding(s.address, wanted=wanted) as (_, seen):
        await c.gather(c.map(slow_inc, range(4)))
        with span("load"), span("read"):
            futures = c.map(slow_inc, range(100, 103), key="reading")
        await c.gather(futures)

        def equal() -> bool:
            reported, real = Counter[str](), Counter[str]()
            for row in seen.extra("fine"):
                reported[row["context"]] += row["value"]
            for key, value in s.cumulative_worker_metrics.items():
                if isinstance(key, tuple):
                    real[str(key[0])] += value
            return bool(reported) and reported == pytest.approx(real)

        def reading() -> list[dict[str, Any]]:
            return [r for r in seen.extra("fine") if r["label"] == "reading"]

        # Heartbeats bring the three naps of 20 ms one by one.
        await until(lambda: sum(r["value"] for r in naps(reading())) > 0.05 and equal())
        names = {r["span"] for r in reading()}
        assert names == {"load > read"}
        whole = [r for r in seen.extra("activities") if r["label"] == "reading"]
        assert [{"span": "load > read", **row} for row in whole] == reading()
        (mine,) = naps(reading())
        assert (mine["context"], mine["unit"]) == ("execute", "seconds")
        await until(lambda: [sum(r["states"]) for r in seen.extra("spans")][-2:] == [3, 3])
        outer, inner = seen.extra("spans")[-2:]
        assert (outer["name"], inner["name"]) == ("load", "load > read")
        assert (outer["parent"], inner["parent"]) == ("", outer["id"])
        await until(lambda: seen.extra("spans")[-1]["states"][STATES.index("memory")] == 3)
        outer, inner = seen.extra("spans")[-2:]
        exact = s.extensions["spans"].spans[outer["id"]]
        assert outer["seconds"] == inner["seconds"] == pytest.approx(exact.duration)
        assert outer["nbytes"] == exact.nbytes_total > 0
        assert (outer["start"], outer["stop"]) == (exact.start, exact.stop)
        assert (outer["groups"], inner["groups"]) == ((), ("reading",))


async def test_counters_count_transitions_and_ticks() -> None:
    async with cluster() as (s, _, c), feeding(s.address, wanted=["counters"]) as (_, seen):
        await c.gather(c.map(inc, range(5)))

        def counts() -> dict[str, tuple[str, float]]:
            return {r["name"]: (r["unit"], r["value"]) for r in seen.extra("counters")}

        def is_equal() -> bool:
            return counts().get("transitions") == ("count", s.transition_counter)

        await until(lambda: is_equal() and "tick-duration" in counts())
        unit, value = counts()["tick-duration"]
        assert unit == "seconds"
        assert value > 0


async def test_clients_are_those_connected_and_whatever_else_keeps_keys() -> None:
    async with cluster() as (s, _, c), feeding(s.address, wanted=["clients"]) as (_, seen):
        futures = c.map(inc, range(3))
        await Variable("kept", client=c).set(futures[0])

        def wanted() -> dict[str, tuple[bool, int]]:
            return {r["name"]: (r["is_connected"], r["wanted"]) for r in seen.extra("clients")}

        await until(lambda: wanted() == {c.id: (True, 3), "variable-kept": (False, 1)})
        del futures
        await until(lambda: wanted() == {c.id: (True, 0), "variable-kept": (False, 1)})


async def test_a_p2p_shuffle_is_reported_by_worker(tmp_path: Path) -> None:
    array = pytest.importorskip("dask.array")

    async with (
        cluster(2) as (s, workers, c),
        feeding(s.address, wanted=["shuffles"]) as (
            _,
            seen,
        ),
    ):
        x = array.random.random((1200, 1200), chunks=(1200, 10))
        y = x.rechunk((10, 1200), method="p2p")
        # With `meta`, else it is called once, here, for the type of what it returns.
        held = y.map_blocks(wait_for, path=tmp_path / "go", dtype=float, meta=x._meta)
        future = c.compute(held.sum())
        rows = await until(lambda: [r for r in seen.extra("shuffles") if r["comm_total"] > 0])
        assert {r["worker"] for r in rows} <= {w.address for w in workers}
        assert len({r["id"] for r in rows}) == 1
        assert rows[0]["comm_limit"] > 0
        assert abs(rows[0]["time"] - time.time()) < 60
        (tmp_path / "go").touch()
        await future
