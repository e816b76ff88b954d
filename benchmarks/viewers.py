"""Many browsers' worth of websockets in a process of their own, counting what they are sent.

A *target* is a page: the URL of one of Dask's own plots, '' and no names; or the URL of our server,
its token, and the plots of it that the page has. None ends with a slash.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from bokeh.util.token import generate_jwt_token, generate_session_id
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketError,
    websocket_connect,
)

from benchmarks.program import Program, Served, running
from dask_diag_lab.session import Diagnostics

STATUS_PLOTS = ("task-stream", "progress", "workers-memory", "nprocessing")
"""One viewer is a page with these four open, which is about what stock's status page holds."""
_TIMEOUT_S = 60
_MAX_BYTES = 200 * 2**20

Target = tuple[str, str, Sequence[str]]


def stock_targets(dashboard: str, plots: Sequence[str] = STATUS_PLOTS) -> list[Target]:
    """Return the individual pages of the stock dashboard at ``dashboard``."""
    return [(f"{dashboard}/individual-{plot}", "", ()) for plot in plots]


def our_targets(diagnostics: Diagnostics, plots: Sequence[str] = STATUS_PLOTS) -> list[Target]:
    """Return a page with plots of ``diagnostics``."""
    parts = urlsplit(diagnostics.url)
    token = parse_qs(parts.query)["token"][0]
    return [(f"{parts.scheme}://{parts.netloc}", token, plots)]


@contextmanager
def watching(targets: Sequence[Target]) -> Iterator[Program]:
    """Open all targets, and wait until each has its document.

    Asked, the program answers with the websocket messages since the last time: ``frames``,
    ``bytes``, and when the ``last`` one came.
    """
    with running("viewers.view", json.dumps(targets)) as program:
        yield program


@asynccontextmanager
async def view(targets: str) -> Served:
    """Serve `watching`."""
    counts = {"frames": 0, "bytes": 0, "last": 0.0}
    async with asyncio.timeout(_TIMEOUT_S):
        sockets = await asyncio.gather(*(connect(*target) for target in json.loads(targets)))
    following = [asyncio.create_task(_follow(socket, counts)) for socket in sockets]

    def answer() -> dict[str, float]:
        since = dict(counts)
        counts.update(frames=0, bytes=0)
        return since

    yield "ready", answer
    for task in following:
        task.cancel()


async def connect(url: str, token: str, plots: Sequence[str]) -> WebSocketClientConnection:
    """Open a page's websocket, and read its documents."""
    address = url.replace("http", "ws", 1)
    return await (_open_ours(address, token, plots) if plots else _open_stock(address))


async def _open_ours(url: str, token: str, plots: Sequence[str]) -> WebSocketClientConnection:
    request = HTTPRequest(f"{url}/stream", headers={"Authorization": f"token {token}"})
    socket = await websocket_connect(request, max_message_size=_MAX_BYTES)
    for i, plot in enumerate(plots):
        await socket.write_message(json.dumps({"type": "open", "id": str(i), "plot": plot}))
    n_opened = 0
    while n_opened < len(plots):
        frame = await socket.read_message()
        assert isinstance(frame, bytes), f"{url} closed before its documents came"
        n_opened += frame.count(b'{"type":"document",')
    return socket


async def _open_stock(url: str) -> WebSocketClientConnection:
    session = generate_jwt_token(generate_session_id(signed=False), signed=False)
    socket = await websocket_connect(
        HTTPRequest(f"{url}/ws"), subprotocols=["bokeh", session], max_message_size=_MAX_BYTES
    )
    # The server drops a client that speaks before its ACK has arrived: header, metadata, content.
    for _ in range(3):
        await socket.read_message()
    for part in (json.dumps({"msgid": "1", "msgtype": "PULL-DOC-REQ"}), "{}", "{}"):
        await socket.write_message(part)
    while '"doc"' not in str(received := await socket.read_message())[:200]:
        assert received is not None, f"{url} closed before its document came"
    return socket


async def _follow(socket: WebSocketClientConnection, counts: dict[str, float]) -> None:
    while (message := await socket.read_message()) is not None:
        counts["frames"] += 1
        counts["bytes"] += len(message)
        counts["last"] = time.time()


@dataclass(frozen=True, slots=True)
class Rounds:
    """When viewers look: in each round of `round_s`, but for the last `rest_s` of it.

    By the machine's clock, so that processes keep time without talking.
    """

    round_s: float
    rest_s: float

    @property
    def active_s(self) -> float:
        return self.round_s - self.rest_s

    def number(self, at: float) -> int:
        """Return the number of the round of this time."""
        return int(at // self.round_s)

    def rest_left_s(self, at: float) -> float:
        """Return the seconds of rest that are left; 0 while viewers look."""
        passed_s = at % self.round_s
        return self.round_s - passed_s if passed_s >= self.active_s else 0.0

    def begin_after(self, at: float) -> float:
        """Return when the next round begins."""
        return (self.number(at) + 1) * self.round_s


@asynccontextmanager
async def visit(lab: str, token: str, n_viewers: str, round_s: str, rest_s: str) -> Served:
    """Serve viewers of all plots of a JupyterLab that open one, follow it, leave and open another.

    A third of them leaves without a goodbye, another third reads nothing after the first picture.
    """
    counts = {"opened": 0, "refused": 0}
    rounds = Rounds(float(round_s), float(rest_s))
    api = f"{lab}/dask-diag-lab"
    viewers = [
        asyncio.create_task(_visitor(api, token, rounds, n % 3, counts))
        for n in range(int(n_viewers))
    ]
    yield "ready", lambda: counts
    for viewer in viewers:
        viewer.cancel()


async def _visitor(
    api: str, token: str, rounds: Rounds, manner: int, counts: dict[str, int]
) -> None:
    headers = {"Authorization": f"token {token}"}
    while True:
        await asyncio.sleep(rounds.rest_left_s(time.time()))
        listed = await AsyncHTTPClient().fetch(f"{api}/api/dashboards", headers=headers)
        plots = [
            (f"{api}/dashboards/{one['id']}", plot["name"])
            for one in json.loads(listed.body)["dashboards"]
            if one["kind"] == "diagnostics"
            for plot in one["plots"]
        ]
        try:
            url, plot = random.choice(plots)
            socket = await connect(url, token, [plot])
        except (HTTPClientError, WebSocketError, OSError, AssertionError, IndexError):
            counts["refused"] += 1  # its kernel has just gone
            await asyncio.sleep(0.5)
            continue
        counts["opened"] += 1
        left_s = rounds.active_s - time.time() % rounds.round_s
        with suppress(TimeoutError):
            async with asyncio.timeout(min(random.uniform(1, 8), left_s)):
                if manner == 2:
                    await asyncio.Event().wait()
                while await socket.read_message() is not None:
                    pass
        if manner == 1 and socket.protocol is not None and socket.protocol.stream is not None:
            socket.protocol.stream.close()
        socket.close()
