"""The tables of `schema.EXTRAS`: worked out while somebody wants them, once for all.

Each is filled by one function or class below, or in `spans`, from sums that `distributed` keeps.
Must not visit tasks.
"""

from __future__ import annotations

import itertools
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from dask_diag_lab.collector.spans import FineTable, SpanTable, activities
from dask_diag_lab.collector.strings import cut, key_text
from dask_diag_lab.collector.timing import Throttle
from dask_diag_lab.collector.wire import Answer, Row, sent
from dask_diag_lab.schema.tables import TABLES, Table

if TYPE_CHECKING:
    from distributed.scheduler import Scheduler, TaskGroup

logger = logging.getLogger(__name__)

INTERVAL_S: Final = 0.5
"""Shortest time between two looks at one table: heartbeats do not come more often."""

KEPT_S: Final = 60.0
"""So long the rows of a table are kept that nobody wants any more; they are made anew then."""


class ErredRows(Protocol):
    """What knows the rows of the table ``errors``."""

    def rows(self) -> list[tuple[Any, ...]]: ...


def sources(
    held: Callable[[TaskGroup], int],
    failed: Mapping[str, int],
    shuffles: Shuffles,
    errors: ErredRows,
) -> Mapping[str, Callable[[Any], Any]]:
    """Return how each extra is filled: takes the scheduler.

    It returns all rows, those to keep last; or, for a log, makes the object whose ``read`` returns
    new rows and how many were lost before them.

    Parameters
    ----------
    held : callable
        Tells the bytes in memory of a task group.
    failed : mapping of str to int
        For the id of a span how many of its tasks were erred when they were forgotten.
    shuffles : Shuffles
    errors : Errors
    """
    return {
        "durations": durations,
        "bandwidth-types": bandwidth_types,
        "bandwidth-workers": bandwidth_workers,
        "system": SystemSource,
        "errors": lambda _: errors.rows(),
        "stealing": StealingSource,
        "counters": counters,
        "activities": activities,
        "fine": FineTable().rows,
        "spans": SpanTable(held, failed).rows,
        "shuffles": shuffles.rows,
        "shuffle-transfers": shuffles.transfers,
    }


class _Whole:
    """A table that is sent whole; its cursor is the number of its changes."""

    def __init__(self, scheduler: Scheduler, table: Table, fill: Callable[[Any], Any]) -> None:
        self._scheduler = scheduler
        self._table = table
        self._fill = fill
        self._rows: list[Row] | None = None
        self._n_left_out = 0
        self._version = 0

    def refresh(self) -> None:
        """Fill the table anew; an equal one changes nothing."""
        rows: list[Row] = list(self._fill(self._scheduler))
        n_left_out = max(0, len(rows) - self._table.max_rows)
        self.put(rows[n_left_out:], n_left_out)

    def put(self, rows: list[Row], n_left_out: int = 0) -> None:
        if rows != self._rows or n_left_out != self._n_left_out:
            self._rows, self._n_left_out = rows, n_left_out
            self._version += 1

    def since(self, cursor: int) -> Answer:
        if cursor == self._version or self._rows is None:
            return None, cursor
        return sent(self._table, self._rows, self._n_left_out), self._version

    def give_up(self) -> None:
        self.put([])

    def forget(self) -> None:
        """Let the rows go; the version stays, so that nobody takes the next ones for these."""
        self._rows = None


