"""The extra tables of spans, the parts of a computation that the user named, and of their metrics.

`distributed` never drops a span, and each computation outside of a named one makes its own: after
an hour of a notebook there may be thousands. Must not visit tasks.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.strings import cut, key_text
from dask_diag_lab.collector.wire import Row
from dask_diag_lab.schema.tables import STATES

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup

    from dask_diag_lab.collector.tasks import TaskTables

MAX_SPANS: Final = 1_000
"""Newest spans that have rows of their own."""

MAX_GROUPS: Final = 100
"""Groups named of one span."""

ERRED, FORGOTTEN = STATES.index("erred"), STATES.index("forgotten")

LABELLED: Final = frozenset({"execute", "p2p"})
"""Contexts whose second part is what was worked on, or where."""

ROUNDING: Final = 1e-9
"""A remainder below this share of the sum is that of adding in another order."""

Keys = tuple[Hashable, ...]  # of `distributed`'s metrics: names, and a unit last


def _newest(scheduler: Scheduler) -> Iterator[Any]:  # `distributed`'s Span
    """Yield the newest spans, the last one first."""
    extension = scheduler.extensions.get("spans")
    return itertools.islice(reversed(extension.spans.values() if extension else ()), MAX_SPANS)


def _name(span: Any) -> str:  # `distributed`'s Span
    return cut(" > ".join(map(key_text, span.name)))


def _metrics(totals: Any) -> Iterator[tuple[Keys, float]]:  # a mapping of `distributed`
    """Yield the fine metrics, which have a context and a unit, among all that are counted."""
    for key, value in totals.items():
        if isinstance(key, tuple) and len(key) >= 3 and type(value) in {int, float}:
            yield key, value


def _activity(key: Keys) -> tuple[str, str, str, str]:
    """Return context, label, activity and unit of ``(context, [label,] *activity, unit)``."""
    context, *parts, unit = map(key_text, key)
    label = parts.pop(0) if context in LABELLED and len(parts) > 1 else ""
    return context, label, cut(" ".join(parts)), unit


def activities(scheduler: Scheduler, before: Mapping[Any, float]) -> Iterable[Row]:
    """Yield context, label, activity, unit and what was added to ``before``, of the whole cluster.

    ``before`` is a copy of ``cumulative_worker_metrics``.
    """
    for key, value in _metrics(scheduler.cumulative_worker_metrics):
        if value != before.get(key):
            yield *_activity(key), float(value - before.get(key, 0.0))


def fine(scheduler: Scheduler) -> Iterable[Row]:
    """Yield span, context, label, activity, unit and value.

    ``cumulative_worker_metrics`` has the sums over all spans. What spans have of them is sent by
    span, spans of one name together; the rest has no span, so that the sum over all rows is that of
    the cluster.
    """
    totals = scheduler.cumulative_worker_metrics
    rest = defaultdict[Keys, float](float, _metrics(totals))
    sums = defaultdict[tuple[str, Keys], float](float)
    for span in _newest(scheduler):
        name = _name(span)
        # Its own alone: the public property adds the spans inside it, which have their own rows.
        for key, value in _metrics(span._cumulative_worker_metrics):
            sums[name, key] += value
            rest[key] -= value
    for (name, key), total in sums.items():
        yield name, *_activity(key), float(total)
    for key, left in rest.items():
        if abs(left) > ROUNDING * abs(totals.get(key, 0)):
            yield "", *_activity(key), float(left)


def spans(scheduler: Scheduler, counts: TaskTables) -> list[Row]:
    """Return id, name, parent, start, stop, states, nbytes, seconds and groups, newest last.

    Sums include the spans inside a span, as in its own properties.
    """
    inside: dict[str, list[TaskGroup]] = {}
    rows: list[Row] = []
    for span in _newest(scheduler):  # so the spans inside one are complete when it is reached
        groups = [*inside.pop(span.id, ()), *span.groups]
        parent = span.parent
        if parent is not None:
            inside.setdefault(parent.id, []).extend(groups)
        states = [sum(group.states[state] for group in groups) for state in STATES]
        failed = sum(counts.failed_of_span[i] for i in {group.span_id or "" for group in groups})
        states[ERRED] += failed
        states[FORGOTTEN] -= failed
        start = min((group.start for group in groups if group.start), default=math.nan)
        rows.append(
            (
                key_text(span.id),
                _name(span),
                "" if parent is None else key_text(parent.id),
                # `distributed`'s start takes small errors of the workers' clocks out like this.
                max(start, span.enqueued),
                max((group.stop for group in groups), default=0.0) or math.nan,
                states,
                sum(map(counts.in_memory, groups)),
                sum(group.duration for group in groups),
                tuple(sorted({key_text(group.name) for group in span.groups})[:MAX_GROUPS]),
            )
        )
    return rows[::-1]
