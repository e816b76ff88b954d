"""The server's plots through the messages of its Jupyter kernel, where no other way leads to it.

A pipe: what a page says to its stream arrives on the kernel's control channel, which a running cell
does not hold up; the stream's frames leave on iopub, paced, as do files and tables, which are
fetched at the server's port. Used only where no Jupyter server has found the dashboard, or where a
proxy lets no websocket pass. Why so: docs/decisions/0008. Must not know what is served, nor Jupyter
Server.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import itertools
import json
import logging
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse

if TYPE_CHECKING:
    from dask_diag_lab.server.application import Server

logger = logging.getLogger(__name__)

NAME: Final = "dask-diag-lab"
"""Names our field in requests to a kernel, and begins the ids of comms."""
CARRIER: Final = "comm_info_request"
"""A type of message that counts as no activity, and whose *idle* is not taken for the kernel's."""
FOUND_S: Final = 2.0
"""So long a Jupyter server that sees the runtime record may take to ask for the health."""
BYTES_PER_S: Final = 500_000
"""Half of the least that Jupyter servers let through; the other half is for the cells' output."""
CHUNK_BYTES: Final = 256 * 1024
MAX_QUEUED: Final = 3
"""Chunks that wait to be sent."""
GZIP_BYTES: Final = 1024
WATCH_S: Final = 2.0
LEASE_S: Final = 90.0
"""So long a stream is kept of which a page says nothing: one that shows a plot says so twice a
minute, a hidden one once."""
ANSWER_S: Final = 60.0
MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
PATH: Final = re.compile(
    r"((plots|runs)\.json|recording\.daskrun|plots/[\w-]+\.[a-z.]+|static/.+\.js)(\?.*)?"
)

Fields = Mapping[str, Any]  # JSON


class Requests:
    """Takes the place of a kernel's answer to `CARRIER`, and passes on what has our field.

    Called in the kernel's control thread.
    """

    def __init__(self, answer: Callable[..., Any]) -> None:  # ipykernel's own
        self._answer = answer
        self.handlers: dict[str, Callable[[Fields], None]] = {}

    def __call__(self, stream: Any, ident: Any, parent: Any) -> Any:  # ipykernel's own
        given = parent["content"].get(NAME)
        if isinstance(given, dict):
            to = given.get("to")
            for name, take in tuple(self.handlers.items()):
                if to in (None, name):
                    take(given)
        return self._answer(stream, ident, parent)

    @classmethod
    def of(cls, kernel: Any) -> Requests:  # an ipykernel Kernel
        """Return the one of a kernel; put there now where there is none."""
        there = kernel.control_handlers[CARRIER]
        if not isinstance(there, cls):
            there = kernel.control_handlers[CARRIER] = cls(there)
        return there


