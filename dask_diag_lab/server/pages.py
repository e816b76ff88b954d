"""All documents that are open now: counts who looks and passes the store's ticks on to them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.server.pace import Pace
from dask_diag_lab.server.page import Page
from dask_diag_lab.server.parting import Parting
from dask_diag_lab.views.look import LIGHT, Look

if TYPE_CHECKING:
    from bokeh.document import Document

    from dask_diag_lab.store import Store
    from dask_diag_lab.store.workings import Working
    from dask_diag_lab.views.registry import Plot

MAX_BORROWERS: Final = 256
"""Requests for tables that count as viewers at a time."""


class Pages:
    """The open pages of one server, by Bokeh session id.

    Parameters
    ----------
    store : Store
    on_watch : callable
        Called when that changes: whether somebody looks, and the names of all that the plots
        which are looked at need, as in `View.needs`.
    """

    def __init__(self, store: Store, on_watch: Callable[[bool, frozenset[str]], None]) -> None:
        self._store = store
        self._on_watch = on_watch
        self._pages: dict[str, Page] = {}
        self._watched: frozenset[str] = frozenset()
        self._is_watched = False
        self._wanted: frozenset[str] = frozenset()
        self._borrowers: dict[asyncio.TimerHandle, frozenset[str]] = {}
        self._next_tick: asyncio.Future[None] | None = None
        self._parting = Parting()
        self._pace = Pace(spent=lambda: time.thread_time() + store.workings.cpu_s)
        self._later: asyncio.TimerHandle | None = None
        self.ticks = 0

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def is_watched(self) -> bool:
        return self._is_watched

    @property
    def wanted(self) -> frozenset[str]:
        """All that is needed by what is looked at."""
        return self._wanted

    def open(
        self,
        session_id: str,
        plot: Plot,
        document: Document,
        look: Look = LIGHT,
        arguments: Mapping[str, str] | None = None,
    ) -> Page:
        """Fill `document` with `plot` and keep it up to date until `close`."""
        page = Page(
            plot, self._store, document, look=look, arguments=arguments, on_watch=self.recount
        )
        self._pages[session_id] = page
        return page

    def patched(self, session_id: str, error: Exception | None) -> None:
        """A browser has changed something on its page; `error` is what that raised."""
        page = self._pages.get(session_id)
        if page is not None:
            page.patched(error)

    def want(self, needs: frozenset[str], for_s: float) -> None:
        """Count for a while as somebody who looks at a plot with these needs."""
        timer: asyncio.TimerHandle

        def end() -> None:
            self._borrowers.pop(timer, None)
            self.recount()

        timer = asyncio.get_running_loop().call_later(for_s, end)
        self._borrowers[timer] = needs
        while len(self._borrowers) > MAX_BORROWERS:
            oldest = next(iter(self._borrowers))
            oldest.cancel()
            del self._borrowers[oldest]
        self.recount()

    async def next_tick(self, timeout_s: float) -> None:
        """Wait until the store may have changed, or until the time is over."""
        if self._next_tick is None:
            self._next_tick = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._next_tick], timeout=timeout_s)

    def close(self, session_id: str) -> None:
        """Let go of one page; harmless when it is not known."""
        page = self._pages.pop(session_id, None)
        if page is not None:
            page.close()
        self.recount()

    async def close_all(self, timeout_s: float) -> None:
        """Let go of all pages; wait for the updates that are being written."""
        if self._later is not None:
            self._later.cancel()
        tasks = [page.task for page in self._pages.values() if page.task is not None]
        for timer in self._borrowers:
            timer.cancel()
        self._borrowers.clear()
        for session_id in list(self._pages):
            self.close(session_id)
        self.recount()
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_s)

    def tick(self, *, is_awaited: bool = False) -> None:
        """The store may have changed; `is_awaited` where somebody waits for what came."""
        self.ticks += 1
        self._wake()
        self._follow(is_awaited=is_awaited)

    def worked_out(self, working: Working[Any]) -> None:  # results of any type
        """Something is there that a page had made in another thread: that page shows it now.

        What a reader's click began may be anybody's.
        """
        self._wake()
        if self._parting_s:
            self._follow()
            return
        pages = list(self._pages.values())
        for page in [page for page in pages if page.had_made(working)] or pages:
            page.poke()

    def _wake(self) -> None:
        """Let those go on who wait for the next tick."""
        waited, self._next_tick = self._next_tick, None
        if waited is not None:
            waited.set_result(None)

    @property
    def _parting_s(self) -> float:
        """For how long pictures are held because workers leave, see `Parting`."""
        scheduler = self._store.scheduler
        return self._parting.hold_s(scheduler.n_workers if scheduler is not None else 0)

    def _follow(self, *, is_awaited: bool = False) -> None:
        """Have all pages follow the store, now or when pictures are not held any more."""
        paced_s, held_s = self._pace.hold_s(), self._parting_s
        if not is_awaited:
            held_s = max(held_s, paced_s)
        if not held_s:
            if not paced_s:  # what is awaited is a part of the round before, and lengthens its rest
                self._pace.begin()
            for page in self._pages.values():
                page.poke()
        elif self._later is None:
            self._later = asyncio.get_running_loop().call_later(held_s, self._go_on)

    def _go_on(self) -> None:
        self._later = None
        self._follow()

    def recount(self) -> None:
        """A viewer may have come or gone; one who just came is brought up to date."""
        watched = {session: page for session, page in self._pages.items() if page.is_watched}
        needs = [*(page.needs for page in watched.values()), *self._borrowers.values()]
        now = (bool(needs), frozenset[str]().union(*needs))
        if now != (self._is_watched, self._wanted):
            self._is_watched, self._wanted = now
            self._on_watch(*now)
        # The others follow in turn: each viewer who comes would else have all pictures drawn.
        before, self._watched = self._watched, frozenset(watched)
        for session in watched.keys() - before:
            watched[session].poke()
