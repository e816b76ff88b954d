"""The tables that travel from the scheduler to the plots, column by column: declared here, once.

From a declaration follow the collector's columns, the wire and its version, the check on arrival
and the store's columns. A new number of each worker is one more line in `WORKERS`: then there is
``store.workers.<name>``. Standard library only: a part of this is sent to the scheduler.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final, NamedTuple

STATES: Final[tuple[str, ...]] = (
    "released",
    "waiting",
    "no-worker",
    "queued",
    "processing",
    "memory",
    "erred",
    "forgotten",
)
"""The scheduler's task states, in the order of every counts array of this package."""


class Kind(IntEnum):
    """What a worker thread did during one action (``startstops[*]["action"]``)."""

    COMPUTE = 0
    TRANSFER = 1
    DISK_READ = 2
    DISK_WRITE = 3
    DESERIALIZE = 4


class Outcome(IntEnum):
    """How the task that an action belongs to ended."""

    OK = 0
    ERRED = 1
    KILLED = 2
    """The worker died while the task ran; the start is that of its last heartbeat."""
    RUNNING = 3
    """Not ended yet: only in the running table, never in the action log."""


class Column(NamedTuple):
    """One column of a table.

    Attributes
    ----------
    name : str
        The column's name, everywhere.
    dtype : str
        NumPy dtype, little-endian, of numbers; else ``"text"``, ``"texts"`` (a tuple of them),
        ``"ints"`` (a tuple) or ``"pairs"`` (a mapping of text to text, numbers or None).
    unit : str
        Unit of the values, empty where they have none.
    doc : str
        Meaning, and the attribute of `distributed` it comes from.
    fill : callable, optional
        Takes the collector's facts of one row, and returns the value.
    size : int
        Numbers in each row; above 1 the column is an array of that many columns.
    """

    name: str
    dtype: str
    unit: str
    doc: str
    fill: Callable[[Any], Any] | None = None  # facts and values are of any type
    size: int = 1

    @property
    def is_number(self) -> bool:
        return self.dtype[0] in "<?"


class Table(NamedTuple):
    """A table and how it is sent.

    Attributes
    ----------
    name : str
        Its name on the wire; that of an extra is also what a view asks for it by.
    columns : tuple of Column
        Rows of ``"changes"`` are found by the first one.
    sent : {'changes', 'log', 'whole'}
        As rows that changed and names that went, as rows that are new, or as all rows.
    max_rows : int
        Rows kept at most, in the collector and in the store; 0: the collector has its own bound.
    doc : str
        What a row is, and the attribute of `distributed` it comes from.
    """

    name: str
    columns: tuple[Column, ...]
    sent: str
    max_rows: int = 0
    doc: str = ""


ACTIONS: Final = Table(
    "actions",
    (
        Column("start", "<f8", "s", "Begin, seconds since the epoch on the scheduler's clock"),
        Column("stop", "<f8", "s", "End, same clock"),
        Column("kind", "<u1", "", "A `Kind`"),
        Column("outcome", "<u1", "", "An `Outcome`"),
        Column("worker", "<u4", "", "String id of the worker's address"),
        Column("thread", "<u8", "", "Thread identifier on that worker; 0 where none is given"),
        Column("source", "<u4", "", "String id of the peer a transfer came from; 0 elsewhere"),
        Column("prefix", "<u4", "", "String id of the task's prefix"),
        Column("task", "<i8", "", "Ordinal of the task since the collector started"),
        Column("nbytes", "<i8", "B", "Size of the task's result; -1 where there is none"),
    ),
    "log",
    doc="What worker threads did, task by task",
)

RUNNING: Final = Table(
    "running",
    (
        Column("key", "text", "", "The task's key"),
        Column("worker", "<u4", "", "String id of the worker's address"),
        Column("prefix", "<u4", "", "String id of the task's prefix"),
        Column("start", "<f8", "s", "Begin, from the last heartbeat's `executing`"),
    ),
    "whole",
    doc="Tasks that run now: `WorkerState.executing`",
)

