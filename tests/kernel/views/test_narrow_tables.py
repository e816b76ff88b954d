"""In a narrow pane a table has what it is for in sight, directly after the name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.views.base import View
from dask_diag_lab.views.data_table import TableColumn
from dask_diag_lab.views.scheduler import counters
from dask_diag_lab.views.tasks import exceptions
from dask_diag_lab.views.workers import workers_table

NARROW_PX = 420

TABLES = (
    (counters.COLUMNS, ["name", "value", "growth"]),
    (exceptions.COLUMNS, ["exception", "tasks", "time"]),
    (workers_table.COLUMNS, ["name", "cpu", "memory", "memory_share", "status"]),
)


@pytest.mark.parametrize(("columns", "foremost"), TABLES)
def test_what_a_table_is_for_is_in_sight(
    columns: Sequence[TableColumn], foremost: Sequence[str]
) -> None:
    first = columns[: len(foremost)]
    assert [column.name for column in first] == foremost
    assert sum(column.width_px for column in first) <= NARROW_PX


@pytest.mark.parametrize("columns", [counters.COLUMNS, exceptions.COLUMNS])
def test_a_table_that_shares_its_width_needs_no_scrolling(columns: Sequence[TableColumn]) -> None:
    assert sum(column.width_px for column in columns) <= NARROW_PX


@pytest.mark.parametrize(
    ("view", "foremost"),
    [
        (exceptions.Exceptions, ["exception", "tasks", "time"]),
        (workers_table.WorkersTable, ["name", "cpu", "memory"]),
    ],
)
def test_the_data_has_the_order_of_the_picture(view: type[View], foremost: Sequence[str]) -> None:
    assert [*view(Store()).table().columns][: len(foremost)] == foremost