class _Log:
    """Rows that are appended; its cursor is the number of rows that ever were."""

    def __init__(self, scheduler: Scheduler, table: Table, fill: Callable[[Any], Any]) -> None:
        self._reader = fill(scheduler)
        self._table = table
        self._rows: deque[Row] = deque(maxlen=table.max_rows)
        self._total = 0
        self._is_read = False

    def refresh(self) -> None:
        """Append what is new."""
        rows, lost = self._reader.read()
        if self._is_read and lost:  # before the first look nothing was promised to anybody
            self._rows.clear()  # rows are found by counting back from the newest: no gap between
            self._total += lost
        self._rows.extend(rows)
        self._total += len(rows)
        self._is_read = True

    def since(self, cursor: int) -> Answer:
        """Return the rows after ``cursor``; 0 is somebody who has nothing and misses nothing."""
        known = cursor - 1  # so that 0 is nobody's cursor, and an empty log is told once
        if known == self._total or not self._is_read:
            return None, cursor
        n = min(len(self._rows), self._total - max(known, 0))
        rows = list(self._rows)[len(self._rows) - n :]
        dropped = 0 if known < 0 else self._total - known - n
        return sent(self._table, rows, dropped), self._total + 1

    def give_up(self) -> None:
        self._is_read = True


class Extras:
    """All extras of one scheduler; nothing is looked at that nobody wants."""

    def __init__(self, scheduler: Scheduler, fills: Mapping[str, Callable[[Any], Any]]) -> None:
        self._scheduler = scheduler
        self._fills = fills
        self._tables: dict[str, _Whole | _Log] = {}
        self._throttles: dict[str, Throttle] = {}
        self._asked: dict[str, float] = {}
        self._broken: set[str] = set()

    def since(self, name: str, cursor: int) -> Answer:
        """Return what changed of a table that is wanted; nothing where there is none."""
        return self._refreshed(name).since(cursor) if name in self._fills else (None, cursor)

    def forget_unwanted(self, kept_s: float = KEPT_S) -> None:
        """Let the rows go of tables that nobody has wanted for a while.

        Those of logs stay: they are bounded, and their source may have lost them meanwhile.
        """
        until = time.monotonic() - kept_s
        for name in [name for name, asked in self._asked.items() if asked < until]:
            del self._asked[name]
            table = self._tables[name]
            if isinstance(table, _Whole) and name not in self._broken:
                table.forget()
                self._throttles[name].reset()

    def clear(self) -> None:
        """Let all rows go."""
        self._asked.clear()
        self._tables.clear()

    def _refreshed(self, name: str) -> _Whole | _Log:
        table = self._tables.get(name)
        if table is None:
            declared = TABLES[name]
            kind = _Log if declared.sent == "log" else _Whole
            table = kind(self._scheduler, declared, self._fills[name])
            self._tables[name] = table
            self._throttles[name] = Throttle()
        self._asked[name] = time.monotonic()
        throttle = self._throttles[name]
        if name not in self._broken and throttle.is_due():
            throttle.begin()
            try:
                table.refresh()
            except Exception:
                # `distributed`'s insides differ between versions: the other tables go on.
                logger.exception("dask_diag_lab leaves the table %s empty from now on", name)
                self._broken.add(name)
                table.give_up()
            throttle.done(INTERVAL_S)
        return table


UNITS: Final = {"latency": "seconds", "transfer-bandwidth": "bytes/s"}
"""Units of digests whose name does not tell."""


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


def durations(scheduler: Scheduler) -> list[tuple[str, str, float]]:
    """Return prefix, action and seconds: `TaskPrefix.all_durations`."""
    rows = []
    for prefix in getattr(scheduler, "task_prefixes", {}).values():
        spent = getattr(prefix, "all_durations", None)
        if spent:
            name = key_text(prefix.name)
            rows += [(name, key_text(action), float(spent[action])) for action in spent]
    return rows


def bandwidth_types(scheduler: Scheduler) -> list[tuple[str, float]]:
    """Return type and bytes per second: `scheduler.bandwidth_types`."""
    rates = getattr(scheduler, "bandwidth_types", {})
    return [(key_text(name), float(rate)) for name, rate in rates.items()]


def bandwidth_workers(scheduler: Scheduler) -> list[tuple[str, str, float]]:
    """Return source, destination and bytes per second: `scheduler.bandwidth_workers`.

    Its pairs begin with the worker that measured, which is the one that received
    (``Worker._update_metrics_received_data``).
    """
    rates = getattr(scheduler, "bandwidth_workers", {})
    return [(str(sender), str(receiver), float(rate)) for (receiver, sender), rate in rates.items()]


