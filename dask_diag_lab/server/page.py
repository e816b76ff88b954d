"""The open documents: each a view, its control and the rule when the two are brought up to date.

`Page` is one of them. `Pages` is all: it draws those that have news, and counts who looks. In a
browser they are drawn by the scripts of `scripts_for`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import bokeh
import numpy as np
from bokeh.core.json_encoder import serialize_json
from bokeh.core.serialization import Buffer, Serialized
from bokeh.document import Document
from bokeh.document.callbacks import DocumentCallbackManager
from bokeh.document.events import DocumentPatchedEvent
from bokeh.protocol.messages.patch_doc import patch_doc

from dask_diag_lab.schema.tables import EXTRA_NAMES, GRAPH
from dask_diag_lab.server.context import CORE, MODELS, OWN
from dask_diag_lab.server.control import (
    CONTROL_NAME,
    SET,
    SHOW,
    PaneControl,
    read_arguments,
    read_command,
    read_look,
    read_object,
    show_caption,
)
from dask_diag_lab.store.queries import UNASKED
from dask_diag_lab.store.sums import ALL, Window
from dask_diag_lab.views.format import READER_ZONE
from dask_diag_lab.views.known_runs import run_label
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.view import PERIOD, RUN, ArgumentError, text_of

if TYPE_CHECKING:
    from bokeh.document.events import DocumentChangedEvent
    from bokeh.events import ModelEvent
    from bokeh.model import Model

    from dask_diag_lab.jobs import Job
    from dask_diag_lab.server.stream import RunsPage, Stream
    from dask_diag_lab.store import History, LiveSession
    from dask_diag_lab.store.queries import Query
    from dask_diag_lab.views.registry import Plot
    from dask_diag_lab.views.view import View

logger = logging.getLogger(__name__)

FREEZING: Final = frozenset({"freeze", "live", "fit"})
"""Commands that freeze a picture or let it go: what is to fit in is the data of now."""
UPDATE_INTERVAL_S: Final = 0.03
"""Between two rounds of updates: a drag sends more changes than a screen can show."""
REST: Final = 3.0
"""Times as long as a round took, the loop is left to others, and the interpreter to the user's
own threads."""
_FAILED: Final = (
    "“%s” could not %s (%s: %s). The other plots and the computation are not affected. It is tried"
    " again with the next change, or open the plot again. The kernel's log has the details."
)
NOTHING: Final[Mapping[str, str]] = {}
_DRAW: Final = "be drawn"
_OBEY: Final = "do that"
SCRIPTS: Final = (
    ("bokeh.models.widgets", "static/js/bokeh-widgets.min.js"),
    ("bokeh.models.widgets.tables", "static/js/bokeh-tables.min.js"),
    ("bokeh.models.plots", OWN),  # what is added to one later is painted by models of ours
    ("dask_diag_lab.views.models", OWN),
    ("dask_diag_lab.views.table_cells", "static/dask-diag-lab/dist/table_cells.js"),
)
"""The script that draws the models of a module, after `CORE`, in loading order."""
_OWN_FILES: Final = b"".join(file.read_bytes() for file in sorted(MODELS.glob("*.js")))
VERSION: Final = f"{bokeh.__version__}-{hashlib.sha256(_OWN_FILES).hexdigest()[:12]}"
"""Of all scripts together; a page keeps versions apart, so that each plot is drawn by its own."""


def address_of(script: str) -> str:
    """Return where a page finds a script of this version."""
    return f"{script}?v={VERSION}"


def scripts_for(models: Iterable[Model]) -> list[str]:
    """Return the parts of BokehJS that `models` need, the core first, in loading order."""
    modules = {kind.__module__ for model in models for kind in type(model).__mro__}
    needed = [
        script
        for module, script in SCRIPTS
        if any(name == module or name.startswith(f"{module}.") for name in modules)
    ]
    return list(dict.fromkeys([CORE, *needed]))


def is_without(history: History, view: View) -> bool:
    """Return whether something has not come yet that the view needs."""
    if GRAPH in view.needs and not history.graph.is_followed:
        return True
    return not all(history.extras[name].is_known for name in view.needs & EXTRA_NAMES)


def unread(history: History, view: View) -> str:
    """Return why a table that the view shows cannot be read on the scheduler, '' if all can."""
    for name in (*view.reads, *view.needs):
        if reason := history.failed.get(name):
            return f"The scheduler's {name} cannot be read by this version: {reason}."
    return ""


def window_of(selection: Mapping[str, str], history: History) -> tuple[Window, str]:
    """Return the stretch of time of `Page.select`, and what people call it."""
    if (number := selection.get("run")) is None:
        ends = (float(selection.get(name, end)) for name, end in zip(PERIOD, ALL, strict=True))
        return (window := Window(*ends)), text_of(window)
    record = history.runs.of_number(int(number))
    if record is None:
        return ALL, f"Run {number}, which is kept no more"
    return Window(record.start, record.stop), run_label(history, record)


class PendingWork:
    """What a view has asked the cluster, and has had worked out, since it was begun."""

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._asked: list[Query] = []
        self._started: list[Job[Any]] = []  # results of any type

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Collect what is asked and started in this block."""
        with self._live.queries.noticed() as queries, self._live.jobs.noticed() as jobs:
            yield
        self._asked.extend(queries)
        self._started.extend(jobs)

    def is_all(
        self, view: View | None, update: Callable[[], None], *, with_jobs: bool = True
    ) -> bool:
        """Bring a view up to date; return whether all of it has come."""
        live = self._live
        with self.noticed():
            update()
        if view is None:  # it could not be built
            return True
        if view.is_behind or (with_jobs and not all(job.is_done for job in self._started)):
            return False
        if live.feed_state.state in ("lost", "closed"):
            return True
        if live.history.scheduler is None or (
            is_without(live.history, view) and not unread(live.history, view)
        ):
            return False
        return all(query.state != "asked" for query in self._asked)


