"""A page about one thing: controls, its facts in a line or two, and one of several sections below.

Knows the store only by its inquiries. All that comes from the cluster is escaped or sent as text.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Final

from bokeh.models.layouts import Column
from bokeh.models.widgets import Div

from dask_diag_lab.views import controls
from dask_diag_lab.views.asked import Asked
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.data_table import SortableTable, TableColumn
from dask_diag_lab.views.figure import ColumnData, set_properties, smaller
from dask_diag_lab.views.look import LIGHT, Look
from dask_diag_lab.views.redrawn import RedrawnView

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

    from dask_diag_lab.store import Store

Values = Mapping[str, ColumnData]
Facts = Sequence[tuple[str, str]]
"""What is known, as name and words."""

MAX_FACT: Final = 600
"""Characters of one fact."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the page.

    Attributes
    ----------
    name, title : str
    columns : tuple of TableColumn
        Of a table; empty for a part that is text.
    """

    name: str
    title: str
    columns: tuple[TableColumn, ...] = ()


class DetailPage(RedrawnView):
    """A page about one thing of many, named by `View.arguments`; ``show`` there names a section."""

    sections: ClassVar[Sequence[Section]]
    is_chosen: bool
    """Somebody asked for the section that is shown; else the page may choose one that fits."""

    def __init__(
        self, store: Store, look: Look = LIGHT, arguments: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(store, look, arguments)
        self.asked = Asked(store)
        wanted = self._section_of(self.arguments.get("show", ""))
        self.section = wanted or self.sections[0]
        self.is_chosen = wanted is not None

    # --- what a subclass says

    @abstractmethod
    def controls(self) -> Sequence[UIElement]:
        """Return the controls in front of the choice of the section; called once by `build`."""

    @abstractmethod
    def look_up(self) -> object:
        """Ask what has to be asked; return something that differs when anything changed."""

    @abstractmethod
    def draw_controls(self) -> None:
        """Bring the controls and `notice` up to what is known."""

    @abstractmethod
    def facts(self) -> Facts:
        """Return what stands above the section."""

    @abstractmethod
    def values(self, section: Section) -> Values:
        """Return the columns of a section that is a table."""

    def text(self, section: Section) -> str:
        """Return the words of a section that is text."""
        del section
        return ""

    def nothing(self, section: Section) -> str:
        """Return the words in the place of a table without rows; '' to show its header alone."""
        del section
        return ""

    def clicked(self, row: int) -> None:
        """Open what a row of the table stands for."""

    # --- the page

    def build(self) -> UIElement:
        """Return controls, facts and section; see `View.build`."""
        self._choice = controls.select(
            self.look,
            "",
            [(section.name, section.title) for section in self.sections],
            self.section.name,
            self._chosen,
            width=130,
        )
        self._bar = controls.bar(*self.controls(), self._choice)
        self._bar.stylesheets = [*self._bar.stylesheets, _LOW_CSS]
        self._facts = Div(disable_math=True, sizing_mode="stretch_width", margin=0)
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
        self.model = Column(
            children=[self._bar, self._facts, self.rows.model, self._text],
            sizing_mode="stretch_both",
            spacing=0,
            margin=0,
        )
        self._arrange()
        self.restyle_models()
        return self.model

    def shown(self) -> object:
        """Return what differs when the page has to; see `RedrawnView.shown`."""
        found = self.look_up()  # it may go to another section
        return found, self.section.name, self.look

    def redraw(self) -> None:
        """Draw controls, facts and section; see `RedrawnView.redraw`."""
        self.draw_controls()
        set_properties(self._facts, text=_facts_html(self.facts()))
        section, words = self.section, ""
        if section.columns:
            values = self.values(section)
            words = "" if len(values[section.columns[0].name]) else self.nothing(section)
            self.rows.set(values)
        is_table = bool(section.columns) and not words
        set_properties(self._text, text=words if section.columns else self.text(section))
        # The words for an empty page lie in their place.
        is_shown = not self.notice.empty
        set_properties(self.rows.model, visible=is_table and is_shown)
        set_properties(self._text, visible=not is_table and is_shown)
        set_properties(self.model, stylesheets=[_PAGE_CSS] if is_shown else [])

    def show(self, arguments: Mapping[str, str]) -> None:
        """Show something else; see `View.show`."""
        super().show(arguments)
        self._drawn = None
        section = self._section_of(arguments.get("show", ""))
        if section is not None:
            self.choose(section.name)

    def choose(self, name: str) -> None:
        """Show a section that somebody asked for, and stay with it."""
        self.is_chosen = True
        self._go_to(name)

    def propose(self, name: str) -> None:
        """Show a section unless somebody asked for another."""
        if not self.is_chosen:
            self._go_to(name)

    def _go_to(self, name: str) -> None:
        section = self._section_of(name)
        if section is None or section is self.section:
            return
        self.section = section
        self._drawn = None
        if hasattr(self, "_choice"):
            set_properties(self._choice, value=name)
            self._arrange()

    def table(self) -> Table:
        """Return the section's table, or its text line by line; see `View.table`."""
        self.look_up()
        if self.section.columns:
            values = self.values(self.section)
            if not self.notice.empty and not len(values[self.section.columns[0].name]):
                self.notice = replace(self.notice, empty=self.nothing(self.section))
            return Table(
                {column.name: list(values[column.name]) for column in self.section.columns}
            )
        return Table({self.section.name: self.text(self.section).splitlines()})

    def _chosen(self, name: str) -> None:
        if name != self.section.name:
            self.choose(name)

    def _section_of(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)

    def _arrange(self) -> None:
        """Give the table the columns of the section."""
        if self.section.columns:
            self.rows.replace_columns(self.section.columns)

    def restyle_models(self) -> None:
        """Apply `look`; see `RedrawnView.restyle_models`."""
        look = self.look
        set_properties(self.model, styles={"background-color": look.background})
        controls.restyle_controls([self._bar], look)
        self.rows.restyle(look)
        style = {
            "foreground": look.foreground,
            "muted": look.muted,
            "grid": look.grid,
            "background": look.background,
            "font": look.font,
            "font_size": smaller(look.font_size),
        }
        set_properties(self._facts, stylesheets=[_FACTS_CSS.format(**style)])
        set_properties(self._text, stylesheets=[_TEXT_CSS.format(**style)])


