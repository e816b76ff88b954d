"""What the tests of the kernel side share: loops, conditions, batches, a running server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import EllipsisType
from typing import Any, TypeVar

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse

from dask_diag_lab.schema import Batch, SchedulerInfo
from dask_diag_lab.schema.columns import default_row
from dask_diag_lab.schema.tables import WORKERS
from dask_diag_lab.server import Server
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.registry import Plot
from tests.kernel.store.batches import tables_of

T = TypeVar("T")
TOKEN = "only-for-tests-" + "x" * 32
NOW = 1_795_180_000.0
LIMIT_S = 100.0
WAIT_S = 45.0
"""Of a condition that is met at once, but for a machine that is busy with other things."""


def run(coroutine: Coroutine[Any, Any, T], limit_s: float = LIMIT_S) -> T:
    """Run an asynchronous test on a loop of its own; nothing may be left on it."""

    async def limited() -> T:
        async with asyncio.timeout(limit_s):
            result = await coroutine
            await until(lambda: len(asyncio.all_tasks()) == 1, "tasks are left on the loop")
            return result

    return asyncio.run(limited())


async def until(
    condition: Callable[[], Any],  # of any truth
    what: str = "it never comes",
    limit_s: float = WAIT_S,
) -> Any:
    """Wait until a condition returns something true on the running loop, and return that."""
    deadline = time.monotonic() + limit_s
    while not (value := condition()):
        assert time.monotonic() < deadline, what
        await asyncio.sleep(0.01)
    return value


def wait_until(condition: Callable[[], object], what: str, limit_s: float = WAIT_S) -> None:
    """Wait for a condition in a plain test."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def make_batch(n: int = 1, **more: Any) -> Batch:
    """Return the `n`-th batch of a small cluster that is at work."""
    rows = [
        default_row(WORKERS)
        | {"address": f"tcp://127.0.0.1:{4000 + i}", "name": str(i), "host": "127.0.0.1"}
        | {"nthreads": 2, "memory_limit": 2**30, "status": "running", "last_seen": NOW + n}
        | {"cpu": 50.0 + n, "memory": 10_000_000 * n, "managed": 1_000_000 * n}
        | {"unmanaged_old": 5_000_000, "processing": 1, "executing": 1, "occupancy": 0.1}
        for i in range(2)
    ]
    prefix: dict[str, Any] = {"name": "inc", "states": [0, 0, 0, 0, 2, 10 * n, 1, 0]}
    prefix |= {"nbytes": 280 * n, "duration": 0.1}
    info = SchedulerInfo(
        id="Scheduler-test",
        address="tcp://127.0.0.1:3999",
        n_workers=2,
        nthreads=4,
        thresholds={"target": 0.6, "spill": 0.7, "pause": 0.8, "terminate": 0.95},
    )
    tables, rest = tables_of({"workers": rows, "prefixes": [prefix], **more})
    return Batch("epoch", NOW + n, time.time(), info, tables, **rest)


@dataclass
class Endpoint:
    """Where plots are served, and the token that opens them."""

    url: str = ""
    token: str = TOKEN

    async def ask(
        self,
        path: str,
        *,
        token: str | EllipsisType | None = ...,
        method: str = "GET",
        body: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> HTTPResponse:
        """Send one request as the relay does, perhaps with another token or without.

        Never follows a redirect, never raises.
        """
        given = dict(headers or {})
        if token is not None:
            given["Authorization"] = f"token {self.token if token is ... else token}"
        more: dict[str, Any] = {"follow_redirects": False, "allow_nonstandard_methods": True}
        request = HTTPRequest(f"{self.url}{path}", method, given, body, **more)
        return await AsyncHTTPClient(force_instance=True).fetch(request, raise_error=False)

    async def json(self, path: str, **more: Any) -> Any:
        """Return the parsed answer of a request that has to work."""
        reply = await self.ask(path, **more)
        assert reply.code == 200, (reply.code, reply.body)
        return json.loads(reply.body)


@dataclass
class Served(Endpoint):
    """A running server with what a test needs to talk to it."""

    live: LiveSession = field(default_factory=LiveSession)
    server: Server = field(init=False)
    watched: list[bool] = field(default_factory=list)
    wanted: list[frozenset[str]] = field(default_factory=list)

    def note_watch(self, is_watched: bool, wanted: frozenset[str]) -> None:
        """Take the server's word on who looks at what."""
        self.watched.append(is_watched)
        self.wanted.append(wanted)


@asynccontextmanager
async def serving(
    plots: tuple[Plot, ...] | None = None,
    info: Callable[[], dict[str, Any]] | None = None,
    catch_up: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(0),
    *,
    has_data: bool = True,
) -> AsyncIterator[Served]:
    """Run a server over a session that is live with one batch; take it down after."""
    served = Served()
    live = served.live
    served.server = Server(
        live,
        info=info or (lambda: {"id": "0123456789abcdef", "name": "analysis.ipynb"}),
        token=TOKEN,
        on_watch=served.note_watch,
        catch_up=catch_up,
        plots=plots,
    )
    live.on_change = served.server.tick
    served.url = await served.server.start()
    try:
        await served.ask("/individual-plots.json")  # there once Bokeh is loaded
        if has_data:
            live.set_feed_state("live", "", NOW)
            live.apply(make_batch())
        yield served
    finally:
        await served.server.stop()


def records_in(folder: Path) -> list[Path]:
    """Return all files of a runtime folder, half-written ones too."""
    return sorted(folder.iterdir()) if folder.exists() else []
