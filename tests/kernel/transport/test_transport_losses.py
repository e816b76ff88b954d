"""What is known after a feed failed, came late, or began anew: no row twice, no loss unsaid."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from dask_diag_lab.collector import Collector
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding, inc, traces


async def test_what_nobody_recorded_between_two_collectors_is_given_as_a_gap() -> None:
    options: dict[str, Any] = {
        "idle_interval_s": 100.0,
        "collector": partial(Collector, lease_s=1.5),
    }
    async with cluster() as (s, _, c), feeding(s.address, **options) as (feed, seen):
        await until(lambda: seen.batches)
        last = seen.last.time
        await until(lambda: traces(s) == [], "the lease is over")
        await c.gather(c.map(inc, range(3)))
        done = time.time()
        assert not seen.history.gaps
        feed.watch(True)
        await until(lambda: len({b.epoch for b in seen.batches}) == 2)
        assert [begin for begin, _ in seen.history.gaps] == [last]
        assert done <= seen.history.gaps[0][1] <= time.time()
        rows = [
            (at, detail) for at, kind, detail in seen.history.events.rows if kind == "not-recorded"
        ]
        assert rows == [(last, {"until": seen.history.gaps[0][1]})]
