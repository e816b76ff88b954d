"""A detail page in a document, and a cluster that answers what it asks when the test says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.queries import Query
from dask_diag_lab.views.details.page import DetailPage
from dask_diag_lab.views.view import Control, PlotLink
from tests.kernel.views.drawn import Drawn

Answers = dict[str, Callable[[Query], Any]]
"""By kind; a text is the reason of a failure."""


class Answering:
    """Notes what is asked of a session, and answers it by `answer`.

    Attributes
    ----------
    asked : list of Query
        In order; one that is asked again is there again.
    answers : dict
    """

    def __init__(self, live: LiveSession, answers: Answers) -> None:
        self.live = live
        self.answers = answers
        self.asked: list[Query] = []
        self._open: list[Query] = []
        live.queries.on_ask = self._ask

    def _ask(self, query: Query) -> None:
        self.asked.append(query)
        self._open.append(query)

    def answer(self) -> int:
        """Answer all that is open; return how many that were."""
        given, self._open = self._open, []
        for query in given:
            found = self.answers[query.kind](query)
            if isinstance(found, str):
                self.live.fail(query, found)
            else:
                self.live.answer(query, found)
        return len(given)

    def kinds(self) -> list[str]:
        return [query.kind for query in self.asked]


class Shown(Drawn[DetailPage]):
    """A page that is looked at; `events` are those since the last `settle`."""

    def __init__(self, view: DetailPage, cluster: Answering) -> None:
        super().__init__(view)
        self.cluster = cluster
        self.settle()

    def settle(self) -> None:
        """Update and answer until nothing more is asked."""
        self.view.update()
        while self.cluster.answer():
            self.view.update()
        self.events.clear()

    def rows(self, *names: str) -> list[tuple[Any, ...]]:
        """Return these columns of the table as rows."""
        data = self.view.sortable.source.data
        return list(zip(*(list(data[name]) for name in names), strict=True))

    @property
    def facts(self) -> dict[str, str]:
        """What the page says of the thing, by label."""
        return dict(self.view.caption.facts)

    @property
    def controls(self) -> dict[str, Control]:
        """What the reader can set, by name."""
        return {one.name: one for one in self.view.caption.controls}

    @property
    def text(self) -> str:
        return str(self.view._text.text) if self.view._text.visible else ""

    def click(self, row: int) -> None:
        self.view.sortable.source.selected.indices = [row]

    def opened(self) -> PlotLink | None:
        """Take what the page asks to open, as the server does."""
        plot_link, self.view.plot_link = self.view.plot_link, None
        return plot_link

    def set(self, control: str, value: str = "") -> None:
        """Set a control that the page shows, or press it."""
        assert control in self.controls
        self.view.set_control(control, value)
        self.settle()
