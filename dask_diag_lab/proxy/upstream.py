"""One HTTP exchange with a dashboard, read as fast as its reader takes it.

Connects to the pinned IP only, follows no redirect, sends exactly the headers it is given. What
those are is decided elsewhere. Tornado's own HTTP client would add headers of its own and, before
6.6, cannot make a fast sender wait.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from tornado.http1connection import HTTP1Connection, HTTP1ConnectionParameters
from tornado.httputil import (
    HTTPHeaders,
    HTTPMessageDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream, StreamClosedError
from tornado.netutil import Resolver, ssl_options_to_context
from tornado.tcpclient import TCPClient

from dask_diag_lab.proxy.addresses import Address

MAX_HEADER_BYTES: Final = 64 * 1024
MAX_BUFFER_BYTES: Final = 8 * 1024 * 1024


class Failure(Enum):
    """How an exchange failed."""

    REFUSED = "it could not be reached"
    TIMEOUT = "it did not answer in time"
    BROKEN = "it broke off its answer or sent what is not HTTP"


class UpstreamError(Exception):
    """An exchange that failed; ``failure`` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.value)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of an exchange: seconds for connecting, the first byte, any silence after it."""

    connect_s: float = 5.0
    answer_s: float = 30.0
    idle_s: float = 30.0
    max_bytes: int = 256 * 1024 * 1024


class PinnedResolver(Resolver):
    """Answers every name with one IP, so that nothing is resolved a second time."""

    # Tornado's Configurable calls this instead of __init__.
    def initialize(self, ip: str) -> None:
        """Remember the only answer."""
        self._ip = ip

    async def resolve(
        self,
        host: str,  # noqa: ARG002  # whatever the name, the answer is pinned
        port: int,
        family: int = socket.AF_UNSPEC,
    ) -> list[tuple[int, Any]]:  # Any: tornado's own type of a socket address
        """Return the pinned IP with the port asked for."""
        family = socket.AF_INET6 if ":" in self._ip else socket.AF_INET
        return [(family, (self._ip, port))]


class Reply(HTTPMessageDelegate):
    """An answer being received. The sender waits while a chunk has not been read."""

    def __init__(self, stream: IOStream, limits: Limits) -> None:
        self.code = 0
        self.headers = HTTPHeaders()
        self._stream = stream
        self._limits = limits
        self._chunk = b""
        self._taken: asyncio.Future[None] | None = None
        self._wake = asyncio.Event()
        self._is_complete = False
        self._is_over = False
        self._receiver: asyncio.Task[None] | None = None

    def receive(self, connection: HTTP1Connection) -> None:
        """Start receiving."""
        self._receiver = asyncio.ensure_future(self._receive(connection))

    async def wait_for_headers(self) -> None:
        """Return when ``code`` and ``headers`` are there; raises `UpstreamError`."""
        while not self.code and not self._is_over:
            await self._wait(self._limits.answer_s)
        if not self.code:
            raise UpstreamError(Failure.BROKEN)

    async def read(self) -> bytes:
        """Return the next chunk, empty at the end; raises `UpstreamError`."""
        while not self._chunk and not self._is_over:
            await self._wait(self._limits.idle_s)
        chunk, self._chunk = self._chunk, b""
        self._release()
        if not chunk and not self._is_complete:
            raise UpstreamError(Failure.BROKEN)
        return chunk

    def abort(self) -> None:
        """Close the connection now; a reader hears that the answer broke off."""
        self._stream.close()
        self._release()

    async def close(self) -> None:
        """Close the connection and wait until it is. Closing twice is harmless."""
        self.abort()
        if self._receiver is not None:
            await self._receiver

    async def _receive(self, connection: HTTP1Connection) -> None:
        try:
            await connection.read_response(self)
        except StreamClosedError:
            pass  # on_connection_close has told the reader
        finally:
            self._end()

    async def _wait(self, timeout_s: float) -> None:
        self._wake.clear()
        try:
            async with asyncio.timeout(timeout_s):
                await self._wake.wait()
        except TimeoutError:
            raise UpstreamError(Failure.TIMEOUT) from None

    def _release(self) -> None:
        if self._taken is not None and not self._taken.done():
            self._taken.set_result(None)

    def _end(self) -> None:
        self._is_over = True
        self._wake.set()

    # Called by tornado's HTTP1Connection; they must not raise.

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> None:
        """Take the head of the answer; interim answers (1xx) are skipped."""
        if isinstance(start_line, ResponseStartLine) and start_line.code >= 200:
            self.code, self.headers = start_line.code, headers
            self._wake.set()

    def data_received(self, chunk: bytes) -> asyncio.Future[None]:
        """Keep a chunk; the future holds the sender back until it was read."""
        self._chunk = chunk
        self._taken = asyncio.get_running_loop().create_future()
        self._wake.set()
        if self._stream.closed():
            self._release()
        return self._taken

    def finish(self) -> None:
        """The answer is complete."""
        self._is_complete = True
        self._end()

    def on_connection_close(self) -> None:
        """The connection ended before the answer was complete."""
        self._end()


async def connect(address: Address, timeout_s: float) -> IOStream:
    """Open a connection to the pinned IP, with TLS and the certificate checked for https.

    Raises
    ------
    UpstreamError
        When nothing accepts it in time.
    """
    client = TCPClient(resolver=PinnedResolver(address.ip))
    tls = ssl_options_to_context({}, server_side=False) if address.scheme == "https" else None
    try:
        async with asyncio.timeout(timeout_s):
            stream = await client.connect(
                address.host,
                address.port,
                ssl_options=tls,
                max_buffer_size=MAX_BUFFER_BYTES,
                timeout=timeout_s,
            )
    except TimeoutError:
        raise UpstreamError(Failure.TIMEOUT) from None
    except OSError:
        raise UpstreamError(Failure.REFUSED) from None
    stream.set_nodelay(True)
    return stream


async def send(
    address: Address,
    method: str,
    path: str,
    headers: Sequence[tuple[str, str]],
    body: bytes | None = None,
    limits: Limits = Limits(),
) -> Reply:
    """Send a request and return the answer once its head is there; the caller closes it.

    ``path`` is what stands in the request line. Raises `UpstreamError`.
    """
    stream = await connect(address, limits.connect_s)
    connection = HTTP1Connection(
        stream,
        True,
        HTTP1ConnectionParameters(
            no_keep_alive=True,
            max_header_size=MAX_HEADER_BYTES,
            max_body_size=limits.max_bytes,
        ),
    )
    request = HTTPHeaders()
    for name, value in headers:
        request.add(name, value)
    if body is not None:
        request["Content-Length"] = str(len(body))
    reply = Reply(stream, limits)
    try:
        connection.write_headers(RequestStartLine(method, path, ""), request, body)
        connection.finish()
        reply.receive(connection)
        await reply.wait_for_headers()
    except BaseException:
        await reply.close()
        raise
    return reply


async def fetch(
    address: Address,
    path: str,
    headers: Sequence[tuple[str, str]],
    *,
    timeout_s: float,
    max_bytes: int,
) -> tuple[int, bytes]:
    """Get a small answer as a whole, within ``timeout_s`` from beginning to end.

    Raises
    ------
    UpstreamError
        When it does not come, is too late or longer than ``max_bytes``.
    """
    limits = Limits(timeout_s, timeout_s, timeout_s, max_bytes)
    try:
        async with asyncio.timeout(timeout_s):
            reply = await send(address, "GET", path, headers, limits=limits)
            try:
                content = b"".join([chunk async for chunk in _chunks(reply)])
            finally:
                await reply.close()
    except TimeoutError:
        raise UpstreamError(Failure.TIMEOUT) from None
    return reply.code, content


async def _chunks(reply: Reply) -> AsyncIterator[bytes]:
    while chunk := await reply.read():
        yield chunk
