"""A profile as rows: functions with their own and total time, for the table and the exports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dask_diag_lab.views.base import Table
from dask_diag_lab.views.data_table import TableColumn
from dask_diag_lab.views.profile.files import short_file
from dask_diag_lab.views.profile.ledger import Entry

COLUMNS: Final = (
    TableColumn("function", "Function", "text", 180),
    TableColumn("own_s", "Itself", "seconds"),
    TableColumn("total_s", "Total", "seconds"),
    TableColumn("share", "Share", "percent"),
    TableColumn("samples", "Samples", "number"),
    TableColumn("place", "Where", "text", 240),
)


def table(entries: Sequence[Entry], samples: int, interval_s: float) -> Table:
    """Return these functions.

    ``share`` is of all samples; ``samples`` and ``total_s`` count a recursive call once.
    """
    lines = [f":{entry.line_number}" if entry.line_number else "" for entry in entries]
    return Table(
        columns={
            "function": [entry.name for entry in entries],
            "own_s": [entry.own * interval_s for entry in entries],
            "total_s": [entry.total * interval_s for entry in entries],
            "share": [entry.total / samples for entry in entries],
            "samples": [entry.total for entry in entries],
            "place": [
                short_file(entry.filename) + line
                for entry, line in zip(entries, lines, strict=True)
            ],
            "filename": [entry.filename for entry in entries],
            "line_number": [entry.line_number for entry in entries],
        },
        units={"own_s": "s", "total_s": "s"},
    )
