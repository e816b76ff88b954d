"""Our server over a store of simulated tasks, without a cluster; ends when its input closes."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from benchmarks.simulator import Simulation
from dask_diag_lab.server import Server
from dask_diag_lab.store import Store

_TOKEN = "benchmark-" + "0" * 40


async def _serve(n_tasks: int) -> None:
    store = Store()
    simulation = Simulation(n_workers=16, n_threads=4, n_tasks=n_tasks)
    for batch in simulation.batches():
        store.apply(batch)

    def info() -> dict[str, Any]:
        scheduler = {"id": "simulated", "address": "tcp://127.0.0.1:1"}
        return {"id": "benchmark", "name": "benchmark", "scheduler": scheduler}

    store.set_feed_state("live", "", time.time())
    server = Server(store, info=info, token=_TOKEN)
    url = await server.start()
    where = {"url": f"{url}/plots/task-stream", "token": _TOKEN}
    print(json.dumps(where), flush=True)  # noqa: T201 - the parent reads it
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.stop()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
