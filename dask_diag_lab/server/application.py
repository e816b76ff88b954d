"""The Bokeh application: one document factory a plot, on the one event loop of the server.

Must not decide who may connect; the gate before it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bokeh.application.application import Application
from bokeh.server.tornado import BokehTornado

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

SESSION_LIFETIME_MS = 5_000
"""A document that nobody is connected to is dropped after this."""


class PlotApplication(Application):
    """Makes the documents of one plot.

    It has no handlers: Bokeh >= 3.10 would run those in a thread, and views and store belong to
    the server's loop.
    """

    def __init__(self, plot: Plot, pages: Pages) -> None:
        super().__init__()
        self._plot = plot
        self._pages = pages

    def initialize_document(self, doc: Document) -> None:
        """Fill `doc` with the plot, in the look that its session token carries."""
        context = doc.session_context
        if context is None:
            raise RuntimeError("a plot's document belongs to a session")
        self._pages.open(context.id, self._plot, doc, _look_of(context))

    async def on_session_destroyed(self, session_context: SessionContext) -> None:
        """Let go of the page of a session that is gone."""
        self._pages.close(session_context.id)


def _look_of(context: SessionContext) -> Look:
    given = getattr(context, "token_payload", {}).get("look")
    return Look.of(given) if isinstance(given, Mapping) else LIGHT


class PlotTornado(BokehTornado):
    """Bokeh's tornado application that tells `Pages` when viewers come and go."""

    def __init__(
        self, pages: Pages, applications: Mapping[str, Application], **kwargs: Any
    ) -> None:
        # kwargs are Bokeh's and tornado's own, of many types
        self._pages = pages
        super().__init__(applications, **kwargs)

    def new_connection(
        self,
        protocol: Protocol,
        socket: Any,  # WSHandler before Bokeh 3.10, a protocol class after
        application_context: ApplicationContext,
        session: ServerSession,
    ) -> ServerConnection:
        """Accept one page's connection to a session."""
        _patch_on_the_loop(session)
        connection = super().new_connection(protocol, socket, application_context, session)
        self._pages.connect(session.id, socket)
        self.io_loop.add_callback(self._pages.recount)
        return connection

    def client_lost(self, connection: ServerConnection) -> None:
        """One page is gone."""
        super().client_lost(connection)
        self._pages.recount()


def _patch_on_the_loop(session: ServerSession) -> None:
    """Have the changes that a page sends applied on the loop, also by Bokeh >= 3.10.

    There ``ServerSession._handle_patch`` applies them in a worker thread, where the callbacks of
    a view would read the store while the loop writes it. Coroutines stay on the loop.
    """

    async def handle_patch(message: Any, connection: ServerConnection) -> Any:  # Bokeh's messages
        async def apply() -> Any:
            session._current_patch_connection = connection
            try:
                message.apply_to_document(session.document, session)
            finally:
                session._current_patch_connection = None
            return connection.ok(message)

        return await session.with_document_locked(apply)

    session._handle_patch = handle_patch  # type: ignore[method-assign,assignment]  # the one way in


def make_application(
    plots: Mapping[str, Plot],
    pages: Pages,
    *,
    secret: bytes,
    **settings: Any,  # tornado's own
) -> PlotTornado:
    """Return the application with a document factory for each of `plots`."""
    return PlotTornado(
        pages,
        {f"/plots/{name}": PlotApplication(plot, pages) for name, plot in plots.items()},
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
