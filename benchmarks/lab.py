"""Four live panes in JupyterLab against four stock pages: bytes and seconds to each picture."""

from __future__ import annotations

import asyncio
import json
import time

from tornado.websocket import websocket_connect

from benchmarks.browser import in_browser
from benchmarks.clusters import separate_cluster
from benchmarks.jupyter import Lab, running_lab
from benchmarks.report import Figure

TITLE = "Four plots opened, one after the other"
_PLOTS = ("task-stream", "progress", "workers-memory", "graph")

_CELL = """
from dask.distributed import Client
client = Client({address!r})
client.gather(client.map(lambda x: x + 1, range(200)))
"""


async def _announce(lab: Lab, address: str) -> None:
    """Make a client in a new kernel and wait until the server lists it."""
    kernel = lab.call("POST", "api/kernels", {"name": "python3"})["id"]
    events = await websocket_connect(lab.socket_request("dask-diag-lab/api/events"))
    await lab.execute(kernel, _CELL.format(address=address))
    async with asyncio.timeout(60):
        while not json.loads(str(await events.read_message()))["dashboards"]:
            pass
    events.close()


def measure() -> list[Figure]:
    """Return totals and the slowest plot after the first, stock and ours on one cluster."""
    with separate_cluster() as cluster, running_lab() as lab:
        asyncio.run(_announce(lab, cluster.address))
        time.sleep(2)
        urls = [f"{cluster.dashboard}/individual-{plot}" for plot in _PLOTS]
        stock = in_browser("pages", urls=urls)["opened"]
        url = f"{lab.url}/lab?token={lab.token}"
        ours = in_browser("panes", url=url, plots=list(_PLOTS))["opened"]

    def megabytes(opened: list[dict[str, float]]) -> float:
        return sum(one["bytes"] for one in opened) / 1e6

    return [
        Figure("bytes, all four", "MB", megabytes(ours), megabytes(stock), 1.6),
        Figure("first plot", "s", ours[0]["seconds"], stock[0]["seconds"]),
        Figure(
            "slowest of the next three",
            "s",
            max(one["seconds"] for one in ours[1:]),
            max(one["seconds"] for one in stock[1:]),
            0.3,
        ),
        Figure(
            "the same, until what follows arrives",
            "s",
            max(one["live_s"] for one in ours[1:]),
            max(one["seconds"] for one in stock[1:]),
        ),
    ]
