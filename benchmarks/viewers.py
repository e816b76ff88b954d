"""Many browsers' worth of Bokeh websockets in a process of their own, counting what they are sent.

A *target* is the URL of a page without a trailing slash, and the token of our server; '' where the
server wants none.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import parse_qs, urlsplit

from bokeh.util.token import generate_jwt_token, generate_session_id
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from benchmarks.program import Program, Served, running
from dask_diag_lab.session import Diagnostics

STATUS_PLOTS = ("task-stream", "progress", "workers-memory", "nprocessing")
"""One viewer is a page with these four open, which is about what stock's status page holds."""
_TIMEOUT_S = 60

Target = tuple[str, str]


def stock_targets(dashboard: str, plots: Sequence[str] = STATUS_PLOTS) -> list[Target]:
    """Return the individual pages of the stock dashboard at ``dashboard``."""
    return [(f"{dashboard}/individual-{plot}", "") for plot in plots]


def our_targets(diagnostics: Diagnostics, plots: Sequence[str] = STATUS_PLOTS) -> list[Target]:
    """Return the plots of ``diagnostics``."""
    parts = urlsplit(diagnostics.url)
    token = parse_qs(parts.query)["token"][0]
    return [(f"{parts.scheme}://{parts.netloc}/plots/{plot}", token) for plot in plots]


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
        sockets = await asyncio.gather(*(_connect(*target) for target in json.loads(targets)))
    following = [asyncio.create_task(_follow(socket, counts)) for socket in sockets]

    def answer() -> dict[str, float]:
        since = dict(counts)
        counts.update(frames=0, bytes=0)
        return since

    yield "ready", answer
    for task in following:
        task.cancel()


async def _connect(url: str, token: str) -> WebSocketClientConnection:
    """Open a session and its websocket, and read its document."""
    headers = {"Authorization": f"token {token}"} if token else {}
    session = generate_jwt_token(generate_session_id(signed=False), signed=False)
    if token:
        json_headers = {**headers, "Content-Type": "application/json"}
        request = HTTPRequest(f"{url}/session", method="POST", body="{}", headers=json_headers)
        session = str(json.loads((await AsyncHTTPClient().fetch(request)).body)["token"])
    socket = await websocket_connect(
        HTTPRequest(f"{url.replace('http', 'ws', 1)}/ws", headers=headers),
        subprotocols=["bokeh", session],
        max_message_size=200 * 2**20,
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
