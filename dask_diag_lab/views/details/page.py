"""A page about one thing: its facts and controls in the caption, and one of several sections.

A section is a table or text. All that comes from the cluster is sent as text, never as markup.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from bokeh.models.layouts import Column as Stack
from bokeh.models.widgets import Div

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.asked import Asked, can_ask
from dask_diag_lab.views.data import Column, ColumnData
from dask_diag_lab.views.figure import set_properties, smaller
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.tables import SortableTable
from dask_diag_lab.views.view import Caption, Control, Table, View

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

Columns = Mapping[str, ColumnData]
Facts = list[tuple[str, str]]
"""Labels and values; an empty value is left out."""
Answer = Mapping[str, Any]  # plain data, as `QUESTIONS` describes it

MAX_FACT: Final = 600
"""Characters of one fact."""
SECTION: Final = "section"
ASK: Final = "ask"


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
    """A page about one thing of many, named by `View.arguments`; ``show`` there names a section."""

    sections: ClassVar[Sequence[Section]]

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.asked = Asked(store)
        chosen = self._section_named(self.arguments.get("show", ""))
        self.section = chosen or self.sections[0]
        self._is_chosen = chosen is not None

    # What a subclass says.

    @abstractmethod
    def look_up(self) -> object:
        """Ask what has to be asked; return something that differs when anything changed."""

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
    def columns(self, section: Section) -> Columns:
        """Return the columns of a section that is a table."""

    @abstractmethod
    def text(self, section: Section) -> str:
        """Return the text of a section that has no columns, or of a table without rows.

        '' there shows the header of the table alone.
        """

    @abstractmethod
    def clicked(self, row: int) -> None:
        """Open what a row of the table stands for."""

    @abstractmethod
    def ask_again(self) -> None:
        """Ask at once for what is shown."""

    # The page.

    def build(self) -> UIElement:
        """Return the section; see `View.build`."""
        self._text = Div(
            render_as_text=True,
            disable_math=True,
            sizing_mode="stretch_both",
            margin=0,
            min_width=0,
            min_height=0,
        )
        # One table for all sections: the page finds the scripts it needs by what is here now.
        first = next(section for section in self.sections if section.columns)
        self.rows = SortableTable(self.look, first.columns, on_click=self.clicked)
        self.model = Stack(
            children=[self.rows.model, self._text], sizing_mode="stretch_both", spacing=0, margin=0
        )
        self._style()
        return self.model

    def _basis(self) -> object:
        """Return what is known of the thing: other changes of the store do not matter here."""
        found = self.look_up()  # it may go to another section
        return found, self.section.name, self.look, can_ask(self.store)

    def draw(self) -> None:
        """Draw caption and section; see `View.draw`."""
        self.caption = self._caption_now()
        section, text = self.section, ""
        if section.columns:
            columns = self.columns(section)
            self.rows.replace_columns(section.columns)
            self.rows.set(columns)
            has_rows = len(columns[section.columns[0].name]) > 0
            text = "" if has_rows else self.text(section)
        else:
            text = self.text(section)
        set_properties(self._text, text=text, visible=bool(text) or not section.columns)
        set_properties(self.rows.model, visible=bool(section.columns) and not text)

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show something else; see `View.show`."""
        super().show(arguments)
        self._drawn = None
        self.choose(arguments.get("show", ""))

    def set_control(self, name: str, value: str) -> None:
        """Go to another section, or ask again; a subclass adds its own controls."""
        if name == SECTION:
            self.choose(value)
        elif name == ASK:
            self.ask_again()

    def choose(self, name: str) -> None:
        """Show the section that somebody asked for, and stay with it."""
        section = self._section_named(name)
        if section is not None:
            self.section, self._is_chosen = section, True

    def propose(self, name: str) -> None:
        """Show a section unless somebody asked for another."""
        section = self._section_named(name)
        if section is not None and not self._is_chosen:
            self.section = section

    def table(self) -> Table:
        """Return the section's table, or its text line by line; see `View.table`."""
        self.look_up()
        section = self.section
        if not section.columns:
            return Table({section.name: self.text(section).splitlines()})
        columns = self.columns(section)
        if not len(columns[section.columns[0].name]):
            self.caption = replace(self.caption, empty=self.empty() or self.text(section))
        return Table({column.name: list(columns[column.name]) for column in section.columns})

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        self._style()
        self.update()

    def _style(self) -> None:
        look = self.look
        set_properties(self.model, styles={"background-color": look.background})
        self.rows.restyle(look)
        css = _TEXT_CSS.format(
            foreground=look.foreground,
            grid=look.grid,
            background=look.background,
            font_size=smaller(look.font_size),
        )
        set_properties(self._text, stylesheets=[css])

    def _caption_now(self) -> Caption:
        sections = [(section.name, section.title) for section in self.sections]
        controls = [
            *self.subject_controls(),
            Control(SECTION, "select", "Show", self.section.name, sections),
        ]
        if can_ask(self.store):
            controls.append(Control(ASK, "button", "Ask now"))
        facts = [(label, fmt.elide(value, MAX_FACT)) for label, value in self.facts() if value]
        return Caption(empty=self.empty(), note=self.note(), controls=controls, facts=facts)

    def _section_named(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)


def column_of(rows: Sequence[Answer], name: str, missing: Any = "") -> list[Any]:
    """Return one column of an answer's rows; ``missing`` for None and what is not there."""
    return [missing if (value := row.get(name)) is None else value for row in rows]


def stack_text(stacks: Sequence[Answer]) -> str:
    """Return call stacks as text, one after the other, outermost frame first."""
    return "\n\n".join(
        f"{stack['key']}\n" + "".join(line.rstrip() + "\n" for line in stack["frames"])
        for stack in stacks
    )


_TEXT_CSS: Final = """
:host {{ overflow: auto; background: {background}; border-top: 1px solid {grid}; }}
.bk-clearfix {{
  white-space: pre-wrap; overflow-wrap: anywhere; padding: 4px 8px;
  font: {font_size} ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color: {foreground}; tab-size: 4;
}}
"""
