"""One open document: a view, its control, and the rule when the two are brought up to date."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, cast

from dask_diag_lab.server import current_document
from dask_diag_lab.server.arguments import read_arguments
from dask_diag_lab.server.begun import Begun
from dask_diag_lab.server.control import CONTROL_NAME, SHOW, Command, PaneControl, show_notice
from dask_diag_lab.server.empty_words import notice_of
from dask_diag_lab.server.fault_words import cannot_be_built, cannot_be_done, cannot_be_drawn
from dask_diag_lab.server.plot_document import PlotDocument
from dask_diag_lab.server.wishes import Wishes
from dask_diag_lab.views.look import LIGHT, Look

if TYPE_CHECKING:
    from bokeh.document import Document
    from bokeh.server.contexts import BokehSessionContext

    from dask_diag_lab.store import Store
    from dask_diag_lab.store.workings import Working
    from dask_diag_lab.views.base import View
    from dask_diag_lab.views.registry import Plot

logger = logging.getLogger(__name__)

FREEZING: Final = frozenset({"freeze", "live", "fit"})
"""Commands that freeze a picture or let it go: what is to fit in is the data of now."""

UPDATE_INTERVAL_S = 0.03  # a hand that drags sends more changes than a screen can show
SLOW_UPDATE_S: Final = 0.1
"""An update that takes longer holds up every plot; the log says so once a page."""


class Page:
    """A plot in one browser page or pane.

    An update runs under the document's lock, one at a time: while one is being written to a slow
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
    ) -> None:
        self.plot = plot
        self.document = PlotDocument.take_over(document)
        self.control = PaneControl(name=CONTROL_NAME)
        self._store = store
        self._on_watch = on_watch
        self._view: View | None = None
        self._look = look
        self._arguments = dict(arguments or {})
        self._needs: frozenset[str] = frozenset()
        self._begun = Begun(store.workings)
        self._openings = 0
        self._error = ""
        self._fault = ""
        self._seen = -1
        self._has_news = self._is_forced = False
        self._is_frozen = False
        self._is_owed = False
        self._is_slow = False
        self._is_closed = False
        self._wishes = Wishes(self.control)
        self._task: asyncio.Task[None] | None = None
        self._is_resting = False
        self._fill()

    @property
    def is_watched(self) -> bool:
        """True while somebody has the document and the page says that it can be seen."""
        context = self._context
        session = context.session if context else None
        is_connected = session is not None and session.connection_count > 0
        return bool(self.control.visible and is_connected)

    @property
    def needs(self) -> frozenset[str]:
        """What its view has to be sent while it is looked at."""
        return self._needs

    @property
    def _context(self) -> BokehSessionContext | None:
        context = None if self._is_closed else self.document.session_context
        # The server's documents have this kind; Bokeh declares the general one.
        return cast("BokehSessionContext | None", context)

    def poke(self, *, force: bool = False) -> None:
        """Update soon if it is seen and the store has changed, or in any case with `force`."""
        self._is_forced = self._is_forced or force
        self._has_news = self._seen != self._store.version
        if self._task is None and self._wants_update():
            self._task = asyncio.get_running_loop().create_task(self._catch_up())

    def had_made(self, working: Working[Any]) -> bool:  # results of any type
        """Return whether an update of this page began this piece of work."""
        return self._begun.has(working)

    def patched(self, error: Exception | None) -> None:
        """The browser has changed something or sent an event; `error` is what that raised."""
        self._fault = "" if error is None else self._fault_of(error)
        if self.control.visible:
            # The view may have moved its range or asked to open a plot in a callback.
            self.poke(force=True)

    @property
    def task(self) -> asyncio.Task[None] | None:
        """The update under way, if there is one."""
        return self._task

    def close(self) -> None:
        """Let go of the view; harmless twice."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._task is not None and self._is_resting:
            self._task.cancel()  # in the middle of an update it ends by itself, after its writes
        if self._view is not None:
            self._close_view(self._view)

    def _close_view(self, view: View) -> None:
        try:
            view.close()
        except Exception as error:  # a bug in a view keeps nothing else open
            logger.warning("Plot %s could not be closed", self.plot.name, exc_info=error)

    def _fill(self) -> None:
        self.document.title = self.plot.title
        config = self.document.config
        # Our pages say in words what is wrong, and open a new session for the picture of now.
        config.update(reconnect_session=False, notify_connection_status=False, notifications=None)
        # `freeze` looks for its models once, not after each root.
        with self.document.models.freeze(), self._begun.noticing():
            try:
                self._build()
            except Exception as error:  # noqa: BLE001  # a bug in a view stays in its pane
                self._fail(error)
            self.document.add_root(self.control)
        self._update()
        self.control.on_change("visible", self._visible_changed)

    def _build(self) -> None:
        view = self.plot.load()(self._store, self._look, self._arguments)
        with ExitStack() as half_built:
            half_built.callback(self._close_view, view)
            self.document.add_root(view.build())
            half_built.pop_all()
        self._view = view

    def _wants_update(self) -> bool:
        if self._is_closed:
            return False
        view, rests = self._view, self._is_frozen or self._error
        is_behind = view is not None and not rests and view.is_behind
        return self._is_forced or ((is_behind or self._has_news) and self.is_watched)

    async def _catch_up(self) -> None:
        try:
            while self._wants_update():
                context = self._context
                if context is None or context.destroyed:
                    return
                await context.with_locked_document(self._update_locked)
                self._is_resting = True
                await asyncio.sleep(UPDATE_INTERVAL_S)
                self._is_resting = False
        finally:
            self._is_resting = False
            self._task = None

    async def _update_locked(self, _document: Document) -> None:
        # A coroutine, so that Bokeh >= 3.10 runs it on the loop and not in a thread of its own.
        if not self._is_closed:  # while it waited for the lock
            self._update()

    def _update(self) -> None:
        self._seen = self._store.version
        self._has_news = self._is_forced = False
        if self._view is not None:
            with current_document.kept(self.document), self._begun.noticing():
                self._bring_up_to_date(self._view)
        self._say()

    def _bring_up_to_date(self, view: View) -> None:
        self._obey(view)
        try:
            if self._is_owed or not self._is_frozen:
                self._is_owed = False
                self._update_view(view)
                self._error = ""
        except Exception as error:  # noqa: BLE001  # as in _fill
            self._fail(error)
        try:
            self._take_wishes(view)
        except Exception as error:  # noqa: BLE001  # as in _fill
            self._fault = self._fault_of(error)

    def _update_view(self, view: View) -> None:
        begun = time.perf_counter()
        view.update()
        spent_s = time.perf_counter() - begun
        if spent_s > SLOW_UPDATE_S and not self._is_slow:
            self._is_slow = True
            logger.info("An update of plot %s took %.0f ms", self.plot.name, 1000 * spent_s)

    def _obey(self, view: View) -> None:
        """Do what the page asked for since the last update."""
        for wish in self._wishes.take():
            try:
                self._grant(view, wish)
            except Exception as error:  # noqa: BLE001  # as in _fill
                self._fault = self._fault_of(error)

    def _take_wishes(self, view: View) -> None:
        """Note what the view needs; tell the page which plot a click in the picture asked for."""
        needs = frozenset(map(str, view.needs))
        if needs != self._needs:
            self._needs = needs
            self._on_watch()
        opening, view.opening = view.opening, None
        if opening is not None:
            arguments = read_arguments(opening.arguments)
            self._openings += 1
            given = {"plot": str(opening.plot), "arguments": arguments, "n": self._openings}
            self.control.open = json.dumps(given)

    def _say(self) -> None:
        if self._view is not None:
            try:
                notice = notice_of(self._store, self._view)
                show_notice(self.control, notice, is_frozen=self._is_frozen)
            except Exception as error:  # noqa: BLE001  # as in _fill
                self._fault = self._fault_of(error)
        feed = self._store.feed_state
        said = self._error or self._fault
        self.control.state = "error" if said else feed.state
        self.control.message = said or feed.reason
        self.control.closed_at = feed.since if feed.state == "closed" else 0.0

    def _fail(self, error: Exception) -> None:
        if not self._error:
            logger.warning("Plot %s failed", self.plot.name, exc_info=error)
        words = cannot_be_built if self._view is None else cannot_be_drawn
        self._error = words(self.plot, error)

    def _fault_of(self, error: Exception) -> str:
        """Log what went wrong with a click or a wish of the page; return what to say of it."""
        words = cannot_be_done(self.plot, error)
        if words != self._fault:
            logger.warning("Plot %s could not do what was asked", self.plot.name, exc_info=error)
        return words

    def _visible_changed(self, _attr: str, _old: object, _new: object) -> None:
        self._on_watch()

    def _grant(self, view: View, wish: Look | Command) -> None:
        if isinstance(wish, Look):
            view.look = wish
            view.restyle()
        else:
            self._command(view, wish)

    def _command(self, view: View, command: Command) -> None:
        if command.verb == SHOW:
            self._is_owed = True  # a frozen picture of something else would be the wrong one
            view.show(command.arguments)
            return
        if not view.freezes_itself and command.verb in FREEZING:
            self._is_frozen = command.verb == "freeze" and not self._is_frozen
        view.command(command.verb)
