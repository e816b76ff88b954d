"""A page as a browser has it, without drawing: speaks Bokeh's protocol over a real websocket."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Self

from bokeh.document import Document
from bokeh.document.events import MessageSentEvent, ModelChangedEvent
from bokeh.events import PointEvent, Tap
from bokeh.protocol import Protocol
from bokeh.protocol.message import Message
from bokeh.protocol.receiver import Receiver
from tornado.httpclient import HTTPRequest
from tornado.locks import Lock
from tornado.websocket import WebSocketClientConnection, websocket_connect

from dask_diag_lab.server.control import PaneControl
from tests.kernel.serving import Endpoint

QUIET_S = 0.25
QUIET_TURNS = 10


class BrowserPage:
    """One open page; `frames` counts the data frames that came after the first picture."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.document = Document()
        self.frames = 0
        self.patches = 0
        self.commands = 0
        self.write_lock = Lock()  # Bokeh's messages take it
        self._socket = socket
        self._protocol = Protocol()
        self._receiver = Receiver(self._protocol)
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        served: Endpoint,
        plot: str,
        look: dict[str, str] | None = None,
        session: Any = None,  # JSON
        arguments: dict[str, str] | None = None,
    ) -> Self:
        """Ask for a session with the first picture (or take `session`), and connect."""
        if session is None:
            body = json.dumps({"look": look or {}, "arguments": arguments or {}})
            session = await served.json(f"/plots/{plot}/session", method="POST", body=body)
        page = cls(await connect(served, plot, session["token"]))
        assert (await page._message()).msgtype == "ACK"
        await page._send(page._protocol.create("PULL-DOC-REQ"))
        reply: Any = None  # the kind that has a document
        while reply is None or reply.msgtype != "PULL-DOC-REPLY":
            reply = await page._message()  # patches before it are in it already, as for BokehJS
        reply.push_to_document(page.document)
        page._reading = asyncio.create_task(page._read())
        return page

    @property
    def control(self) -> PaneControl:
        """The control among the document's roots."""
        found = self.document.select_one({"name": "dask-diag-control"})
        assert isinstance(found, PaneControl)
        return found

    @property
    def is_closed(self) -> bool:
        return self._reading is None or self._reading.done()

    async def quiet(self) -> int:
        """Wait until nothing has come for a while; return how many frames there were."""
        frames, n_quiet = self.frames, 0
        while n_quiet < QUIET_TURNS:
            # In turns: what holds up the loop, or the whole machine, is but one of them.
            await asyncio.sleep(QUIET_S / QUIET_TURNS)
            n_quiet = n_quiet + 1 if frames == self.frames else 0
            frames = self.frames
        return frames

    async def set(self, **properties: object) -> None:
        """Set properties of the control, as a page does."""
        for name, value in properties.items():
            await self.patch(self.control, name, value)

    async def command(self, verb: str, **more: object) -> None:
        """Send a command."""
        self.commands += 1
        await self.set(command=json.dumps({"verb": verb, "n": self.commands, **more}))

    async def tap(self, kind: type[PointEvent] = Tap) -> None:
        """Click the picture of a sample."""
        picture: Any = self.document.select_one({"name": "picture"})
        self.document.models.flush_synced()  # the server knows them all
        happened = MessageSentEvent(self.document, "bokeh_event", kind(picture))
        await self._send(self._protocol.create("PATCH-DOC", [happened]))

    async def patch(self, model: Any, name: str, value: object) -> None:
        """Set one property of any model of the document."""
        event = ModelChangedEvent(self.document, model, name, value)
        await self._send(self._protocol.create("PATCH-DOC", [event]))

    async def close(self) -> None:
        """Leave, as a closed tab does."""
        self._socket.close()
        if self._reading is not None:
            await self._reading

    async def _send(self, message: Message[Any]) -> None:
        await message.send(self)  # type: ignore[arg-type]  # it only calls `write_message`

    async def write_message(
        self, message: str | bytes, binary: bool = False, locked: bool = True
    ) -> None:
        """Write one fragment; Bokeh's messages call this."""
        await self._socket.write_message(message, binary)

    async def _message(self) -> Message[Any]:
        while True:
            fragment = await self._socket.read_message()
            assert fragment is not None, "the server has closed the websocket"
            message = await self._receiver.consume(fragment)
            if message is not None:
                return message

    async def _read(self) -> None:
        while (fragment := await self._socket.read_message()) is not None:
            message: Any = await self._receiver.consume(fragment)
            self.frames += 1
            if message is not None and message.msgtype == "PATCH-DOC":
                self.patches += 1
                message.apply_to_document(self.document, self)
        self._socket.close()


async def connect(served: Endpoint, plot: str, token: str) -> WebSocketClientConnection:
    """Open a plot's websocket with a Bokeh session token."""
    url = served.url.replace("http", "ws", 1) + f"/plots/{plot}/ws"
    request = HTTPRequest(url, headers={"Authorization": f"token {served.token}"})
    return await websocket_connect(request, subprotocols=["bokeh", token])


async def is_refused(served: Endpoint, plot: str, token: str) -> bool:
    """Whether the server closes a websocket with this session token before it says anything."""
    socket = await connect(served, plot, token)
    answer = await socket.read_message()
    socket.close()
    return answer is None
