"""Dashboards appear, change and go by themselves, on a real Jupyter server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tornado.websocket import WebSocketClientConnection

from tests.proxy.backends import Backend
from tests.proxy.client import Client

Answer = list[dict[str, Any]]  # Any: JSON

TRIES = 5
"""A busy machine may take longer once; one that is only slow may not always."""


async def until(
    events: WebSocketClientConnection, is_it: Callable[[Answer], bool], timeout_s: float = 45
) -> Answer:
    """Read pushed dashboards until they are as wanted."""
    async with asyncio.timeout(timeout_s):
        while True:
            message = await events.read_message()
            assert message is not None, "the socket closed"
            dashboards: Answer = json.loads(message)["dashboards"]
            if is_it(dashboards):
                return dashboards


async def test_record_is_pushed_within_two_seconds_with_its_plots(
    client: Client, backend: Backend
) -> None:
    async with client.socket("api", "events") as events:
        await until(events, lambda found: not found)
        for _ in range(TRIES):
            begin = time.monotonic()
            backend.announce()
            (dashboard,) = await until(events, lambda found: bool(found and found[0]["plots"]))
            if (took_s := time.monotonic() - begin) < 2:
                break
            backend.path.unlink()
            await until(events, lambda found: not found)
        assert took_s < 2
    assert dashboard["id"] == backend.id
    assert dashboard["state"] == "live"
    assert dashboard["plots"][0]["name"] == "task-stream"
    assert dashboard["summary"]["workers"] == 4


async def test_plots_that_come_later_are_pushed_within_two_seconds(
    client: Client, backend: Backend
) -> None:
    backend.announce()
    async with client.socket("api", "events") as events:
        (dashboard,) = await until(events, lambda found: bool(found and found[0]["plots"]))
        before = len(dashboard["plots"])
        for more in range(1, TRIES + 1):
            begin = time.monotonic()
            await client.control(backend, more_plots=more)
            (dashboard,) = await until(events, partial(has_plots, n=before + more))
            assert dashboard["plots"][-1]["name"] == f"mine-{more}"
            if (took_s := time.monotonic() - begin) < 2:
                break
        assert took_s < 2


def has_plots(found: Answer, n: int) -> bool:
    return len(found[0]["plots"]) == n


async def test_dashboard_goes_when_its_process_dies_and_its_record_is_removed(
    client: Client, backend: Backend
) -> None:
    backend.announce()
    async with client.socket("api", "events") as events:
        await until(events, lambda found: len(found) == 1)
        backend.kill()
        await until(events, lambda found: not found)
    assert not backend.path.exists()


async def test_first_message_tells_of_now_and_not_of_when_somebody_last_listened(
    client: Client,
    backend: Backend,
    extension: Any,  # Any: its state is looked into
) -> None:
    with Backend(backend.folder) as other:
        backend.announce()
        async with client.socket("api", "events") as events:
            await until(events, lambda found: bool(found and found[0]["state"] == "live"))
        while extension.state.lookout.is_looking:
            await asyncio.sleep(0.02)
        backend.path.unlink()
        other.announce()
        async with client.socket("api", "events") as events:
            message = await events.read_message()
            assert message is not None
            first = json.loads(message)["dashboards"]
            assert [dashboard["id"] for dashboard in first] == [other.id]


async def test_list_is_looked_for_on_demand_without_listeners(
    client: Client, backend: Backend
) -> None:
    assert await client.dashboards() == []
    backend.announce(name="Ünïcode <b>.ipynb", kernel_id=None)
    (dashboard,) = await client.dashboards()
    assert dashboard["name"] == "Ünïcode <b>.ipynb"
    assert dashboard["kernel_id"] is None
    assert len(dashboard["plots"]) == 3
    backend.path.unlink()
    assert await client.dashboards() == []


async def test_kernel_that_holds_the_interpreter_is_unreachable_with_words_and_comes_back(
    client: Client, backend: Backend
) -> None:
    backend.announce()
    async with client.socket("api", "events") as events:
        await until(events, lambda found: bool(found and found[0]["state"] == "live"))
        held = asyncio.ensure_future(client.relayed(backend, "hold", params={"seconds": "10"}))
        (dashboard,) = await until(events, lambda found: found[0]["state"] == "unreachable")
        assert "holding the interpreter" in dashboard["reason"]
        assert dashboard["plots"], "the plots stay known"
        await until(events, lambda found: found[0]["state"] == "live")
        await held


async def test_lost_scheduler_is_stale_with_the_reason_of_the_kernel(
    client: Client, backend: Backend
) -> None:
    backend.announce()
    async with client.socket("api", "events") as events:
        await until(events, lambda found: bool(found and found[0]["state"] == "live"))
        await client.control(backend, health="health_lost.json")
        (dashboard,) = await until(events, lambda found: found[0]["state"] == "stale")
    assert "stopped answering" in dashboard["reason"]


async def test_closed_cluster_stays_listed_with_its_plots_and_the_time_of_its_end(
    client: Client, backend: Backend
) -> None:
    backend.announce()
    async with client.socket("api", "events") as events:
        (before,) = await until(events, lambda found: bool(found and found[0]["state"] == "live"))
        await client.control(backend, health="health_closed.json")
        (dashboard,) = await until(events, lambda found: found[0]["state"] == "stale")
    assert "closed_at" not in before
    assert dashboard["closed_at"] == 1795180931.5
    assert dashboard["reason"] is None, "the browser says it, by its own clock"
    assert dashboard["plots"] == before["plots"]


async def test_nothing_is_asked_while_nobody_listens(
    client: Client,
    backend: Backend,
    extension: Any,  # Any: its state is looked into
) -> None:
    backend.announce()
    async with client.socket("api", "events") as events:
        await until(events, lambda found: bool(found and found[0]["state"] == "live"))
        assert extension.state.lookout.is_looking
    while extension.state.lookout.is_looking:
        await asyncio.sleep(0.02)
    before = (await client.control(backend))["asked"]
    await asyncio.sleep(1.5)  # longer than a health interval: the claim is that nothing happens
    assert (await client.control(backend))["asked"] == before + 1


async def test_two_clusters_are_two_dashboards_in_order_of_beginning(
    client: Client, backend: Backend
) -> None:
    with Backend(backend.folder) as other:
        backend.announce(name="second.ipynb")
        other.announce(name="first.ipynb", started=time.time() - 0.5)
        names = [dashboard["name"] for dashboard in await client.dashboards()]
    assert names == ["first.ipynb", "second.ipynb"]
