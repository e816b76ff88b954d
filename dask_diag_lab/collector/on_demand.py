"""The tables of `schema.tables.EXTRAS`, worked out while somebody wants them.

They are sums and logs that `distributed` keeps. Must not visit tasks.
"""

from __future__ import annotations

import itertools
import logging
import math
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.collector.wire import (
    Answer,
    Row,
    WholeTable,
    count_new,
    cut,
    error_text,
    key_text,
    log_since,
    sent,
)
from dask_diag_lab.schema.tables import STATES, TABLES

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup

    from dask_diag_lab.collector.tasks import TaskTables

logger = logging.getLogger(__name__)

INTERVAL_S: Final = 0.5
"""Shortest time between two looks at one table: heartbeats do not come more often."""

MAX_DUTY: Final = 100
"""A refresh costs at most 1 % of the time: the next one waits 100 times what it took.

In CPU time: on a machine that is busy a refresh may last long without computing much.
"""


class Throttle:
    """Refreshes when that is due: at once at first, then after an interval and what it cost."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._next = 0.0

    def call(self, refresh: Callable[[], None]) -> None:
        """Refresh in this thread, if that is due, and let the next one wait."""
        if time.perf_counter() < self._next:
            return
        began = time.thread_time()
        refresh()
        spent_s = time.thread_time() - began
        self._next = time.perf_counter() + max(self._interval_s, MAX_DUTY * spent_s)


class OnDemandTables:
    """The extra tables of one scheduler; nothing is looked at that nobody wants.

    Parameters
    ----------
    counts : TaskTables
        Knows what task groups have in memory, and what failed.
    error_rows : callable
        Returns the rows of ``errors``.

    Attributes
    ----------
    failed : dict of str to str
        Tables that cannot be read any more, and why.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        counts: TaskTables,
        shuffles: Shuffles,
        error_rows: Callable[[], Iterable[Row]],
    ) -> None:
        before = dict(getattr(scheduler, "cumulative_worker_metrics", {}))
        whole: dict[str, Callable[[], Iterable[Row]]] = {
            "bandwidth-types": partial(bandwidth_types, scheduler),
            "bandwidth-workers": partial(bandwidth_workers, scheduler),
            "errors": error_rows,
            "counters": partial(counters, scheduler),
            "clients": partial(clients, scheduler),
            "activities": partial(activities, scheduler, before),
            "fine": partial(fine, scheduler),
            "spans": partial(spans, scheduler, counts),
            "shuffles": shuffles.rows,
        }
        self.failed: dict[str, str] = {}
        self._answers: dict[str, Callable[[int], Answer]] = {
            **{name: _throttled(name, fill) for name, fill in whole.items()},
            "system": partial(system_since, scheduler),
            "stealing": partial(stealing_since, scheduler),
        }

    def since(self, name: str, cursor: int) -> Answer:
        """Return what changed of a table that is wanted; nothing where there is none."""
        if name not in self._answers or name in self.failed:
            return None, cursor
        try:
            return self._answers[name](cursor)
        except Exception as error:
            # `distributed`'s insides differ between versions: the other tables go on.
            logger.exception("dask_diag_lab cannot read the table %s from now on", name)
            self.failed[name] = error_text(error)
            return None, cursor


def _throttled(name: str, fill: Callable[[], Iterable[Row]]) -> Callable[[int], Answer]:
    """Return what answers with a table that is filled anew when that is due."""
    table, throttle = WholeTable(TABLES[name], fill), Throttle(INTERVAL_S)

    def since(cursor: int) -> Answer:
        throttle.call(table.refresh)
        return table.since(cursor)

    return since


UNITS: Final = {"latency": "seconds", "transfer-bandwidth": "bytes/s"}
"""Units of digests whose name does not tell."""


def counters(scheduler: Scheduler) -> Iterator[Row]:
    """Yield name, unit and value of what the scheduler counts itself."""
    yield "transitions", "count", float(scheduler.transition_counter)
    for name, value in scheduler.digests_total.items():
        yield *_named(name), float(value)
    for name, value in scheduler.cumulative_worker_metrics.items():
        # Others have a context and are fine metrics. A sum of rates means nothing.
        if type(name) is str and name != "transfer-bandwidth":
            text, unit = _named(name)
            yield f"workers: {text}", unit, float(value)


def _named(name: Hashable) -> tuple[str, str]:
    """Return the name and the unit of a digest."""
    if isinstance(name, tuple):
        *parts, unit = map(key_text, name)
        return cut(" ".join(parts)), unit
    text = key_text(name)
    return text, UNITS.get(text, "seconds" if text.endswith("-duration") else "")


def clients(scheduler: Scheduler) -> Iterator[Row]:
    """Yield name, whether it is connected, and how many keys it wants.

    To `distributed` variables, queues, published data sets and `fire_and_forget` are clients too.
    """
    for name, client in scheduler.clients.items():
        is_connected = name in scheduler.client_comms
        if is_connected or client.wants_what:
            yield key_text(name), is_connected, len(client.wants_what)


def bandwidth_types(scheduler: Scheduler) -> Iterator[Row]:
    """Yield type and bytes per second."""
    for name, rate in scheduler.bandwidth_types.items():
        yield key_text(name), float(rate)


def bandwidth_workers(scheduler: Scheduler) -> Iterator[Row]:
    """Yield source, destination and bytes per second.

    `distributed`'s pairs begin with the worker that measured, which is the one that received
    (``Worker._update_metrics_received_data``).
    """
    for (receiver, sender), rate in scheduler.bandwidth_workers.items():
        yield str(sender), str(receiver), float(rate)


SHUFFLES: Final = TABLES["shuffles"]

MAX_SHUFFLES: Final = 20
"""Kept; the ones that began first go."""


