"""Checks of what came over the wire: the right types, or an error that names the field.

Must not know what the fields mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dask_diag_lab.records import Column

INT64 = 2**63


class WireError(ValueError):
    """An answer is not what this version understands; the text names the field."""


def fail(field: str, wanted: str, value: object) -> WireError:
    return WireError(
        f"field {field!r}: expected {wanted}, got {type(value).__name__} {value!r:.80}"
    )


def text(value: Any, field: str) -> str:  # from here on: Any is what a peer sent
    if type(value) is not str:
        raise fail(field, "text", value)
    return value


def whole(value: Any, field: str) -> int:
    if type(value) is not int or not -INT64 <= value < INT64:
        raise fail(field, "a whole number", value)
    return value


def number(value: Any, field: str) -> float:
    if type(value) not in {int, float}:
        raise fail(field, "a number", value)
    return float(value)


def flag(value: Any, field: str) -> bool:
    if type(value) is not bool:
        raise fail(field, "true or false", value)
    return value


def items(value: Any, field: str, length: int | None = None) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise fail(field, "a list", value)
    if length is not None and len(value) != length:
        raise fail(field, f"a list of {length}", value)
    return value


def mapping(value: Any, field: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise fail(field, "a mapping", value)
    return value


def member(parent: Mapping[str, Any], name: str) -> Any:
    """Return a field that must be there; unknown others are allowed."""
    if name not in parent:
        raise WireError(f"field {name!r} is missing")
    return parent[name]


def texts(value: Any, field: str) -> tuple[str, ...]:
    return tuple(text(item, field) for item in items(value, field))


def cell(value: Any, column: Column, field: str) -> Any:  # by the column's dtype
    """Return one value of a table as its column wants it; ``"O"`` is left to the caller."""
    if column.dtype == "<f8":
        return number(value, field)
    if column.dtype == "?":
        return flag(value, field)
    if column.dtype.startswith(("<i", "<u")):
        return whole(value, field)
    return value


def positive_share(value: Any, field: str) -> float | None:
    """Return a memory threshold: a share of the limit, or None."""
    if value is None:
        return None
    share = number(value, field)
    if not 0 < share < math.inf:
        raise fail(field, "a share", value)
    return share
