"""The Bokeh side of the server: the application, its sessions and the websocket of each page.

Who may connect has been judged before, see `auth`. Views and store belong to the server's loop;
all that touches them runs there. What of Bokeh is private here stands in docs/architecture.md.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import bokeh
from bokeh import io
from bokeh.application.application import Application
from bokeh.core.types import ID
from bokeh.document import Document
from bokeh.protocol.exceptions import MessageError, ProtocolError, ValidationError
from bokeh.protocol.messages.patch_doc import patch_doc
from bokeh.server.tornado import BokehTornado
from bokeh.server.views.ws import WSHandler
from bokeh.util.token import (
    check_token_signature,
    generate_jwt_token,
    generate_session_id,
    get_token_payload,
)

from dask_diag_lab.server.handlers import CORE, MODELS, OWN
from dask_diag_lab.server.page import Page, Pages
from dask_diag_lab.views.look import Look

if TYPE_CHECKING:
    from bokeh.application.application import SessionContext
    from bokeh.model import Model
    from bokeh.protocol.message import Message
    from bokeh.server.connection import ServerConnection
    from bokeh.server.contexts import ApplicationContext

    from dask_diag_lab.server.handlers import Site

logger = logging.getLogger(__name__)

PLOTS: Final = "/plots"
"""The one path under which Bokeh knows us."""
SESSION_LIFETIME_MS: Final = 5_000
"""A document that nobody is connected to is dropped after this; a token makes it anew."""
CLOSE_REFUSED: Final = 4401
CLOSE_BAD_MESSAGE: Final = 4400
SCRIPTS: Final = (
    ("bokeh.models.widgets", "static/js/bokeh-widgets.min.js"),
    ("bokeh.models.widgets.tables", "static/js/bokeh-tables.min.js"),
    ("bokeh.models.plots", OWN),  # what is added to one later is painted by models of ours
    ("dask_diag_lab.views.models", OWN),
    ("dask_diag_lab.views.table_cells", "static/dask-diag-lab/dist/table_cells.js"),
)
"""The script that draws the models of a module, after `CORE`, in loading order."""
_OWN_FILES: Final = b"".join(file.read_bytes() for file in sorted(MODELS.glob("*.js")))
VERSION: Final = f"{bokeh.__version__}-{hashlib.sha256(_OWN_FILES).hexdigest()[:12]}"
"""Of all scripts together; a page keeps versions apart, so that each plot is drawn by its own."""


def address_of(script: str) -> str:
    """Return where a page finds a script of this version."""
    return f"{script}?v={VERSION}"


class PlotDocument(Document):
    """A document whose end stops nobody.

    Bokeh's collects the garbage of the whole process when it ends: 0.3 s in a kernel with two
    million objects, for which everything in it waits, the scheduler of a LocalCluster included.
    """

    def destroy(self, session: Any) -> None:  # Bokeh's own
        """Let go of models and callbacks, so that what is left is collected by and by."""
        self.remove_on_change(session)
        self.callbacks.destroy()
        self.models.destroy()
        self.modules.destroy()


_patch_curdoc: Final = io.doc.patch_curdoc


def _patch_curdoc_of_others(doc: Any) -> AbstractContextManager[None]:  # a document, or its proxy
    """Have `curdoc()` return a document, but none of ours: Bokeh < 3.10 does so in all threads.

    Panel, hvplot and `show` in a cell that runs at this moment would take it for theirs.
    """
    return nullcontext() if isinstance(doc, PlotDocument) else _patch_curdoc(doc)


io.doc.patch_curdoc = _patch_curdoc_of_others  # type: ignore[assignment]  # may be any context


class PlotApplication(Application):
    """Makes the documents of all plots; which one, the session's token says.

    So a plot that is registered while the server runs needs nothing here. It has no handlers:
    Bokeh >= 3.10 would run those in a thread.
    """

    def __init__(self, site: Site, pages: Pages) -> None:
        super().__init__()
        self._site, self._pages = site, pages

    def initialize_document(self, doc: Document) -> None:
        """Fill `doc` as the session's token says: plot, look and arguments."""
        context: Any = doc.session_context  # Bokeh declares the general kind
        payload = context.token_payload  # signed by us
        doc.__class__ = PlotDocument  # Bokeh makes the documents itself
        plot, look = self._site.plots[payload["plot"]], Look.of(payload["look"])
        page = Page(plot, self._site.store, doc, look, payload["arguments"])
        self._pages.by_session[context.id] = page

    async def on_session_destroyed(self, session_context: SessionContext) -> None:
        """Let go of the page of a session that is gone."""
        self._pages.close(session_context.id)