_STATES: Final = (
    "Tasks in each of `STATES`. Forgotten ones are those that had a result, counted since the "
    "collector started; those that were erred until then count as erred"
)

PREFIXES: Final = Table(
    "prefixes",
    (
        Column("name", "text", "", "The prefix", lambda p: p.name),
        Column("states", "<i8", "", _STATES, lambda p: p.states, len(STATES)),
        Column("nbytes", "<i8", "B", "In memory now, replicas not counted", lambda p: p.nbytes),
        Column(
            "duration",
            "<f8",
            "s",
            "Expected by the scheduler: `TaskPrefix.duration_average`; NaN while unknown",
            lambda p: p.prefix.duration_average if p.prefix.duration_average >= 0 else math.nan,
        ),
    ),
    "changes",
)

GROUPS: Final = Table(
    "groups",
    (
        Column("name", "text", "", "The group", lambda g: g.name),
        Column("prefix", "text", "", "Its prefix", lambda g: g.prefix),
        Column("states", "<i8", "", _STATES, lambda g: g.states, len(STATES)),
        Column("nbytes", "<i8", "B", "In memory now, replicas not counted", lambda g: g.nbytes),
        Column(
            "duration",
            "<f8",
            "s",
            "Sum of all durations, also of earlier groups of its name",
            lambda g: g.work.seconds,
        ),
        Column("start", "<f8", "s", "First start; NaN before", lambda g: g.work.start or math.nan),
        Column("stop", "<f8", "s", "Last stop; NaN before", lambda g: g.work.stop or math.nan),
        Column(
            "dependencies",
            "texts",
            "",
            "Names of the groups it depends on",
            lambda g: g.dependencies,
        ),
        Column(
            "is_ended",
            "?",
            "",
            "The scheduler has dropped it, with the last of its tasks",
            lambda g: g.is_ended,
        ),
    ),
    "changes",
)

WORKERS: Final = Table(
    "workers",
    (
        Column("address", "text", "", "`WorkerState.address`", lambda w: w.state.address),
        Column("name", "text", "", "`WorkerState.name`", lambda w: str(w.state.name)),
        Column("host", "text", "", "`WorkerState.host`", lambda w: w.state.host),
        Column(
            "process",
            "text",
            "",
            "The same for workers that live in one process; '' for one that is alone in its own",
            lambda w: w.process,
        ),
        Column("nthreads", "<i8", "", "`WorkerState.nthreads`", lambda w: w.state.nthreads),
        Column(
            "memory_limit",
            "<i8",
            "B",
            "`WorkerState.memory_limit`; 0: no limit",
            lambda w: w.state.memory_limit or 0,
        ),
        Column(
            "status",
            "text",
            "",
            "`WorkerState.status`, e.g. running, paused",
            lambda w: w.state.status.name,
        ),
        Column(
            "last_seen",
            "<f8",
            "s",
            "Time of the last heartbeat, scheduler's clock",
            lambda w: w.state.last_seen,
        ),
        Column(
            "cpu",
            "<f8",
            "%",
            "`metrics['cpu']`: of one core, so up to 100 times nthreads",
            lambda w: w.state.metrics.get("cpu", 0.0),
        ),
        Column(
            "memory", "<i8", "B", "`memory.process`: resident set size", lambda w: w.memory.process
        ),
        Column(
            "managed",
            "<i8",
            "B",
            "`memory.managed`: tracked results in memory (not spilled)",
            lambda w: w.memory.managed,
        ),
        Column(
            "unmanaged_old", "<i8", "B", "`memory.unmanaged_old`", lambda w: w.memory.unmanaged_old
        ),
        Column(
            "unmanaged_recent",
            "<i8",
            "B",
            "`memory.unmanaged_recent`",
            lambda w: w.memory.unmanaged_recent,
        ),
        Column(
            "spilled",
            "<i8",
            "B",
            "`memory.spilled`: on disk, as compressed",
            lambda w: w.memory.spilled,
        ),
        Column(
            "spilled_memory",
            "<i8",
            "B",
            "The same before compression",
            lambda w: w.state.metrics.get("spilled_bytes", {}).get("memory", 0),
        ),
        Column(
            "processing",
            "<i8",
            "",
            "`len(WorkerState.processing)`: running or queued",
            lambda w: len(w.state.processing),
        ),
        Column(
            "executing",
            "<i8",
            "",
            "`len(WorkerState.executing)` of the last heartbeat",
            lambda w: len(w.state.executing),
        ),
        Column(
            "occupancy",
            "<f8",
            "s",
            "`WorkerState.occupancy`: expected seconds of its work",
            lambda w: w.occupancy,
        ),
        Column(
            "is_idle", "?", "", "In `scheduler.idle`", lambda w: w.state.address in w.scheduler.idle
        ),
        Column(
            "is_saturated",
            "?",
            "",
            "In `scheduler.saturated`",
            lambda w: w.state in w.scheduler.saturated,
        ),
        Column(
            "incoming_bytes",
            "<i8",
            "B",
            "`metrics['transfer']['incoming_bytes']`, in flight",
            lambda w: w.state.metrics.get("transfer", {}).get("incoming_bytes", 0),
        ),
        Column(
            "outgoing_bytes",
            "<i8",
            "B",
            "`metrics['transfer']['outgoing_bytes']`, in flight",
            lambda w: w.state.metrics.get("transfer", {}).get("outgoing_bytes", 0),
        ),
        Column(
            "metrics",
            "pairs",
            "",
            "Every other heartbeat metric, custom ones too",
            lambda w: w.metrics,
        ),
    ),
    "changes",
)