BUFFER: Final = ("total", "written", "read", "memory", "memory_limit")
"""Fields of either buffer in a heartbeat of `ShuffleRun`."""

COMM_WRITTEN, COMM_READ = 3, 4
"""Places of these columns in the rows of ``shuffles``."""

MAX_SHUFFLES: Final = 20
"""Kept; the ones that began first go."""


class Shuffles:
    """What each worker reported last of each of the newest shuffles, and what moved when.

    `distributed` forgets what workers reported of a shuffle when that ends; for many that is before
    anybody had the time to look.
    """

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Row]] = {}
        self._moved: deque[Row] = deque(maxlen=TABLES["shuffle-transfers"].max_rows)
        self._n_moved = 0

    def note(self, scheduler: Scheduler) -> None:
        """Take over what `distributed` has now; nothing to do while no shuffle is under way."""
        plugin = getattr(scheduler, "plugins", {}).get("shuffle")
        heartbeats = getattr(plugin, "heartbeats", None) or {}
        for name, workers in heartbeats.items():
            shuffle = key_text(name)
            rows = self._kept.setdefault(shuffle, {})
            for address, beat in workers.items():
                row = _shuffle_row(shuffle, str(address), beat)
                self._note_moved(rows.get(row[1]), row, scheduler)
                rows[row[1]] = row
        while len(self._kept) > MAX_SHUFFLES:
            del self._kept[next(iter(self._kept))]

    def rows(self, scheduler: Scheduler) -> list[Row]:
        """Return the rows of the table ``shuffles``, newest shuffle last."""
        self.note(scheduler)
        return [row for workers in self._kept.values() for row in workers.values()]

    def transfers(self, scheduler: Scheduler) -> ShuffleTransfers:
        """Return the reader of the log of what moved."""
        self.note(scheduler)
        return ShuffleTransfers(self._moved, lambda: self._n_moved)

    def _note_moved(self, before: Row | None, row: Row, scheduler: Scheduler) -> None:
        sent_bytes, received_bytes = (
            max(row[i] - (before[i] if before else 0.0), 0.0) for i in (COMM_WRITTEN, COMM_READ)
        )
        if sent_bytes or received_bytes:
            ws = scheduler.workers.get(row[1])
            stop = ws.last_seen if ws is not None else time.time()
            self._moved.append((stop, row[0], row[1], sent_bytes, received_bytes))
            self._n_moved += 1


class ShuffleTransfers:
    """Reads what shuffles moved since it was read last."""

    def __init__(self, moved: deque[Row], n_moved: Callable[[], int]) -> None:
        self._moved, self._n_moved = moved, n_moved
        self._seen = 0

    def read(self) -> tuple[list[Row], int]:
        """Return new rows, and how many were lost before them."""
        new = self._n_moved() - self._seen
        n = min(new, len(self._moved))
        self._seen += new
        return list(self._moved)[len(self._moved) - n :], new - n


def _shuffle_row(shuffle: str, address: str, beat: Mapping[str, Any]) -> tuple[Any, ...]:
    comm, disk = beat.get("comm") or {}, beat.get("disk") or {}
    return (
        shuffle,
        address,
        *(_number(comm, field) for field in BUFFER),
        *(_number(disk, field) for field in BUFFER),
        _number(beat, "start"),
    )


def _number(beat: Mapping[str, Any], field: str) -> float:
    """Return a field of a heartbeat; NaN where there is none or no limit."""
    value = beat.get(field)
    return float(value) if isinstance(value, (int, float)) else math.nan


TOPIC: Final = "stealing"
MAX_MOVES: Final = 2_000
"""Rows of one look, about 5 ms; what is more is read at the next one."""

NAMES: Final = {"confirm": "confirmed"}

Move = tuple[float, str, str, int, str, str, float, float]


