"""The session of one document: what changes together reaches its page together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from bokeh.server.session import ServerSession

from dask_diag_lab.server import current_document

if TYPE_CHECKING:
    from bokeh.server.connection import ServerConnection

    from dask_diag_lab.server.plot_socket import PlotSocket


class PlotSession(ServerSession):
    """A session all of whose changes happen on the loop and are sent as one message.

    Bokeh sends a message for each property that changed. Between two of them the browser may
    paint: the new range with the bars of before.
    """

    _on_patched: Callable[[str, Exception | None], None]

    @staticmethod
    def take_over(
        session: ServerSession, on_patched: Callable[[str, Exception | None], None]
    ) -> PlotSession:
        """Make a session of Bokeh's, which makes them itself, one of this kind.

        Parameters
        ----------
        session : ServerSession
        on_patched : callable
            Called with the session's id when a page has sent a change, and with what that raised.
        """
        session.__class__ = PlotSession
        assert isinstance(session, PlotSession)
        session._on_patched = on_patched
        return session

    async def with_document_locked(  # type: ignore[override]  # Bokeh's is one by its decorator
        self,
        func: Callable[..., Any],
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Run the function with the document locked, then send all that it changed."""
        held: PlotSocket | None = None

        async def run() -> Any:
            nonlocal held
            # Any: Bokeh knows its own kind only.
            sockets: Iterator[Any] = (one._socket for one in self._subscribed_connections)
            held = next(sockets, None)
            if held is not None:
                held.hold()
            result = func(*args, **kwargs)
            return await result if inspect.isawaitable(result) else result

        try:
            return await super().with_document_locked(run)
        finally:
            if held is not None:
                await held.release()

    def subscribe(self, connection: ServerConnection) -> None:
        """Have the page told of all changes; the only one, as a token is good for one."""
        # The lock is let go before what was held is sent: that works out for one socket alone.
        assert not self._subscribed_connections, "a session has one page"
        super().subscribe(connection)

    async def _handle_patch(  # type: ignore[override]  # as above
        self, message: Any, connection: ServerConnection
    ) -> Any:
        """Apply what a page sends; Bokeh's messages go in and out.

        Bokeh >= 3.10 does it in a worker thread, where the callbacks of a view would read the
        store while the loop writes it. Coroutines stay on the loop. What a callback raises is said
        in its pane; Bokeh would print it into a cell.
        """

        async def apply() -> Any:
            self._current_patch_connection = connection
            error: Exception | None = None
            try:
                with current_document.kept(self.document):
                    message.apply_to_document(self.document, self)
            except Exception as raised:  # noqa: BLE001  # a bug in a view stays in its pane
                error = raised
            finally:
                self._current_patch_connection = None
            self._on_patched(self.id, error)
            return connection.ok(message)

        return await self.with_document_locked(apply)
