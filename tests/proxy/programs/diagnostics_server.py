"""Plays the in-kernel diagnostics server: a process of its own with its token and its record.

Reads one JSON line from standard input after it has printed ``{"url", "pid"}``: ``{"token"}``, and
says with a line that it has. Ends when standard input does. Serves what the relay's tests need to
look at: what it was sent, slow answers, endless ones, redirects, an echo socket.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tornado import web
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.websocket import WebSocketHandler

FIXTURES = Path(__file__).parents[2] / "contract" / "fixtures" / "http"
STATE: dict[str, Any] = {"health": "health.json", "delay_s": 0.0, "sockets": 0, "asked": 0}
STATE["more_plots"] = 0


class Base(web.RequestHandler):
    def prepare(self) -> None:
        STATE["asked"] += 1
        if self.request.headers.get("Authorization") != f"token {STATE['token']}":
            self.set_status(403)
            self.finish("wrong token")


class Fixture(Base):
    async def get(self) -> None:
        name = self.request.path.strip("/")
        if name == "health":
            name = STATE["health"]
            await asyncio.sleep(STATE["delay_s"])
        self.set_header("Content-Type", "application/json")
        self.write(self.with_more_plots(json.loads((FIXTURES / name).read_bytes())))

    def with_more_plots(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return a fixture's answer after somebody has registered plots."""
        more = int(STATE["more_plots"])
        if "plots_version" in answer:
            answer["plots_version"] += more
        for n in range(1, more + 1) if "plots" in answer else ():
            answer["plots"].append({**answer["plots"][0], "name": f"mine-{n}"})
        return answer

    head = get


class Seen(Base):
    """What arrived here."""

    def get(self, rest: str = "") -> None:
        self.set_header("Set-Cookie", "upstream=1")
        self.set_header("X-Odd", "1")
        self.set_header("Content-Security-Policy", "script-src *")
        self.write({"uri": self.request.uri, "headers": dict(self.request.headers.get_all())})

    post = get


class Page(Base):
    def get(self) -> None:
        self.write("<!DOCTYPE html><p>page</p>")


class Session(Base):
    def post(self, name: str) -> None:
        self.write({"token": name, "body": self.request.body.decode()})


class Redirect(Base):
    def get(self) -> None:
        self.set_status(302)
        self.set_header("Location", self.get_argument("to"))


class Slow(Base):
    async def get(self) -> None:
        await asyncio.sleep(float(self.get_argument("first", "0")))
        self.write("begin")
        await self.flush()
        await asyncio.sleep(float(self.get_argument("second", "0")))
        self.write("end")


class Flood(Base):
    """Sends so much that a reader which keeps all of it would be noticed; counts what got out."""

    async def get(self) -> None:
        chunk = b"x" * 65536
        STATE["flooded"] = 0
        try:
            for _ in range(int(self.get_argument("chunks"))):
                self.write(chunk)
                await self.flush()
                STATE["flooded"] += len(chunk)
        except Exception as error:  # noqa: BLE001  # tells the test how it ended
            STATE["flood_end"] = type(error).__name__
            return
        STATE["flood_end"] = "complete"


class Broken(Base):
    async def get(self) -> None:
        self.set_header("Content-Length", "1000")
        self.write("half")
        await self.flush()
        self.detach().close()


class Control(Base):
    """Sets or tells the state."""

    def get(self) -> None:
        for name in self.request.arguments:
            value = self.get_argument(name)
            STATE[name] = float(value) if name == "delay_s" else value
        self.write({key: value for key, value in STATE.items() if key != "token"})


class Hold(Base):
    """Holds the interpreter, as a cell does."""

    def get(self) -> None:
        time.sleep(float(self.get_argument("seconds")))


class Echo(WebSocketHandler):
    def prepare(self) -> None:
        if self.request.headers.get("Authorization") != f"token {STATE['token']}":
            raise web.HTTPError(403)

    def check_origin(self, origin: str) -> bool:
        return bool(origin == STATE["url"])

    @property
    def max_message_size(self) -> int:
        return 2**30

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        self.offered = subprotocols
        return subprotocols[0] if subprotocols else None

    def open(self) -> None:
        STATE["sockets"] += 1
        self.write_message(json.dumps({"uri": self.request.uri, "offered": self.offered}))
        self.write_message(json.dumps(dict(self.request.headers.get_all())))

    async def on_message(self, message: str | bytes) -> None:
        if message == "close":
            self.close(4001, "as asked")
        elif message == "die":
            os._exit(1)
        elif isinstance(message, str) and message.startswith("send "):
            await self.write_message(b"y" * int(message.split()[1]), binary=True)
        else:
            await self.write_message(message, binary=isinstance(message, bytes))

    def on_close(self) -> None:
        STATE["sockets"] -= 1
        STATE["close_code"] = self.close_code


ROUTES = [
    (r"/(?:health|plots.json|individual-plots.json)", Fixture),
    (r"/seen/?(.*)", Seen),
    (r"/status", Page),
    (r"/plots/([^/]+)/session", Session),
    (r"/plots/[^/]+/ws", Echo),
    (r"/redirect", Redirect),
    (r"/slow", Slow),
    (r"/flood", Flood),
    (r"/broken", Broken),
    (r"/control", Control),
    (r"/hold", Hold),
]


async def main() -> None:
    """Serve until standard input ends."""
    server = HTTPServer(web.Application(ROUTES))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    STATE["url"] = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    print(json.dumps({"url": STATE["url"], "pid": os.getpid()}), flush=True)
    line = await asyncio.to_thread(sys.stdin.readline)
    order = json.loads(line)
    STATE["token"] = order["token"]
    print("knows its token", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)


asyncio.run(main())