def moves_of(at: float, message: Any) -> list[Move]:  # `distributed`'s own, by version
    """Return the moves that one message of `WorkStealing` is about; none if it is not known.

    ``("request", [(time, level, key, cost, victim, its occupancy, thief, its occupancy), …])``,
    ``("confirm" or "already-computing", key, state, victim, thief, stimulus)``,
    ``("reschedule", flag, key, state, victim, thief, stimulus)`` and
    ``("stale-response" or "already-aborted", key, state, victim, stimulus)``.
    """
    if not isinstance(message, (tuple, list)) or not message:
        return []
    event, *parts = message
    if event == "request" and len(parts) == 1:
        return [
            (begun, "request", key_text(key), level, str(victim), str(thief), float(v), float(t))
            for begun, level, key, _, victim, v, thief, t in parts[0]
        ]
    if event == "reschedule":
        parts = parts[1:]
    victim, thief = "", ""
    if len(parts) == 5:
        victim, thief = str(parts[2]), str(parts[3])
    elif len(parts) == 4:
        victim = str(parts[2] or "")
    else:
        return []
    name = NAMES.get(event, key_text(event))
    return [(at, name, key_text(parts[0]), -1, victim, thief, math.nan, math.nan)]


class StealingSource:
    """Reads new messages of the topic, which keeps a bounded number of them."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._seen = 0

    def read(self) -> tuple[list[Move], int]:
        """Return new rows, and how many messages were lost before them."""
        broker = getattr(self._scheduler, "_broker", None)
        topic = getattr(broker, "_topics", {}).get(TOPIC)
        if topic is None:
            return [], 0
        new = topic.count - self._seen
        n = max(0, min(new, len(topic.events)))
        lost = max(0, new - n)
        self._seen += lost
        rows: list[Move] = []
        for at, message in itertools.islice(topic.events, len(topic.events) - n, None):
            rows += moves_of(at, message)
            self._seen += 1
            if len(rows) >= MAX_MOVES:
                break
        return rows, lost


QUANTITIES: Final = (
    "time",
    "cpu",
    "memory",
    "host_net_io.read_bps",
    "host_net_io.write_bps",
    "host_disk_io.read_bps",
    "host_disk_io.write_bps",
    "num_fds",
    "gil_contention",
)
"""Those of `SystemMonitor.quantities`, in the order of the columns; the last column follows."""

MOST_BPS: Final = 1e11
"""Bytes a second of a host that no network or disk reaches; such a rate is one whose period the
monitor did not measure, and stays out: it would flatten all others in a chart."""

TICK_S: Final = 2.0
"""The loop's interval is only known now: it is put to samples that are no older than this."""


class SystemSource:
    """Reads new samples of ``scheduler.monitor``, which keeps an hour of them."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._seen = 0

    def read(self) -> tuple[list[tuple[float, ...]], int]:
        """Return new samples, and how many were lost before them."""
        monitor = getattr(self._scheduler, "monitor", None)
        quantities: dict[str, Any] = getattr(monitor, "quantities", {})
        count = getattr(monitor, "count", 0)
        times = quantities.get("time", ())
        n = max(0, min(count - self._seen, len(times)))
        lost = max(0, count - self._seen - n)
        self._seen = count
        if not n:
            return [], lost
        columns = [_newest(quantities.get(name, ()), n) for name in QUANTITIES]
        for i, name in enumerate(QUANTITIES):
            if name.endswith("_bps"):
                columns[i] = [bps if bps < MOST_BPS else math.nan for bps in columns[i]]
        tick_s = float(getattr(self._scheduler, "_tick_interval_observed", math.nan))
        since = times[-1] - TICK_S
        columns.append([tick_s if at >= since else math.nan for at in columns[0]])
        return list(zip(*columns, strict=True)), lost


def _newest(samples: Any, n: int) -> list[float]:  # a deque of numbers
    """Return the newest ``n`` samples; NaN for those that were not taken."""
    newest = [
        float(sample) if type(sample) in {int, float} else math.nan
        for sample in itertools.islice(reversed(samples), n)
    ]
    newest += [math.nan] * (n - len(newest))
    newest.reverse()
    return newest
