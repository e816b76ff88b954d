"""The sortable table: what is sent, what is text, what a click does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.document.events import ColumnDataChangedEvent, DocumentChangedEvent, ModelChangedEvent
from bokeh.models.widgets.tables import HTMLTemplateFormatter, StringFormatter

from dask_diag_lab.views.data import Column
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.table_cells import ShareColumn, TextCell, UnitCell
from dask_diag_lab.views.tables import MAX_CELL_CHARACTERS, SortableTable

COLUMNS = (
    Column("name", "Name"),
    Column("memory", "Memory", "bytes"),
    Column("seen", "Seen", "time"),
)
VALUES: dict[str, Any] = {
    "name": ["a", "b", "c"],
    "memory": np.array([9 << 30, 10 << 30, 0]),
    "seen": np.array([1e9, np.nan, 1e9 + 1]),
}


def shown(**options: Any) -> tuple[SortableTable, list[DocumentChangedEvent]]:
    """Return a table with `VALUES` in a document, and what it sends from now on."""
    table = SortableTable(LIGHT, COLUMNS, **options)
    document = Document()
    events: list[DocumentChangedEvent] = []
    document.add_root(table.model)
    table.set(VALUES)
    document.on_change(events.append)
    return table, events


def test_only_the_columns_that_changed_are_sent() -> None:
    table, events = shown()
    assert table.set({**VALUES, "memory": np.array([1, 2, 3])})
    event, redraw = events
    assert isinstance(event, ColumnDataChangedEvent)
    assert event.cols == ["memory"]
    assert isinstance(redraw, ModelChangedEvent)
    assert redraw.model is table.table.view


def test_cells_and_headers_are_never_markup() -> None:
    table = SortableTable(LIGHT, [Column("x", "<img src=x>")])
    table.set({"x": ["<b>bold</b>" + "x" * 10_000]})
    column = table.table.columns[0]
    assert "<" not in str(column.title)
    assert not isinstance(column.formatter, HTMLTemplateFormatter)
    assert len(table.source.data["x"][0]) == MAX_CELL_CHARACTERS


def test_a_click_tells_the_row_and_can_be_repeated() -> None:
    clicked: list[int] = []
    table, _ = shown(on_click=clicked.append)
    table.source.selected.indices = [2]
    table.source.selected.indices = [2]
    assert clicked == [2, 2]
    assert table.source.selected.indices == []


def test_the_browser_side_has_the_models_with_their_properties() -> None:
    text = (Path(__file__).parents[3] / "src/models/tables.ts").read_text(encoding="utf-8")
    assert all(f"cell('{model.__name__}'" in text for model in (TextCell, UnitCell, ShareColumn))
    own = (TextCell.properties() | UnitCell.properties()) - StringFormatter.properties()
    assert set(re.findall(r"(\w+): \[(?:Bool|Str)", text)) == own


def test_a_long_key_is_sent_with_its_beginning_and_its_end() -> None:
    table = SortableTable(LIGHT, [Column("key", "Task", "key")])
    table.set({"key": [f"('{'a' * 10_000}', 12, 5)"]})
    (sent,) = table.source.data["key"]
    assert (len(sent), sent[:5], sent[-7:]) == (300, "('aaa", " 12, 5)")
