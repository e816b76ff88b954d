"""What a plot is to show of many, as it comes in from pages: names and texts, few and short."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

MAX_ARGUMENTS_BYTES: Final = 4096
"""Of the arguments as JSON in UTF-8."""

NOT_ARGUMENTS: Final = frozenset({"token", "bare"})
"""Names in the query of a page that are not the plot's: who may see it, and its frame."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def read_json(text: str | bytes) -> Any:  # JSON
    """Return what a page sent as JSON.

    Raises
    ------
    ValueError
        It is none, or nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def read_arguments(given: object) -> dict[str, str]:
    """Return arguments that came as JSON; None is none.

    Raises
    ------
    ValueError
        Not an object of texts, an odd name, or more than `MAX_ARGUMENTS_BYTES`.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError("arguments are a JSON object")  # noqa: TRY004  # the text is bad
    arguments: dict[str, str] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name) or not isinstance(value, str):
            raise ValueError('arguments have names like "worker" and texts as values')
        arguments[name] = value
    if (
        len(json.dumps(arguments, ensure_ascii=False).encode(errors="replace"))
        > MAX_ARGUMENTS_BYTES
    ):
        raise ValueError(f"arguments may have {MAX_ARGUMENTS_BYTES} bytes")
    return arguments


def arguments_in_query(query: str) -> dict[str, str]:
    """Return the arguments in the query of a URL; of a name given twice the last one counts.

    Raises
    ------
    ValueError
        As `read_arguments`.
    """
    pairs: Iterable[tuple[str, str]] = parse_qsl(query, keep_blank_values=True)
    return read_arguments({name: value for name, value in pairs if name not in NOT_ARGUMENTS})
