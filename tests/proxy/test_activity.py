"""A real kernel with a real cluster whose plots are watched is as idle as one that nobody sees."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter_server.serverapp import ServerApp

import dask_diag_lab
from tests.proxy.client import Client
from tests.proxy.test_access import last_activity

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


async def test_kernel_whose_plots_are_watched_is_idle(
    client: Client, jp_serverapp: ServerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Path(str(dask_diag_lab.__file__)).parent / "dask_diag_lab.yaml"
    monkeypatch.setenv("DASK_CONFIG", str(config))
    kernels: Any = jp_serverapp.kernel_manager  # jupyter_server is not typed
    kernel_id = await kernels.start_kernel()
    kernel = kernels.get_kernel(kernel_id)
    shell = kernel.client()
    shell.start_channels()
    async with client.events() as events:
        await shell.wait_for_ready(timeout=60)
        shell.execute(CELL)
        (dashboard,) = await events.until(lambda found: found and found[0]["state"] == "live")
        process = psutil.Process(kernel.provisioner.pid)
        while kernels.kernel_model(kernel_id)["execution_state"] != "idle":
            await asyncio.sleep(0.05)
        used = kernels.kernel_model(kernel_id)["last_activity"], last_activity(jp_serverapp)
        async with asyncio.timeout(60):
            await follow(client, dashboard["id"], "workers-memory")
        now = kernels.kernel_model(kernel_id)["last_activity"], last_activity(jp_serverapp)
        assert now == used
        shell.stop_channels()
        await kernels.shutdown_kernel(kernel_id)
        await events.until(lambda found: found == [])
    assert not process.is_running()
