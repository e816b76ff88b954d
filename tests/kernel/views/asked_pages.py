"""A detail page in a document, and a cluster that answers what it asks when the test says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent
from bokeh.events import ButtonClick
from bokeh.models.widgets import Button, Div, Select

from dask_diag_lab.store import Store
from dask_diag_lab.store.inquiries import Inquiry
from dask_diag_lab.views.base import Opening
from dask_diag_lab.views.detail_page import DetailPage

Answers = dict[str, Callable[[Inquiry], Any]]
"""By kind; a text is taken as words of a failure."""


class Answering:
    """Notes what is asked of a store, and answers it by `answer`.

    Attributes
    ----------
    asked : list of Inquiry
        In order; one that is asked again is there again.
    answers : dict
    """

    def __init__(self, store: Store, answers: Answers) -> None:
        self.store = store
        self.answers = answers
        self.asked: list[Inquiry] = []
        self._open: list[Inquiry] = []
        store.inquiries.on_ask = self._ask

    def _ask(self, inquiry: Inquiry) -> None:
        self.asked.append(inquiry)
        self._open.append(inquiry)

    def answer(self) -> int:
        """Answer all that is open; return how many that were."""
        given, self._open = self._open, []
        for inquiry in given:
            found = self.answers[inquiry.kind](inquiry)
            if isinstance(found, str):
                self.store.fail(inquiry, found)
            else:
                self.store.answer(inquiry, found)
        return len(given)

    def kinds(self) -> list[str]:
        return [inquiry.kind for inquiry in self.asked]


class Shown:
    """A page that is looked at.

    Attributes
    ----------
    events : list of DocumentChangedEvent
        What would be sent since the last `settle`.
    """

    def __init__(self, view: DetailPage, cluster: Answering) -> None:
        self.view = view
        self.cluster = cluster
        self.events: list[DocumentChangedEvent] = []
        self._document = Document()
        self._document.add_root(view.build())
        self._document.on_change(self.events.append)
        self.settle()

    def settle(self) -> None:
        """Update and answer until nothing more is asked."""
        self.view.update()
        while self.cluster.answer():
            self.view.update()
        self.events.clear()

    def rows(self, *names: str) -> list[tuple[Any, ...]]:
        """Return these columns of the table as rows."""
        data = self.view.rows.source.data
        return list(zip(*(list(data[name]) for name in names), strict=True))

    @property
    def facts(self) -> str:
        return str(self._divs()[0].text)

    @property
    def text(self) -> str:
        return str(self._divs()[1].text)

    @property
    def is_plain_text(self) -> bool:
        """Whether the page takes `text` as text, not as markup."""
        return bool(self._divs()[1].render_as_text)

    def click(self, row: int) -> None:
        self.view.rows.source.selected.indices = [row]

    def opened(self) -> Opening | None:
        """Take what the page asks to open, as the server does."""
        opening, self.view.opening = self.view.opening, None
        return opening

    def press(self, label: str) -> None:
        """Press a button."""
        buttons = [b for b in self.view.model.select({"type": Button}) if isinstance(b, Button)]
        button = next(b for b in buttons if b.label == label)
        assert not button.disabled
        button._trigger_event(ButtonClick(button))

    def choose(self, value: str) -> None:
        """Choose something in whichever list has it."""
        (found,) = [s for s in self.lists() if value in dict(options_of(s))]
        found.value = value
        self.settle()

    def lists(self) -> list[Select]:
        """Return the lists to choose from."""
        return [s for s in self.view.model.select({"type": Select}) if isinstance(s, Select)]

    def _divs(self) -> list[Div]:
        return [child for child in self.view.model.children if isinstance(child, Div)]


def options_of(made: Select) -> list[tuple[str, str]]:
    """Return value and words of each option; no page here has groups or plain options."""
    return [(str(option[0]), str(option[1])) for option in list(made.options) if option is not None]
