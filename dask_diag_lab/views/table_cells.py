"""Our own Bokeh models of a table's parts, whose browser side is ``src/models/tables.ts``.

Apart from `scripted`, because that script can only run where Bokeh's tables are loaded.
"""

from __future__ import annotations

from typing import Any

from bokeh.core.properties import Bool, String
from bokeh.models.widgets.tables import StringFormatter, TableColumn


class TextCell(StringFormatter):
    """Text as it is, and all of it in a tooltip of the browser."""

    keeps_end = Bool(default=False, help="Whether the middle gives way where room is short.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class SizeCell(StringFormatter):
    """A number of bytes in the words of all plots: ``12.3 MiB``, and ``0 B`` for none."""

    unit = String(default="B", help="What is counted, such as B or B/s.")
    is_binary = Bool(default=True, help="Whether its steps are of 1024, else of 1000.")

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)


class SteadyColumn(TableColumn):
    """A column that keeps its share of the table's width.

    Bokeh makes all columns alike when it lays a table out in a place that is not shown yet.
    """

    def __init__(self, **properties: Any) -> None:  # as all Bokeh models do
        super().__init__(**properties)
