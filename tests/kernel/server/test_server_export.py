"""Tables leave as JSON and CSV that hold together whatever the keys look like."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from dask_diag_lab.server.export import to_csv, to_json
from dask_diag_lab.views.base import Table

ODD = [
    "('x-1', 0, 1)",
    "b'\\x00\\xff'",
    'say "hi", please',
    "<script>alert(1)</script>",
    "a/b\\c",
    "line\r\nbreak\nand more",
    "€ 日本 \U0001f41f",
    "nul\x00",
    "k" * 10_000,
]


def test_odd_keys_survive_both_formats() -> None:
    table = Table({"key": ODD, "n": list(np.arange(len(ODD)))}, {"n": "B"})
    assert json.loads(to_json(table))["columns"]["key"] == ODD
    rows = list(csv.reader(io.StringIO(to_csv(table), newline="")))
    assert rows[0] == ["key", "n (B)"]
    assert [row[0] for row in rows[1:]] == ODD
    assert [row[1] for row in rows[1:]] == [str(n) for n in range(len(ODD))]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_text_that_a_spreadsheet_would_run_is_neutralised(text: str) -> None:
    out = to_csv(Table({"key": [text], "v": [-1.5]}))
    row = list(csv.reader(io.StringIO(out, newline="")))[1]
    assert row == [f"'{text}", "-1.5"]


def test_csv_lines_end_as_the_rfc_wants() -> None:
    assert to_csv(Table({"a": [1], "b": ["x,y"]})) == 'a,b\r\n1,"x,y"\r\n'


def test_numbers_that_json_does_not_know_become_null() -> None:
    table = Table(
        {"v": list(np.array([np.nan, np.inf, 1.5])), "b": list(np.array([True, False, True]))}
    )
    assert json.loads(to_json(table))["columns"] == {
        "v": [None, None, 1.5],
        "b": [True, False, True],
    }
    assert to_csv(table).splitlines()[1] == ",true"


def test_an_empty_table_has_its_columns() -> None:
    wanted = {"columns": {"a": []}, "units": {}, "rows": 0, "note": ""}
    assert json.loads(to_json(Table({"a": []}))) == wanted
    assert to_csv(Table({"a": []})) == "a\r\n"


def test_nested_values_are_told_as_data() -> None:
    table = Table({"d": [{"k": np.int64(1)}, ("a", None), np.array([1.0])]})
    assert json.loads(to_json(table))["columns"]["d"] == [{"k": 1}, ["a", None], [1.0]]
    assert '"{""k"": 1}"' in to_csv(table)
