"""All documents that are open now: counts who looks and passes the store's ticks on to them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from dask_diag_lab.server.page import Page
from dask_diag_lab.views.look import LIGHT, Look

if TYPE_CHECKING:
    from bokeh.document import Document

    from dask_diag_lab.server.plot_socket import PlotSocket
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.registry import Plot


class Pages:
    """The open pages of one server, by Bokeh session id.

    Parameters
    ----------
    store : Store
    on_watch : callable
        Called with True when the first viewer comes and with False when the last one left.
    """

    def __init__(self, store: Store, on_watch: Callable[[bool], None]) -> None:
        self._store = store
        self._on_watch = on_watch
        self._pages: dict[str, Page] = {}
        self._is_watched = False

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def is_watched(self) -> bool:
        return self._is_watched

    def open(self, session_id: str, plot: Plot, document: Document, look: Look = LIGHT) -> Page:
        """Fill `document` with `plot` and keep it up to date until `close`."""
        page = Page(plot, self._store, document, look=look, on_watch=self.recount)
        self._pages[session_id] = page
        return page

    def connect(self, session_id: str, socket: PlotSocket) -> None:
        """One page's browser is there; its updates go through `socket` in one piece."""
        page = self._pages.get(session_id)
        if page is not None:
            page.sockets.add(socket)

    def close(self, session_id: str) -> None:
        """Let go of one page; harmless when it is not known."""
        page = self._pages.pop(session_id, None)
        if page is not None:
            page.close()
        self.recount()

    async def close_all(self, timeout_s: float) -> None:
        """Let go of all pages; wait for the updates that are being written."""
        tasks = [page.task for page in self._pages.values() if page.task is not None]
        for session_id in list(self._pages):
            self.close(session_id)
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_s)

    def tick(self) -> None:
        """The store may have changed."""
        for page in self._pages.values():
            page.poke()

    def recount(self) -> None:
        """A viewer may have come or gone; one who just came is brought up to date."""
        is_watched = any(page.is_watched for page in self._pages.values())
        if is_watched != self._is_watched:
            self._is_watched = is_watched
            self._on_watch(is_watched)
        self.tick()
