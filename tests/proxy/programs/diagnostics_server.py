"""Plays the in-kernel diagnostics server: a process of its own with its token and its record.

Its argument is its token. Prints its address, and ends when standard input does. Serves what the
relay's tests need to look at: what it was sent, slow answers,
endless ones, broken ones, redirects, an echo socket.
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
STATE: dict[str, Any] = {"sockets": 0, "asked": 0}  # Any: JSON
STATE.update(token=sys.argv[1], health="health.json", more_plots=0, raw="")


class Anything(web.RequestHandler):
    """Answers below its path's first name by the method of that name."""

    async def get(self) -> None:
        STATE["asked"] += 1
        if self.request.headers.get("Authorization") != f"token {STATE['token']}":
            self.set_status(403)
            return
        name = self.request.path.split("/")[1]
        answer = getattr(self, f"answer_{name.removesuffix('.json')}", None)
        if answer is None:
            self.set_status(404)
        else:
            await answer()

    head = get

    def number(self, name: str) -> float:
        return float(self.get_argument(name, "0"))

    async def answer_health(self) -> None:
        if STATE["raw"]:
            self.write(STATE["raw"])
            return
        health = json.loads((FIXTURES / STATE["health"]).read_bytes())
        if "plots_version" in health:
            health["plots_version"] += int(STATE["more_plots"])
        self.write(health)

    async def answer_plots(self) -> None:
        listed = json.loads((FIXTURES / "plots.json").read_bytes())
        more = range(1, int(STATE["more_plots"]) + 1)
        listed["plots"] += [{**listed["plots"][0], "name": f"mine-{n}"} for n in more]
        self.write(listed)

    async def answer_seen(self) -> None:
        """Answer what arrived here."""
        self.set_header("Set-Cookie", "upstream=1")
        self.set_header("X-Odd", "1")
        self.set_header("Content-Security-Policy", "script-src *")
        self.write({"uri": self.request.uri, "headers": dict(self.request.headers.get_all())})

    async def answer_status(self) -> None:
        self.write("<!DOCTYPE html><p>page</p>")

    async def answer_redirect(self) -> None:
        self.set_status(302)
        self.set_header("Location", self.get_argument("to"))

    async def answer_slow(self) -> None:
        await asyncio.sleep(self.number("first"))
        self.write("begin")
        await self.flush()
        await asyncio.sleep(self.number("second"))
        self.write("end")

    async def answer_flood(self) -> None:
        """Send so much that a reader which keeps all of it would be noticed; count what got out."""
        STATE["flooded"] = 0
        try:
            for _ in range(int(self.number("chunks"))):
                self.write(b"x" * 65536)
                await self.flush()
                STATE["flooded"] += 65536
        except Exception as error:
            STATE["flood_end"] = type(error).__name__
            raise

    async def answer_broken(self) -> None:
        """Close the connection in the middle of an answer."""
        self.set_header("Content-Length", "1000")
        self.write("half")
        await self.flush()
        self.detach().close()

    async def answer_control(self) -> None:
        """Set or tell the state."""
        STATE.update({name: self.get_argument(name) for name in self.request.arguments})
        self.write({key: value for key, value in STATE.items() if key != "token"})

    async def answer_hold(self) -> None:
        """Hold the interpreter, as a cell does."""
        time.sleep(self.number("seconds"))  # noqa: ASYNC251  # this is what it is for


class Echo(WebSocketHandler):
    max_message_size = 2**30

    def prepare(self) -> None:
        if self.request.headers.get("Authorization") != f"token {STATE['token']}":
            raise web.HTTPError(403)

    def check_origin(self, origin: str) -> bool:
        return bool(origin == STATE["url"])

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        self.offered = subprotocols
        return subprotocols[0] if subprotocols else None

    def open(self) -> None:
        STATE["sockets"] += 1
        headers = dict(self.request.headers.get_all())
        self.write_message({"uri": self.request.uri, "offered": self.offered, "headers": headers})

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


async def main() -> None:
    """Serve until standard input ends."""
    server = HTTPServer(web.Application([(r"/stream", Echo), (r"/.*", Anything)]))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    STATE["url"] = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    print(STATE["url"], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)


asyncio.run(main())
