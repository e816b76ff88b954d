"""The open documents: each a view, its control and the rule when the two are brought up to date.

`Page` is one of them, `Pages` all: it counts who looks and passes the store's ticks on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.schema import EXTRA_NAMES, GRAPH
from dask_diag_lab.server.control import (
    CONTROL_NAME,
    SET,
    SHOW,
    Command,
    PaneControl,
    read_arguments,
    read_command,
    read_look,
    show_caption,
)
from dask_diag_lab.views.asked import UNASKED
from dask_diag_lab.views.look import LIGHT, Look

if TYPE_CHECKING:
    from bokeh.document import Document

    from dask_diag_lab.store import Store
    from dask_diag_lab.views.registry import Plot
    from dask_diag_lab.views.view import View

logger = logging.getLogger(__name__)

FREEZING: Final = frozenset({"freeze", "live", "fit"})
"""Commands that freeze a picture or let it go: what is to fit in is the data of now."""
UPDATE_INTERVAL_S: Final = 0.03
"""Between two updates of a page: a drag sends more changes than a screen can show."""
MAX_PENDING: Final = 64
"""Looks and commands kept for one update; nobody at a keyboard sends more."""
SHARE: Final = 0.25
"""Of the loop's time that following the store may take: eighty panes would take all of it, and
the lock of the interpreter from the user's own threads."""
LONGEST_REST_S: Final = 5.0
"""Between two rounds of updates, however long one takes."""
HOLD_S: Final = 3.0
"""So long pictures stay as they are when the last worker leaves, see `Pages`."""
_FAILED: Final = (
    "“%s” could not %s (%s). The other plots and the computation are not affected. %s"
    " The log of the kernel has the details."
)


def is_without(store: Store, view: View) -> bool:
    """Return whether something has not come yet that the view needs."""
    needs = frozenset(map(str, view.needs))
    if GRAPH in needs and not store.graph.is_followed:
        return True
    return not all(store.extras[name].is_known for name in needs & EXTRA_NAMES)


def empty_text(store: Store, view: View) -> str:
    """Return why a view shows nothing; that something is awaited is said only while it may come."""
    if store.degraded:
        return store.degraded
    is_in_vain = store.feed_state.state in ("lost", "closed")
    return UNASKED if is_in_vain and is_without(store, view) else view.caption.empty


def close_view(view: View) -> None:
    """Have a view let go of all it holds; a bug in that keeps nothing else open."""
    try:
        view.close()
    except Exception as error:  # as said
        logger.warning("%s could not be closed", type(view).__name__, exc_info=error)


