"""A session whose page has been sent the document and is not connected yet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from bokeh.protocol.exceptions import ProtocolError

from dask_diag_lab.server.written_document import written

if TYPE_CHECKING:
    from bokeh.document import Document
    from bokeh.document.events import DocumentPatchedEvent
    from bokeh.model import Model
    from bokeh.server.session import ServerSession

AWAITED_S: Final = 60.0
"""The page has to load BokehJS first, which a slow way to a hub makes long; as long as it waits."""

AHEAD_S: Final = 12.0
"""For what a press asks for, which may become no click: `FRESH_MS` of src/api/headstart.ts, after
which the page does not connect to it, and time for its way here."""


class PreparedSession:
    """Writes a session's document, and keeps what changes in it until `take`.

    A change is written when it is taken, so what changed must still be as it was left: that is so
    because a page nobody is connected to is not brought up to date.

    Parameters
    ----------
    session : ServerSession
        Does not end for `awaited_s`, though nobody is connected.
    awaited_s : float
    """

    def __init__(self, session: ServerSession, awaited_s: float) -> None:
        self._document = session.document
        self._events: list[DocumentPatchedEvent] = []
        session.block_expiration()
        self._session: ServerSession | None = session
        self._timer = asyncio.get_running_loop().call_later(awaited_s, self._let_go)

    @property
    def models(self) -> set[Model]:
        """All models of the document."""
        return set(self._document.models)

    def write(self) -> Any:  # JSON
        """Return the document as it is now, for the page that will connect."""
        self._document.callbacks.on_change_dispatch_to(self)
        return written(self._document)

    def take(self, document: Document) -> list[DocumentPatchedEvent]:
        """Return what has changed since it was written; from now on the connection is told.

        Raises
        ------
        ProtocolError
            The session now has another `document`: the first one ended while the page came.
        """
        if document is not self._document:
            raise ProtocolError("the session has ended")
        self._let_go()
        self._document.remove_on_change(self)
        events, self._events = self._events, []
        return events

    def _let_go(self) -> None:
        """Leave it to Bokeh when the session ends; harmless twice."""
        self._timer.cancel()
        session, self._session = self._session, None
        if session is not None:
            session.unblock_expiration()

    def _document_patched(self, event: DocumentPatchedEvent) -> None:  # Bokeh calls it
        self._events.append(event)
