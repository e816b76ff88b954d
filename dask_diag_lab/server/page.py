"""One open document: a view, its control, and the rule when the two are brought up to date."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast
from weakref import WeakSet

from dask_diag_lab.server.control import CONTROL_NAME, PaneControl, read_look, read_verb
from dask_diag_lab.views.look import LIGHT, Look

if TYPE_CHECKING:
    from bokeh.document import Document
    from bokeh.document.events import DocumentChangedEvent
    from bokeh.server.contexts import BokehSessionContext

    from dask_diag_lab.server.plot_socket import PlotSocket
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.base import View
    from dask_diag_lab.views.registry import Plot

logger = logging.getLogger(__name__)

MAX_PENDING = 64
"""Commands and looks kept for one update; a page that sends more is not a hand on a keyboard."""

FREEZING: Final = frozenset({"freeze", "live", "fit"})
"""Commands that freeze a picture or let it go: what is to fit in is the data of now."""

UPDATE_INTERVAL_S = 0.03
"""Between two updates: a hand that drags sends more changes than a screen can show."""


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
    on_watch : callable
        Called when this page may have begun or ceased to be looked at.
    """

    def __init__(
        self,
        plot: Plot,
        store: Store,
        document: Document,
        *,
        look: Look = LIGHT,
        on_watch: Callable[[], None],
    ) -> None:
        self.plot = plot
        self.document = document
        self.control = PaneControl(name=CONTROL_NAME)
        self.sockets: WeakSet[PlotSocket] = WeakSet()
        self._store = store
        self._on_watch = on_watch
        self._view: View | None = None
        self._look = look
        self._error = ""
        self._seen = -1
        self._is_forced = False
        self._is_frozen = False
        self._is_closed = False
        self._pending: deque[Callable[[View], None]] = deque(maxlen=MAX_PENDING)
        self._task: asyncio.Task[None] | None = None
        self._is_resting = False
        self._fill()

    @property
    def is_watched(self) -> bool:
        """True while somebody is connected and the page says that it can be seen."""
        context = self._context
        session = context.session if context else None
        return bool(self.control.visible and session is not None and session.connection_count)

    @property
    def _context(self) -> BokehSessionContext | None:
        context = None if self._is_closed else self.document.session_context
        # The server's documents have this kind; Bokeh declares the general one.
        return cast("BokehSessionContext | None", context)

    def poke(self, *, force: bool = False) -> None:
        """Update soon if it is seen and the store has changed, or in any case with `force`."""
        if force:
            self._is_forced = True
        if self._task is None and self._wants_update():
            self._task = asyncio.get_running_loop().create_task(self._catch_up())

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
            self._view.close()

    def _fill(self) -> None:
        self.document.title = self.plot.title
        config = self.document.config
        # Our pages say in words what is wrong, and open a new session, which starts with the
        # picture of now, instead of reviving an old one.
        config.update(reconnect_session=False, notify_connection_status=False, notifications=None)
        try:
            view = self.plot.load()(self._store, self._look)
            self.document.add_root(view.build())
            self._view = view
        except Exception as error:  # noqa: BLE001  # a bug in a view stays in its pane
            self._fail(error)
        self.document.add_root(self.control)
        self._update()
        self.control.on_change("visible", self._visible_changed)
        self.control.on_change("look", self._look_changed)
        self.control.on_change("command", self._commanded)
        self.document.on_change(self._document_changed)

    def _wants_update(self) -> bool:
        if self._is_closed:
            return False
        return self._is_forced or (self._seen != self._store.version and self.is_watched)

    async def _catch_up(self) -> None:
        try:
            while self._wants_update():
                context = self._context
                if context is None or context.destroyed:
                    return
                await self._update_in_one_piece(context)
                self._is_resting = True
                await asyncio.sleep(UPDATE_INTERVAL_S)
                self._is_resting = False
        finally:
            self._is_resting = False
            self._task = None

    async def _update_in_one_piece(self, context: BokehSessionContext) -> None:
        sockets = list(self.sockets)
        for socket in sockets:
            socket.hold()
        try:
            await context.with_locked_document(self._update_locked)
        finally:
            for socket in sockets:
                await socket.release()

    async def _update_locked(self, _document: Document) -> None:
        # A coroutine, so that Bokeh >= 3.10 runs it on the loop and not in a thread of its own.
        self._update()

    def _update(self) -> None:
        self._seen = self._store.version
        self._is_forced = False
        if self._view is not None:
            try:
                while self._pending:
                    self._pending.popleft()(self._view)
                if not self._is_frozen:
                    self._view.update()
                    self._error = ""
            except Exception as error:  # noqa: BLE001  # as in _fill
                self._fail(error)
        self._say()

    def _say(self) -> None:
        feed = self._store.feed_state
        control = self.control
        control.state = "error" if self._error else feed.state
        control.message = self._error or feed.reason
        if self._view is not None:
            notice = self._view.notice
            control.frozen = self._is_frozen or notice.is_frozen
            control.empty = notice.empty
            control.note = notice.note
            # Whole seconds: a frozen picture costs one small message a second, not one a tick.
            control.behind_s = float(math.ceil(notice.behind_s))

    def _fail(self, error: Exception) -> None:
        if not self._error:
            logger.warning("Plot %s failed", self.plot.name, exc_info=error)
        self._error = (
            f"“{self.plot.title}” could not be drawn ({type(error).__name__}: {str(error)[:200]})."
            " The other plots and the computation are not affected. It is tried again with the"
            " next change; the log of the kernel has the details."
        )

    def _document_changed(self, event: DocumentChangedEvent) -> None:
        # Changes that a page made carry its session as setter; ours carry nothing. The view may
        # have moved its range in a callback, so its notice is looked at again.
        if getattr(event, "setter", None) is not None and self.control.visible:
            self.poke(force=True)

    def _visible_changed(self, _attr: str, _old: object, _new: object) -> None:
        self._on_watch()

    def _look_changed(self, _attr: str, _old: object, new: str) -> None:
        try:
            look = read_look(new)
        except ValueError as error:
            logger.info("Look of a page ignored: %s", error)
            return

        def restyle(view: View) -> None:
            view.look = look
            view.restyle()

        self._pending.append(restyle)

    def _commanded(self, _attr: str, _old: object, new: str) -> None:
        if verb := read_verb(new):
            self._pending.append(lambda view: self._command(view, verb))

    def _command(self, view: View, verb: str) -> None:
        if not view.freezes_itself and verb in FREEZING:
            self._is_frozen = verb == "freeze" and not self._is_frozen
        view.command(verb)
