"""What a view may ask the cluster once; `transport.answers` tells what comes back.

Tables arrive by themselves; a query costs the cluster something, so it is asked for a picture
that somebody looks at, and not again before its answer is old.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OTHER_PREFIXES: Final = "(other)"
"""In place of a prefix, in an answer to ``activity``."""

QUERIES: Final[Mapping[str, tuple[str, ...]]] = {
    "profile": ("source", "prefix", "worker", "start", "stop"),
    "activity": ("source", "worker"),
    "worker": ("worker",),
    "transfers": ("worker",),
    "call-stacks": ("worker", "key"),
    "logs": ("worker",),
    "task": ("key",),
    "hardware": (),
}
"""Names of the arguments of each kind: text or numbers, and all have to be given."""
