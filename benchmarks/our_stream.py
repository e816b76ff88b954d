"""Our server over a store of simulated tasks, without a cluster; ends when its input closes.

Usage: number of tasks, and the runtime folder of a Jupyter server that is to list it, if any.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.simulator import Simulation
from dask_diag_lab.server import Server, announce
from dask_diag_lab.store import Store

_TOKEN = "benchmark-" + "0" * 40
_ID = "0" * 32


def _record(info: dict[str, Any], url: str) -> dict[str, Any]:  # JSON values
    return {
        "schema": announce.SCHEMA,
        **info,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "url": url,
        "token": _TOKEN,
        "started": time.time(),
        "versions": announce.versions(),
    }


async def _serve(n_tasks: int, runtime: Path | None) -> None:
    store = Store()
    simulation = Simulation(n_workers=16, n_threads=4, n_tasks=n_tasks)
    for batch in simulation.batches():
        store.apply(batch)

    def info() -> dict[str, Any]:
        scheduler = {"id": "simulated", "address": "tcp://127.0.0.1:1"}
        return {"id": _ID, "name": "benchmark", "kernel_id": None, "scheduler": scheduler}

    store.set_feed_state("live", "", time.time())
    server = Server(store, info=info, token=_TOKEN)
    url = await server.start()
    record = announce.write_record(_record(info(), url), runtime) if runtime else None
    where = {"url": f"{url}/plots/task-stream", "token": _TOKEN}
    print(json.dumps(where), flush=True)  # noqa: T201 - the parent reads it
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    if record is not None:
        announce.remove_record(record)
    await server.stop()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