class Page:
    """A plot in one browser page or pane.

    An update runs under the document's lock, one at a time: while one is being sent to a slow
    browser the store may move on many times and still only one more follows.

    Parameters
    ----------
    plot : Plot
    store : Store
    document : Document
        Empty; gets the picture and the control as its two roots.
    look : Look
        For the first paint.
    arguments : mapping of str to str
        What to show of many.
    on_watch : callable
        Called when this page may have begun or ceased to be looked at, or to need something.
    on_drawn : callable
        Called with the seconds that an update took.

    Attributes
    ----------
    needs : frozenset of str
        What its view has to be sent while it is looked at.
    drain : callable or None
        Waits until all that was sent to the browser is on its way.
    task : Task or None
        The update under way.
    """

    def __init__(
        self,
        plot: Plot,
        store: Store,
        document: Document,
        *,
        look: Look = LIGHT,
        arguments: Mapping[str, str] | None = None,
        on_watch: Callable[[], None],
        on_drawn: Callable[[float], None],
    ) -> None:
        self.plot = plot
        self.document = document
        self.control = PaneControl(name=CONTROL_NAME)
        self.needs: frozenset[str] = frozenset()
        self.drain: Callable[[], Awaitable[None]] | None = None
        self.task: asyncio.Task[None] | None = None
        self._store = store
        self._on_watch = on_watch
        self._on_drawn = on_drawn
        self._view: View | None = None
        self._pending: deque[Look | Command] = deque(maxlen=MAX_PENDING)
        self._n_opened = 0
        self._error = ""  # of the picture; `_fault` is of what was asked last
        self._fault = ""
        self._seen = -1
        self._has_news = self._is_forced = False
        self._is_frozen = self._must_draw = False
        self._is_closed = self._is_resting = False
        self._fill(look, dict(arguments or {}))

    @property
    def is_watched(self) -> bool:
        """True while somebody has the document and the page says that it can be seen."""
        context = None if self._is_closed else self.document.session_context
        session = getattr(context, "session", None)  # Bokeh declares the general kind of context
        return bool(self.control.visible and session and session.connection_count > 0)

    def poke(self, *, force: bool = False) -> None:
        """Update soon if it is seen and the store has changed, or in any case with `force`."""
        self._is_forced = self._is_forced or force
        self._has_news = self._seen != self._store.version
        if self.task is None and self._wants_update():
            self.task = asyncio.get_running_loop().create_task(self._follow())

    def patched(self, error: Exception | None) -> None:
        """The browser has changed something or sent an event; `error` is what that raised."""
        self._fault = "" if error is None else self._fault_of(error)
        if self.control.visible:
            # The view may have moved its range or asked to open a plot in a callback.
            self.poke(force=True)

    def close(self) -> None:
        """Let go of the view; harmless twice."""
        if self._is_closed:
            return
        self._is_closed = True
        if self.task is not None and self._is_resting:
            self.task.cancel()  # in the middle of an update it ends by itself, after its writes
        if self._view is not None:
            close_view(self._view)

    def _fill(self, look: Look, arguments: Mapping[str, str]) -> None:
        self.document.title = self.plot.title
        # Our pages say in words what is wrong, and open a new session for the picture of now.
        self.document.config.update(
            reconnect_session=False, notify_connection_status=False, notifications=None
        )
        with self.document.models.freeze():  # looks for models once, not after each root
            try:
                view = self.plot(self._store, look, arguments)
                with ExitStack() as half_built:
                    half_built.callback(close_view, view)
                    self.document.add_root(view.build())
                    half_built.pop_all()
                self._view = view
            except Exception as error:  # noqa: BLE001  # a bug in a view stays in its pane
                self._fail(error, "It is tried again when the plot is opened again.")
            self.document.add_root(self.control)
        self._update()
        for name in ("visible", "look", "command"):
            self.control.on_change(name, self._changed)

    def _changed(self, attr: str, _old: object, new: Any) -> None:  # a bool or a text
        """The page has set one of the control's properties."""
        if attr == "visible":
            self._on_watch()
        elif attr == "command":
            if (command := read_command(new)) is not None:
                self._pending.append(command)
        else:
            try:
                self._pending.append(read_look(new))
            except ValueError as error:
                logger.info("Look of a page ignored: %s", error)

    def _wants_update(self) -> bool:
        if self._is_closed:
            return False
        view, rests = self._view, self._is_frozen or self._error
        is_behind = view is not None and not rests and view.is_behind
        return self._is_forced or ((is_behind or self._has_news) and self.is_watched)

    async def _follow(self) -> None:
        try:
            while self._wants_update():
                context = self.document.session_context
                if context is None or context.destroyed:
                    return
                await context.with_locked_document(self._update_locked)
                if self.drain is not None:
                    await self.drain()
                self._is_resting = True
                await asyncio.sleep(UPDATE_INTERVAL_S)
                self._is_resting = False
        finally:
            self._is_resting = False
            self.task = None

    async def _update_locked(self, _document: Document) -> None:
        # A coroutine, so that Bokeh >= 3.10 runs it on the loop and not in a thread of its own.
        if not self._is_closed:  # while it waited for the lock
            self._update()

    def _update(self) -> None:
        self._seen = self._store.version
        self._has_news = self._is_forced = False
        view = self._view
        if view is not None:
            while self._pending:
                self._guarded(self._obey, view, self._pending.popleft())
            if self._must_draw or not self._is_frozen:
                self._must_draw = False
                self._draw(view)
            self._guarded(self._take_requests, view)
            self._guarded(self._show_caption, view)
        feed = self._store.feed_state
        failure = self._error or self._fault
        self.control.state = "error" if failure else feed.state
        self.control.message = failure or feed.reason
        self.control.closed_at = feed.since if feed.state == "closed" else 0.0

    def _guarded(self, act: Callable[..., None], *args: object) -> None:
        try:
            act(*args)
        except Exception as error:  # noqa: BLE001  # as in _fill
            self._fault = self._fault_of(error)

    def _draw(self, view: View) -> None:
        begun = time.monotonic()
        try:
            view.update()
            self._error = ""
        except Exception as error:  # noqa: BLE001  # as in _fill
            self._fail(error, "It is tried again with the next change.")
        self._on_drawn(time.monotonic() - begun)

    def _obey(self, view: View, asked: Look | Command) -> None:
        """Do what the page asked for since the last update."""
        if isinstance(asked, Look):
            view.look = asked
            view.restyle()
        elif asked.verb == SHOW:
            self._must_draw = True  # a frozen picture of something else would be the wrong one
            view.show(asked.arguments)
        elif asked.verb == SET:
            self._must_draw = True
            for name, value in asked.arguments.items():
                view.set_control(name, value)
        else:
            if not view.freezes_itself and asked.verb in FREEZING:
                self._is_frozen = asked.verb == "freeze" and not self._is_frozen
            view.command(asked.verb)

    def _take_requests(self, view: View) -> None:
        """Note what the view needs; tell the page which plot a click in the picture asked for."""
        needs = frozenset(map(str, view.needs))
        if needs != self.needs:
            self.needs = needs
            self._on_watch()
        opening, view.opening = view.opening, None
        if opening is not None:
            arguments = read_arguments(opening.arguments)
            self._n_opened += 1
            given = {"plot": str(opening.plot), "arguments": arguments, "n": self._n_opened}
            self.control.open = json.dumps(given)

    def _show_caption(self, view: View) -> None:
        caption = view.caption
        if caption.empty:
            caption = replace(caption, empty=empty_text(self._store, view))
        show_caption(self.control, caption, is_frozen=self._is_frozen)
        self.control.table = json.dumps(dict(view.table_arguments))

    def _fail(self, error: Exception, remedy: str) -> None:
        if not self._error:
            logger.warning("Plot %s failed", self.plot.name, exc_info=error)
        self._error = _FAILED % (self.plot.title, "be drawn", _short(error), remedy)

    def _fault_of(self, error: Exception) -> str:
        """Log what went wrong with a click or a command; return what the pane says of it."""
        text = _FAILED % (self.plot.title, "do that", _short(error), "The picture goes on.")
        if text != self._fault:
            logger.warning("Plot %s could not do what was asked", self.plot.name, exc_info=error)
        return text


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


