"""HTTP with a dashboard, on tornado's own client, read as fast as its reader takes it.

Connects to a pinned IP only, follows no redirect, decodes nothing. Which headers are sent is
decided elsewhere.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from tornado.httpclient import HTTPRequest
from tornado.httputil import HTTPHeaders
from tornado.iostream import IOStream, StreamClosedError
from tornado.netutil import OverrideResolver, Resolver
from tornado.simple_httpclient import (
    HTTPStreamClosedError,
    HTTPTimeoutError,
    SimpleAsyncHTTPClient,
)
from tornado.tcpclient import TCPClient

CONNECT_S: Final = 5.0
MAX_HEADER_BYTES: Final = 64 * 1024
MAX_BUFFER_BYTES: Final = 8 * 1024 * 1024


class RefusedError(Exception):
    """Something that a user asks for and does not get; the text is for the user."""

    def __init__(self, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.status = status


class UpstreamError(Exception):
    """An exchange that failed; the text is the end of a sentence that begins with a dashboard."""


class UpstreamTimeoutError(UpstreamError):
    """The dashboard said nothing for too long."""

    def __init__(self) -> None:
        super().__init__("did not answer in time")


@dataclass(frozen=True, slots=True)
class Address:
    """One dashboard's address, with the IP that every connection to it uses.

    Attributes
    ----------
    host : str
        The name or IP as it was given, without brackets: for ``Host`` and TLS.
    ip : str
        What is connected to. Never resolved again, so that a name cannot move later.
    prefix : str
        Path below which the dashboard lives: empty, or starting with a slash and not ending
        with one.
    """

    scheme: Literal["http", "https"]
    host: str
    port: int
    ip: str
    prefix: str = ""

    @property
    def netloc(self) -> str:
        """Host and port as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, without a slash at the end."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def is_loopback(self) -> bool:
        """True when connections never leave this machine."""
        return ipaddress.ip_address(self.ip).is_loopback

    @property
    def resolver(self) -> Resolver:
        """Answers this host with the pinned IP."""
        resolver: Resolver = OverrideResolver(resolver=Resolver(), mapping={self.host: self.ip})
        return resolver


class _Connection(TCPClient):
    """Remembers the stream it opened: tornado's client offers no way to break an exchange off."""

    stream: IOStream | None = None
    is_aborted = False

    async def connect(self, *args: Any, **options: Any) -> IOStream:  # Any: tornado's arguments
        """Open the one connection of an exchange."""
        self.stream = await super().connect(*args, **options)
        if self.is_aborted:
            self.stream.close()
        return self.stream

    def abort(self) -> None:
        """Close the connection now, or as soon as there is one."""
        self.is_aborted = True
        if self.stream is not None:
            self.stream.close()


class Exchange:
    """One request, and its answer while it comes. The sender waits for the reader.

    Parameters
    ----------
    address : Address
        Whom to ask.
    max_bytes : int
        A larger answer is broken off.
    """

    def __init__(self, address: Address, max_bytes: int) -> None:
        self._address = address
        self._connection = _Connection(address.resolver)
        self._client = SimpleAsyncHTTPClient(
            force_instance=True,
            max_buffer_size=MAX_BUFFER_BYTES,
            max_header_size=MAX_HEADER_BYTES,
            max_body_size=max_bytes,
        )
        self._client.tcp_client = self._connection

    async def run(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        silence_s: float,
        on_chunk: Callable[[bytes], Awaitable[object]],
        on_head: Callable[[int, HTTPHeaders], object] = lambda *_: None,
    ) -> int:
        """Send a request and pass its answer on; return its status code when all was taken.

        Parameters
        ----------
        silence_s : float
            Seconds to wait for the first byte and for each next one, and for the reader.
        on_chunk : callable
            Takes a part of the body; the next one is not read before that is done. May raise
            tornado's StreamClosedError when the reader is gone.
        on_head : callable
            Takes the status code and the headers, before any part of the body.

        Raises
        ------
        UpstreamError
            When the answer does not come, or not to its end.
        """
        lines: list[str] = []

        def take_header_line(line: str) -> None:
            lines.append(line.strip())
            if not lines[-1]:
                status, *fields = lines[:-1]
                lines.clear()
                if (code := int(status.split()[1])) >= 200:  # others are interim answers
                    on_head(code, HTTPHeaders.parse("\r\n".join(fields)))

        async def take_chunk(chunk: bytes) -> None:
            try:
                await on_chunk(chunk)
            except StreamClosedError:
                self.close()
            if not (self._connection.is_aborted or silence.expired()):
                silence.reschedule(asyncio.get_running_loop().time() + silence_s)

        request = HTTPRequest(
            f"{self._address.origin}{path}",
            method,
            HTTPHeaders(headers),
            body,
            connect_timeout=min(CONNECT_S, silence_s),
            request_timeout=0,  # a large answer may take long, as long as it goes on
            follow_redirects=False,
            decompress_response=False,
            header_callback=take_header_line,
            streaming_callback=take_chunk,
        )
        try:
            async with asyncio.timeout(silence_s) as silence:
                # Shielded: tornado logs an error when an answer ends that was cancelled.
                answer = await asyncio.shield(self._client.fetch(request, raise_error=False))
                return answer.code
        except (TimeoutError, HTTPTimeoutError):
            raise UpstreamTimeoutError from None
        except HTTPStreamClosedError:
            raise UpstreamError("broke off its answer") from None
        except OSError:
            raise UpstreamError("cannot be reached") from None
        finally:
            self.close()

    def close(self) -> None:
        """Break off what still runs. Closing twice is harmless."""
        self._connection.abort()
        self._client.close()


async def fetch(
    address: Address, path: str, headers: Mapping[str, str], timeout_s: float, max_bytes: int
) -> tuple[int, bytes]:
    """Get a small answer as a whole, within ``timeout_s`` from beginning to end.

    Raises
    ------
    UpstreamError
        When it does not come, is too late or longer than ``max_bytes``.
    """
    content = bytearray()

    async def keep(chunk: bytes) -> None:
        content.extend(chunk)

    exchange = Exchange(address, max_bytes)
    try:
        async with asyncio.timeout(timeout_s):
            code = await exchange.run("GET", path, headers, silence_s=timeout_s, on_chunk=keep)
    except TimeoutError:
        raise UpstreamTimeoutError from None
    return code, bytes(content)
