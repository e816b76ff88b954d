"""The extra table of spans: the parts of a computation that the user named.

Must not visit tasks; the groups of the newest spans are looked at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.extra_metrics import MAX_SPANS, span_name
from dask_diag_lab.collector.strings import key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup

STATES: Final = (
    *("released", "waiting", "no-worker", "queued"),
    *("processing", "memory", "erred", "forgotten"),
)
MAX_GROUPS: Final = 100
"""Groups named of one span."""


class _Sum:
    """What groups of one span, and of the spans inside it, add up to."""

    __slots__ = ("nbytes", "seconds", "start", "states", "stop")

    def __init__(self) -> None:
        self.states = [0] * len(STATES)
        self.nbytes = 0
        self.seconds = 0.0
        self.start = math.inf
        self.stop = 0.0

    def add_group(self, group: Any, nbytes: int) -> None:  # a TaskGroup
        counts = group.states
        self.states = [n + counts[state] for n, state in zip(self.states, STATES, strict=True)]
        self.nbytes += nbytes
        self.seconds += group.duration
        if group.start:
            self.start = min(self.start, group.start)
        self.stop = max(self.stop, group.stop)

    def add(self, other: _Sum) -> None:
        self.states = [a + b for a, b in zip(self.states, other.states, strict=True)]
        self.nbytes += other.nbytes
        self.seconds += other.seconds
        self.start = min(self.start, other.start)
        self.stop = max(self.stop, other.stop)


def spans(scheduler: Scheduler, *, held: Callable[[TaskGroup], int]) -> list[tuple[Any, ...]]:
    """Return id, name, parent, start, stop, states, nbytes, seconds and groups, newest last.

    ``held`` tells the bytes in memory of a group.

    Sums include the spans inside a span, as those of the engine's own properties do. The newest
    is looked at first: a span comes after the one around it, so it is complete when that one is
    reached.
    """
    extension = getattr(scheduler, "extensions", {}).get("spans")
    known = getattr(extension, "spans", None) or {}
    sums: dict[str, _Sum] = {}
    rows = []
    for span in itertools.islice(reversed(known.values()), MAX_SPANS):
        total = sums.pop(span.id, None) or _Sum()
        for group in span.groups:
            total.add_group(group, held(group))
        parent = span.parent
        if parent is not None:
            sums.setdefault(parent.id, _Sum()).add(total)
        rows.append(
            (
                key_text(span.id),
                span_name(span.name),
                "" if parent is None else key_text(parent.id),
                # The engine's start takes small errors of the workers' clocks out like this.
                max(total.start, span.enqueued) if total.start < math.inf else math.nan,
                total.stop or math.nan,
                tuple(total.states),
                total.nbytes,
                total.seconds,
                tuple(sorted({key_text(g.name) for g in span.groups})[:MAX_GROUPS]),
            )
        )
    rows.reverse()
    return rows
