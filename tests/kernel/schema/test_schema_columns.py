"""One declaration for both ends: what a collector packs is what arrives, or is refused by name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from dask_diag_lab.collector import NAME, PULL
from dask_diag_lab.collector.wire import pack
from dask_diag_lab.schema import ACTIONS, PROTOCOL, TABLES, WORKERS, Table
from dask_diag_lab.schema.columns import WireError, columns_of, decoded

OBJECTS: dict[str, Any] = {
    "text": "ä",
    "texts": ("a", "b"),
    "ints": (1, 2),
    "pairs": (("a", 1), ("b", "x"), ("c", None)),
}


def sample_rows(table: Table, n: int = 3) -> list[tuple[Any, ...]]:
    """Return rows of a table in which no two numbers are equal."""

    def cell(row: int, place: int, dtype: str, size: int) -> object:
        number = 10 * row + place
        value = {"<f8": number + 0.5, "?": bool(row % 2)}.get(dtype, number)
        return tuple(number + i for i in range(size)) if size > 1 else OBJECTS.get(dtype, value)

    columns = list(enumerate(table.columns))
    return [tuple(cell(row, i, c.dtype, c.size) for i, c in columns) for row in range(n)]


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_what_is_packed_is_what_arrives(table: Table) -> None:
    rows = sample_rows(table)
    arrived = decoded(table, pack(table, rows))
    wanted = columns_of(table, rows)
    for column in table.columns:
        values = arrived[column.name]
        if column.dtype == "pairs":
            assert values.tolist() == [dict(OBJECTS["pairs"])] * 3
        else:
            np.testing.assert_array_equal(values, wanted[column.name])
        assert values.dtype == (np.dtype(column.dtype) if column.is_number else object)
        assert len(decoded(table, pack(table, ()))[column.name]) == 0


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cpu", None, "expected bytes"),
        ("cpu", b"123", "no whole rows"),
        ("cpu", b"\0" * 16, "differ in length"),
        ("name", [1, 2, 3], "expected text"),
        ("name", "abc", "expected a list"),
        ("metrics", [(("a", []),)] * 3, "expected pairs"),
    ],
)
def test_a_wrong_column_is_named(name: str, value: object, words: str) -> None:
    sent = pack(WORKERS, sample_rows(WORKERS))
    sent[name] = value
    with pytest.raises(WireError, match=words) as refused:
        decoded(WORKERS, sent)
    assert name in str(refused.value)


def test_a_missing_column_is_named_and_columns_are_found_by_name() -> None:
    sent = pack(WORKERS, sample_rows(WORKERS))
    turned = dict(reversed(sent.items()))
    np.testing.assert_array_equal(
        decoded(WORKERS, turned)["memory"], decoded(WORKERS, sent)["memory"]
    )
    del sent["memory"]
    with pytest.raises(WireError, match=r"workers\.memory' is missing"):
        decoded(WORKERS, sent)


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