class Pages:
    """The open pages of one server, by Bokeh session id.

    Their pictures follow the store in rounds; between two of them the loop rests until drawing has
    taken no more than `SHARE` of the time. What the user asked for is drawn at once.

    When the last worker leaves, nearly always the cluster is being closed: its workers leave one
    after the other, and a picture that followed them would end as that of an empty cluster, which
    is what a pane would keep. So pictures stay as they are for `HOLD_S` then.

    Parameters
    ----------
    store : Store
    on_watch : callable
        Called when that changes: whether somebody looks, and the names of all that the plots
        which are looked at need, as in `View.needs`.

    Attributes
    ----------
    ticks : int
        How often the store may have changed.
    is_watched : bool
        Whether somebody looks.
    wanted : frozenset of str
        All that is needed by what is looked at.
    """

    def __init__(self, store: Store, on_watch: Callable[[bool, frozenset[str]], None]) -> None:
        self.ticks = 0
        self.is_watched = False
        self.wanted: frozenset[str] = frozenset()
        self._store = store
        self._on_watch = on_watch
        self._pages: dict[str, Page] = {}
        self._watched: frozenset[str] = frozenset()
        self._requested: dict[frozenset[str], float] = {}  # needs, and until when
        self._next_tick: asyncio.Future[None] | None = None
        self._later: asyncio.TimerHandle | None = None
        self._round_at = -inf
        self._round_s = 0.0  # that drawing has taken since then
        self._had_workers = False
        self._held_until = -inf

    def __len__(self) -> int:
        return len(self._pages)

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
            plot,
            self._store,
            document,
            look=look,
            arguments=arguments,
            on_watch=self.recount,
            on_drawn=self._drawn,
        )
        self._pages[session_id] = page
        return page

    def connected(self, session_id: str, drain: Callable[[], Awaitable[None]]) -> None:
        """A browser has the document of a session; `drain` waits until all is sent to it."""
        if (page := self._pages.get(session_id)) is not None:
            page.drain = drain
            # After Bokeh's greeting, which has to come first.
            asyncio.get_running_loop().call_soon(self.recount)

    def patched(self, session_id: str, error: Exception | None) -> None:
        """A browser has changed something on its page; `error` is what that raised."""
        if (page := self._pages.get(session_id)) is not None:
            page.patched(error)

    def close(self, session_id: str) -> None:
        """Let go of one page; harmless when it is not known."""
        if (page := self._pages.pop(session_id, None)) is not None:
            page.close()
        self.recount()

    async def close_all(self, timeout_s: float) -> None:
        """Let go of all pages; wait for the updates that are being sent."""
        if self._later is not None:
            self._later.cancel()
        self._requested.clear()
        tasks = [page.task for page in self._pages.values() if page.task is not None]
        for session_id in list(self._pages):
            self.close(session_id)
        self.recount()
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_s)

    def want(self, needs: frozenset[str], for_s: float) -> None:
        """Count for a while as somebody who looks at a plot with these needs."""
        loop = asyncio.get_running_loop()
        self._requested[needs] = loop.time() + for_s
        loop.call_later(for_s + 0.01, self.recount)  # a timer may fire a moment early
        self.recount()

    async def next_tick(self, timeout_s: float) -> None:
        """Wait until the store may have changed, or until the time is over."""
        if self._next_tick is None:
            self._next_tick = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._next_tick], timeout=timeout_s)

    def tick(self, *, is_awaited: bool = False) -> None:
        """The store may have changed; `is_awaited` where somebody waits for what came."""
        self.ticks += 1
        waited, self._next_tick = self._next_tick, None
        if waited is not None:
            waited.set_result(None)
        self._follow(is_awaited=is_awaited)

    def recount(self) -> None:
        """A viewer may have come or gone; one who just came is brought up to date."""
        watched = {session: page for session, page in self._pages.items() if page.is_watched}
        time_s = asyncio.get_running_loop().time()
        self._requested = {some: until for some, until in self._requested.items() if until > time_s}
        needs = [*(page.needs for page in watched.values()), *self._requested]
        now = (bool(needs), frozenset[str]().union(*needs))
        if now != (self.is_watched, self.wanted):
            self.is_watched, self.wanted = now
            self._on_watch(*now)
        # The others follow in turn: each viewer who comes would else have all pictures drawn.
        before, self._watched = self._watched, frozenset(watched)
        for session in watched.keys() - before:
            watched[session].poke()

    def _follow(self, *, is_awaited: bool = False) -> None:
        """Have all pages follow the store, now or when that may be."""
        now = time.monotonic()
        rest_until = self._round_at + min(self._round_s / SHARE, LONGEST_REST_S)
        wait_s = self._hold_until(now) - now
        if not is_awaited:
            wait_s = max(wait_s, rest_until - now)
        if wait_s > 0:
            if self._later is None:
                self._later = asyncio.get_running_loop().call_later(wait_s, self._go_on)
            return
        if now >= rest_until:  # what is awaited belongs to the round before, and prolongs its rest
            self._round_at, self._round_s = now, 0.0
        for page in self._pages.values():
            page.poke()

    def _go_on(self) -> None:
        self._later = None
        self._follow()

    def _drawn(self, spent_s: float) -> None:
        self._round_s += spent_s

    def _hold_until(self, now: float) -> float:
        scheduler = self._store.scheduler
        if scheduler is not None and scheduler.n_workers:
            self._had_workers, self._held_until = True, -inf
        elif self._had_workers:
            self._had_workers, self._held_until = False, now + HOLD_S
        return self._held_until
