"""Looking into `distributed`'s log: within bounds, and without leaving a trace in it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from distributed import Scheduler

from dask_diag_lab.collector.events import EventLog, recall
from dask_diag_lab.schema import EVENTS
from dask_diag_lab.schema.columns import decoded
from tests.kernel.transport.live_cluster import cluster


def told(scheduler: Scheduler, kind: str) -> list[Mapping[str, Any]]:  # details of several types
    """Return the details of the events of a kind that are recalled."""
    log = EventLog()
    recall(scheduler, log)
    sent, _ = log.since(0)
    if sent is None:
        return []
    columns = decoded(EVENTS, sent["columns"])
    return [d for known, d in zip(columns["kind"], columns["detail"], strict=True) if known == kind]


def test_looking_makes_no_topics() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            s.client_desires_keys([], "a-queue")  # as `distributed` makes clients of its own
            before = set(s._broker._topics)
            assert {c.id, "all"} <= before
            assert not {"a-queue", "fire-and-forget"} & before
            assert told(s, "client-added") == [{"client": c.id}]
            assert set(s._broker._topics) == before

    asyncio.run(run())


def test_a_log_that_is_kept_otherwise_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with cluster() as (s, _, _):
            with monkeypatch.context() as changed:
                changed.setattr(s._broker, "_topics", [])
                assert told(s, "worker-added") == []
                changed.delattr(s, "_broker")
                assert told(s, "worker-added") == []
            assert len(told(s, "worker-added")) == 1

    asyncio.run(run())