EVENTS: Final = Table(
    "events",
    (
        Column("time", "<f8", "s", "Scheduler's clock"),
        Column("kind", "text", "", "worker-added, restart, …: one of `store.events.KINDS`"),
        Column("detail", "pairs", "", "By kind"),
    ),
    "log",
    2_000,
)

NTHREADS: Final = Table(
    "nthreads",
    (
        Column("time", "<f8", "s", "Scheduler's clock"),
        Column("nthreads", "<i8", "", "Threads of the cluster from then on"),
    ),
    "log",
    10_000,
    "`scheduler.total_nthreads_history`",
)

NODES: Final = Table(
    "nodes",
    (
        Column("node", "<i8", "", "A number that is never used again in an epoch"),
        Column("key", "text", "", "The task's key"),
        Column("prefix", "text", "", "Its prefix"),
        Column("group", "text", "", "Its group"),
        Column("dependencies", "ints", "", "Nodes it depends on"),
    ),
    "log",
    doc="Tasks of the exact graph",
)

NODE_STATES: Final = Table(
    "node-states",
    (
        Column("node", "<i8", "", "As in `NODES`"),
        Column("state", "<i8", "", "Index into `STATES`"),
    ),
    "log",
)

THRESHOLDS: Final[tuple[str, ...]] = ("target", "spill", "pause", "terminate")
"""`distributed.worker.memory.*`, as shares of the limit; None where switched off."""

GRAPH: Final = "graph"
"""What a view asks for that draws single tasks: the exact task graph, followed only then."""


_TIME: Final = Column("time", "<f8", "s", "Scheduler's clock, seconds since the epoch")
_ACTIVITY: Final = (
    Column("context", "text", "", "execute, gather-dep, get-data, memory-monitor, p2p, …"),
    Column("label", "text", "", "The prefix in execute, the place in p2p; empty elsewhere"),
    Column("activity", "text", "", "thread-cpu, deserialize, network, disk-write, …"),
    Column("unit", "text", "", "seconds, bytes, count or a unit of the user's own"),
    Column("value", "<f8", "", "Sum over all workers since the scheduler started"),
)

