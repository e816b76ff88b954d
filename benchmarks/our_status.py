"""Our server over a simulated cluster that goes on; ends when its input closes.

Usage: number of workers, seconds between two changes of everything. Prints where, then stops
changing at the first line it is sent.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from benchmarks.life import Life
from dask_diag_lab.server import Server

_TOKEN = "benchmark-" + "0" * 40


def _info() -> dict[str, Any]:
    scheduler = {"id": "simulated", "address": "tcp://127.0.0.1:1"}
    return {"id": "benchmark", "name": "benchmark", "scheduler": scheduler}


async def _go_on(life: Life, server: Server, interval_s: float) -> None:
    while True:
        await asyncio.sleep(interval_s)
        life.step()
        server.tick()


async def _serve(n_workers: int, interval_s: float) -> None:
    life = Life(n_workers, 100 * n_workers, 200)
    server = Server(life.store, info=_info, token=_TOKEN)
    url = await server.start()
    going = asyncio.create_task(_go_on(life, server, interval_s))
    print(json.dumps({"url": url, "token": _TOKEN}), flush=True)  # noqa: T201 - the parent reads
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, sys.stdin.readline)
    going.cancel()
    await loop.run_in_executor(None, sys.stdin.read)
    await server.stop()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2])))
