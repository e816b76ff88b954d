"""HTTP with a dashboard: the one client of the Jupyter server's side.

Connects to a pinned IP only, follows no redirect, decodes nothing. Which headers are sent is
decided elsewhere. On tornado's `HTTP1Connection`, as its `AsyncHTTPClient` cannot do two things
that a relay needs: give up after a silence instead of after a total time, and break off in the
middle.
"""

from __future__ import annotations

import asyncio
import functools
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tornado.http1connection import HTTP1Connection, HTTP1ConnectionParameters
from tornado.httputil import (
    HTTPHeaders,
    HTTPMessageDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream, SSLIOStream, StreamClosedError
from tornado.netutil import OverrideResolver, Resolver

CONNECT_S: Final = 5.0

# A larger answer, such as a plot's data as CSV, is broken off.
MAX_ANSWER_BYTES: Final = 256 * 1024 * 1024

_PARAMETERS: Final = HTTP1ConnectionParameters(max_body_size=MAX_ANSWER_BYTES)

UNTRUSTED: Final = (
    "has a certificate for another name, out of date, or of an authority that this Jupyter server "
    "does not know; its administrator can name a file of authorities with the environment variable "
    "SSL_CERT_FILE"
)

TakeHead = Callable[[int, HTTPHeaders], None]
TakeChunk = Callable[[bytes], Awaitable[None]]


class NotAllowedError(Exception):
    """Something that a user asks for and does not get; the text is for the user."""

    def __init__(self, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.status = status


class UpstreamError(Exception):
    """An exchange that failed; the text is the end of a sentence that begins with a dashboard."""


class UpstreamTimeoutError(UpstreamError):
    """The dashboard said nothing for too long."""


@functools.cache
def tls_context(*, is_known: bool) -> ssl.SSLContext:
    """Return what checks certificates: by the authorities that Python knows.

    Where it is known whose program answers, any certificate is good.
    """
    context = ssl.create_default_context()
    if is_known:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@dataclass(frozen=True, slots=True)
class Address:
    """One dashboard's address, with the IP that every connection to it uses.

    Attributes
    ----------
    host : str
        The name or IP as it was given, without brackets: for ``Host`` and TLS.
    ip : str
        What is connected to. Never resolved again, so that a name cannot move later. Empty where
        somebody has only said where a dashboard is: nothing is resolved or allowed yet.
    prefix : str
        Path below which the dashboard lives: empty, or starting with a slash and not ending
        with one.
    is_known : bool
        Whether the operating system tells that it is a program of this user on this machine.
    """

    scheme: Literal["http", "https"]
    host: str
    port: int
    ip: str = ""
    prefix: str = ""
    is_known: bool = False

    @property
    def tls(self) -> ssl.SSLContext | None:
        """What checks its certificate; None for plain HTTP."""
        return tls_context(is_known=self.is_known) if self.scheme == "https" else None

    @property
    def netloc(self) -> str:
        """Host and port as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, without a slash at the end."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def url(self) -> str:
        """All of it, without a slash at the end."""
        return f"{self.origin}{self.prefix}"

    @property
    def resolver(self) -> Resolver:
        """Answers this host with the pinned IP."""
        resolver: Resolver = OverrideResolver(resolver=Resolver(), mapping={self.host: self.ip})
        return resolver


class Exchange(HTTPMessageDelegate):
    """One request, and its answer while it comes. The sender waits for the reader.

    Parameters
    ----------
    address : Address
        Whom to ask.
    silence_s : float
        Seconds to wait for the first byte and for each next one.
    on_head : callable
        Takes the status code and the headers, before any part of the body; may raise
        `NotAllowedError`, which ends the exchange.
    on_chunk : callable
        Takes a part of the body; the next one is not read before that is done. May raise
        tornado's StreamClosedError when the reader is gone.
    """

    _stream: IOStream | None = None
    _is_connected = False
    _refusal: NotAllowedError | None = None
    _is_whole = False

    def __init__(
        self, address: Address, silence_s: float, on_head: TakeHead, on_chunk: TakeChunk
    ) -> None:
        self._address, self._silence_s = address, silence_s
        self._on_head, self._on_chunk = on_head, on_chunk

    async def run(self, method: str, path: str, headers: Mapping[str, str]) -> None:
        """Send a request and pass its answer on, to the end.

        Raises
        ------
        UpstreamError
            When the answer does not come, or not to its end.
        """
        address = self._address
        lines = HTTPHeaders({**headers, "Host": address.netloc, "Connection": "close"})
        try:
            async with asyncio.timeout(self._silence_s) as self._silence:
                connection = HTTP1Connection(await self._connect(), True, _PARAMETERS)
                await connection.write_headers(RequestStartLine(method, path, ""), lines)
                connection.finish()
                await connection.read_response(self)
        except TimeoutError:
            raise UpstreamTimeoutError("did not answer in time") from None
        except ssl.SSLCertVerificationError:
            raise UpstreamError(UNTRUSTED) from None
        except OSError:
            pass  # reported below
        finally:
            self.close()
        if not self._is_whole:
            reason = "broke off its answer" if self._is_connected else "cannot be reached"
            raise self._refusal or UpstreamError(reason)

    async def _connect(self) -> IOStream:
        # Not by tornado's TCPClient: it leaves a socket open when it is given up while it connects.
        address, tls = self._address, self._address.tls
        plain = socket.socket(socket.AF_INET6 if ":" in address.ip else socket.AF_INET)
        self._stream = SSLIOStream(plain, ssl_options=tls) if tls else IOStream(plain)
        async with asyncio.timeout(CONNECT_S):
            await self._stream.connect((address.ip, address.port), address.host)
        self._is_connected = True
        return self._stream

    def close(self) -> None:
        """Break off what still runs. Closing twice is harmless."""
        if self._stream is not None:
            self._stream.close()

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> None:
        """Pass the head on, but not that of an interim answer."""
        if isinstance(start_line, ResponseStartLine) and start_line.code >= 200:
            try:
                self._on_head(start_line.code, headers)
            except NotAllowedError as error:
                self._refusal = error
                self.close()

    async def data_received(self, chunk: bytes) -> None:
        """Pass a part of the body on; the time until the reader has it does not count."""
        self._silence.reschedule(None)
        try:
            await self._on_chunk(chunk)
        except StreamClosedError:
            self.close()
        self._silence.reschedule(asyncio.get_running_loop().time() + self._silence_s)

    def finish(self) -> None:
        """Note that the answer is whole."""
        self._is_whole = self._refusal is None
