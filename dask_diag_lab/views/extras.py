"""What plots of one extra table of the store have in common: its table, and why it is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dask_diag_lab.views.view import Table

if TYPE_CHECKING:
    from dask_diag_lab.store.extras import ExtraTable

WAITING: Final = "Waiting for the scheduler's answer."


def extra_table(extra: ExtraTable) -> Table:
    """Return every row of an extra table."""
    units = {column.name: column.unit for column in extra.table.columns if column.unit}
    return Table({name: extra[name].tolist() for name in extra.columns}, units)


def why_none(extra: ExtraTable, none: str) -> str:
    """Return why a table has no rows: `none` where the scheduler has told of it."""
    return none if extra.is_known else WAITING
