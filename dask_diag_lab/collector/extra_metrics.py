"""Extras made of sums that the engine keeps: fine performance metrics and its own counts.

Must not visit tasks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.strings import cut, key_text

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler

MAX_SPANS: Final = 1_000
"""Newest spans told apart: the engine never drops one, and a loop makes thousands."""

SEPARATOR: Final = " > "

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


def fine(scheduler: Scheduler) -> list[FineRow]:
    """Return span, context, label, activity, unit and value.

    ``cumulative_worker_metrics`` has the sums over all spans. What spans have of them is told
    by span, spans of one name together; the rest has no span, so that the sum over all rows is
    that of the cluster.
    """
    totals = getattr(scheduler, "cumulative_worker_metrics", {})
    rest = {key: value for key, value in totals.items() if _is_metric(key, value)}
    by_span = _of_spans(scheduler)
    rows = []
    for (name, key), value in by_span.items():
        rows.append((name, *_describe(key), float(value)))
        if key in rest:
            rest[key] -= value
    for key, value in rest.items():
        if abs(value) > ROUNDING * abs(totals[key]):
            rows.append(("", *_describe(key), float(value)))
    return rows


def _of_spans(scheduler: Scheduler) -> dict[tuple[str, Keys], float]:
    extension = getattr(scheduler, "extensions", {}).get("spans")
    known = getattr(extension, "spans", None) or {}
    sums: dict[tuple[str, Keys], float] = {}
    for span in itertools.islice(reversed(known.values()), MAX_SPANS):
        # Its own alone: the public property adds the spans inside it, which have their own rows.
        metrics = getattr(span, "_cumulative_worker_metrics", None)
        if metrics:
            name = span_name(span.name)
            for key, value in metrics.items():
                if _is_metric(key, value):
                    sums[name, key] = sums.get((name, key), 0) + value
    return sums


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
