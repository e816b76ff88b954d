"""Many browsers' worth of Bokeh websockets in a process of their own, counting what they are sent.

Reads one JSON line of targets from standard input, prints ``ready`` when each has its document,
then answers every further line with the counts since the line before.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

from bokeh.util.token import generate_jwt_token, generate_session_id
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

_TIMEOUT_S = 60


@dataclass
class Counts:
    """Websocket messages that arrived after the document, their bytes and arrival times."""

    frames: int = 0
    bytes: int = 0
    document_bytes: int = 0
    last: float = 0.0


async def _session(target: Mapping[str, Any]) -> tuple[str, int]:
    """Return the token of a new session, and the size of what came with it."""
    if not target["token"]:
        return generate_jwt_token(generate_session_id(signed=False), signed=False), 0
    request = HTTPRequest(
        f"{target['url']}/session",
        method="POST",
        body="{}",
        headers={"Authorization": f"token {target['token']}", "Content-Type": "application/json"},
    )
    reply = await AsyncHTTPClient().fetch(request)
    return str(json.loads(reply.body)["token"]), len(reply.body)


async def _connect(target: Mapping[str, Any], token: str) -> WebSocketClientConnection:
    parts = urlsplit(target["url"])
    url = urlunsplit(("ws", parts.netloc, f"{parts.path}/ws", "", ""))
    headers = {"Authorization": f"token {target['token']}"} if target["token"] else {}
    return await websocket_connect(
        HTTPRequest(url, headers=headers),
        subprotocols=["bokeh", token],
        max_message_size=200 * 2**20,
    )


async def _view(target: Mapping[str, Any], counts: Counts, ready: asyncio.Event) -> None:
    token, document_bytes = await _session(target)
    socket = await _connect(target, token)
    # The server drops a client that speaks before its ACK has arrived: header, metadata, content.
    for _ in range(3):
        await socket.read_message()
    if not document_bytes:
        document_bytes = await _pull(socket)
    counts.document_bytes += document_bytes
    ready.set()
    while (message := await socket.read_message()) is not None:
        counts.frames += 1
        counts.bytes += len(message)
        counts.last = time.time()


async def _pull(socket: WebSocketClientConnection) -> int:
    """Ask Bokeh for the document; return its size."""
    await socket.write_message(json.dumps({"msgid": "1", "msgtype": "PULL-DOC-REQ"}))
    await socket.write_message("{}")
    await socket.write_message("{}")
    size = 0
    while (message := await socket.read_message()) is not None:
        size += len(message)
        if isinstance(message, str) and '"doc"' in message[:200]:
            break
    return size


async def _serve() -> None:
    targets = json.loads(sys.stdin.readline())
    counts = Counts()
    events = [asyncio.Event() for _ in targets]
    views = [
        asyncio.ensure_future(_view(target, counts, event))
        for target, event in zip(targets, events, strict=True)
    ]
    async with asyncio.timeout(_TIMEOUT_S):
        await asyncio.gather(*(event.wait() for event in events))
    print("ready", flush=True)  # noqa: T201 - the parent reads it
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(vars(counts)), flush=True)  # noqa: T201 - the parent reads it
        counts.frames = counts.bytes = 0
    for view in views:
        view.cancel()


class Viewers:
    """The process above, as a context manager of the measuring process.

    Parameters
    ----------
    targets : sequence of (str, str)
        Page URL without a trailing slash, and the token of our server or ''.
    """

    def __init__(self, targets: Sequence[tuple[str, str]]) -> None:
        self._targets = [{"url": url, "token": token} for url, token in targets]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.viewers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._say(json.dumps(self._targets))
        if self._hear() != "ready":
            msg = f"viewers of {self._targets[0]['url']} did not get their documents"
            raise RuntimeError(msg)
        return self

    def counts(self) -> dict[str, float]:
        """Return the counts since the last call (or since the documents came)."""
        self._say("counts")
        answer: dict[str, float] = json.loads(self._hear())
        return answer

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate(timeout=20)


if __name__ == "__main__":
    asyncio.run(_serve())
