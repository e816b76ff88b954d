"""A page about one thing: its facts and controls in the caption, and one of several sections.

A section is a table or text. All that comes from the cluster is sent as text, never as markup.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from bokeh.models.layouts import Column as Stack

from dask_diag_lab.store.queries import PolledQueries, can_ask
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import Column, ColumnData
from dask_diag_lab.views.figure import restyle_text_pane, set_properties, text_pane
from dask_diag_lab.views.tables import SortableTable
from dask_diag_lab.views.view import Caption, Control, Table, View

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store.queries import Query

Facts = list[tuple[str, str]]
"""Labels and values; an empty value is left out."""
Answer = Mapping[str, Any]  # plain data, as `transport.answers` describes it
Row = Mapping[str, Any]  # values by the names of a section's columns; None for unknown ones

MAX_FACT: Final = 600
"""Characters of one fact."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the page.

    Attributes
    ----------
    name, title : str
    columns : tuple of Column
        Of a table; empty for a part that is text.
    """

    name: str
    title: str
    columns: tuple[Column, ...] = ()


class DetailPage(View):
    """A page about one thing of many, named by `View.arguments`; ``show`` there names a section.

    Attributes
    ----------
    section : Section
        What is shown.
    queries : list of Query
        What `look_up` asked, of which the page shows the answers.
    """

    sections: ClassVar[Sequence[Section]]

    def set_up(self) -> None:
        """Make what it keeps; see `View.set_up`."""
        self.asked = PolledQueries(self.live)
        self.queries: list[Query] = []
        self.section = self.sections[0]
        self._is_chosen = False
        self.choose(self.arguments.get("show", ""))

    # What a subclass says.

    @abstractmethod
    def look_up(self) -> object:
        """Ask what has to be asked; return something that differs when anything else changed."""

    @abstractmethod
    def subject_controls(self) -> Sequence[Control]:
        """Return what chooses the thing and opens others."""

    @abstractmethod
    def facts(self) -> Facts:
        """Return what is known in a few words each."""

    @abstractmethod
    def empty(self) -> str:
        """Return why there is nothing to show of it, and what to do; '' where there is."""

    @abstractmethod
    def note(self) -> str:
        """Return what is missing, cut or late."""

    @abstractmethod
    def rows(self, section: Section) -> Sequence[Row]:
        """Return the rows of a section that is a table."""

    @abstractmethod
    def text(self, section: Section) -> str:
        """Return the text of a section that has no columns, or of a table without rows.

        '' there shows the header of the table alone.
        """

    @abstractmethod
    def open_row(self, row: Row) -> None:
        """Open what a row of the table stands for."""

    # The page.

    def build(self) -> UIElement:
        """Return the section; see `View.build`."""
        self._text = text_pane(self.look)
        # One table for all sections: the page finds the scripts it needs by what is here now.
        first = next(section for section in self.sections if section.columns)
        self.sortable = SortableTable(self.look, first.columns, on_click=self._clicked)
        parts: list[UIElement] = [self.sortable.model, self._text]
        return Stack(children=parts, sizing_mode="stretch_both", spacing=0, margin=0)

    def _basis(self) -> object:
        """Return what is known of the thing: other changes of the history do not matter here."""
        found = self.look_up()  # it may go to another section
        asked = [(id(query), query.version) for query in self.queries]
        return found, asked, self.arguments, self.section.name, self.look, can_ask(self.live)

    def draw(self) -> None:
        """Draw caption and section; see `View.draw`."""
        sections = [(section.name, section.title) for section in self.sections]
        show = Control("section", "select", "Show", self.section.name, sections)
        ask = [Control("ask", "button", "Ask now")] if can_ask(self.live) else []
        self.caption = Caption(
            empty=self.empty(),
            note=self.note(),
            controls=[*self.subject_controls(), show, *ask],
            facts=[(label, fmt.elide(value, MAX_FACT)) for label, value in self.facts() if value],
        )
        section = self.section
        is_empty = bool(self.caption.empty)  # which says why, in the place of the section
        self._rows = self.rows(section) if section.columns and not is_empty else []
        if section.columns:
            self.sortable.replace_columns(section.columns)
            self.sortable.set({c.name: _cells(c, self._rows) for c in section.columns})
        text = "" if self._rows or is_empty else self.text(section)
        is_text = bool(text) or not section.columns or is_empty
        set_properties(self._text, text=text, visible=is_text)
        set_properties(self.sortable.model, visible=not is_text)

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show something else; see `View.show`."""
        super().show(arguments)
        self.choose(arguments.get("show", ""))

    def set_control(self, name: str, value: str) -> None:
        """Go to another section, or ask again; a subclass adds its own controls."""
        if name == "section":
            self.choose(value)
        elif name == "ask" and can_ask(self.live):
            for query in self.queries:
                self.live.queries.ask_again(query)

    def choose(self, name: str) -> None:
        """Show the section that somebody asked for, and stay with it."""
        for section in self.sections:
            if section.name == name:
                self.section, self._is_chosen = section, True

    def propose(self, section: Section) -> None:
        """Show a section unless somebody asked for another."""
        if not self._is_chosen:
            self.section = section

    def table(self) -> Table:
        """Return the section's table, or its text line by line; see `View.table`."""
        self.look_up()
        section = self.section
        if not section.columns:
            return Table({section.name: self.text(section).splitlines()})
        rows = self.rows(section)
        if not rows:
            self.caption = replace(self.caption, empty=self.empty() or self.text(section))
        return Table({c.name: [row.get(c.name) for row in rows] for c in section.columns})

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        self.sortable.restyle(self.look)
        restyle_text_pane(self._text, self.look)
        self.update()

    def _clicked(self, row: int) -> None:
        if row < len(self._rows):
            self.open_row(self._rows[row])


def _cells(column: Column, rows: Sequence[Row]) -> ColumnData:
    unknown = "" if column.is_text else np.nan
    values = (row.get(column.name) for row in rows)
    return [unknown if value is None else value for value in values]


def stack_text(stacks: Sequence[Answer]) -> str:
    """Return call stacks as text, one after the other, outermost frame first."""
    return "\n\n".join(
        f"{stack['key']}\n" + "".join(line.rstrip() + "\n" for line in stack["frames"])
        for stack in stacks
    )


def listed(n_rows: int, n: int, noun: str) -> str:
    """Return how many of all there are that are listed; '' where all are."""
    return f"{fmt.count(n_rows)} of {fmt.count(n)} {noun} listed." if 0 < n_rows < n else ""
