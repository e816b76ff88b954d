"""One plot in a document, with the time and the bytes that each of its updates takes."""

from __future__ import annotations

import time
from collections.abc import Callable

from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.models import Plot as BokehPlot
from bokeh.models.ui import UIElement
from bokeh.protocol import Protocol

from dask_diag_lab.store import Store
from dask_diag_lab.views.registry import PLOTS


class Drawn:
    """One plot of the catalogue in a document of its own."""

    def __init__(self, name: str, store: Store) -> None:
        plot = next(plot for plot in PLOTS if plot.name == name)
        self.view = plot.load()(store)
        self._document = Document()
        root = self.view.build()
        self._document.add_root(root)
        _report_sizes(root)
        self.view.update()
        self._events: list[DocumentPatchedEvent] = []
        self._document.on_change(self._note)

    def _note(self, event: object) -> None:
        if isinstance(event, DocumentPatchedEvent):
            self._events.append(event)

    def update(self, work: Callable[[], bool] = lambda: False) -> tuple[float, int]:
        """Bring it up to date; return the bytes that are sent, and milliseconds.

        Where something is made off the loop meanwhile, which `work` does and tells, there are
        several updates: the milliseconds are the longest one's, which is what holds up others.
        """
        self._events.clear()
        times = [self._update_ms()]
        while work():
            times.append(self._update_ms())
        return max(times), _patch_bytes(self._events)

    def _update_ms(self) -> float:
        began = time.perf_counter()
        self.view.update()
        return (time.perf_counter() - began) * 1000

    def close(self) -> None:
        self.view.close()
        self._document.clear()


def _report_sizes(root: UIElement) -> None:
    """Tell each figure its size, as a browser does."""
    for part in root.select({"type": BokehPlot}):
        part.set_from_json("outer_width", 900)
        part.set_from_json("outer_height", 500)


def _patch_bytes(events: list[DocumentPatchedEvent]) -> int:
    """Return the bytes of the websocket message that carries these changes."""
    if not events:
        return 0
    message = Protocol().create("PATCH-DOC", events)
    buffers = sum(len(buffer.to_bytes()) for buffer in message.buffers)
    return len(message.content_json) + len(message.header_json) + buffers