EXTRAS: Final = (
    Table(
        "durations",
        (
            Column("prefix", "text", "", "The prefix"),
            Column("action", "text", "", "compute, transfer, disk-read, disk-write, …"),
            Column("seconds", "<f8", "s", "Sum over all threads and tasks so far"),
        ),
        "whole",
        20_000,
        "Time of each prefix by what was done: `TaskPrefix.all_durations`, never reset",
    ),
    Table(
        "bandwidth-types",
        (
            Column("type", "text", "", "Name of the type of the data"),
            Column("rate", "<f8", "B/s", "Moving average over transfers above 1 MB"),
        ),
        "whole",
        1_000,
        "Bandwidth by type: `scheduler.bandwidth_types`",
    ),
    Table(
        "bandwidth-workers",
        (
            Column("source", "text", "", "Address of the worker that sent"),
            Column("destination", "text", "", "Address of the worker that received"),
            Column("rate", "<f8", "B/s", "Moving average over transfers above 1 MB"),
        ),
        "whole",
        20_000,
        "Bandwidth by pair of workers: `scheduler.bandwidth_workers`",
    ),
    Table(
        "system",
        (
            _TIME,
            Column("cpu", "<f8", "%", "Of one core, the scheduler's process"),
            Column("memory", "<f8", "B", "Its resident set size"),
            Column("read_bps", "<f8", "B/s", "Network of its host, in"),
            Column("write_bps", "<f8", "B/s", "Network of its host, out"),
            Column("disk_read_bps", "<f8", "B/s", "Disk of its host; NaN where not measured"),
            Column("disk_write_bps", "<f8", "B/s", "Disk of its host; NaN where not measured"),
            Column("fds", "<f8", "", "Open file descriptors; NaN where not known"),
            Column("gil", "<f8", "", "Share of time somebody waited for the GIL; NaN unmeasured"),
            Column(
                "loop_s",
                "<f8",
                "s",
                "`Server._tick_interval_observed`: event loop interval; NaN before somebody looked",
            ),
        ),
        "log",
        7_200,
        "The scheduler's own process: `scheduler.monitor`, which keeps an hour of samples",
    ),
    Table(
        "errors",
        (
            Column("key", "text", "", "The task's key as text"),
            Column("prefix", "text", "", "Its prefix"),
            _TIME,
            Column("workers", "texts", "", "Addresses of the workers it failed on"),
            Column("exception", "text", "", "Text of the exception"),
            Column("traceback", "text", "", "Text of the traceback"),
            Column(
                "count", "<i8", "", "Failures of its prefix with that exception, also unlisted ones"
            ),
            Column(
                "kind",
                "text",
                "",
                "Type of the exception and last frame of the traceback; without one, the text "
                "without numbers and quotes",
            ),
            Column("kind_count", "<i8", "", "Failures of its prefix of that kind, also unlisted"),
            Column("kind_first", "<f8", "s", "When the first one of that kind failed"),
            Column("attempts", "<i8", "", "How many of the count were attempts: run again after"),
        ),
        "whole",
        1_000,
        "The last tasks of each text, newest last, also of before a restart: from "
        "`scheduler.erred_tasks`, without those that erred because of another one",
    ),
    Table(
        "stealing",
        (
            _TIME,
            Column(
                "event",
                "text",
                "",
                "request, confirmed, or why it came to nothing: already-computing, reschedule, "
                "stale-response, already-aborted",
            ),
            Column("key", "text", "", "The task's key as text"),
            Column("level", "<i8", "", "Cost class of the stealing queue; -1 unknown"),
            Column("victim", "text", "", "Address of the worker that had the task"),
            Column("thief", "text", "", "Address of the worker it was to go to"),
            Column("victim_occupancy", "<f8", "s", "Before the move; NaN unknown"),
            Column("thief_occupancy", "<f8", "s", "Before the move; NaN unknown"),
        ),
        "log",
        10_000,
        "Moves of tasks between workers: the topic `stealing`",
    ),
    Table(
        "counters",
        (
            Column("name", "text", "", "What is counted"),
            Column("unit", "text", "", "seconds, bytes, count, …"),
            Column("value", "<f8", "", "Sum since the scheduler started"),
        ),
        "whole",
        2_000,
        "Sums: `transition_counter`, `digests_total`, stealing's requests and their cost, and "
        "what workers count without a context (`workers: latency`, …)",
    ),
    Table(
        "activities",
        _ACTIVITY,
        "whole",
        20_000,
        "Fine performance metrics of the whole cluster: `cumulative_worker_metrics`",
    ),
    Table(
        "fine",
        (
            Column(
                "span",
                "text",
                "",
                "Name of the span, parts joined by ` > `; `default` for tasks without one; empty "
                "for what is not told by span, and for spans before the newest 1000",
            ),
            *_ACTIVITY,
        ),
        "whole",
        20_000,
        "Fine performance metrics by span: `Span._cumulative_worker_metrics`, and what the "
        "scheduler's `cumulative_worker_metrics` have beyond these; all rows sum up to the latter",
    ),
    Table(
        "spans",
        (
            Column("id", "text", "", "Id of the span"),
            Column("name", "text", "", "Its name, parts joined by ` > `"),
            Column("parent", "text", "", "Id of the span around it; empty for none"),
            Column("start", "<f8", "s", "First start of a task; NaN before"),
            Column("stop", "<f8", "s", "Last end of a task; NaN before"),
            Column("states", "<i8", "", "Tasks in each of `STATES`", size=len(STATES)),
            Column(
                "nbytes",
                "<i8",
                "B",
                "In memory now, replicas not counted: the sum of its `GROUPS`, inner spans' too",
            ),
            Column("seconds", "<f8", "s", "Sum of all durations, of spans inside it too"),
            Column("groups", "texts", "", "Names of at most 100 task groups of its own"),
        ),
        "whole",
        1_000,
        "Parts of a computation that the user named: `extensions['spans']`, newest last",
    ),
    Table(
        "shuffles",
        (
            Column("id", "text", "", "Id of the shuffle"),
            Column("worker", "text", "", "Address of the worker"),
            Column("comm_total", "<f8", "B", "Written to the send buffer so far"),
            Column("comm_written", "<f8", "B", "Sent so far"),
            Column("comm_read", "<f8", "B", "Received so far"),
            Column("comm_memory", "<f8", "B", "In the send buffer now"),
            Column("comm_limit", "<f8", "B", "Limit of the send buffer; NaN unknown"),
            Column("disk_total", "<f8", "B", "Written to the disk buffer so far"),
            Column("disk_written", "<f8", "B", "Written to disk so far"),
            Column("disk_read", "<f8", "B", "Read from disk so far"),
            Column("disk_memory", "<f8", "B", "In the disk buffer now"),
            Column("disk_limit", "<f8", "B", "Limit of the disk buffer; NaN unknown"),
            Column("time", "<f8", "s", "When it began on that worker, by its clock"),
        ),
        "whole",
        20_000,
        "P2P shuffles, worker by worker, newest last: what they reported last, also when ended",
    ),
    Table(
        "shuffle-transfers",
        (
            Column("time", "<f8", "s", "Heartbeat that told of it, scheduler's clock"),
            Column("id", "text", "", "Id of the shuffle"),
            Column("worker", "text", "", "Address of the worker"),
            Column("sent", "<f8", "B", "Sent to other workers since the heartbeat before"),
            Column("received", "<f8", "B", "Received since then"),
        ),
        "log",
        10_000,
        "What P2P shuffles moved: not among the transfers of `ACTIONS`, nor in workers' logs",
    ),
)


EXTRA_NAMES: Final = frozenset(extra.name for extra in EXTRAS)
TABLES: Final = {
    table.name: table
    for table in (
        *(ACTIONS, RUNNING, PREFIXES, GROUPS, WORKERS, EVENTS, NTHREADS, NODES, NODE_STATES),
        *EXTRAS,
    )
}
"""All tables, by name."""


def _version() -> str:
    """Return what differs when any declaration does."""
    told = [
        (table.name, table.sent, [(c.name, c.dtype, c.size) for c in table.columns])
        for table in TABLES.values()
    ]
    return hashlib.sha256(repr((7, STATES, told)).encode()).hexdigest()[:8]


PROTOCOL: Final = _version()
"""Version of the wire format: a client meets a collector of another one as if none were there."""
