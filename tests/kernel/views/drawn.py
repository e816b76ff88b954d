"""A plot in a document that notes what it would send, and work that is done when a test says so."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent, DocumentPatchedEvent
from bokeh.events import Tap
from bokeh.models import ColumnDataSource, Model, Plot
from bokeh.protocol import Protocol

from dask_diag_lab.jobs import Job
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.view import View

V = TypeVar("V", bound=View)


class SentBytes:
    """The bytes of all changes that are sent of the document of a source, in ``total``."""

    def __init__(self, source: ColumnDataSource) -> None:
        self.total = 0
        if source.document is None:
            Document().add_root(source)
        assert source.document is not None
        source.document.on_change(self._add)

    def _add(self, event: DocumentChangedEvent) -> None:
        if isinstance(event, DocumentPatchedEvent):
            message = Protocol().create("PATCH-DOC", [event])
            self.total += len(message.content_json)
            self.total += sum(len(buffer.to_bytes()) for buffer in message.buffers)


class Drawn(Generic[V]):
    """A view that was built and updated in a document.

    Attributes
    ----------
    view : View
    document : Document
    events : list of DocumentChangedEvent
        What would be sent, since `sent` was called last.
    """

    def __init__(self, view: V) -> None:
        self.view = view
        self.document = Document()
        self.document.add_root(view.build())
        view.update()
        self.events: list[DocumentChangedEvent] = []
        self.document.on_change(self.events.append)

    @property
    def data(self) -> dict[str, list[Any]]:
        """The columns that the browser has; of several parts those of the first."""
        return self.sources[0]

    @property
    def sources(self) -> list[dict[str, list[Any]]]:
        """The columns of each part, in the order in which they were made."""
        return [
            {name: list(column) for name, column in source.data.items()}
            for source in self.models(ColumnDataSource)
        ]

    def models(self, kind: type[Model]) -> list[Any]:
        """Return all models of a kind, in the order in which they were made."""
        found = self.document.select({"type": kind})
        return sorted(found, key=lambda model: int(model.id.lstrip("p")))

    @property
    def plot(self) -> Any:  # whose properties are not typed as their values
        """The only figure."""
        (plot,) = self.models(Plot)
        return plot

    def tap(self, x: float, y: float) -> None:
        """Click at a point of the figure, given in data coordinates."""
        self.plot._trigger_event(Tap(self.plot, sx=0, sy=0, x=x, y=y))

    def sent(self) -> list[str]:
        """Update the view; return the names of what was sent since the last time, columns too."""
        self.view.update()
        names: list[str] = []
        for event in self.events:
            change: Any = event  # kinds of events have no common attributes
            names += getattr(change, "cols", None) or [change.attr]
        self.events.clear()
        return sorted(names)


class Elsewhere:
    """Where the work of a session is begun, and not done before `finish`.

    Attributes
    ----------
    open : list of Job
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self.open: list[Job[Any]] = []  # results of any type
        live.jobs.on_start = self.open.append

    def finish(self) -> None:
        """Do all that was begun."""
        done, self.open[:] = list(self.open), []
        for job in done:
            job.do()
            self._live.job_done(job)
