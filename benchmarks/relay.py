"""The relay with many viewers: what it adds to each frame."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import asynccontextmanager, suppress
from typing import Any

import numpy as np
import psutil
from tornado import web
from tornado.httpclient import HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.websocket import (
    WebSocketClosedError,
    WebSocketHandler,
    websocket_connect,
)

from benchmarks.lab import Lab, running_lab
from benchmarks.ours import announced
from benchmarks.program import Served, running
from benchmarks.report import Figure

_RELAYED = 200
_DIRECT = 50
"""Enough for a median, few enough to leave the machine to the relay."""
_INTERVAL_S = 0.1
_FRAME_BYTES = 2_000
"""About what an update of a plot is."""
_SECONDS = 10.0
_TOO_LATE_MS = 20
_STAMP = 20
"""Characters of the time at which a frame was sent."""


class _Frames(WebSocketHandler):
    """Paced frames that begin with the time."""

    def open(self) -> None:
        self._sending = asyncio.create_task(self._send())

    def on_close(self) -> None:
        self._sending.cancel()

    async def _send(self) -> None:
        due = time.time() + random.uniform(0, _INTERVAL_S)  # not all at once
        with suppress(WebSocketClosedError):
            while True:
                await asyncio.sleep(due - time.time())
                due = max(due + _INTERVAL_S, time.time())  # what is late is not made up for
                await self.write_message(f"{time.time():<{_STAMP}.6f}" + "x" * _FRAME_BYTES)


class _Empty(web.RequestHandler):
    """What is asked of a diagnostics server before its websockets."""

    def get(self) -> None:
        self.write({"state": "live", "reason": "", "plots_version": 0, "plots": []})


@asynccontextmanager
async def frames(runtime: str) -> Served:
    """Serve frames; found by the Jupyter server with this ``runtime`` folder."""
    server = HTTPServer(web.Application([(r"/stream", _Frames), (r"/.*", _Empty)]))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    with announced(url, runtime):
        yield url, lambda: None
    server.stop()


async def _follow(url: str, lab: Lab, n_sockets: int) -> tuple[list[float], list[object]]:
    """Open so many sockets; return how old their frames are, in milliseconds, as they come."""
    ages_ms: list[float] = []

    async def follow() -> None:
        address = url.replace("http", "ws", 1)
        socket = await websocket_connect(HTTPRequest(address, headers=lab.headers))
        opened.release()
        while (message := await socket.read_message()) is not None:
            ages_ms.append(1000 * (time.time() - float(message[:_STAMP])))

    opened = asyncio.Semaphore(0)
    following: list[object] = [asyncio.create_task(follow()) for _ in range(n_sockets)]
    for _ in following:
        await opened.acquire()
    return ages_ms, following


async def _measure(lab: Lab, url: str) -> list[Figure]:
    relayed_url = f"{lab.url}/dask-diag-lab/dashboards/{'0' * 32}/stream"
    process = psutil.Process(lab.pid)

    ages = [
        await _follow(place, lab, n_sockets)
        for place, n_sockets in ((f"{url}/stream", _DIRECT), (relayed_url, _RELAYED))
    ]

    async def both(seconds: float) -> list[Any]:  # arrays
        """Return median, 95th percentile and number of the direct and of the relayed ones."""
        for seen, _ in ages:
            seen.clear()
        await asyncio.sleep(seconds)
        return [np.array([*np.percentile(seen, [50, 95]), len(seen)]) for seen, _ in ages]

    await both(_SECONDS / 4)
    before_s = sum(process.cpu_times()[:2])
    at_first, then = await both(_SECONDS)
    used_s = sum(process.cpu_times()[:2]) - before_s
    if at_first[0] > _TOO_LATE_MS:
        msg = f"the machine is too busy: frames that are not relayed took {at_first[0]:.0f} ms"
        raise RuntimeError(msg)
    return [
        Figure("direct, median", "ms", at_first[0]),
        Figure("relayed, median", "ms", then[0]),
        Figure("added, median", "ms", then[0] - at_first[0], None, 5),
        Figure("added, 95th percentile", "ms", then[1] - at_first[1]),
        Figure("CPU of the Jupyter server, a frame", "µs", used_s / then[2] * 1e6),
    ]


def relay() -> list[Figure]:
    """Return what the relay adds to the age of frames, in milliseconds."""
    with running_lab() as lab, running("relay.frames", lab.runtime) as program:
        return asyncio.run(_measure(lab, program.info))
