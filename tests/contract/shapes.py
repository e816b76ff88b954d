"""Compares the shape of JSON values with a fixture's: same fields, same kinds of values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures"


def fixture(name: str) -> Any:
    """Return a parsed fixture."""
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def differences(found: object, wanted: object, where: str = "") -> list[str]:
    """Return where `found` lacks a field of `wanted` or has another kind of value there.

    Fields that `wanted` does not have are allowed; a list is compared by its first entry.
    """
    if isinstance(wanted, dict):
        if not isinstance(found, dict):
            return [f"{where}: no object"]
        missing = [f"{where}.{key}: missing" for key in wanted if key not in found]
        inner = [
            line
            for key in wanted
            if key in found
            for line in differences(found[key], wanted[key], f"{where}.{key}")
        ]
        return missing + inner
    if isinstance(wanted, list):
        if not isinstance(found, list) or (wanted and not found):
            return [f"{where}: no list with entries"]
        if not wanted:
            return []
        return [line for one in found for line in differences(one, wanted[0], f"{where}[]")]
    if _kind(found) != _kind(wanted):
        return [f"{where}: {found!r} is no {_kind(wanted)}"]
    return []


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__
