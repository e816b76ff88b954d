"""A plot's table as JSON and CSV text that other programs can read without being harmed by it."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from typing import Any

from dask_diag_lab.views.base import Table

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def plain(value: Any) -> Any:  # whatever a view put in a cell
    """Return `value` as something JSON knows: NumPy scalars as Python's, no NaN, bytes as text."""
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "ndim", 1) == 0:
        value = item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    return str(value)


def to_json(table: Table, note: str = "") -> str:
    """Return ``{"columns": {name: [...]}, "units": {...}, "rows": n, "note": words}``.

    NaN becomes null; `note` says what was left out or is late.
    """
    columns = {name: [plain(v) for v in values] for name, values in table.columns.items()}
    rows = len(next(iter(columns.values()), []))
    return json.dumps(
        {"columns": columns, "units": dict(table.units), "rows": rows, "note": note},
        ensure_ascii=False,
        allow_nan=False,
    )


def to_csv(table: Table) -> str:
    r"""Return `table` as CSV after RFC 4180: CRLF, a header with units, quotes doubled.

    Text that a spreadsheet would run as a formula gets a leading apostrophe
    (OWASP, "CSV injection"); numbers are left alone.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, dialect="excel")
    units = table.units
    writer.writerow(
        [_cell(f"{name} ({units[name]})" if units.get(name) else name) for name in table.columns]
    )
    for row in zip(*table.columns.values(), strict=True):
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: Any) -> str | int | float:
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
