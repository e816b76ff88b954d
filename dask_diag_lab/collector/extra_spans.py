"""The extra table of spans: the parts of a computation that the user named.

Must not visit tasks; the groups of the newest spans are looked at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.ended_spans import is_over, newest
from dask_diag_lab.collector.extra_metrics import span_name
from dask_diag_lab.collector.strings import key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup

STATES: Final = (
    *("released", "waiting", "no-worker", "queued"),
    *("processing", "memory", "erred", "forgotten"),
)
_ERRED: Final = STATES.index("erred")
_FORGOTTEN: Final = STATES.index("forgotten")
MAX_GROUPS: Final = 100
"""Groups named of one span."""

Row = tuple[Any, ...]  # columns differ in type


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

    def stay_erred(self, number: int) -> None:
        """Count so many forgotten tasks as erred."""
        self.states[_ERRED] += number
        self.states[_FORGOTTEN] -= number

    def add(self, other: _Sum) -> None:
        self.states = [a + b for a, b in zip(self.states, other.states, strict=True)]
        self.nbytes += other.nbytes
        self.seconds += other.seconds
        self.start = min(self.start, other.start)
        self.stop = max(self.stop, other.stop)


class SpanTable:
    """The rows of the table; those of spans that are over are kept as they are.

    Parameters
    ----------
    held : callable
        Tells the bytes in memory of a group.
    failed : callable
        Tells for the id of a span how many of its tasks were erred when they were forgotten.
    """

    def __init__(self, held: Callable[[TaskGroup], int], failed: Callable[[str], int]) -> None:
        self._held = held
        self._failed = failed
        self._over: dict[str, tuple[int, Row]] = {}

    def rows(self, scheduler: Scheduler) -> list[Row]:
        """Return id, name, parent, start, stop, states, nbytes, seconds and groups, newest last.

        Sums include the spans inside a span, as those of the engine's own properties do. The newest
        is looked at first: a span comes after the one around it, so it is complete when that one is
        reached.
        """
        sums: dict[str, _Sum] = {}
        rows = []
        over: dict[str, tuple[int, Row]] = {}
        for span in newest(scheduler):
            n_groups = len(span.groups)
            kept = self._over.get(span.id)
            if kept is None or kept[0] != n_groups or span.children:
                row = self._row(span, sums)
                is_alone = not span.children and span.parent is None
                kept = (n_groups, row) if is_alone and is_over(span) else None
            else:
                row = kept[1]
            if kept is not None:
                over[span.id] = kept
            rows.append(row)
        self._over = over
        rows.reverse()
        return rows

    def _row(self, span: Any, sums: dict[str, _Sum]) -> Row:  # the engine's Span
        """Return the row of a span, whose sums are added to those of the span around it."""
        total = sums.pop(span.id, None) or _Sum()
        for group in span.groups:
            total.add_group(group, self._held(group))
        total.stay_erred(self._failed(span.id))
        parent = span.parent
        if parent is not None:
            sums.setdefault(parent.id, _Sum()).add(total)
        return (
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