class PlotTornado(BokehTornado):
    """Bokeh's tornado application, with the open pages of all plots.

    Parameters
    ----------
    site : Site
    on_watch : callable
        See `Pages`.
    **settings
        tornado's own.
    """

    hints: Final = (address_of(CORE), address_of(OWN))
    """What a browser is to fetch at once, not one after the other as it finds them."""

    def __init__(
        self,
        site: Site,
        on_watch: Callable[[bool, frozenset[str]], None],
        **settings: Any,  # of many types
    ) -> None:
        self.pages = Pages(on_watch)
        self.sockets: set[PlotSocket] = set()
        super().__init__(
            {PLOTS: PlotApplication(site, self.pages)},
            secret_key=secrets.token_bytes(32),
            sign_sessions=True,
            generate_session_ids=False,
            use_index=False,
            redirect_root=False,
            ico_path="none",
            check_unused_sessions_milliseconds=SESSION_LIFETIME_MS // 2,
            unused_session_lifetime_milliseconds=SESSION_LIFETIME_MS,
            stats_log_frequency_milliseconds=3_600_000,
            **settings,
        )

    @property
    def context(self) -> ApplicationContext:
        """What Bokeh's websockets want to know."""
        return self.applications[PLOTS]

    async def new_session(
        self, plot: str, look: Look, arguments: Mapping[str, str]
    ) -> dict[str, Any]:  # JSON
        """Make a session; return its token, and version and scripts of what draws its document."""
        secret = self.secret_key
        session_id = generate_session_id(secret, signed=True)
        payload = {"plot": plot, "look": asdict(look), "arguments": dict(arguments)}
        token = generate_jwt_token(session_id, secret, signed=True, extra_payload=payload)
        session = await self.context.create_session_if_needed(ID(session_id), token=token)
        scripts = [address_of(script) for script in scripts_for(session.document.models)]
        return {"token": token, "scripts": scripts, "bokeh": bokeh.__version__}

    def is_good(self, token: str, plot: str) -> bool:
        """Whether this server signed a session token for `plot`, and not long ago."""
        try:
            # The signature first: what somebody else has written is not even unpacked.
            if not check_token_signature(token, signed=True, secret_key=self.secret_key):
                return False
            payload = get_token_payload(token)
            return bool(payload["plot"] == plot and time.time() < payload["session_expiry"])
        except (ValueError, KeyError, TypeError, IndexError):
            return False  # not a Bokeh token at all


def scripts_for(models: Iterable[Model]) -> list[str]:
    """Return the parts of BokehJS that `models` need, the core first, in loading order."""
    modules = {kind.__module__ for model in models for kind in type(model).__mro__}
    needed = [
        script
        for module, script in SCRIPTS
        if any(name == module or name.startswith(f"{module}.") for name in modules)
    ]
    return list(dict.fromkeys([CORE, *needed]))


