"""Looking into the engine's log: within bounds, and without leaving a trace in it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from distributed import Scheduler

from dask_diag_lab.collector.events import MAX_CLIENTS, EventLog
from dask_diag_lab.collector.recall import RECALLED, recall
from tests.kernel.transport.live_cluster import cluster

LONG_LOG = {"distributed.admin.low-level-log-length": 10 * RECALLED}


def graph(n_tasks: int) -> Mapping[str, Any]:  # as the engine logs one
    return {
        "action": "update-graph",
        "metrics": {"tasks": n_tasks + 1, "new_tasks": n_tasks},
        "status": "OK",
    }


def told(scheduler: Scheduler, kind: str) -> list[Mapping[str, Any]]:  # details of several types
    """Return the details of the events of a kind that are recalled."""
    log = EventLog()
    recall(scheduler, log)
    return [dict(detail) for _, known, detail in log.since(0)[1] if known == kind]


def test_looking_makes_no_topics() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            s.client_desires_keys([], "a-queue")  # as the engine makes clients of its own
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


def test_the_entries_of_all_clients_together_are_bounded() -> None:
    async def run() -> None:
        async with cluster(config=LONG_LOG) as (s, _, _):
            s.client_desires_keys([], "other")
            s.log_event("other", graph(3))
            for _ in range(RECALLED // 2):
                s.log_event("other", "something of a user")
            assert [detail["tasks"] for detail in told(s, "update-graph")] == [3]
            s.client_desires_keys([], "another")
            s.log_event("another", graph(4))
            for _ in range(RECALLED // 2):
                s.log_event("another", "something of a user")
            assert [detail["tasks"] for detail in told(s, "update-graph")] == [4]

    asyncio.run(run())


def test_tasks_that_nobody_holds_on_to_take_no_place_of_a_client() -> None:
    async def run() -> None:
        async with cluster() as (s, _, c):
            names = [f"client-{number}" for number in range(MAX_CLIENTS - 1)]
            for name in names:
                s.client_desires_keys([], name)
                s.log_event(name, graph(1))
            s.log_event(c.id, graph(1))
            clients = {detail["client"] for detail in told(s, "update-graph")}
            assert clients == {c.id, *names}

    asyncio.run(run())
