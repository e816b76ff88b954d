"""Whose code a file is and what to call it; pure text, no file is ever opened."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from zlib import crc32

_PACKAGES: Final = re.compile(r".*/(?:site|dist)-packages/(?P<path>.+)", re.IGNORECASE)
_STANDARD: Final = re.compile(r".*/lib(?:64|/pypy)?/?python\d[\d.]*t?/(?P<path>.+)", re.IGNORECASE)
_STANDARD_WINDOWS: Final = re.compile(r"[a-z]:/.*python[^/]*/lib/(?P<path>.+)", re.IGNORECASE)
_CELL: Final = re.compile(r".*/ipykernel_\d+/(?P<path>\d+)\.py")
_ENGINE: Final = re.compile(r".*/(?P<path>(?:dask/_task_spec|dask/core|distributed/worker)\.py)")
_BUILT_IN: Final = ("<frozen", "<built-in", "<low-level", "<__array")

SHORT_PARTS: Final = 3
"""Folders and name of a file of the user's own that are shown."""


def _library_path(filename: str) -> str:
    """Return the path inside the library that a file belongs to; '' for other files."""
    path = filename.replace("\\", "/")
    for pattern in (_PACKAGES, _STANDARD, _STANDARD_WINDOWS, _ENGINE):
        found = pattern.fullmatch(path)
        if found is not None:
            return found["path"]
    return path if path.startswith(_BUILT_IN) else ""


@lru_cache(maxsize=4096)
def is_own(filename: str) -> bool:
    """Whether a file is the user's: of no installed package and not of Python itself."""
    return bool(filename) and not _library_path(filename)


@lru_cache(maxsize=4096)
def short_file(filename: str) -> str:
    """Return how a file is called: inside its library, or by its last folders, or as a cell."""
    path = filename.replace("\\", "/")
    cell = _CELL.fullmatch(path)
    if cell is not None:
        return f"notebook cell {cell['path']}"
    inside = _library_path(filename)
    if inside:
        return inside
    parts = path.split("/")
    return "/".join(parts[-SHORT_PARTS:])


@lru_cache(maxsize=4096)
def color_index(filename: str) -> int:
    """Return a number for the colour of a file, the same in every process and on every day.

    All files of one library have the same; each file of the user's own has one of its own.
    """
    inside = _library_path(filename)
    name = inside.split("/")[0] if inside else filename.replace("\\", "/")
    return crc32(name.encode("utf-8", "replace"))