class PlotSocket(WSHandler):
    """The websocket of one page.

    Differs from Bokeh's in three ways. A page with an old token is refused without a word: Bokeh
    logs an error, which a notebook shows in the cell that runs. What a page changes is applied on
    the loop: Bokeh >= 3.10 does it in a thread, where the callbacks of a view would read the store
    while the loop writes it. What one update changed is sent as one message: with a cell that
    computes in pure Python, each of Bokeh's messages waits up to 20 ms for the interpreter (four
    plots of a small cluster: 32 ms an update instead of 50 to 100), and the browser may paint
    between two of them.
    """

    application: PlotTornado
    _sending: asyncio.Task[None] | None = None

    def initialize(self, application_context: Any, bokeh_websocket_path: str) -> None:
        super().initialize(application_context, bokeh_websocket_path)  # type: ignore[no-untyped-call]
        self.token = ""
        self._messages: list[Message[Any]] = []

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """Note the token, which a page sends as a second subprotocol."""
        self.token = subprotocols[-1] if subprotocols else ""
        return super().select_subprotocol(subprotocols)

    @property
    def is_sending(self) -> bool:
        """Whether the browser has not taken all yet: a slow one gets no backlog."""
        return self._sending is not None

    def check_origin(self, origin: str) -> bool:  # noqa: ARG002  # tornado's
        """Return True: the origin has been judged together with how the token came."""
        return True

    def open(self, name: str) -> None:
        """Go on only with a token that this server signed for this plot."""
        if self.selected_subprotocol != "bokeh" or not self.application.is_good(self.token, name):
            self.close(CLOSE_REFUSED, "open the plot again")
            return
        self.application.sockets.add(self)
        # Else the second of two small messages waits up to 40 ms until the first is acknowledged.
        self.set_nodelay(True)
        super().open()

    def on_close(self) -> None:
        """Forget the socket, then do what Bokeh does."""
        self.application.sockets.discard(self)
        super().on_close()
        self.application.pages.tick()

    async def on_message(self, fragment: str | bytes) -> None:
        """Take a part of a message; act on the message once it is complete."""
        try:
            receiver: Any = self.receiver  # Bokeh declares both as None
            handler: Any = self.handler
            message = await receiver.consume(fragment) if receiver is not None else None
            if message is None or self.connection is None:
                return
            page = self.application.pages.by_session.get(self.connection.session.id)
            if page is not None:
                page.socket = self
            if message.msgtype == patch_doc.msgtype:
                await self._apply(message, self.connection, page)
            elif reply := await handler.handle(message, self.connection):
                await self.send_message(reply)
            self.application.pages.tick()
        except (MessageError, ProtocolError, ValidationError, ValueError, KeyError) as error:
            logger.info("A page sent what cannot be understood: %s", error)
            self.close(CLOSE_BAD_MESSAGE, "bad message")

    async def _apply(self, patch: Any, connection: ServerConnection, page: Page | None) -> None:
        session = connection.session

        async def apply() -> None:
            session._current_patch_connection = connection  # so that it is not sent its own change
            try:
                if page is not None:
                    page.patched(partial(patch.apply_to_document, session.document, session))
            finally:
                session._current_patch_connection = None

        await session.with_document_locked(apply)
        await self.send_message(connection.ok(patch))

    async def send_message(self, message: Message[Any]) -> None:
        """Send a message soon, with all patches that follow it at once."""
        last = self._messages[-1] if self._messages else None
        if isinstance(message, patch_doc) and isinstance(last, patch_doc):
            events = [*last.content["events"], *message.content["events"]]
            last.content = {**last.content, "events": events}
            for buffer in message.buffers:
                last.add_buffer(buffer)  # several at once: only from Bokeh 3.9 on
        else:
            self._messages.append(message)
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        try:
            while self._messages and self.ws_connection is not None:
                await super().send_message(self._messages.pop(0))
        finally:
            self._messages.clear()
            self._sending = None
            self.application.pages.tick()

    def log_exception(self, *args: Any) -> None:  # tornado's exc_info triple
        """Log where Dask's and tornado's default set-up does not print into a cell."""
        logger.warning("A plot's websocket failed", exc_info=args)
