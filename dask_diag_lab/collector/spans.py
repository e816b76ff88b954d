"""The extra tables of spans, the parts of a computation that the user named, and of their metrics.

`distributed` never drops a span, and each computation outside of a named one makes its own: after
an hour of a notebook there may be thousands, and all but a few are over. Must not visit tasks.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dask_diag_lab.collector.strings import cut, key_text
from dask_diag_lab.schema.tables import STATES

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup

MAX_SPANS: Final = 1_000
"""Newest spans told apart."""


def newest(scheduler: Scheduler, n: int = MAX_SPANS) -> Iterator[Any]:  # `distributed`'s Span
    """Yield the newest spans, the last one first."""
    extension = getattr(scheduler, "extensions", {}).get("spans")
    known = getattr(extension, "spans", None) or {}
    return itertools.islice(reversed(known.values()), n)


def is_over(span: Any) -> bool:  # `distributed`'s Span
    """Tell whether every task of its own groups is forgotten: none of them can change again.

    It may still get further groups, while the user's ``with span(…)`` lasts.
    """
    return all(group.states["forgotten"] == sum(group.states.values()) for group in span.groups)


SEPARATOR: Final = " > "

LATE_S: Final = 15.0
"""So long after its end a span may still get metrics: they come with the workers' heartbeats, each
6 s from a thousand workers. What comes later still counts, to no span."""

LABELLED: Final = frozenset({"execute", "p2p"})
"""Contexts whose second part is what was worked on, or where."""

ROUNDING: Final = 1e-9
"""A remainder below this share of the sum is that of adding in another order."""

Keys = tuple[Hashable, ...]  # of `distributed`'s metrics: names, and a unit last
FineRow = tuple[str, str, str, str, str, float]


def span_name(name: Iterable[str]) -> str:
    """Return the parts of a span's name in one text."""
    return cut(SEPARATOR.join(key_text(part) for part in name))


def activities(scheduler: Scheduler) -> list[tuple[str, str, str, str, float]]:
    """Return context, label, activity, unit and value, of the whole cluster."""
    totals = getattr(scheduler, "cumulative_worker_metrics", {})
    return [
        (*_describe(key), float(value)) for key, value in totals.items() if _is_metric(key, value)
    ]


class _Kept(NamedTuple):
    """A span that is over, and its own metrics."""

    n_groups: int
    name: str
    metrics: tuple[tuple[Keys, float], ...]


