"""The document of a plot: Bokeh's, made and let go of in less of the kernel's time."""

from __future__ import annotations

from typing import Any

from bokeh.document import Document

from dask_diag_lab.server.quick_models import QuickModels


class PlotDocument(Document):
    """A document whose end stops nobody.

    Bokeh's collects all garbage of the process when it ends. In a kernel that has the user's data
    this takes as long as the data is large, and their code waits.
    """

    @staticmethod
    def take_over(document: Document) -> PlotDocument:
        """Make an empty document of Bokeh's, which makes them itself, one of this kind."""
        document.__class__ = PlotDocument
        document.models = QuickModels(document)
        assert isinstance(document, PlotDocument)
        return document

    def destroy(self, session: Any) -> None:  # Bokeh's own
        """Let go of all models and callbacks, so that what is left is found by the way."""
        self.remove_on_change(session)
        self._roots.clear()
        self._session_context = None
        self.callbacks.destroy()
        self.models.destroy()
        self.modules.destroy()