def empty_text(live: LiveSession, view: View) -> str:
    """Return why a view shows nothing; that something is awaited is said only while it may come."""
    if reason := live.degraded or unread(live.history, view):
        return reason
    is_in_vain = live.feed_state.state in ("lost", "closed")
    return UNASKED if is_in_vain and is_without(live.history, view) else view.caption.empty


def close_view(view: View) -> None:
    """Have a view let go of all it holds; a bug in that keeps nothing else open."""
    try:
        view.close()
    except Exception as error:  # as said
        logger.warning("%s could not be closed", type(view).__name__, exc_info=error)


class _Changes(DocumentCallbackManager):
    """Collects what changes in a document, but for what its browser has changed itself.

    Callbacks run without making the document `curdoc()`, which Bokeh < 3.10 does for all threads:
    Panel, hvplot and `show` in a cell that runs at this moment would take ours for theirs.
    """

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.events: list[DocumentPatchedEvent] = []

    def trigger_on_change(self, event: DocumentChangedEvent) -> None:
        """Run the callbacks of the model that has changed, and note the change."""
        if event.callback_invoker is not None:
            event.callback_invoker()
        if isinstance(event, DocumentPatchedEvent) and event.setter is None:
            self.events.append(event)

    def notify_event(
        self,
        model: Model,  # noqa: ARG002  # Bokeh's own
        event: ModelEvent,  # noqa: ARG002
        callback_invoker: Callable[[], object],
    ) -> None:
        """Run the callbacks of a model for what the reader did in it."""
        callback_invoker()


