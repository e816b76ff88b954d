"""The stream of a browser page: all its plots of this dashboard, over one websocket.

What it carries, and why so: docs/decisions/0005. Must be importable without Bokeh.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from dask_diag_lab.server.handlers import ContextHandler, in_words, run_rows
from dask_diag_lab.views.known_runs import PACE_S
from dask_diag_lab.views.view import PERIOD, RUN

if TYPE_CHECKING:
    from dask_diag_lab.server.context import ServerContext
    from dask_diag_lab.server.page import Page
    from dask_diag_lab.store import LiveSession

CLOSE_BAD_MESSAGE: Final = 4400
MAX_PLOTS: Final = 500
"""Of one stream; nobody looks at so many."""
MAX_STREAMED_RUNS: Final = 20
"""Runs that a page is told of, the newest, as many as the sidebar has of a recording;
``/runs.json`` has all that are kept."""
LATEST: Final = sys.float_info.max
BAD_MESSAGE: Final = "This server cannot understand what the page sent."


class Stream:
    """The plots that one browser page has open.

    All that waits is sent at once, and nothing is drawn before the browser has taken that: a slow
    one gets no backlog. A frame is the length of its JSON in four bytes, little end first, the
    JSON, which is a list of messages, and the buffers of which these have ids and sizes.

    Parameters
    ----------
    context : ServerContext
        With the plots; loaded.
    write : callable
        Sends a frame, and returns when the browser's side has taken it.
    """

    def __init__(self, context: ServerContext, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._context, self._write = context, write
        self._pages: dict[str, Page] = {}
        self._runs: RunsPage | None = None
        self._selection: Mapping[str, str] = context.live.selection
        self._has_chosen = False  # else it is that of a recording, for plots that have no other
        self._messages: list[str] = []
        self._buffers: list[bytes] = []
        self._sending: asyncio.Task[None] | None = None

    @property
    def has_several(self) -> bool:
        """Whether the browser page has more than one plot."""
        return len(self._pages) > 1

    @property
    def is_sending(self) -> bool:
        """Whether the browser has not taken all yet."""
        return self._sending is not None

    def take(self, text: str | bytes) -> None:
        """Do what a message of the browser says.

        Raises
        ------
        ValueError
            It is none.
        """
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(BAD_MESSAGE) from None
        match message:
            case {"type": "open", "id": str(id_), "plot": str(name)} if self._is_new(id_):
                self._open(id_, name, message)
            case {"type": "patch", "id": str(id_), "patch": dict(patch)}:
                if page := self._pages.get(id_):  # else it has just been closed
                    page.patched(patch)
                    self._context.tick()
            case {"type": "close", "id": str(id_)}:
                self._drop(id_)
            case {"type": "period"}:
                self._select(message)
            case {"type": "runs", "wanted": bool(wanted), "closely": bool(closely)}:
                self._follow_runs(is_wanted=wanted, is_watched=closely)
            case _:
                raise ValueError(BAD_MESSAGE)

    def send(self, message: str, buffers: Iterable[bytes] = ()) -> None:
        """Have a message in JSON sent with the next `flush`."""
        self._messages.append(message)
        self._buffers.extend(buffers)

    def flush(self) -> None:
        """Send what waits, once what was sent before is taken."""
        if self._messages and self._sending is None:
            self._sending = asyncio.create_task(self._send())

    def close(self) -> None:
        """Let go of all plots; harmless twice."""
        for id_ in list(self._pages):
            self._drop(id_)
        self._follow_runs(is_wanted=False)
        if self._sending is not None:
            self._sending.cancel()

    def _select(self, given: Mapping[str, Any]) -> None:  # JSON
        """Have all plots show a run or a stretch of time, those as well that are opened later."""
        match given:
            case {"run": int() as number} if number > 0:
                self._selection = {"run": str(number)}
            case {"start": int() | float() as start, "stop": int() | float() as stop}:
                if not -LATEST <= start < stop <= LATEST:  # nor NaN; JSON has larger ones
                    raise ValueError(BAD_MESSAGE)
                self._selection = {"start": f"{start:.6f}", "stop": f"{stop:.6f}"}
            case _:
                self._selection = {}
        self._has_chosen = True
        for page in self._pages.values():
            page.select(self._selection)
        self._context.tick()

    def _follow_runs(self, *, is_wanted: bool, is_watched: bool = False) -> None:
        """Tell of the runs, now and whenever that changes, or tell no more.

        Where they are watched, what is new is asked for as often as for a plot.
        """
        if self._runs is not None:
            self._context.drawing.drop(self._runs)
            self._runs = None
        if is_wanted:
            self._runs = RunsPage(self._context.live, self, is_watched=is_watched)
            self._context.drawing.add(self._runs)

    def _is_new(self, id_: str) -> bool:
        return id_ not in self._pages and len(self._pages) < MAX_PLOTS

    def _open(self, id_: str, name: str, asked: Mapping[str, Any]) -> None:  # JSON
        try:
            plot = self._context.plot(name)
            from dask_diag_lab.server.control import read_arguments, read_look
            from dask_diag_lab.server.page import Page

            look = read_look(asked.get("look"))
            arguments = plot.check_arguments(read_arguments(asked.get("arguments")))
            has_own = not arguments.keys().isdisjoint({*PERIOD, *RUN})
            selection = {} if has_own and not self._has_chosen else self._selection
            page = self._pages[id_] = Page(
                plot, self._context.live, look, arguments, self, id_, selection
            )
            self._context.drawing.add(page)
            page.send_document()
        except (HTTPError, ValueError) as error:
            self._drop(id_)
            reason = in_words(error) if isinstance(error, HTTPError) else str(error)
            self.send(json.dumps({"type": "error", "id": id_, "reason": reason}))
        self.flush()

    def _drop(self, id_: str) -> None:
        if (page := self._pages.pop(id_, None)) is not None:
            self._context.drawing.drop(page)
            page.document.clear()

    async def _send(self) -> None:
        try:
            while self._messages:
                head = f"[{','.join(self._messages)}]".encode()
                frame = b"".join((len(head).to_bytes(4, "little"), head, *self._buffers))
                self._messages, self._buffers = [], []
                await self._write(frame)
        finally:
            self._sending = None
            self._context.tick()


class RunsPage:
    """Tells a browser page of the last runs, at once and whenever that changes."""

    needs: frozenset[str] = frozenset()

    def __init__(self, live: LiveSession, stream: Stream, *, is_watched: bool) -> None:
        self.stream, self.is_watched = stream, is_watched
        self._live = live
        self._last_sent: object = None
        self._seen: object = None

    def __str__(self) -> str:
        return "The list of runs"

    @property
    def _version(self) -> object:
        """Moves with what is known, and while a run goes on with the time: it may lack workers."""
        last = next(reversed(list(self._live.history.runs)), None)
        goes_on = last is not None and not last.is_over
        return self._live.version, self._live.time // PACE_S if goes_on else 0

    @property
    def has_news(self) -> bool:
        """Whether something may have changed, and the browser took what it was sent before."""
        return not self.stream.is_sending and self._seen != self._version

    def update(self) -> None:
        """Have the browser sent the runs, where these have changed."""
        self._seen = self._version
        rows = run_rows(self._live, MAX_STREAMED_RUNS)
        if rows != self._last_sent:
            self._last_sent = rows
            self.stream.send(json.dumps({"type": "runs", "runs": rows}, allow_nan=False))

    def close(self) -> None:
        """Nothing to let go of; see `Page.close`."""


class StreamHandler(ContextHandler, WebSocketHandler):
    """``/stream``: a `Stream` over a websocket."""

    draws = True
    _stream: Stream | None = None

    def check_origin(self, origin: str) -> bool:  # noqa: ARG002  # tornado's
        """Return True: the origin has been judged together with how the token came."""
        return True

    def open(self) -> None:
        """Begin."""
        self._stream = Stream(self.context, self._write)
        self.context.sockets.add(self)
        # Else the second of two small messages waits up to 40 ms until the first is acknowledged.
        self.set_nodelay(True)

    def on_message(self, message: str | bytes) -> None:
        """Do what the page asks; a page that asks what no page of ours would is left."""
        assert self._stream is not None
        try:
            self._stream.take(message)
        except ValueError:
            self.close(CLOSE_BAD_MESSAGE, BAD_MESSAGE)

    def on_close(self) -> None:
        """Let go of the plots."""
        self.context.sockets.discard(self)
        if self._stream is not None:
            self._stream.close()

    async def _write(self, frame: bytes) -> None:
        with suppress(WebSocketClosedError):  # `on_close` follows
            await self.write_message(frame, binary=True)
