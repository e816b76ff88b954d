"""Without a collector: the extra tables that the engine's own calls give, and which do not."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from distributed import Worker

from dask_diag_lab.records import EXTRA_NAMES
from dask_diag_lab.transport.plain_extras import PlainExtras
from dask_diag_lab.transport.wire import WireError
from tests.kernel.transport.live_cluster import cluster, feeding, until


def wait_for(x: int, path: Path) -> int:
    while not path.exists():
        time.sleep(0.01)
    return x


def move(at: float, key: str) -> Any:
    return (at, ("confirm", key, "ready", "tcp://a", "tcp://b", "steal-1"))


def heartbeat(seen: float, rate: float, count: int) -> dict[str, Any]:
    """Return the identity of a worker that measured ``count`` transfers of one ``rate``."""
    pair = (rate * count, count)
    bandwidth = {"total": 1e8, "workers": {"tcp://b": pair}, "types": {"bytes": pair}}
    return {"last_seen": seen, "metrics": {"bandwidth": bandwidth}}


def test_stealing_comes_from_the_scheduler_s_events_and_the_rest_is_said_to_be_missing(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with AsyncExitStack() as stack:
            s, (w,), c = await stack.enter_async_context(cluster())
            s.blocked_handlers = ["register_scheduler_plugin"]
            feed = feeding(s.address, wanted=EXTRA_NAMES)
            _, seen = await stack.enter_async_context(feed)
            await until(lambda: seen.state == "degraded" and seen.batches)
            options = {"workers": [w.address], "allow_other_workers": True}
            futures = c.map(wait_for, range(40), path=tmp_path / "go", **options)
            await until(lambda: len(s.workers[w.address].processing) > 20)
            thief = Worker(s.address, nthreads=1, dashboard_address=":0")
            await stack.enter_async_context(thief)
            await until(lambda: any(r["event"] == "confirmed" for r in seen.extra("stealing")))
            (tmp_path / "go").touch()
            await c.gather(futures)
            row = next(r for r in seen.extra("stealing") if r["event"] == "confirmed")
            assert (row["victim"], row["thief"]) == (w.address, thief.address)
            known = {name for name in EXTRA_NAMES if seen.extras[name].is_known}
            assert known == {"stealing", "bandwidth-types", "bandwidth-workers"}
            assert "all but bandwidth and stealing" in seen.last.degraded

    asyncio.run(run())


def test_events_that_come_again_are_told_once_also_with_equal_times() -> None:
    extras = PlainExtras()
    first = [move(1.0, "a"), move(2.0, "b"), move(2.0, "c")]
    assert extras.stolen(()).columns["key"] == ()  # type: ignore[union-attr]  # it is known now
    assert extras.stolen(first).columns["key"] == ("a", "b", "c")  # type: ignore[union-attr]
    assert extras.stolen(first) is None
    more = [*first[1:], move(2.0, "d"), move(3.0, "e")]
    assert extras.stolen(more).columns["key"] == ("d", "e")  # type: ignore[union-attr]
    assert extras.stolen(more) is None


def test_events_of_another_shape_are_named() -> None:
    with pytest.raises(WireError, match="stealing"):
        PlainExtras().stolen([(1.0, ("request", [("too", "short")]))])


def test_bandwidth_is_averaged_over_new_heartbeats_and_gone_workers_are_dropped() -> None:
    extras = PlainExtras()
    other = {"last_seen": 1.0, "metrics": {}}
    both = {"tcp://a": heartbeat(1.0, 100.0, 2), "tcp://b": other}
    extras.see_workers(both)
    change = extras.changes(EXTRA_NAMES)["bandwidth-workers"]
    assert dict(change.columns) == {
        "source": ("tcp://b",),
        "destination": ("tcp://a",),
        "rate": (100.0,),
    }
    extras.see_workers(both)
    assert extras.changes(EXTRA_NAMES) == {}
    extras.see_workers({**both, "tcp://a": heartbeat(2.0, 500.0, 1)})
    change = extras.changes({"bandwidth-types"})["bandwidth-types"]
    assert dict(change.columns) == {"type": ("bytes",), "rate": (300.0,)}
    extras.see_workers({"tcp://a": heartbeat(2.0, 500.0, 1)})
    assert extras.changes(EXTRA_NAMES)["bandwidth-workers"].columns["rate"] == ()