class Page:
    """A plot in one browser page or pane.

    Parameters
    ----------
    plot : Plot
    live : LiveSession
    look : Look
        For the first paint.
    arguments : mapping of str to str
        What to show of many.
    stream : Stream, optional
        To the browser that gets the document.
    id_ : str
        By which that browser knows it.
    selection : mapping of str to str, optional
        As in `select`.

    Attributes
    ----------
    document : Document
        With the picture and the control as its two roots.
    view : View or None
        None where it could not be built.
    """

    def __init__(
        self,
        plot: Plot,
        live: LiveSession,
        look: Look,
        arguments: Mapping[str, str],
        stream: Stream | None = None,
        id_: str = "",
        selection: Mapping[str, str] = NOTHING,
    ) -> None:
        self.plot = plot
        self._given, self._selection = arguments, selection
        self.document = document = Document()
        self.document.callbacks = self._changes = _Changes(document)
        self.control = PaneControl(name=CONTROL_NAME, formats=" ".join(plot.formats))
        self.stream = stream
        self._id = id_
        self._live = live
        self.view: View | None = None
        self._zone = look.time_zone
        self._n_opened = 0
        self._error = ""  # of the picture; `_fault` is of what was asked last
        self._fault = ""
        self._seen = -1
        self._is_asked = self._must_draw = self._is_frozen = self._is_closed = False
        document.title = plot.title
        document.config.notifications = None  # our pages say in words what is wrong
        with document.models.freeze():  # looks for models once, not after each root
            self._error = self._guarded(_DRAW, self._build, look)
            document.add_root(self.control)
        self.draw()
        for name in ("visible", "look", "command"):
            self.control.on_change(name, self._changed)

    def __str__(self) -> str:
        return f"Plot {self.plot.name}"

    @property
    def needs(self) -> frozenset[str]:
        """What its view has to be sent while it is looked at."""
        return frozenset() if self.view is None else self.view.needs | self.view.wishes

    @property
    def is_watched(self) -> bool:
        """True while somebody has the document and the page says that it can be seen."""
        return self.stream is not None and self.control.visible and not self._is_closed

    @property
    def has_news(self) -> bool:
        """Whether `update` has something to do, and the browser took what it was sent before."""
        if self._is_closed or (self.stream is not None and self.stream.is_sending):
            return False
        view, rests = self.view, self._is_frozen or self._error
        is_behind = view is not None and not rests and view.is_behind
        has_moved = self._seen != self._live.version
        return self._is_asked or (self.is_watched and (has_moved or is_behind))

    def send_document(self) -> None:
        """Have the browser sent the whole document."""
        document: Any = self.document.to_json()  # its type differs by version
        # Bokeh 3.8 has the buffers in the document itself, which become base64.
        content, buffers = getattr(document, "content", document), getattr(document, "buffers", [])
        self._changes.events.clear()
        scripts = [address_of(script) for script in scripts_for(self.document.models)]
        self._send("document", content, buffers, bokeh=bokeh.__version__, scripts=scripts)

    def update(self) -> None:
        """Bring picture and control up to date, and have the browser sent what that changed."""
        if self._is_closed:
            return
        self._is_asked, self._seen = False, self._live.version
        self.draw()
        self._send_changes()

    def patched(self, patch: Any) -> None:  # JSON
        """Apply a patch of the browser's; callbacks of the view run.

        Whatever fails is said in the pane.
        """
        setter: Any = self  # any will do

        def apply() -> None:
            try:
                self.document.apply_json_patch(patch, setter=setter)
            finally:  # at once: the next patch makes Bokeh take new models for known
                self._send_changes()

        self._fault = ""
        self._fault = self._guarded(_OBEY, apply) or self._fault  # of `_changed`
        # The view may have moved its range or asked to open a plot.
        self._is_asked |= self.control.visible

    def close(self) -> None:
        """Let go of the view."""
        self._is_closed = True
        if self.view is not None:
            close_view(self.view)

    def _send(
        self,
        kind: str,
        content: Mapping[str, Any],
        buffers: Sequence[Buffer],
        **more: object,
    ) -> None:
        assert self.stream is not None
        parts = [buffer.to_bytes() for buffer in buffers]
        sizes = [(one.id, len(part)) for one, part in zip(buffers, parts, strict=True)]
        message = {"type": kind, "id": self._id, kind: content, "buffers": sizes, **more}
        self.stream.send(serialize_json(Serialized(message, list(buffers))), parts)

    def _send_changes(self) -> None:
        events, self._changes.events = self._changes.events, []
        if events:
            patch = patch_doc.create(events)
            self._send("patch", patch.content, patch.buffers)

    def select(self, selection: Mapping[str, str]) -> None:
        """Show a run or a stretch of time as all plots of the browser's page do.

        `selection` are arguments of `PERIOD` or `RUN`; without one that ends.
        """
        self._selection, self._is_frozen, self._must_draw = selection, False, True
        if self.view is not None and self.plot.has_period:
            self._fault = self._guarded(_OBEY, self._show_period, self.view)
        self._is_asked |= self.control.visible

    def _show_period(self, view: View) -> None:
        view.show(self._arguments)
        if self._arguments.keys().isdisjoint({*PERIOD, *RUN}):
            view.command("live")

    @property
    def _arguments(self) -> Mapping[str, str]:
        """What the view shows: the time of all panes goes before its own."""
        if not (self._selection and self.plot.has_period):
            return self._given
        own = {n: given for n, given in self._given.items() if n not in (*PERIOD, *RUN)}
        return {**own, **self._selection}

    def _build(self, look: Look) -> None:
        view = self.plot(self._live, look, self._arguments)
        self.document.add_root(view.build())
        self.view = view

    def _changed(self, attr: str, _old: object, new: Any) -> None:  # a bool or a text
        """The page has set one of the control's properties."""
        if attr == "visible" or self.view is None:
            return
        try:
            given = read_object(new)
            obey = self._restyle if attr == "look" else self._command
            read = read_look(given) if attr == "look" else read_command(given)
        except ValueError as error:
            logger.info("A page sent what cannot be understood: %s", error)
        else:
            self._fault = self._guarded(_OBEY, obey, self.view, read)

    def _restyle(self, view: View, look: Look) -> None:
        view.look, self._zone = look, look.time_zone
        view.restyle()

    def _command(self, view: View, command: tuple[str, dict[str, str]]) -> None:
        verb, arguments = command
        # A frozen picture of something else would be the wrong one.
        self._must_draw |= verb in (SHOW, SET)
        if verb == SHOW:
            self._given = arguments
            view.show(self._arguments)
        elif verb == SET:
            for name, value in arguments.items():
                view.set_control(name, value)
        else:
            if not view.freezes_itself and verb in FREEZING:
                self._is_frozen = verb == "freeze" and not self._is_frozen
            view.command(verb)

    def draw(self) -> None:
        """Bring picture and control up to date at once: for a document that nobody else has."""
        self._seen = self._live.version
        if (view := self.view) is not None:
            if self._must_draw or not self._is_frozen:
                self._must_draw = False
                self._error = self._guarded(_DRAW, self._update, view)
            self._fault = self._guarded(_OBEY, self._show, view) or self._fault
        feed = self._live.feed_state
        failure = self._error or self._fault
        self.control.state = "error" if failure else feed.state
        self.control.message = failure or feed.reason
        is_end_known = feed.state == "closed" and self._live.recorded is None
        self.control.closed_at = feed.since if is_end_known else 0.0

    def _update(self, view: View) -> None:
        view.follow_run()
        view.update()

    def _show(self, view: View) -> None:
        """Tell the page what stands around the picture, and which plot a click asked for."""
        plot_link, view.plot_link = view.plot_link, None
        if plot_link is not None:
            self._n_opened += 1
            shown = read_arguments(plot_link.arguments)
            given = {"plot": str(plot_link.plot), "arguments": shown, "n": self._n_opened}
            self.control.open = json.dumps(given)
        caption = view.caption
        if caption.empty:
            caption = replace(caption, empty=empty_text(self._live, view))
        show_caption(self.control, caption, is_frozen=self._is_frozen)
        self.control.table = json.dumps(dict(view.table_arguments))
        self._update_periods(view.chosen_period)

    def _update_periods(self, chosen: Window | None) -> None:
        of_all, text = window_of(self._selection, self._live.history)
        # The browser may have rounded what it was given.
        is_other = chosen is not None and not np.allclose(
            chosen, of_all, rtol=0, atol=0.01 * (chosen.stop - chosen.start)
        )
        period = {"text": text, "is_shown": self.plot.has_period and not is_other}
        self.control.period = json.dumps(period) if self._selection else ""
        self.control.chosen = ""
        if chosen is not None and is_other and self.stream is not None and self.stream.has_several:
            self.control.chosen = json.dumps({**chosen._asdict(), "text": text_of(chosen)})

    def _guarded(self, what: str, act: Callable[..., None], *given: object) -> str:
        """Do something; return what the pane says of a bug in it, '' when there was none."""
        before = READER_ZONE.set(self._zone)
        try:
            act(*given)
        except ArgumentError as error:  # such as a run that is kept no more
            return str(error)
        except Exception as error:  # a bug in a view stays in its pane
            text = _FAILED % (self.plot.title, what, type(error).__name__, str(error)[:200])
            if text not in (self._error, self._fault):
                logger.warning("Plot %s could not %s", self.plot.name, what, exc_info=error)
            return text
        finally:
            READER_ZONE.reset(before)
        return ""


