"""In a narrow pane a table has what it is for in sight, directly after the name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.views.data import Column
from dask_diag_lab.views.scheduler.system import Counters
from dask_diag_lab.views.tasks import exceptions
from dask_diag_lab.views.view import View
from dask_diag_lab.views.workers import workers_table

NARROW_PX = 420

TABLES = (
    (Counters.columns, ["name", "value", "growth"]),
    (exceptions.Exceptions.columns, ["exception", "tasks", "time"]),
    (workers_table.COLUMNS, ["name", "cpu", "memory", "memory_share", "status"]),
)


@pytest.mark.parametrize(("columns", "foremost"), TABLES)
def test_what_a_table_is_for_is_in_sight(
    columns: Sequence[Column], foremost: Sequence[str]
) -> None:
    first = columns[: len(foremost)]
    assert [column.name for column in first] == foremost
    assert sum(column.width for column in first) <= NARROW_PX


@pytest.mark.parametrize("columns", [Counters.columns, exceptions.Exceptions.columns])
def test_a_table_that_shares_its_width_needs_no_scrolling(columns: Sequence[Column]) -> None:
    assert sum(column.width for column in columns) <= NARROW_PX


@pytest.mark.parametrize(
    ("view", "foremost"),
    [
        (exceptions.Exceptions, ["exception", "tasks", "time"]),
        (workers_table.WorkersTable, ["name", "cpu", "memory"]),
    ],
)
def test_the_data_has_the_order_of_the_picture(view: type[View], foremost: Sequence[str]) -> None:
    assert [*view(Store()).table().columns][: len(foremost)] == foremost
