"""Reads single fields of JSON data from another process; a wrong one is named, never shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

MAX_TEXT: Final = 1000
MAX_ROWS: Final = 500


class WireError(ValueError):
    """Data from another process that does not keep the contract; the text names the field."""


def mapping(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise WireError(f"{what} is not a JSON object")
    return value


def rows(data: Mapping[str, object], key: str) -> list[object]:
    value = data.get(key)
    if not isinstance(value, list) or len(value) > MAX_ROWS:
        raise WireError(f"{key} is missing, not a list or too long")
    return value


def text(data: Mapping[str, object], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise WireError(f"{key} is missing, not text or too long")
    return value


def nullable_text(data: Mapping[str, object], key: str) -> str | None:
    if key in data and data[key] is None:
        return None
    return text(data, key)


def number(data: Mapping[str, object], key: str) -> float:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise WireError(f"{key} is missing or not a number")
    return float(value)


def count(data: Mapping[str, object], key: str) -> int:
    value = data.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON does not tell 1.0 from 1
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise WireError(f"{key} is missing or not a whole number from 0 up")
    return value