class Pages:
    """The open pages of one server; made on the loop that draws them.

    Parameters
    ----------
    on_watch : callable
        Called when that changes: whether somebody looks, and the names of all that the plots
        which are looked at need, as in `View.needs` and `View.wishes`.

    Attributes
    ----------
    is_watched : bool
        Whether somebody looks.
    wanted : frozenset of str
        All that is needed by what is looked at.
    """

    def __init__(self, on_watch: Callable[[bool, frozenset[str]], None]) -> None:
        self.is_watched = False
        self.wanted: frozenset[str] = frozenset()
        self._on_watch = on_watch
        self._pages: list[Page | RunsPage] = []
        self._requested: list[frozenset[str]] = []
        self._wake = asyncio.Event()
        self._drawing = asyncio.create_task(self._draw(), name="dask_diag_lab pages")

    def add(self, page: Page | RunsPage) -> None:
        """Draw one more page from now on."""
        self._pages.append(page)
        self.tick()

    def drop(self, page: Page | RunsPage) -> None:
        """Let go of a page; harmless twice."""
        if page in self._pages:
            self._pages.remove(page)
            page.close()
            self.tick()

    async def close(self) -> None:
        """Draw no more, and let go of all pages."""
        self._drawing.cancel()
        await asyncio.wait([self._drawing])
        for page in list(self._pages):
            self.drop(page)

    @property
    def has_plots(self) -> bool:
        """Whether a browser has a plot open, perhaps where nobody sees it."""
        return any(isinstance(page, Page) for page in self._pages)

    def add_viewer(self, needs: frozenset[str], for_s: float) -> None:
        """Count for a while as somebody who looks at a plot with these needs."""
        self._requested.append(needs)
        asyncio.get_running_loop().call_later(for_s, self._remove_viewer, needs)
        self._count()

    def tick(self) -> None:
        """What is known, or who looks, may have changed: pages that are seen are drawn soon."""
        self._wake.set()

    def _remove_viewer(self, needs: frozenset[str]) -> None:
        self._requested.remove(needs)
        self._count()

    def _count(self) -> None:
        """Count who looks, and at what."""
        watched = [page.needs for page in self._pages if page.is_watched]
        needs = watched + self._requested
        now = (bool(needs), frozenset[str]().union(*needs))
        if now != (self.is_watched, self.wanted):
            self.is_watched, self.wanted = now
            self._on_watch(*now)

    async def _draw(self) -> None:
        """Draw what has news, one page after the other, then leave the loop to others.

        What one round changed of the plots of a stream is sent at once: with a cell that computes
        in pure Python each message waits up to 20 ms for the interpreter, and the browser may paint
        between two of them.
        """
        while True:
            await self._wake.wait()
            self._wake.clear()
            begun = time.monotonic()
            pages = [page for page in self._pages if page.has_news]
            for page in pages:
                try:
                    page.update()
                except Exception as error:  # such as what cannot be sent: others go on
                    logger.warning("%s failed", page, exc_info=error)
                await asyncio.sleep(0)
            for stream in {page.stream for page in pages}:
                if stream is not None:
                    stream.flush()
            if any(page.has_news for page in pages):  # there is more to draw
                self._wake.set()
            self._count()
            await asyncio.sleep(max(UPDATE_INTERVAL_S, REST * (time.monotonic() - begun)))
