"""A page as a browser has it, without drawing: speaks to `/stream` over a real websocket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Self

from bokeh.core.serialization import Buffer, Serialized
from bokeh.core.types import ID
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent, MessageSentEvent, ModelChangedEvent
from bokeh.events import PointEvent, Tap
from bokeh.protocol.messages.patch_doc import patch_doc
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from dask_diag_lab.server.control import PaneControl
from tests.kernel.serving import Endpoint, until

QUIET_S = 0.25
QUIET_TURNS = 10


class Connection:
    """A websocket to `/stream`, and the plots that are open over it."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.socket = socket
        self.pages: dict[str, BrowserPage] = {}
        self.frames = 0
        self.runs: list[dict[str, Any]] = []
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, served: Endpoint) -> Self:
        url = served.url.replace("http", "ws", 1) + "/stream"
        headers = {"Authorization": f"token {served.token}"}
        return cls(await websocket_connect(HTTPRequest(url, headers=headers)))

    @property
    def is_closed(self) -> bool:
        return self._reading.done()

    async def send(self, **message: object) -> None:
        await self.socket.write_message(json.dumps(message, default=Buffer.to_base64))

    async def close(self) -> None:
        """Leave, as a closed tab does."""
        self.socket.close()
        await self._reading

    async def _read(self) -> None:
        while (frame := await self.socket.read_message()) is not None:
            assert isinstance(frame, bytes)
            self.frames += 1
            for message, buffers in messages_in(frame):
                if message["type"] == "runs":
                    self.runs = message["runs"]
                else:
                    self.pages[message["id"]].take(message, buffers)
        self.socket.close()


def messages_in(frame: bytes) -> Iterator[tuple[dict[str, Any], list[Buffer]]]:
    """Yield the messages of a frame, each with its buffers."""
    begin = at = 4 + int.from_bytes(frame[:4], "little")
    for message in json.loads(frame[4:begin]):
        buffers = []
        for id_, size in message.get("buffers", []):
            buffers.append(Buffer(ID(id_), frame[at : at + size]))
            at += size
        yield message, buffers
    assert at == len(frame)


class BrowserPage:
    """One open plot; `patches` counts those that came after the first picture."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.document = Document()
        self.reason = ""
        self.opened: dict[str, Any] = {}
        self.patches = 0
        self.commands = 0
        self._id = f"p{len(connection.pages)}"
        connection.pages[self._id] = self

    @classmethod
    async def open(
        cls,
        served: Endpoint,
        plot: str,
        look: dict[str, str] | None = None,
        arguments: Any = None,  # JSON
        connection: Connection | None = None,
    ) -> Self:
        """Open a plot over a connection of its own, or over one that is there."""
        page = cls(connection or await Connection.open(served))
        fields = {"plot": plot, "look": look or {}, "arguments": arguments or {}}
        await page._send(type="open", **fields)
        await until(lambda: page.opened or page.reason, "it does not open")
        return page

    @property
    def control(self) -> PaneControl:
        """The control among the document's roots."""
        found = self.document.select_one({"name": "dask-diag-control"})
        assert isinstance(found, PaneControl)
        return found

    @property
    def frames(self) -> int:
        return self.connection.frames

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
        await self._patch(MessageSentEvent(self.document, "bokeh_event", kind(picture)))

    async def patch(self, model: Any, name: str, value: object) -> None:
        """Set one property of any model of the document."""
        await self._patch(ModelChangedEvent(self.document, model, name, value))

    async def leave(self) -> None:
        """Close the plot alone."""
        await self._send(type="close")

    async def close(self) -> None:
        """Leave with all that is open over the same connection."""
        await self.connection.close()

    def take(self, message: dict[str, Any], buffers: list[Buffer]) -> None:
        """Take what has come for this plot."""
        match message["type"]:
            case "document":
                self.document.replace_with_json(Serialized(message["document"], buffers))
                self.opened = message
            case "patch":
                self.patches += 1
                setter: Any = self
                patch: Any = Serialized(message["patch"], buffers)
                self.document.apply_json_patch(patch, setter=setter)
            case "error":
                self.reason = message["reason"]

    async def _patch(self, event: DocumentPatchedEvent) -> None:
        await self._send(type="patch", patch=patch_doc.create([event]).content)

    async def _send(self, **message: object) -> None:
        await self.connection.send(id=self._id, **message)
