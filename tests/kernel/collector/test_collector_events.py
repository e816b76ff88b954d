"""The timeline on a real cluster: pauses, retirement, moves; and messages of other people's."""

from __future__ import annotations

import time
from typing import Any

from dask_diag_lab.collector.events import EventRecorder
from dask_diag_lab.schema.columns import decoded
from dask_diag_lab.schema.tables import EVENTS
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding


def events_of(log: EventRecorder) -> list[tuple[float, str, dict[str, Any]]]:
    """Return all events as they arrive."""
    sent, _ = log.since(0)
    assert sent is not None
    columns = decoded(EVENTS, sent["rows"])
    return list(zip(*(column.tolist() for column in columns.values()), strict=True))


def test_what_comes_in_bursts_between_two_pulls_is_one_event() -> None:
    log = EventRecorder(limit=3)
    for at in (1.0, 2.0):
        log.count(at, "task-erred", prefix="inc", worker="tcp://a:1")
        log.count(at, "steal-burst")
    log.add(3.0, "restart")
    log.count(4.0, "steal-burst")
    assert events_of(log) == [
        (1.0, "steal-burst", {"count": 2, "until": 2.0}),
        (3.0, "restart", {}),
        (4.0, "steal-burst", {"count": 1, "until": 4.0}),
    ]
    lost, _ = log.since(1)
    assert lost is not None
    assert lost["dropped"] == 1


async def test_workers_of_before_the_collector_are_reported_with_its_time() -> None:
    async with cluster(2) as (s, workers, _):
        s.log_event("all", {"action": "add-worker", "worker": ["of a user"]})
        attached = time.time()
        async with feeding(s.address) as (_, seen):
            await until(lambda: seen.happened("worker-added"))
            came = [detail["worker"] for detail in seen.happened("worker-added")]
            assert came == [w.address for w in workers]
            assert all(attached - 60 < at < attached for at, _, _ in seen.events)