class FineTable:
    """The fine performance metrics by span.

    ``cumulative_worker_metrics`` has the sums over all spans. What spans have of them is told by
    span, spans of one name together; the rest has no span, so that the sum over all rows is that of
    the cluster. What spans have that are over is added up once.

    Parameters
    ----------
    late_s : float
        How long after its end a span may still get metrics, in seconds.
    max_spans : int
        The newest that are told apart.
    """

    def __init__(self, late_s: float = LATE_S, max_spans: int = MAX_SPANS) -> None:
        self._late_s, self._max_spans = late_s, max_spans
        self._over_since: dict[str, float] = {}
        self._over: dict[str, _Kept] = {}
        self._sums: dict[tuple[str, Keys], tuple[float, int]] = {}

    def rows(self, scheduler: Scheduler) -> list[FineRow]:
        """Return span, context, label, activity, unit and value."""
        totals = getattr(scheduler, "cumulative_worker_metrics", {})
        rest = {key: value for key, value in totals.items() if _is_metric(key, value)}
        rows = []
        for (name, key), value in self._by_span(scheduler).items():
            rows.append((name, *_describe(key), float(value)))
            if key in rest:
                rest[key] -= value
        for key, value in rest.items():
            if abs(value) > ROUNDING * abs(totals[key]):
                rows.append(("", *_describe(key), float(value)))
        return rows

    def _by_span(self, scheduler: Scheduler) -> dict[tuple[str, Keys], float]:
        live: list[_Kept] = []
        seen: set[str] = set()
        now = time.monotonic()
        for span in newest(scheduler, self._max_spans):
            seen.add(span.id)
            kept = self._over.get(span.id)
            if kept is not None and kept.n_groups == len(span.groups):
                continue
            if kept is not None:
                self._take_back(span.id)  # it went on: what is new may be late again
                self._over_since.pop(span.id, None)
            if not is_over(span):
                self._over_since.pop(span.id, None)
            elif now - self._over_since.setdefault(span.id, now) >= self._late_s:
                self._put(span.id, _own_metrics(span))
                continue
            live.append(_own_metrics(span))
        self._forget_but(seen)
        sums = {key: value for key, (value, _) in self._sums.items()}
        for kept in live:
            for key, value in kept.metrics:
                sums[kept.name, key] = sums.get((kept.name, key), 0) + value
        return sums

    def _put(self, span_id: str, kept: _Kept) -> None:
        self._over[span_id] = kept
        for key, value in kept.metrics:
            total, n = self._sums.get((kept.name, key), (0, 0))
            self._sums[kept.name, key] = total + value, n + 1

    def _take_back(self, span_id: str) -> None:
        kept = self._over.pop(span_id)
        for key, value in kept.metrics:
            total, n = self._sums.pop((kept.name, key))
            if n > 1:
                self._sums[kept.name, key] = total - value, n - 1

    def _forget_but(self, seen: set[str]) -> None:
        """Forget spans that are no longer among the newest."""
        for span_id in self._over.keys() - seen:
            self._take_back(span_id)
        for span_id in self._over_since.keys() - seen:
            del self._over_since[span_id]


def _own_metrics(span: Any) -> _Kept:  # `distributed`'s Span
    # Its own alone: the public property adds the spans inside it, which have their own rows.
    metrics = getattr(span, "_cumulative_worker_metrics", None) or {}
    own = tuple((key, value) for key, value in metrics.items() if _is_metric(key, value))
    return _Kept(len(span.groups), span_name(span.name), own)


def _is_metric(key: Hashable, value: object) -> bool:
    """Tell whether this is one of the fine metrics, which have a context and a unit."""
    return isinstance(key, tuple) and len(key) >= 3 and type(value) in {int, float}


def _describe(key: Keys) -> tuple[str, str, str, str]:
    """Return context, label, activity and unit of ``(context, [label,] *activity, unit)``."""
    context, *parts, unit = map(key_text, key)
    label = parts.pop(0) if context in LABELLED and len(parts) > 1 else ""
    return context, label, cut(" ".join(parts)), unit


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

    def __init__(self, held: Callable[[TaskGroup], int], failed: Mapping[str, int]) -> None:
        self._held = held
        self._failed = failed
        self._over: dict[str, tuple[int, Row]] = {}

    def rows(self, scheduler: Scheduler) -> list[Row]:
        """Return id, name, parent, start, stop, states, nbytes, seconds and groups, newest last.

        Sums include the spans inside a span, as in its own properties. The newest
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

    def _row(self, span: Any, sums: dict[str, _Sum]) -> Row:  # `distributed`'s Span
        """Return the row of a span, whose sums are added to those of the span around it."""
        total = sums.pop(span.id, None) or _Sum()
        for group in span.groups:
            total.add_group(group, self._held(group))
        total.stay_erred(self._failed.get(span.id, 0))
        parent = span.parent
        if parent is not None:
            sums.setdefault(parent.id, _Sum()).add(total)
        return (
            key_text(span.id),
            span_name(span.name),
            "" if parent is None else key_text(parent.id),
            # `distributed`'s start takes small errors of the workers' clocks out like this.
            max(total.start, span.enqueued) if total.start < math.inf else math.nan,
            total.stop or math.nan,
            tuple(total.states),
            total.nbytes,
            total.seconds,
            tuple(sorted({key_text(g.name) for g in span.groups})[:MAX_GROUPS]),
        )
