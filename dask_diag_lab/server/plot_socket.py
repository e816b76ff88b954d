"""The websocket of one page: who may open it, and how a message leaves in one piece."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterable, MutableMapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from bokeh.protocol import Protocol
from bokeh.protocol.messages.patch_doc import patch_doc
from bokeh.server.views.ws import WSHandler
from bokeh.util.token import check_token_signature, get_session_id, get_token_payload
from tornado.iostream import StreamClosedError
from tornado.locks import Lock
from tornado.routing import URLSpec
from tornado.websocket import WebSocketProtocol13

if TYPE_CHECKING:
    from bokeh.document import Document
    from bokeh.document.events import DocumentPatchedEvent
    from bokeh.protocol.message import Message
    from bokeh.server.contexts import ApplicationContext

    from dask_diag_lab.server.prepared_session import PreparedSession

logger = logging.getLogger(__name__)

CLOSE_TOKEN_REFUSED = 4401


class _Parts:
    """Takes the place of a socket for as long as a message is taken apart."""

    def __init__(self) -> None:
        self.write_lock = Lock()
        self.parts: list[tuple[str | bytes, bool]] = []

    async def write_message(
        self,
        message: str | bytes,
        binary: bool = False,
        locked: bool = True,  # noqa: ARG002  # Bokeh's
    ) -> None:
        """Keep a part."""
        self.parts.append((message, binary))


class _Wire:
    """Takes the place of a stream for as long as frames are made."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def write(self, data: bytes) -> asyncio.Future[None]:
        """Keep `data`; done at once."""
        self.frames.append(bytes(data))
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done


class PlotSocket(WSHandler):
    """The websocket of one page, quiet about pages that come with an old token.

    Bokeh logs those as errors, which a notebook shows in the cell that runs.
    """

    def initialize(  # type: ignore[override]  # one more than Bokeh's
        self,
        application_context: ApplicationContext,  # noqa: ARG002  # Bokeh's __init__ keeps it
        bokeh_websocket_path: str,  # noqa: ARG002  # Bokeh's handlers all get it
        sockets: set[PlotSocket],
        waiting: MutableMapping[str, PreparedSession],
        secret: bytes,
    ) -> None:
        self._sockets = sockets
        self._waiting = waiting
        self._secret = secret
        self._prepared: PreparedSession | None = None
        self._missed: list[DocumentPatchedEvent] = []
        self._held: list[Message[Any]] | None = None

    def check_origin(self, origin: str) -> bool:  # noqa: ARG002  # tornado's
        """The gate has judged the origin together with how the token came."""
        return True

    def open(self, name: str) -> None:
        """Go on only with a token that this server signed for this plot, once, and not long ago."""
        given: str | None = self._token
        token = given or ""
        if self.selected_subprotocol == "bokeh" and self._is_good(token, name):
            # Else Bokeh would make a second document, which is not the one that the page has.
            self._prepared = self._waiting.pop(get_session_id(token), None)
        if self._prepared is None:
            self.close(CLOSE_TOKEN_REFUSED, "open the plot again")
            return
        self._sockets.add(self)
        # Else the second of two small messages waits up to 40 ms until the first is acknowledged.
        self.set_nodelay(True)
        super().open()

    def on_close(self) -> None:
        """Forget the socket, then do what Bokeh does."""
        self._sockets.discard(self)
        super().on_close()

    def catch_up(self, document: Document) -> None:
        """Have what has changed since the page was sent `document` follow Bokeh's greeting."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            self._missed = prepared.take(document)

    def hold(self) -> None:
        """Keep what is sent from now on until `release`, all that changed as one message."""
        self._held = []

    async def release(self) -> None:
        """Send what was held; nothing when nothing was."""
        held, self._held = self._held or [], None
        together = groupby(held, key=lambda message: message.msgtype == patch_doc.msgtype)
        await self._send(
            one
            for are_patches, messages in together
            for one in ([_as_one(list(messages))] if are_patches else messages)
        )

    async def send_message(self, message: Message[Any]) -> None:
        """Send a message, or keep it for `release`."""
        if self._held is not None:
            self._held.append(message)
            return
        messages, self._missed = [message], self._missed
        if self._missed:
            messages.append(Protocol().create("PATCH-DOC", self._missed))
            self._missed = []
        await self._send(messages)

    async def _send(self, messages: Iterable[Message[Any]]) -> None:
        """Write whole messages at once.

        Bokeh writes each part of each message by itself. Each is a system call and a turn of the
        loop, and at each of these a cell that computes may take the interpreter for 5 ms.
        """
        taken_apart: Any = _Parts()  # all that a message asks of a connection
        for message in messages:
            await message.send(taken_apart)
        if taken_apart.parts:
            await self._write(taken_apart.parts)

    async def _write(self, parts: list[tuple[str | bytes, bool]]) -> None:
        protocol = self.ws_connection
        if not isinstance(protocol, WebSocketProtocol13) or protocol.is_closing():
            return
        stream, wire = protocol.stream, _Wire()
        # No await until all is written: the next message's parts would come in between.
        protocol.stream = wire  # type: ignore[assignment]  # it is only written to
        try:
            written = [protocol.write_message(text, binary=is_binary) for text, is_binary in parts]
            joined = stream.write(b"".join(wire.frames))
        except StreamClosedError:
            return
        finally:
            protocol.stream = stream
        with contextlib.suppress(StreamClosedError):
            await asyncio.gather(joined, *written)

    def log_exception(self, *args: Any) -> None:  # tornado's exc_info triple
        """Log where Dask's and tornado's default set-up does not print into a cell."""
        logger.warning("A plot's websocket failed", exc_info=args)

    def _is_good(self, token: str, plot: str) -> bool:
        try:
            # The signature first: what somebody else has written is not even unpacked.
            if not check_token_signature(token, signed=True, secret_key=self._secret):
                return False
            payload = get_token_payload(token)
            return bool(payload["plot"] == plot and time.time() < payload["session_expiry"])
        except (ValueError, KeyError, TypeError, IndexError):
            return False  # not a Bokeh token at all


def _as_one(patches: list[Message[Any]]) -> Message[Any]:
    """Return one message with all changes of `patches`, in their order."""
    events = [event for patch in patches for event in patch.content["events"]]
    one = patch_doc(patch_doc.create_header(), {}, {"events": events})
    for patch in patches:
        for buffer in patch._buffers:
            one.add_buffer(buffer)
    return one


def socket_rule(
    context: ApplicationContext,
    sockets: set[PlotSocket],
    waiting: MutableMapping[str, PreparedSession],
    secret: bytes,
    name: str,
) -> URLSpec:
    """Return the rule of the plots' websockets; the open ones are kept in `sockets`.

    `waiting` are the sessions that a page may connect to, by their id; `name` is the regular
    expression of a plot's name.
    """
    return URLSpec(
        rf"/plots/{name}/ws",
        PlotSocket,
        {
            "application_context": context,
            "bokeh_websocket_path": "/plots/ws",  # only Bokeh's own pages would use it
            "sockets": sockets,
            "waiting": waiting,
            "secret": secret,
        },
    )
