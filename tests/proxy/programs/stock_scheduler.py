"""A real stock Dask scheduler with its dashboard; prints where it is, ends with standard input.

Its arguments are the number of its workers, the prefix of its dashboard, and a module to import, or
"bare" for no plots.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from importlib import import_module

from distributed import Scheduler, Worker


async def main() -> None:
    """Serve until standard input ends."""
    is_bare = sys.argv[3] == "bare"
    if sys.argv[3] and not is_bare:
        import_module(sys.argv[3])
    async with AsyncExitStack() as stack:
        scheduler = await stack.enter_async_context(
            Scheduler(
                host="127.0.0.1",
                port=0,
                dashboard=not is_bare,
                dashboard_address="127.0.0.1:0",
                http_prefix=sys.argv[2],
            )
        )
        for _ in range(int(sys.argv[1])):
            worker = Worker(scheduler.address, nthreads=2, memory_limit=10**9, dashboard=False)
            await stack.enter_async_context(worker)
        print(scheduler.http_server.port, scheduler.id, scheduler.address, flush=True)
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())
