"""Cells of tables: both sides agree on the models, and pages have their script after the tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bokeh.models.widgets.tables import StringFormatter, TableColumn

from dask_diag_lab.server.sessions import scripts_for
from dask_diag_lab.views import table_cells
from dask_diag_lab.views.data import Column
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.table_cells import SizeCell, SteadyColumn, TextCell
from dask_diag_lab.views.tables import SortableTable

SOURCE = Path(__file__).parents[3] / "src" / "models" / "tables.ts"
COLUMNS = (Column("key", "Task", "key"), Column("state", "State"), Column("n", "n", "number"))


def formatters() -> dict[str, object]:
    """Return the formatter of each column."""
    table = SortableTable(LIGHT, COLUMNS).table
    return {str(column.field): column.formatter for column in table.columns}


def test_the_browser_side_has_the_models_with_their_properties() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert f"modelsOf('{table_cells.__name__}')" in text
    for model in (TextCell, SizeCell, SteadyColumn):
        assert f"model('{model.__name__}'" in text
    assert SteadyColumn.properties() == TableColumn.properties()
    defined = set(re.findall(r"(\w+): \[(?:Bool|Str|Float)", text))
    own = TextCell.properties() | SizeCell.properties()
    assert defined == own - StringFormatter.properties()


def test_a_page_with_a_table_loads_the_script_after_the_tables_and_others_do_not() -> None:
    scripts = scripts_for(SortableTable(LIGHT, COLUMNS).model.references())
    ours = "static/dask-diag-lab/dist/table_cells.js"
    assert scripts.index("static/js/bokeh-tables.min.js") < scripts.index(ours)
    assert ours not in scripts_for([SortableTable(LIGHT, COLUMNS).source])


@pytest.mark.parametrize(("name", "keeps_end"), [("key", True), ("state", False)])
def test_keys_keep_their_end_and_other_text_its_beginning(name: str, keeps_end: bool) -> None:
    formatter = formatters()[name]
    assert isinstance(formatter, TextCell)
    assert formatter.keeps_end == keeps_end


def test_numbers_are_written_by_bokeh() -> None:
    assert not isinstance(formatters()["n"], TextCell)


def test_long_key_is_sent_with_its_beginning_and_its_end() -> None:
    table = SortableTable(LIGHT, COLUMNS)
    key = f"('{'a' * 10_000}', 12, 5)"
    table.set({"key": [key], "state": ["memory"], "n": [1]})
    (sent,) = table.source.data["key"]
    assert len(sent) == 300
    assert sent.startswith("('aaa")
    assert sent.endswith("aaa', 12, 5)")
