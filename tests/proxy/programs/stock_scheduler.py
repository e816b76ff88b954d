"""A real stock Dask scheduler with its dashboard; prints where it is, ends with standard input."""

from __future__ import annotations

import asyncio
import sys

from distributed import Scheduler


async def main() -> None:
    """Serve until standard input ends."""
    async with Scheduler(
        host="127.0.0.1", port=0, dashboard=True, dashboard_address="127.0.0.1:0"
    ) as scheduler:
        print(scheduler.services["dashboard"].port, scheduler.id, flush=True)
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())