class Channel:
    """The way to one server through its kernel's messages, on the running loop.

    Parameters
    ----------
    kernel : ipykernel Kernel
    url, token : str
        Where the server is, and what opens it.
    info : mapping
        ``id``, ``name``, ``kernel_id`` and ``scheduler`` of the dashboard.
    server : Server
        It opens streams, and knows whether a Jupyter server has found it without us.
    """

    def __init__(self, kernel: Any, url: str, token: str, info: Fields, server: Server) -> None:
        self._kernel, self._url, self._info, self._server = kernel, url, info, server
        self._headers = {"Authorization": f"token {token}"}
        self._client = AsyncHTTPClient(force_instance=True, max_body_size=MAX_ANSWER_BYTES)
        self._loop = asyncio.get_running_loop()
        self._sent = itertools.count()
        self._last_sent: tuple[Fields, int | None] = {}, None
        self._is_reporting = self._is_seen = False
        self._summary: Fields | None = None
        self._asked = asyncio.Event()
        self._queue: asyncio.Queue[tuple[Fields, bytes]] = asyncio.Queue(MAX_QUEUED)
        self._inboxes: dict[str, asyncio.Queue[str]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Say that the dashboard is gone, and end everything. Harmless twice."""
        requests = self._kernel.control_handlers[CARRIER]
        name = self._info["id"]
        if isinstance(requests, Requests) and name in requests.handlers:
            del requests.handlers[name]
            if self._is_reporting:
                self._publish({"changed": [], "removed": [name]})
        tasks = [self._running, *self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        self._client.close()

    async def _run(self) -> None:
        handlers = Requests.of(self._kernel).handlers
        handlers[self._info["id"]] = self._take
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send())
                group.create_task(self._watch())
        except Exception as error:  # the plots stay at their port
            logger.warning("Dask plots do not pass the kernel's messages", exc_info=error)
        finally:
            handlers.pop(self._info["id"], None)

    # --- from pages

    def _take(self, given: Fields) -> None:
        """Take what a page sent; in the control thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            self._loop.call_soon_threadsafe(self._do, given)

    def _do(self, given: Fields) -> None:
        match given:
            case {"do": "ask"} if "to" in given or self._is_reporting:
                self._is_reporting = True
                self._last_sent = {}, None
                self._asked.set()
            case {"do": "keep", "ids": list(ids)}:
                for one in map(str, ids):
                    if one in self._inboxes:
                        self._inboxes[one].put_nowait("")
                    else:
                        self._start(f"end of {one}", self._put({"id": one, "kind": "closed"}))
            case {"do": "send", "id": str(name), "data": str(text)} if name in self._inboxes:
                self._inboxes[name].put_nowait(text)
            case {"do": "close", "ids": list(ids)}:
                for task in [task for name, task in self._tasks.items() if name in ids]:
                    task.cancel()
            case {"do": "open", "id": str(name)}:
                inbox = self._inboxes[name] = asyncio.Queue()
                self._start(name, self._relay_stream(name, inbox))
            case {"do": "fetch", "id": str(name), "path": str(path)}:
                self._start(name, self._relay_answer(name, path))

    def _start(self, name: str, work: Any) -> None:  # an awaitable
        async def run() -> None:
            try:
                await work
            except (ValueError, OSError, HTTPClientError) as error:
                logger.info("A page was not answered: %s", error)
                await self._put({"id": name, "kind": "closed", "reason": str(error)})

        task = self._tasks[name] = self._loop.create_task(run())
        task.add_done_callback(lambda _: self._forget(name))

    def _forget(self, name: str) -> None:
        self._tasks.pop(name, None)
        self._inboxes.pop(name, None)

    async def _fetch(self, path: str) -> HTTPResponse:
        if not PATH.fullmatch(path) and path != "health":
            raise ValueError("This address is not relayed.")
        request = HTTPRequest(
            f"{self._url}/{path}",
            headers=self._headers,
            request_timeout=ANSWER_S,
            decompress_response=False,
        )
        return await self._client.fetch(request, raise_error=False)

    async def _relay_answer(self, name: str, path: str) -> None:
        answer = await self._fetch(path)
        await self._put({"id": name, "kind": "answer", "status": answer.code}, answer.body)

    async def _relay_stream(self, name: str, inbox: asyncio.Queue[str]) -> None:
        stream = await self._server.stream(partial(self._put_frame, name))
        try:
            while True:
                if text := await asyncio.wait_for(inbox.get(), LEASE_S):
                    stream.take(text)
        finally:
            stream.close()

    async def _put_frame(self, name: str, frame: bytes) -> None:
        self._is_seen = True  # of panes that are hidden nothing comes
        await self._put({"id": name, "kind": "frame"}, frame)

    # --- to pages

    async def _put(self, head: Fields, payload: bytes = b"") -> None:
        """Queue a message to the pages; waits while much is queued."""
        for at in range(0, max(len(payload), 1), CHUNK_BYTES):
            chunk = payload[at : at + CHUNK_BYTES]
            has_more = at + CHUNK_BYTES < len(payload)
            await self._queue.put(({**head, "more": has_more}, chunk))

    async def _send(self) -> None:
        while True:
            head, chunk = await self._queue.get()
            is_packed = len(chunk) > GZIP_BYTES
            if is_packed:
                chunk = await asyncio.to_thread(gzip.compress, chunk, 1)
            # Not as buffers: Jupyter Server 2.21 passes a gateway's binary messages on as text.
            text = base64.b64encode(chunk).decode()
            self._publish({"part": head, "gzip": is_packed, "payload": text})
            await asyncio.sleep(len(text) / BYTES_PER_S)

    def _publish(self, data: Fields) -> None:
        """Send to all pages, as a message of a comm that is not opened; from any thread.

        Not by the `comm` package: its messages would count as output of the cell that runs.
        """
        name = f"{NAME}-{self._info['id']}"
        self._kernel.session.send(
            self._kernel.iopub_socket,
            "comm_msg",
            {"comm_id": name, "data": {"n": next(self._sent), **data}},
            ident=f"comm-{name}".encode(),
        )

    async def _watch(self) -> None:
        """Tell how the dashboard is when that changed.

        Where a Jupyter server has found it, only once a page has asked for it by name.
        """
        await asyncio.sleep(FOUND_S)
        if not self._server.is_found:  # which our own questions are, too, from now on
            self._is_reporting = True
        while not self._is_reporting:
            await self._asked.wait()
        while True:
            try:
                await self._report()
            except (OSError, HTTPClientError, ValueError, KeyError) as error:  # next time, then
                logger.info("How the dashboard is was not told: %s", error)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), WATCH_S)
            self._asked.clear()

    async def _report(self) -> None:
        health = json.loads((await self._fetch("health")).body)
        state, version = health["state"], health["plots_version"]
        # While nobody looks, or only hidden panes are open, what moves all the time is not told.
        if self._is_seen:
            counts = ("workers", "threads", "memory_limit", "memory", "tasks", "losses")
            self._summary = {name: health[name] for name in counts}
        self._is_seen = False
        listed = {
            **self._info,
            # Pages get no address of Dask's own dashboard.
            "scheduler": {name: self._info["scheduler"][name] for name in ("id", "address")},
            "kind": "diagnostics",
            "state": "stale" if state in ("lost", "closed") else "live",
            "reason": health["reason"] or None,
            "summary": self._summary if self._inboxes else None,
            **({"closed_at": health["since"]} if state == "closed" else {}),
        }
        if (listed, version) != self._last_sent:
            change = dict(listed)
            if version != self._last_sent[1]:
                change |= json.loads((await self._fetch("plots.json")).body)
                for plot in change["plots"]:
                    del plot["help"]  # long; a page asks for it when somebody opens it
            self._last_sent = listed, version
            self._publish({"changed": [change], "removed": []})
