"""Which spans are told apart, and which of them cannot change any more.

The engine never drops a span, and each computation outside of a named one makes its own: after an
hour of a notebook there may be thousands, and all but a few are over. Must not visit tasks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

MAX_SPANS: Final = 1_000
"""Newest spans told apart."""


def newest(scheduler: Scheduler, n: int = MAX_SPANS) -> Iterator[Any]:  # the engine's Span
    """Yield the newest spans, the last one first."""
    extension = getattr(scheduler, "extensions", {}).get("spans")
    known = getattr(extension, "spans", None) or {}
    return itertools.islice(reversed(known.values()), n)


def is_over(span: Any) -> bool:  # the engine's Span
    """Tell whether every task of its own groups is forgotten: none of them can change again.

    It may still get further groups, while the user's ``with span(…)`` lasts.
    """
    return all(group.states["forgotten"] == sum(group.states.values()) for group in span.groups)
