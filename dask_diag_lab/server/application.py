"""The Bokeh application: makes the documents of all plots, on the one event loop of the server.

Must not decide who may connect; the gate before it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from bokeh.application.application import Application
from bokeh.core.types import ID
from bokeh.server.tornado import BokehTornado

from dask_diag_lab.server.plot_session import PlotSession
from dask_diag_lab.server.prepared_session import PreparedSession
from dask_diag_lab.views.look import LIGHT, Look

if TYPE_CHECKING:
    from bokeh.application.application import SessionContext
    from bokeh.document import Document
    from bokeh.protocol import Protocol
    from bokeh.server.connection import ServerConnection
    from bokeh.server.contexts import ApplicationContext
    from bokeh.server.session import ServerSession

    from dask_diag_lab.server.pages import Pages
    from dask_diag_lab.views.registry import Plot

PLOTS = "/plots"
"""The one path under which Bokeh knows us."""

SESSION_LIFETIME_MS = 5_000
"""A document that nobody is connected to is dropped after this."""


class PlotApplication(Application):
    """Makes the documents of all plots; which one, the session's token says.

    So a plot that is registered while the server runs needs nothing here. It has no handlers:
    Bokeh >= 3.10 would run those in a thread, and views and store belong to the server's loop.
    """

    def __init__(self, find: Callable[[str], Plot], pages: Pages) -> None:
        super().__init__()
        self._find = find
        self._pages = pages

    def initialize_document(self, doc: Document) -> None:
        """Fill `doc` as the session's token says: plot, look and arguments."""
        context = doc.session_context
        if context is None:
            raise RuntimeError("a plot's document belongs to a session")
        asked = _asked_of(context)
        self._pages.open(context.id, self._find(asked.plot), doc, asked.look, asked.arguments)

    async def on_session_destroyed(self, session_context: SessionContext) -> None:
        """Let go of the page of a session that is gone."""
        self._pages.close(session_context.id)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a session's token says: signed by us, so checked before it was made."""

    plot: str
    look: Look
    arguments: Mapping[str, str]


def _asked_of(context: SessionContext) -> _Asked:
    payload = getattr(context, "token_payload", {})
    look = payload.get("look")
    return _Asked(
        str(payload.get("plot", "")),
        Look.of(look) if isinstance(look, Mapping) else LIGHT,
        dict(payload.get("arguments") or {}),
    )


class PlotTornado(BokehTornado):
    """Bokeh's tornado application that tells `Pages` when viewers come and go.

    Attributes
    ----------
    prepared : WeakValueDictionary of str to PreparedSession
        Those whose page is not connected yet, by session id; each ends with its document.
    """

    def __init__(self, pages: Pages, application: Application, **kwargs: Any) -> None:
        # kwargs are Bokeh's and tornado's own, of many types
        self._pages = pages
        self.prepared: WeakValueDictionary[str, PreparedSession] = WeakValueDictionary()
        super().__init__({PLOTS: application}, **kwargs)

    @property
    def context(self) -> ApplicationContext:
        """What Bokeh's websockets want to know."""
        return self.applications[PLOTS]

    async def prepare(self, session_id: str, token: str, awaited_s: float) -> PreparedSession:
        """Make a session with its document before its page connects; dropped when none does."""
        session = await self.context.create_session_if_needed(ID(session_id), token=token)
        PlotSession.take_over(session, self._pages.patched)
        prepared = self.prepared[session_id] = PreparedSession(session, awaited_s)
        return prepared

    def new_connection(
        self,
        protocol: Protocol,
        socket: Any,  # PlotSocket; Bokeh declares its own kind, another one in 3.10
        application_context: ApplicationContext,
        session: ServerSession,
    ) -> ServerConnection:
        """Accept the connection of the page that has the session's document."""
        socket.catch_up(session.document)
        connection = super().new_connection(protocol, socket, application_context, session)
        # After Bokeh's greeting, which has to come first.
        self.io_loop.add_callback(self._pages.recount)
        return connection

    def client_lost(self, connection: ServerConnection) -> None:
        """One page is gone."""
        super().client_lost(connection)
        self._pages.recount()


def make_application(
    find: Callable[[str], Plot],
    pages: Pages,
    *,
    secret: bytes,
    **settings: Any,  # tornado's own
) -> PlotTornado:
    """Return the application that makes the documents of the plots that `find` returns."""
    return PlotTornado(
        pages,
        PlotApplication(find, pages),
        secret_key=secret,
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