def column_of(rows: Sequence[Mapping[str, Any]], name: str, missing: Any = "") -> list[Any]:
    """Return one column of an answer's rows; ``missing`` for None and what is not there."""
    return [missing if (value := row.get(name)) is None else value for row in rows]


def _facts_html(facts: Facts) -> str:
    """Return the facts as markup: names and words are escaped, for they may be anything."""
    parts = [
        f"<span><i>{escape(name)}</i> {escape(_cut(words))}</span>"
        for name, words in facts
        if words
    ]
    return "".join(parts)


def _cut(words: str) -> str:
    return words if len(words) <= MAX_FACT else words[:MAX_FACT] + "…"


# There is no figure that would tell how large the page is, so its style decides.
_PAGE_CSS: Final = ":host { container-type: size; }"
_LOW_CSS: Final = "@container (max-height: 150px) { :host { display: none; } }"
"""Controls leave where they would leave no room for the section, unless they are all there is."""

# The element inside has a display and a font of its own.
_FACTS_CSS: Final = """
:host {{ flex: 0 1 auto; max-height: 32%; overflow: auto; background: {background}; }}
.bk-clearfix {{
  display: flex !important; flex-wrap: wrap; gap: 1px 14px; padding: 1px 8px 5px;
  font: {font_size} {font}; color: {foreground}; font-variant-numeric: tabular-nums;
}}
.bk-clearfix::before, .bk-clearfix::after {{ display: none; }}
span {{ overflow-wrap: anywhere; min-width: 0; }}
i {{ font-style: normal; color: {muted}; }}
"""

_TEXT_CSS: Final = """
:host {{ overflow: auto; background: {background}; border-top: 1px solid {grid}; }}
.bk-clearfix {{
  white-space: pre-wrap; overflow-wrap: anywhere; padding: 4px 8px;
  font: {font_size} ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color: {foreground}; tab-size: 4;
}}
"""
