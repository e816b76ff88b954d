"""Our server over a history that a simulation fills, without a cluster."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

from benchmarks.changing import ChangingCluster
from benchmarks.program import Served
from benchmarks.simulator import Simulation
from dask_diag_lab.server import Server, announce
from dask_diag_lab.store import LiveSession

_INFO: Final[dict[str, Any]] = {
    "id": "0" * 32,
    "name": "benchmark",
    "kernel_id": None,
    "scheduler": {"id": "simulated", "address": "tcp://127.0.0.1:1", "dashboard": ""},
}
_TOKEN: Final = "benchmark-" + "0" * 40


@contextmanager
def announced(url: str, runtime: str) -> Iterator[None]:
    """Have a server of this process found by the Jupyter server with this ``runtime`` folder."""
    record = {
        "schema": announce.SCHEMA,
        **_INFO,
        "url": url,
        "token": _TOKEN,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "started": time.time(),
        "versions": announce.versions(),
    }
    file = announce.write_record(record, Path(runtime))
    yield
    file.unlink()


@asynccontextmanager
async def _serving(
    live: LiveSession, step: Callable[[], object] | None, interval_s: float
) -> AsyncIterator[tuple[dict[str, str], Callable[[], object]]]:
    """Serve a history in which ``step`` changes something each ``interval_s``."""
    live.set_feed_state("live", "", time.time())
    server = Server(live, info=lambda: _INFO, token=_TOKEN)
    live.on_change = server.tick
    url = await server.start()

    async def go_on() -> None:
        while step is not None:
            await asyncio.sleep(interval_s)
            step()

    going = asyncio.create_task(go_on())
    yield {"url": url, "token": _TOKEN}, lambda: None
    going.cancel()
    await server.stop()


@asynccontextmanager
async def status_page(n_workers: str, interval_s: str) -> Served:
    """Serve a cluster that changes each ``interval_s``."""
    cluster = ChangingCluster(int(n_workers), 100 * int(n_workers), 200)
    async with _serving(cluster.live, cluster.step, float(interval_s)) as served:
        yield served


@asynccontextmanager
async def task_stream(n_tasks: str, runtime: str = "") -> Served:
    """Serve tasks of 64 threads; announced in a Jupyter server's ``runtime`` folder, if given."""
    live = LiveSession()
    for batch in Simulation(16, 4, int(n_tasks)).batches():
        live.apply(batch)
    async with _serving(live, None, 0) as (where, answer):
        with announced(where["url"], runtime) if runtime else nullcontext():
            yield {**where, "url": f"{where['url']}/plots/task-stream"}, answer
