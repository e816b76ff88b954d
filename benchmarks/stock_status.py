"""A stock dashboard over made-up workers that change; ends when its input closes.

Usage: number of workers, seconds between two changes of everything. Prints where, then stops
changing at the first line it is sent.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from distributed import Scheduler
from distributed.scheduler import WorkerState

from benchmarks.stock_updates import add_workers, made_up_metrics


async def _go_on(workers: list[WorkerState], interval_s: float) -> None:
    while True:
        for ws in workers:
            ws.metrics = made_up_metrics()
            ws.last_seen = time.time()
        await asyncio.sleep(interval_s)


async def _serve(n_workers: int, interval_s: float) -> None:
    async with Scheduler(
        dashboard=True, dashboard_address="127.0.0.1:0", port=0, host="127.0.0.1", validate=False
    ) as scheduler:
        workers = add_workers(scheduler, n_workers)
        going = asyncio.create_task(_go_on(workers, interval_s))
        url = f"http://127.0.0.1:{scheduler.http_server.port}"
        print(json.dumps({"url": url}), flush=True)  # noqa: T201 - the parent reads it
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, sys.stdin.readline)
        going.cancel()
        await loop.run_in_executor(None, sys.stdin.read)
        # They have no connection to be closed.
        scheduler.workers.clear()
        scheduler.running.clear()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2])))
