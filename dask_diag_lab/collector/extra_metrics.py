"""Extras made of sums that the engine keeps: fine performance metrics and its own counts.

Must not visit tasks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dask_diag_lab.collector.ended_spans import MAX_SPANS, is_over, newest
from dask_diag_lab.collector.strings import cut, key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

SEPARATOR: Final = " > "

LATE_S: Final = 15.0
"""So long after its end a span may still get metrics: they come with the workers' heartbeats, each
6 s from a thousand workers. What comes later still counts, to no span."""

LABELLED: Final = frozenset({"execute", "p2p"})
"""Contexts whose second part is what was worked on, or where."""

ROUNDING: Final = 1e-9
"""A remainder below this share of the sum is that of adding in another order."""

UNITS: Final = {"latency": "seconds", "transfer-bandwidth": "bytes/s"}
"""Units of digests whose name does not tell."""

Keys = tuple[Hashable, ...]  # of the engine's metrics: names, and a unit last
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


def _own_metrics(span: Any) -> _Kept:  # the engine's Span
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


def counters(scheduler: Scheduler) -> list[tuple[str, str, float]]:
    """Return name, unit and value of what the scheduler counts itself."""
    rows = [("transitions", "count", float(getattr(scheduler, "transition_counter", math.nan)))]
    for name, value in getattr(scheduler, "digests_total", {}).items():
        if type(value) in {int, float}:
            rows.append((*_named(name), float(value)))
    monitor = getattr(scheduler, "monitor", None)
    contention = getattr(monitor, "cumulative_gil_contention", None)
    if contention is not None:
        rows.append(("gil-contention", "seconds", float(contention)))
    rows += _stealing(scheduler)
    totals: Mapping[Any, Any] = getattr(scheduler, "cumulative_worker_metrics", {})
    for name, value in totals.items():
        # A sum of rates means nothing.
        if type(name) is str and type(value) in {int, float} and name != "transfer-bandwidth":
            text, unit = _named(name)
            rows.append((f"workers: {text}", unit, float(value)))
    return rows


def _stealing(scheduler: Scheduler) -> list[tuple[str, str, float]]:
    """Return what the stealing extension has asked for, summed over its cost classes."""
    extension = getattr(scheduler, "extensions", {}).get("stealing")
    metrics = getattr(extension, "metrics", None) or {}
    units = {"request_count_total": "count", "request_cost_total": "seconds"}
    return [
        (f"stealing: {name}", unit, float(sum(metrics[name].values())))
        for name, unit in units.items()
        if name in metrics
    ]


def _named(name: Hashable) -> tuple[str, str]:
    """Return the name and the unit of a digest."""
    if isinstance(name, tuple):
        *parts, unit = map(key_text, name)
        return cut(" ".join(parts)), unit
    text = key_text(name)
    return text, UNITS.get(text, "seconds" if text.endswith("-duration") else "")
