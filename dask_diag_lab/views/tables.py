"""Tables: a plot of rows of text and numbers, and the sortable table that it is made of.

A table fills its pane, sorts by a click on a header and sends only columns that changed. Cells are
text to the page, never markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from bokeh.models.layouts import Column as Stack
from bokeh.models.widgets.tables import DataTable

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.data import Column, ColumnData, DataPlot, Rows
from dask_diag_lab.views.figure import Source, set_properties, smaller
from dask_diag_lab.views.look import Look, mixed
from dask_diag_lab.views.table_cells import ShareColumn, TextCell, UnitCell

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement

ROW_PX: Final = 24
LEAST_SHARE: Final = 0.8
"""So much of its width a column keeps in any case; as in `models/tables.ts`."""
LINE_PX: Final = 16
"""Of rows with several lines."""

MAX_CELL_CHARACTERS: Final = 300
"""More of a text does not fit into a cell; a key may have 10 kB."""

_UNKNOWN: Final = "–"

_WIDTHS: Final[Mapping[str, int]] = {
    "text": 130,
    "key": 180,
    "number": 80,
    "count": 80,
    "bytes": 90,
    "rate": 90,
    "percent": 76,
    "seconds": 86,
    "time": 80,
}


class TablePlot(DataPlot):
    """A table of `rows`, which the reader sorts by a click on a header.

    Attributes
    ----------
    key : str
        Column whose value is given to `open_row`; '' where a click on a row opens nothing.
    frozen : int
        So many columns stay when the others scroll sideways; all keep their width then.
    lines : int
        So many lines of text fit into a row.
    """

    key: ClassVar[str] = ""
    frozen: ClassVar[int] = 0
    lines: ClassVar[int] = 1

    def cells(self, rows: Rows) -> Rows:
        """Return what the picture shows of the rows, where that differs from the data."""
        return rows

    def open_row(self, key: str) -> None:
        """Open what a click on a row asks for."""

    def build(self) -> UIElement:
        """Return the table; see `View.build`."""
        on_click = self._clicked if self.key else None
        columns = [column for column in self.columns if column.shown]
        layout = {"frozen": self.frozen, "lines": self.lines}
        self.sortable = SortableTable(self.look, columns, on_click=on_click, **layout)
        return self.sortable.model

    def draw_rows(self, rows: Rows) -> None:
        """Send the columns that changed; see `DataPlot.draw_rows`."""
        self._keys = rows.get(self.key, ())
        self.sortable.replace_columns([column for column in self.columns if column.shown])
        self.sortable.set(self.cells(rows))

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        self.sortable.restyle(self.look)
        self.update()

    def _clicked(self, row: int) -> None:
        if row < len(self._keys):
            self.open_row(self._keys[row])


class SortableTable:
    """A table for a pane, or for a place below a figure.

    Parameters
    ----------
    look : Look
    columns : sequence of Column
    on_click : callable, optional
        Takes the index of the row, as given to `set`, that was clicked or reached by keyboard.
        Without it rows can be selected, and copied with Ctrl-C.
    frozen : int
        So many columns stay when the others scroll sideways; all keep their width then. With 0
        columns share the width of the pane, and scroll when that is too little.
    lines : int
        So many lines of text fit into a row.

    Attributes
    ----------
    model : Column
        What goes into the layout.
    table : DataTable
    source : ColumnDataSource
    """

    def __init__(
        self,
        look: Look,
        columns: Sequence[Column],
        *,
        on_click: Callable[[int], None] | None = None,
        frozen: int = 0,
        lines: int = 1,
    ) -> None:
        self._drawings = 0
        self.columns = tuple(columns)
        self._frozen, self._lines = frozen, lines
        self._on_click = on_click
        self._data = Source(*(c.name for c in columns))
        self.source = self._data.model
        self.table = DataTable(
            source=self.source,
            sizing_mode="stretch_both",
            index_position=None,
            reorderable=False,
            scroll_to_selection=False,
            row_height=row_px(lines),
            autosize_mode="none" if frozen else "force_fit",
            frozen_columns=frozen or None,
            css_classes=["ddl-frozen"] if frozen else [],
            margin=0,
        )
        self.model = Stack(
            children=[self.table],
            sizing_mode="stretch_both",
            stylesheets=[":host { overflow: auto hidden; }"],
            margin=0,
            min_width=0,
            min_height=0,
        )
        if on_click is not None:
            self.source.selected.on_change("indices", self._selected)
        self._lay_out()
        self.restyle(look)

    def set(self, values: Mapping[str, ColumnData]) -> bool:
        """Show these values; return whether anything was sent.

        Parameters
        ----------
        values : mapping of str to array or sequence
            One of equal length for each column, by name.
        """
        is_changed = self._data.set({c.name: _cells(c, values[c.name]) for c in self.columns})
        if is_changed:
            self._redraw()
        return is_changed

    def _redraw(self) -> None:
        """Have the page draw its cells anew, where it stands scrolled and sorted.

        From Bokeh 3.9.1 on it does so only when the number of rows has changed
        (https://github.com/bokeh/bokeh/issues/15328), or when the view of the source has: its name
        is sent to the page without a search of the whole document, which another filter takes.
        """
        self._drawings += 1
        self.table.view.name = f"drawing {self._drawings}"

    def replace_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns from the next `set` on; the page forgets what it sorted by."""
        if tuple(columns) != self.columns:
            self.columns = tuple(columns)
            self._data.set({c.name: [] for c in columns})
            self._lay_out()

    def restyle(self, look: Look) -> None:
        """Apply another look."""
        set_properties(self.model, styles={"background-color": look.background})
        set_properties(self.table, stylesheets=[table_css(look, self._lines)])

    def _lay_out(self) -> None:
        share = 1.0 if self._lines == 1 else LEAST_SHARE  # what wraps can do with less
        self.table.update(
            columns=[_bokeh_column(column) for column in self.columns],
            min_width=0 if self._frozen else int(share * sum(map(_width, self.columns))),
        )

    def _selected(self, _attribute: str, _old: object, new: list[int]) -> None:
        if new and self._on_click is not None:
            index = int(new[0])
            # What opens something is not chosen for long, so that it can be clicked again.
            self.source.selected.indices = []
            if index >= 0:
                self._on_click(index)


def _bokeh_column(column: Column) -> ShareColumn:
    style: dict[str, Any] = {  # options of a Bokeh model have no common type
        "text_align": "left" if column.is_text else "right",
        "nan_format": _UNKNOWN,
        "null_format": _UNKNOWN,
    }
    is_key = column.unit == "key"
    return ShareColumn(
        field=column.name,
        title=escape(column.label),  # the page takes a header as markup
        width=_width(column),
        formatter=TextCell(keeps_end=is_key, **style)
        if column.is_text
        else UnitCell(unit=column.unit, **style),
        default_sort="ascending" if column.is_text else "descending",
    )


def _width(column: Column) -> int:
    return column.width or _WIDTHS[column.unit]


def _cells(column: Column, values: ColumnData) -> ColumnData:
    """Return a column as it is sent: text cut; numbers stay such, since Bokeh sorts by them."""
    if column.is_text:
        return [fmt.elide(str(value), MAX_CELL_CHARACTERS) for value in values]
    return np.asarray(values, dtype=np.float64)


_LINES_CSS: Final = """
.slick-cell {{
  line-height: {line}px; padding-top: 4px; white-space: normal; overflow-wrap: anywhere;
}}
.slick-cell > div {{
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: {lines};
}}
"""

_CSS: Final = """
:host {{ --data-table-font-size: {font_size}; background: {background}; }}
.bk-data-table {{
  font: {font_size} {font}; color: {foreground}; background: {background};
  font-variant-numeric: tabular-nums;
}}
.slick-header-columns {{ background: {background}; border-bottom: 1px solid {muted}; }}
.slick-header-column, .slick-header-column.ui-state-default {{
  background: {background}; color: {muted}; border: 0; font-weight: 600;
}}
.slick-header-column:hover, .slick-header-column-active,
.slick-header-column.slick-header-column-sorted {{
  background: {background}; color: {foreground};
}}
.ddl-number .slick-column-name, .ddl-number .slick-sort-indicator {{ float: right; }}
.slick-viewport, .grid-canvas, .slick-pane {{ background: {background}; }}
.slick-row, .slick-row.odd {{ background: {background}; }}
.slick-row:hover .slick-cell {{ background: {hover}; }}
.slick-cell, .slick-cell.bk-cell-index {{
  border: 0; border-bottom: 1px solid {grid}; background: {background};
  color: {foreground}; padding: 1px 6px; line-height: 21px;
  box-sizing: border-box; height: {row}px;
}}
.slick-cell > div {{ overflow: hidden; text-overflow: ellipsis; }}
.slick-cell > .ddl-ends {{ display: flex; }}
.ddl-ends > span {{ white-space: pre; flex: none; }}
.ddl-ends > :first-child {{
  flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis;
}}
.slick-cell.selected {{ background: {hover}; }}
.slick-cell.active {{ border: 0; border-bottom: 1px solid {accent}; }}
:host(.ddl-frozen) .slick-pane-left {{ border-right: 1px solid {muted}; box-sizing: border-box; }}
/* A bar that moves nothing: it is as high as the other pane's, so that rows align. */
:host(.ddl-frozen) .slick-pane-left .slick-viewport {{ scrollbar-color: transparent transparent; }}
"""


def row_px(lines: int) -> int:
    """Return how high a row is."""
    return ROW_PX if lines == 1 else LINE_PX * lines + 8


def table_css(look: Look, lines: int = 1) -> str:
    """Return the style sheet of a table whose rows have so many lines."""
    css = _CSS.format(
        **{**look.style, "font_size": smaller(look.font_size)},
        hover=mixed(look.background, look.accent, 0.14),
        row=row_px(lines),
    )
    return css if lines == 1 else css + _LINES_CSS.format(line=LINE_PX, lines=lines)
