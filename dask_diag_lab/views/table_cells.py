"""Our own Bokeh models of a table's parts, whose browser side is ``src/models/tables.ts``.

Apart from `models`, because that script can only run where Bokeh's tables are loaded.
"""

from __future__ import annotations

from bokeh.core.properties import Bool, String
from bokeh.models.widgets.tables import StringFormatter, TableColumn

from dask_diag_lab.views.models import Keywords


class TextCell(Keywords, StringFormatter):
    """Text as it is, and all of it in a tooltip of the browser."""

    keeps_end = Bool(default=False, help="Whether the middle is cut where the column is narrow.")


class UnitCell(Keywords, StringFormatter):
    """A number in the words of all plots: ``12.3 MiB``, ``42 %``."""

    unit = String(default="number", help="See `data.Unit`.")


class ShareColumn(Keywords, TableColumn):
    """A column that keeps its share of the table's width; headers stand over their numbers.

    Bokeh makes all columns alike when it lays a table out in a place that is not shown yet.
    """