class Shuffles:
    """What each worker reported last of each of the newest shuffles.

    `distributed` forgets what workers reported of a shuffle when that ends; for many that is before
    anybody had the time to look.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._kept: dict[str, dict[str, Row]] = {}

    def note(self) -> None:
        """Take over what `distributed` has now; nothing to do while no shuffle is under way."""
        plugin = self._scheduler.plugins.get("shuffle")
        for name, workers in getattr(plugin, "heartbeats", {}).items():
            shuffle = key_text(name)
            rows = self._kept.setdefault(shuffle, {})
            for address, beat in workers.items():
                numbers = [_number(beat, column.source) for column in SHUFFLES.columns[2:]]
                rows[address] = (shuffle, str(address), *numbers)
        while len(self._kept) > MAX_SHUFFLES:
            del self._kept[next(iter(self._kept))]

    def rows(self) -> list[Row]:
        """Return the rows of the table ``shuffles``, newest shuffle last."""
        self.note()
        return [row for workers in self._kept.values() for row in workers.values()]


def _number(beat: Mapping[str, Any], path: str) -> float:
    """Return a field of a heartbeat; NaN where there is none or no limit."""
    value: Any = beat
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return float(value) if isinstance(value, (int, float)) else math.nan


MAX_MESSAGES: Final = 500
"""Of one answer, about 5 ms; what is more comes with the next one."""


def moves_of(at: float, message: Any) -> list[Row]:  # `distributed`'s own, by version
    """Return the moves that one message of `WorkStealing` is about; none if it is not known.

    ``("request", [(time, level, key, cost, victim, its occupancy, thief, its occupancy), …])``,
    ``("confirm" or "already-computing", key, state, victim, thief, stimulus)``,
    ``("reschedule", flag, key, state, victim, thief, stimulus)`` and
    ``("stale-response" or "already-aborted", key, state, victim, stimulus)``.
    """
    if not isinstance(message, tuple):
        return []
    match message:
        case ("request", list() as moves):
            return [
                (begun, "request", key_text(key), level, victim, thief)
                for begun, level, key, _, victim, _, thief, _ in moves
            ]
        case ("reschedule", _, key, _, victim, thief, _) as parts:
            pass
        case (_, key, _, victim, thief, _) as parts:
            pass
        case (_, key, _, victim, _) as parts:
            thief = ""
        case _:
            return []
    event = "confirmed" if parts[0] == "confirm" else key_text(parts[0])
    return [(at, event, key_text(key), -1, str(victim or ""), str(thief))]


def stealing_since(scheduler: Scheduler, cursor: int) -> Answer:
    """Return the moves after ``cursor``, which counts messages of the topic: some are many rows."""
    topic = scheduler._broker._topics["stealing"]  # without a copy of all of its messages
    if cursor == topic.count + 1:
        return None, cursor
    n, dropped = count_new(topic.count, len(topic.events), cursor)
    first = len(topic.events) - n
    new = itertools.islice(topic.events, first, first + MAX_MESSAGES)
    rows = [row for at, message in new for row in moves_of(at, message)]
    return sent(rows, dropped), topic.count + 1 - max(0, n - MAX_MESSAGES)


SYSTEM: Final = TABLES["system"]

MOST_BPS: Final = 1e11
"""Bytes a second of a host that no network or disk reaches; such a rate is one whose period the
monitor did not measure, and stays out: it would flatten all others in a chart."""

TICK_S: Final = 2.0
"""The loop's interval is only known now: it is put to samples that are no older than this."""


def system_since(scheduler: Scheduler, cursor: int) -> Answer:
    """Return the samples of ``scheduler.monitor`` after ``cursor``."""
    quantities = scheduler.monitor.quantities
    times = quantities["time"]

    def rows(indices: Iterable[int]) -> list[Row]:
        known = list(indices)
        tick_s, since = scheduler._tick_interval_observed, times[-1] - TICK_S
        columns = [_samples(quantities, c.source, len(known)) for c in SYSTEM.columns[:-1]]
        columns.append([tick_s if at >= since else math.nan for at in columns[0]])
        return list(zip(*columns, strict=True))

    return log_since(SYSTEM, scheduler.monitor.count, range(len(times)), cursor, rows)


def _samples(quantities: Mapping[str, Any], name: str, n: int) -> list[float]:
    """Return the newest ``n`` samples of a quantity; NaN for those that were not taken."""
    limit = MOST_BPS if name.endswith("_bps") else math.inf
    newest = [
        float(sample) if isinstance(sample, (int, float)) and sample < limit else math.nan
        for sample in itertools.islice(reversed(quantities.get(name, ())), n)
    ]
    return [math.nan] * (n - len(newest)) + newest[::-1]


MAX_SPANS: Final = 1_000
"""Newest spans that have rows of their own."""

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
    """Return name, start, states, nbytes and seconds, newest last.

    Sums include the spans inside a span, as in its own properties.
    """
    inside: dict[str, list[TaskGroup]] = {}
    rows: list[Row] = []
    for span in _newest(scheduler):  # so the spans inside one are complete when it is reached
        groups = [*inside.pop(span.id, ()), *span.groups]
        if span.parent is not None:
            inside.setdefault(span.parent.id, []).extend(groups)
        states = [sum(group.states[state] for group in groups) for state in STATES]
        failed = sum(counts.failed_of_span[i] for i in {group.span_id or "" for group in groups})
        states[ERRED] += failed
        states[FORGOTTEN] -= failed
        start = min((group.start for group in groups if group.start), default=math.nan)
        rows.append(
            (
                _name(span),
                # `distributed`'s start takes small errors of the workers' clocks out like this.
                max(start, span.enqueued),
                states,
                sum(map(counts.in_memory, groups)),
                sum(group.duration for group in groups),
            )
        )
    return rows[::-1]
