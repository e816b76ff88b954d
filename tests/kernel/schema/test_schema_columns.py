"""One declaration for both ends: the rows that a collector sends arrive, or are refused by name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from dask_diag_lab.collector import NAME, PULL
from dask_diag_lab.schema.columns import WireError, columns_of, decoded
from dask_diag_lab.schema.tables import (
    ACTIONS,
    PREFIXES,
    PROTOCOL,
    RUNNING,
    TABLES,
    WORKERS,
    TableSchema,
)

OBJECTS: dict[str, Any] = {
    "text": "ä",
    "texts": ("a", "b"),
    "pairs": (("a", 1), ("b", "x"), ("c", None)),
}


def sample_rows(table: TableSchema, n: int = 3) -> list[tuple[Any, ...]]:
    """Return rows of a table in which no two numbers are equal."""

    def cell(row: int, place: int, dtype: str, size: int) -> object:
        number = 10 * row + place
        value = {"<f8": number + 0.5, "?": bool(row % 2)}.get(dtype, number)
        return tuple(number + i for i in range(size)) if size > 1 else OBJECTS.get(dtype, value)

    columns = list(enumerate(table.columns))
    return [tuple(cell(row, i, c.dtype, c.size) for i, c in columns) for row in range(n)]


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_rows_arrive_as_columns(table: TableSchema) -> None:
    rows = sample_rows(table)
    arrived = decoded(table, rows)
    wanted = columns_of(table, rows)
    for column in table.columns:
        values = arrived[column.name]
        if column.dtype == "pairs":
            assert values.tolist() == [dict(OBJECTS["pairs"])] * 3
        else:
            np.testing.assert_array_equal(values, wanted[column.name])
        assert values.dtype == (np.dtype(column.dtype) if column.is_number else object)
        assert len(decoded(table, ())[column.name]) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cpu", None),
        ("cpu", "1"),
        ("nthreads", 1.5),
        ("nthreads", 2**63),
        ("is_idle", 1),
        ("name", 1),
        ("metrics", (("a", []),)),
    ],
)
def test_a_wrong_cell_is_refused_with_the_name_of_its_column(name: str, value: object) -> None:
    *rows, last = sample_rows(WORKERS)
    place = [column.name for column in WORKERS.columns].index(name)
    with pytest.raises(WireError, match=rf"workers\.{name}"):
        decoded(WORKERS, [*rows, (*last[:place], value, *last[place + 1 :])])


@pytest.mark.parametrize("states", [(1, 2), (), None, ((1,),) * 8])
def test_a_cell_of_many_numbers_has_all_of_them(states: object) -> None:
    (name, _, *others), *rows = sample_rows(PREFIXES)
    with pytest.raises(WireError, match=r"prefixes\.states"):
        decoded(PREFIXES, [(name, states, *others), *rows])


def test_a_declaration_that_differs_has_another_version_which_is_part_of_every_name() -> None:
    code = """
from dask_diag_lab.schema import tables
columns = tables.ACTIONS.columns
tables.TABLES["actions"] = tables.ACTIONS._replace(columns=(columns[1], columns[0], *columns[2:]))
print(tables._version())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() != PROTOCOL
    assert NAME.endswith(PROTOCOL)
    assert PULL.endswith(PROTOCOL)
    assert ACTIONS.columns[0].name == "start"


@pytest.mark.parametrize("number", [-1, 2**32])
def test_a_number_that_a_column_has_no_room_for_is_refused(number: int) -> None:
    with pytest.raises(WireError, match=r"running\.worker"):
        decoded(RUNNING, [("key", number, 0, 1.0, 0)])


@pytest.mark.parametrize(
    "rows", [None, [None], [()], [sample_rows(WORKERS)[0], sample_rows(WORKERS)[1][1:]]]
)
def test_what_is_no_table_of_rows_is_refused_with_its_name(rows: object) -> None:
    with pytest.raises(WireError, match="workers"):
        decoded(WORKERS, rows)
