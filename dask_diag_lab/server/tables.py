"""A plot's table for one request: draws the plot for nobody until its data has come.

What a plot needs is sent only while somebody looks. A request counts as looking for some seconds,
so that whoever asks again and again is sent it all the time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Final

from dask_diag_lab.records import EXTRA_NAMES
from dask_diag_lab.server.begun import Begun
from dask_diag_lab.server.empty_words import empty_words, is_without
from dask_diag_lab.views.look import LIGHT

if TYPE_CHECKING:
    from dask_diag_lab.server.site import Site
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.inquiries import Inquiry
    from dask_diag_lab.views.base import Table, View
    from dask_diag_lab.views.registry import Plot

logger = logging.getLogger(__name__)

WANTED_S: Final = 10.0
WAIT_S: Final = 3.0
"""So long a request waits at most for data that is under way."""
UNCHANGED_S: Final = 1.0
"""What has not changed by then, though it is sent again, is as it was."""
OLD_S: Final = 2.0
"""An answer of the cluster that is older than this is asked for again."""
ON_WISH_ONLY: Final = frozenset({"hardware"})
"""Questions that are never repeated unasked: they cost the cluster too much."""
REST_S: Final = 0.01
"""So long others have their turn while a view brings itself up to the store bit by bit."""
LATE: Final = "Not all of this plot's data had come within %g s; ask again."


class _Waiting:
    """What one request waits for."""

    def __init__(self, store: Store, view: View, wanted: frozenset[str]) -> None:
        self._store = store
        self._view = view
        self._asked: dict[int, Inquiry] = {}
        self._begun = Begun(store.workings)
        self._needs = frozenset(map(str, view.needs)) & EXTRA_NAMES
        self._before = {
            name: store.extras[name].version for name in self._needs if name not in wanted
        }
        self._is_built = False
        self._has_failed = False

    @property
    def is_behind(self) -> bool:
        """Whether the view has more to read, and gets on with it."""
        return not self._has_failed and self._view.is_behind

    def draw(self) -> None:
        """Bring the view up to date, and notice what it asks the cluster."""
        store = self._store
        with store.inquiries.noticed() as asked, self._begun.noticing():
            self._has_failed = True
            try:
                if not self._is_built:
                    self._is_built = True
                    self._view.build()
                self._view.update()
                self._view.table()
                self._has_failed = False
            except Exception as error:  # the last `table` is the one that counts
                logger.debug("Drawing %s for its table failed", self._view, exc_info=error)
        for inquiry in asked:
            if id(inquiry) not in self._asked:
                self._asked[id(inquiry)] = inquiry
                self._refresh(inquiry)

    def _refresh(self, inquiry: Inquiry) -> None:
        is_old = self._store.time - inquiry.answered_at > OLD_S
        if inquiry.state == "answered" and is_old and inquiry.kind not in ON_WISH_ONLY:
            self._store.inquiries.ask_again(inquiry)

    def is_over(self, spent_s: float, ticks: int) -> bool:
        """Whether all has come that will."""
        if self.is_behind or (self._view.table_waits and not self._begun.is_done):
            return False
        if self._store.feed_state.state in ("lost", "closed"):
            return True
        if any(inquiry.state == "asked" for inquiry in self._asked.values()):
            return False
        if is_without(self._store, self._view):
            return False
        is_unchanged = ticks >= 2 or spent_s > UNCHANGED_S
        for name in self._needs:
            table = self._store.extras[name]
            if self._before.get(name) == table.version and not is_unchanged:
                return False
        return True


async def table_of(site: Site, plot: Plot, arguments: Mapping[str, str]) -> tuple[Table, str]:
    """Return the table of `plot` with the data of now, and what is to be said about it.

    Waits `WAIT_S` at most. Where the note of the picture makes no sense above rows, `View.table`
    replaces it. Why there are no rows is told in the words of the picture.
    """
    with closing(plot.load()(site.store, LIGHT, arguments)) as view:
        is_late = await _wait(site, view)
        table = view.table()
        empty = "" if any(map(len, table.columns.values())) else empty_words(site.store, view)
        words = (LATE % WAIT_S if is_late else "", empty, view.notice.note)
        return table, " ".join(word for word in words if word)


async def _wait(site: Site, view: View) -> bool:
    """Wait for the data of `view`; return whether it is late."""
    pages = site.pages
    if pages is None:
        return False
    waiting = _Waiting(site.store, view, pages.wanted)
    needs = frozenset(map(str, view.needs))
    is_behind = not pages.is_watched
    if needs:
        pages.want(needs, WANTED_S)
    if is_behind and site.catch_up is not None:
        await site.catch_up()
    begun, ticks = time.monotonic(), pages.ticks
    waiting.draw()
    while not waiting.is_over(time.monotonic() - begun, pages.ticks - ticks):
        left_s = WAIT_S - (time.monotonic() - begun)
        if left_s <= 0:
            return True
        version = site.store.version
        if waiting.is_behind:
            await asyncio.sleep(REST_S)
        else:
            await pages.next_tick(min(left_s, UNCHANGED_S))
        if waiting.is_behind or site.store.version != version:
            waiting.draw()
    return False
