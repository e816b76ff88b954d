"""What is known after a feed failed, came late, or began anew: no row twice, no loss unsaid."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from dask_diag_lab.collector import Collector
from dask_diag_lab.schema import Batch, Kind
from dask_diag_lab.store import LiveSession
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import Seen, cluster, feeding, traces


def inc(x: int) -> int:
    return x + 1


def both(live: LiveSession, seen: Seen) -> Callable[[Batch], None]:
    def receive(batch: Batch) -> None:
        live.apply(batch)
        seen.on_batch(batch)

    return receive


def computed(live: LiveSession) -> list[str]:
    """Return the keys of all work; what took 5 ms on a busy machine may be called disk work."""
    _, rows = live.history.actions.since(0)
    return [
        live.history.actions.key(t) for t in rows["task"][rows["kind"] == Kind.COMPUTE].tolist()
    ]


async def test_what_nobody_recorded_between_two_collectors_is_given_as_a_gap() -> None:
    live, seen = LiveSession(), Seen()
    options: dict[str, Any] = {
        "idle_interval_s": 100.0,
        "collector": partial(Collector, lease_s=1.5),
        "on_batch": both(live, seen),
    }
    async with cluster() as (s, _, c), feeding(s.address, **options) as (feed, _):
        await until(lambda: seen.batches)
        last = seen.last.time
        await until(lambda: traces(s) == [], "the lease is over")
        await c.gather(c.map(inc, range(3)))
        done = time.time()
        assert not live.history.gaps
        feed.watch(True)
        await until(lambda: len({b.epoch for b in seen.batches}) == 2)
        assert [begin for begin, _ in live.history.gaps] == [last]
        assert done <= live.history.gaps[0][1] <= time.time()
        rows = [
            (at, detail) for at, kind, detail in live.history.events.rows if kind == "not-recorded"
        ]
        assert rows == [(last, {"until": live.history.gaps[0][1]})]


async def test_a_batch_that_fails_half_way_is_not_taken_twice() -> None:
    live, seen = LiveSession(), Seen()
    update: Any = live.history.prefixes.update
    failures: list[Any] = []

    def fragile(*args: Any) -> None:
        if live.history.actions.total and len(failures) < 3:
            failures.append(args)
            raise RuntimeError("no room")
        update(*args)

    vars(live.history.prefixes)["update"] = fragile  # fails after the rows are in
    async with (
        cluster() as (s, _, c),
        feeding(s.address, on_batch=both(live, seen)) as (_, _),
    ):
        await c.gather(c.map(inc, range(5)))
        await until(lambda: len(failures) == 3)
        await c.gather(c.map(inc, range(10, 15)))
        await until(lambda: len(seen.computed) >= 10)
        keys = computed(live)
        assert len(keys) == len(set(keys)) == 10
        assert live.history.actions.dropped == 0
