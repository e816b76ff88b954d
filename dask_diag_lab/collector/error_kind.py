"""What failures have in common that differ in their texts: the type and the place, as text.

Must not look at the scheduler.
"""

from __future__ import annotations

import re
from typing import Final

from dask_diag_lab.collector.strings import MAX_TEXT

_FRAME: Final = '\n  File "'
"""A line of a traceback begins so where it tells of a frame; lines of code are indented more."""

_QUOTED_OR_NUMBER: Final = re.compile(r"""(?<![\w(])(?:'[^']*'|"[^"]*")(?!\w)|\d+""")
"""A quote after a bracket begins the whole text of the exception, as its ``repr`` has it."""


def error_kind(text: str, traceback: str) -> str:
    """Return the same for errors that differ in no more than what they say of one case."""
    begin = f"\n{traceback}".rfind(_FRAME)
    if begin < 0:
        return _QUOTED_OR_NUMBER.sub("…", text)[:MAX_TEXT]
    frame = traceback[begin:].partition("\n")[0].strip()
    kind = text.partition("(")[0]
    # An exception may have a ``repr`` of its own, which need not begin with the type.
    return (f"{kind}, {frame}" if kind.isidentifier() else frame)[:MAX_TEXT]
