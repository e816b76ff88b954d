"""From `Client()` returning in a notebook's kernel to its dashboard in the list of the sidebar."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from pathlib import Path

from tornado.websocket import websocket_connect

from benchmarks.jupyter import Lab, running_lab
from benchmarks.report import Figure

TITLE = "From Client() to the sidebar's list, the cell still running"
_REPEATS = 5

_CELL = """
import time
from pathlib import Path
from dask.distributed import Client
client = Client(n_workers=1, threads_per_worker=1, dashboard_address=None)
Path({mark!r}).write_text(str(time.time()))
end = time.monotonic() + 6
while time.monotonic() < end:
    pass
"""


async def _seconds(lab: Lab) -> float:
    kernel = lab.call("POST", "api/kernels", {"name": "python3"})["id"]
    mark = lab.folder / f"{kernel}.txt"
    events = await websocket_connect(lab.socket_request("dask-diag-lab/api/events"))
    await lab.execute(kernel, _CELL.format(mark=str(mark)))
    try:
        async with asyncio.timeout(60):
            while True:
                dashboards = json.loads(str(await events.read_message()))["dashboards"]
                if any(dashboard["kernel_id"] == kernel for dashboard in dashboards):
                    return time.time() - await _read(mark)
    finally:
        events.close()
        lab.call("DELETE", f"api/kernels/{kernel}")


async def _read(mark: Path) -> float:
    """Return the time in the file; the announcement may come before the cell goes on."""
    while not mark.exists() or not mark.read_text():
        await asyncio.sleep(0.01)
    return float(mark.read_text())


def measure() -> list[Figure]:
    """Return the median and the worst of the repeats."""

    async def repeats() -> list[float]:
        return [await _seconds(lab) for _ in range(_REPEATS)]

    with running_lab() as lab:
        seconds = asyncio.run(repeats())
    note = "stock never lists a cluster by itself; negative: before Client() returned"
    return [
        Figure("median", "s", statistics.median(seconds), None, 2, note),
        Figure("worst", "s", max(seconds), None, 2),
    ]
