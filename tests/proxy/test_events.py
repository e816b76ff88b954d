"""Dashboards appear, change and go by themselves; and who watches them keeps no kernel busy."""

from __future__ import annotations

import asyncio
import json
import resource
from pathlib import Path
from typing import Any

import pytest

import dask_diag_lab
from dask_diag_lab.proxy.extension import DaskDiagLab
from tests.proxy.backends import Backend
from tests.proxy.client import Client, Listing
from tests.proxy.test_access import last_activity


def is_live(found: Listing) -> bool:
    return bool(found and found[0]["plots"] and found[0]["state"] == "live")


async def test_record_is_pushed_and_goes_with_its_process(client: Client, backend: Backend) -> None:
    async with client.events() as events:
        await events.until(lambda found: not found)
        backend.announce()
        (dashboard,) = await events.until(is_live)
        assert dashboard["id"] == backend.id
        assert dashboard["plots"][0]["name"] == "task-stream"
        assert dashboard["summary"]["workers"] == 4
        backend.kill()
        await events.until(lambda found: not found)
    assert not backend.path.exists()


async def test_only_what_changed_is_pushed(client: Client, announced: Backend) -> None:
    with Backend(announced.folder) as other:
        other.announce()
        async with client.events() as events:
            await events.until(lambda found: all(map(is_live, [[one] for one in found])))
            await client.control(announced, more_plots=1)
            await events.until(lambda found: len(found[0]["plots"]) == 4)
            n_before = len(events.messages)
            await client.control(announced, health="health_lost.json")
            await events.until(lambda found: found[0]["state"] == "stale")
            (change,) = [c for one in events.messages[n_before:] for c in one["changed"]]
            assert change["id"] == announced.id
            assert "plots" not in change
            other.path.unlink()
            await events.until(lambda found: len(found) == 1)
    assert events.messages[-1] == {"changed": [], "removed": [other.id]}
    assert "help" not in json.dumps(events.messages)


async def test_idle_is_idle(client: Client, announced: Backend, extension: DaskDiagLab) -> None:
    async with client.events() as events:
        await events.until(is_live)
    async with asyncio.timeout(30):
        while extension.registry.is_watching:
            await asyncio.sleep(0.02)
    before = (await client.control(announced))["asked"]
    await asyncio.sleep(1.5)  # longer than a health interval: the claim is that nothing happens
    assert (await client.control(announced))["asked"] == before + 1


async def test_list_is_of_now_in_order_of_beginning(client: Client, backend: Backend) -> None:
    assert await client.dashboards() == []
    with Backend(backend.folder) as other:
        backend.announce(kernel_id=None)
        other.announce(name="Ünïcode <b>.ipynb", started=1795180000.25)
        first, second = await client.dashboards()
    assert (first["name"], first["started"]) == ("Ünïcode <b>.ipynb", 1795180000.25)
    assert (second["id"], second["kernel_id"]) == (backend.id, None)


async def test_kernel_that_holds_comes_back(client: Client, announced: Backend) -> None:
    async with client.events() as events:
        await events.until(is_live)
        held = asyncio.ensure_future(client.relayed(announced, "hold", params={"seconds": "10"}))
        (dashboard,) = await events.until(lambda found: found[0]["state"] == "unreachable")
        assert "holding the interpreter" in dashboard["reason"]
        assert dashboard["plots"], "the plots stay known"
        await events.until(is_live)
        await held


async def test_end_of_the_scheduler_says_why_or_when(client: Client, announced: Backend) -> None:
    async with client.events() as events:
        await events.until(is_live)
        await client.control(announced, health="health_lost.json")
        (lost,) = await events.until(lambda found: found[0]["state"] == "stale")
        assert "stopped answering" in lost["reason"]
        await client.control(announced, health="health_closed.json")
        (closed,) = await events.until(lambda found: "closed_at" in found[0])
    assert (closed["state"], closed["closed_at"]) == ("stale", 1795180931.5)
    assert closed["reason"] is None, "the browser says it, by its own clock"


async def test_watching_goes_on_after_an_error(
    client: Client, backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with client.events() as events:
        await events.until(lambda found: not found)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))  # no file can be opened
        try:
            async with asyncio.timeout(30):
                while "begins again" not in caplog.text:
                    await asyncio.sleep(0.02)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        backend.announce()
        await events.until(is_live)


CELL = """
from distributed import Client
import dask_diag_lab
client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
dask_diag_lab.attach(client)
"""


async def follow(client: Client, dashboard: str, plot: str) -> None:
    """Open a plot as a page does until its document and two updates of it have come."""
    async with client.socket("dashboards", dashboard, "stream") as socket:
        await socket.write_message(json.dumps({"type": "open", "id": "1", "plot": plot}))
        for _ in range(3):
            assert isinstance(frame := await socket.read_message(), bytes)
            assert b'"error"' not in frame[:100]


async def test_kernel_whose_plots_are_watched_is_idle(client: Client) -> None:
    config = Path(str(dask_diag_lab.__file__)).parent / "dask_diag_lab.yaml"
    kernels: Any = client.app.kernel_manager  # jupyter_server is not typed
    async with client.events() as events:
        async with client.kernel(DASK_CONFIG=str(config)) as (kernel_id, channels):
            channels.execute(CELL)
            (dashboard,) = await events.until(lambda found: found and found[0]["state"] == "live")
            while kernels.kernel_model(kernel_id)["execution_state"] != "idle":
                await asyncio.sleep(0.05)
            used = kernels.kernel_model(kernel_id)["last_activity"], last_activity(client.app)
            async with asyncio.timeout(60):
                await follow(client, dashboard["id"], "workers-memory")
            now = kernels.kernel_model(kernel_id)["last_activity"], last_activity(client.app)
            assert now == used
        await events.until(lambda found: found == [])
