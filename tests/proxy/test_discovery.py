"""Stock dashboards that are found by themselves: real schedulers, kernels and other programs."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from distributed import Client as DaskClient

from tests.proxy.backends import PROGRAMS, Backend, Program, StockScheduler
from tests.proxy.client import Client, Listing

pytestmark = pytest.mark.parametrize("settings", [{}])

CLUSTER = """
import dask
from distributed import Client, LocalCluster
dask.config.set({{"diag-lab.auto-attach": {is_ours}}})
cluster = LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0", {more})
client = Client(cluster)
"""
BUSY = "Event loop was unresponsive"  # distributed says so of a busy machine
# The scheduler has no moment without news of tasks.
COMPUTE = """
def story(i):
    return i
while True:
    client.gather(client.map(story, range(20), pure=False))
"""


def of(address: str, found: Listing) -> dict[str, Any]:  # Any: JSON
    """Return the stock dashboard of a scheduler, once it has said how it is."""
    stock = (one for one in found if one["kind"] == "stock" and one["state"] == "live")
    return next((one for one in stock if one["scheduler"]["address"] == address), {})


async def test_is_listed_and_gone_with_its_process(client: Client) -> None:
    async with client.events() as events:
        await events.until(lambda _: True)
        with StockScheduler(2) as scheduler:
            found = await events.until(lambda found: of(scheduler.address, found))
            dashboard = of(scheduler.address, found)
        await events.until(lambda found: not of(scheduler.address, found))
    assert (dashboard["name"], dashboard["state"]) == (f"127.0.0.1:{scheduler.port}", "live")
    assert (dashboard["kernel_id"], dashboard["is_removable"]) == (None, False)
    assert dashboard["summary"] == {"workers": 2, "threads": 4, "memory_limit": 2 * 10**9}
    assert len(dashboard["plots"]) > 20
    assert "shown_with" not in dashboard


async def test_list_waits_for_no_program_that_does_not_answer(
    client: Client, announced: Backend
) -> None:
    with StockScheduler() as scheduler, Backend(announced.folder) as holding:
        await client.until(lambda found: any(one["plots"] for one in found))
        for program in (scheduler, holding):
            program.process.send_signal(signal.SIGSTOP)
        holding.announce()
        listed = {one["id"]: one for one in await client.dashboards()}
        assert listed[announced.id]["plots"]
        # Had it been waited for, it would be known not to answer.
        assert "Waiting for the first answer" in listed[holding.id]["reason"]


async def test_scheduler_without_a_dashboard_loads_no_bokeh_when_it_is_asked(
    client: Client,
) -> None:
    with StockScheduler(0, "", "bare") as bare:
        with StockScheduler() as later:
            await client.until(lambda found: of(later.address, found))
        async with DaskClient(bare.address, asynchronous=True) as dask:
            assert not await dask.run_on_scheduler(eval, "'bokeh' in __import__('sys').modules")


async def test_found_one_that_is_added_by_hand_stays_one(
    client: Client, stock: StockScheduler
) -> None:
    found = await client.until(lambda found: of(stock.address, found))
    assert (await client.add(f"localhost:{stock.port}")).code == 201
    assert (await client.add(f"127.0.0.1:{stock.port}")).code == 200
    ours = [one for one in await client.dashboards() if one["scheduler"] == found["scheduler"]]
    assert [(one["id"], one["is_removable"]) for one in ours] == [(found["id"], True)]
    assert (await client.get("api", "dashboards", found["id"], method="DELETE")).code == 204
    again = of(stock.address, await client.dashboards())
    assert (again["id"], again["is_removable"]) == (found["id"], False)


@pytest.mark.parametrize(
    ("more", "is_ours"),
    [
        ("security=True, silence_logs=False", True),
        ("processes=False, silence_logs=20", True),
        ("silence_logs=False", False),
    ],
)
async def test_cluster_of_a_busy_kernel_is_found_and_nothing_is_printed(
    client: Client, more: str, is_ours: bool
) -> None:
    async with (
        client.kernel() as (kernel_id, channels),
        client.events() as events,
    ):
        code = CLUSTER.format(more=more, is_ours=is_ours)
        await channels.execute_interactive(code, timeout=60)
        channels.execute(COMPUTE)

        def shown(found: Listing) -> list[str | None]:
            stock = [one for one in found if one["kind"] == "stock"]
            ours = [one for one in stock if one["kernel_id"] == kernel_id]
            return [one.get("shown_with") for one in ours]

        def diagnostics(found: Listing) -> list[str | None]:
            return [one["id"] for one in found if one["kind"] == "diagnostics"]

        await events.until(
            lambda found: (
                len(diagnostics(found)) == is_ours
                and shown(found) == (diagnostics(found) or [None])
            )
        )
        await asyncio.sleep(6)  # it is asked again, and its other ports are not: it hears nothing
        printed = []
        while await channels.iopub_channel.msg_ready():
            message = await channels.get_iopub_msg()
            if message["msg_type"] in ("stream", "error"):
                lines = message["content"].get("text", message["content"].get("evalue", ""))
                printed += [line for line in lines.splitlines() if BUSY not in line]
    assert printed == []


NOBODY = pytest.param(
    "program",
    ("65534", "msgpack"),
    marks=pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else"),
)


ME = str(os.getuid())


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("program", (ME,)), ("jupyter-lab", (ME, "msgpack")), NOBODY],
)
async def test_what_is_no_dashboard_of_ones_own_is_not_even_connected_to(
    name: str, arguments: tuple[str, ...], client: Client, stock: StockScheduler, tmp_path: Path
) -> None:
    file = shutil.copy(PROGRAMS / "bystander.py", tmp_path / name)
    with Program(str(file), *arguments) as program:
        assert await client.until(lambda found: of(stock.address, found))
        await client.dashboards()
        assert program.process.stdout is not None
        assert select.select([program.process.stdout], [], [], 0)[0] == []
