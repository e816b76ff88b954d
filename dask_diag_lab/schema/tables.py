"""The tables that travel from the scheduler to the plots, column by column: declared here, once.

With them the questions that a plot may ask.

From a declaration follow the collector's columns, the wire and its version, the check on arrival
and the history's columns. A new number of each worker is one more line in `WORKERS`: then there is
``history.workers.<name>``. Standard library only: a part of this is sent to the scheduler.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

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
OTHER: Final = "(other)"
"""Name that stands for all that did not fit a bound."""


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
    RETRIED = 3
    """An attempt that failed; the task was run again."""
    RUNNING = 4
    """Not ended yet: only in the running table, never in the action log."""


class Field(NamedTuple):
    """One column of a table.

    Attributes
    ----------
    name : str
        The column's name, everywhere.
    dtype : str
        NumPy dtype, little-endian, of numbers; else ``"text"``, ``"texts"`` (a tuple of them),
        or ``"pairs"`` (a mapping of text to text, numbers or None).
    unit : str
        Unit of the values, empty where they have none.
    doc : str
        Meaning, where name and source do not say it.
    source : str
        What fills it from the collector's facts of one row: an attribute, with dots.
    size : int
        Numbers in each row; above 1 the column is an array of that many columns.
    """

    name: str
    dtype: str
    unit: str = ""
    doc: str = ""
    source: str = ""
    size: int = 1

    @property
    def is_number(self) -> bool:
        return self.dtype[0] in "<?"


class TableSchema(NamedTuple):
    """A table and how it is sent.

    Attributes
    ----------
    name : str
        Its name on the wire; that of an extra is also what a view asks for it by.
    sent : {'changes', 'log', 'whole'}
        As rows that changed and names that went, as rows that are new, or as all rows.
    max_rows : int
        Rows kept at most, in the collector and in the history; 0: the collector has its own bound.
    columns : tuple of Field
        Rows of ``"changes"`` are found by the first one.
    """

    name: str
    sent: str
    max_rows: int
    columns: tuple[Field, ...]


def _table(name: str, sent: str, max_rows: int, *columns: Field) -> TableSchema:
    return TableSchema(name, sent, max_rows, columns)


_TO_START: Final = (
    "to ``start``, on the scheduler's clock. NaN of all but compute actions, and where it is not "
    "known: of what had happened before the collector came"
)
# What worker threads did, task by task
ACTIONS: Final = _table(
    "actions",
    "log",
    0,
    Field("start", "<f8", "s", "Begin, seconds since the epoch on the scheduler's clock"),
    Field("stop", "<f8", "s", "End, same clock"),
    Field("kind", "<u1", "", "A `Kind`"),
    Field("outcome", "<u1", "", "An `Outcome`"),
    Field("worker", "<u4", "", "String id of the worker's address"),
    Field("thread", "<u8", "", "Thread identifier on that worker; 0 where none is given"),
    Field("source", "<u4", "", "String id of the peer a transfer came from; 0 elsewhere"),
    Field("prefix", "<u4", "", "String id of the task's prefix"),
    Field("type", "<u4", "", "String id of the result's type and its pickled class; 0: none"),
    Field("report_delay", "<f4", "s", "From ``stop`` to the worker's report; NaN: unknown"),
    # A million tasks wait long or briefly: single precision knows either to a millionth.
    Field("ready", "<f4", "s", f"From when its task waited for no other one {_TO_START}"),
    Field("assigned", "<f4", "s", f"From when it was given to a worker {_TO_START}"),
    Field("graph", "<u4", "", "Number of the graph that its task came with; 0: not known"),
    Field("task", "<i8", "", "Ordinal of the task since the collector started"),
    Field("nbytes", "<i8", "B", "Size of the task's result; -1 where there is none"),
)

# Tasks that run now: `WorkerState.executing`
RUNNING: Final = _table(
    "running",
    "whole",
    20_000,
    Field("key", "text", "", "The task's key"),
    Field("worker", "<u4", "", "String id of the worker's address"),
    Field("prefix", "<u4", "", "String id of the task's prefix"),
    Field("start", "<f8", "s", "Begin, from the heartbeat that named it first"),
    Field("graph", "<u4", "", "As in `ACTIONS`"),
)

_STATES: Final = Field(
    "states",
    "<i8",
    "",
    "Tasks in each of `STATES`. Forgotten ones are those that had a result, counted since the "
    "collector started; those that were erred until then count as erred",
    "states",
    len(STATES),
)
_NBYTES: Final = Field("nbytes", "<i8", "B", "In memory now, replicas not counted", "nbytes")

# `scheduler.task_prefixes`; those beyond the bound are one row called (other)
PREFIXES: Final = _table(
    "prefixes",
    "changes",
    5_000,
    Field("name", "text", source="name"),
    _STATES,
    _NBYTES,
    Field("duration", "<f8", "s", "`TaskPrefix.duration_average`; NaN while unknown", "duration"),
)

# `scheduler.task_groups`, and those that ended; of too many the first that ended go
GROUPS: Final = _table(
    "groups",
    "changes",
    5_000,
    Field("name", "text", source="name"),
    Field("prefix", "text", source="prefix"),
    _STATES,
    _NBYTES,
    Field("duration", "<f8", "s", "Sum, also of earlier groups of its name", "duration"),
    Field("start", "<f8", "s", "First start; NaN before", "start"),
    Field("stop", "<f8", "s", "Last stop; NaN before", "stop"),
    Field("dependencies", "texts", "", "Names of the groups it depends on", "dependencies"),
    Field("is_ended", "?", "", "The scheduler dropped it, with its last task", "is_ended"),
)

# `WorkerState`, which is `state` here, and what is worked out from it
WORKERS: Final = _table(
    "workers",
    "changes",
    0,
    Field("address", "text", source="state.address"),
    Field("name", "text", source="state.name"),
    Field("host", "text", source="state.host"),
    # Of the CPU, memory and open files of a process with several workers each has an equal part.
    Field("process", "text", "", "Equal for workers in one process; '' for one alone", "process"),
    Field("nthreads", "<i8", source="state.nthreads"),
    Field("memory_limit", "<i8", "B", "0: no limit", "memory_limit"),
    Field("status", "text", "", "running, paused, …", "state.status.name"),
    Field("last_seen", "<f8", "s", "The last heartbeat, scheduler's clock", "state.last_seen"),
    Field("cpu", "<f8", "%", "Of one core, so up to 100 times nthreads", "cpu"),
    Field("memory", "<i8", "B", "Resident set size", "memory.process"),
    Field("managed", "<i8", "B", "Results in memory (not spilled)", "memory.managed"),
    Field("unmanaged_old", "<i8", "B", source="memory.unmanaged_old"),
    Field("unmanaged_recent", "<i8", "B", source="memory.unmanaged_recent"),
    Field("spilled", "<i8", "B", "On disk, as compressed", "memory.spilled"),
    Field("spilled_memory", "<i8", "B", "The same before compression", "spilled_memory"),
    Field("processing", "<i8", "", "Running or queued there", "n_processing"),
    Field("executing", "<i8", "", "Of the last heartbeat", "n_executing"),
    Field("in_memory", "<i8", "", "Results it holds, copies and spilled ones too", "n_in_memory"),
    Field("occupancy", "<f8", "s", "Expected seconds of its work", "occupancy"),
    Field("is_idle", "?", "", "In `scheduler.idle`", "is_idle"),
    Field("is_saturated", "?", "", "In `scheduler.saturated`", "is_saturated"),
    Field("incoming_bytes", "<i8", "B", "In flight", "incoming_bytes"),
    Field("outgoing_bytes", "<i8", "B", "In flight", "outgoing_bytes"),
    Field("metrics", "pairs", "", "Every other heartbeat metric, custom ones too", "metrics"),
)

# What happened to the cluster
EVENTS: Final = _table(
    "events",
    "log",
    2_000,
    Field("time", "<f8", "s", "Scheduler's clock"),
    Field("kind", "text", "", "worker-added, restart, …: those of `store.events`"),
    Field("detail", "pairs", "", "By kind"),
)

# Graphs that clients submitted; those that one client sends in one go are one row
GRAPHS: Final = _table(
    "graphs",
    "log",
    10_000,
    Field("number", "<u4", "", "From 1 on since the collector started"),
    Field("time", "<f8", "s", "When the first one came, scheduler's clock"),
    Field("until", "<f8", "s", "When the last one came"),
    Field("client", "text", "", "Id of the client"),
    Field("count", "<i8", "", "Graphs"),
    Field("tasks", "<i8", "", "Tasks that were to be computed for them"),
    Field("carried", "<f8", "B", "That a task carries along, the median of a few of the last"),
)

# `scheduler.total_nthreads_history`
NTHREADS: Final = _table(
    "nthreads",
    "log",
    10_000,
    Field("time", "<f8", "s", "Scheduler's clock"),
    Field("nthreads", "<i8", "", "Threads of the cluster from then on"),
)

# Tasks of the exact graph
NODES: Final = _table(
    "nodes",
    "changes",
    0,
    Field("key", "text", "", "The task's key", "task.key"),
    Field("prefix", "text", "", "Its prefix", "task.group.prefix.name"),
    Field("dependencies", "texts", "", "Keys of the tasks it depends on", "dependencies"),
)

# Their states, which change more often
NODE_STATES: Final = _table(
    "node-states",
    "changes",
    0,
    Field("key", "text", "", "As in `NODES`", "task.key"),
    Field("state", "<i8", "", "Index into `STATES`", "state"),
)

THRESHOLDS: Final[tuple[str, ...]] = ("target", "spill", "pause", "terminate")
"""`distributed.worker.memory.*`, as shares of the limit; None where switched off."""

GRAPH: Final = "graph"
"""What a view asks for that draws single tasks: the exact task graph, followed only then."""

_TIME: Final = Field("time", "<f8", "s", "Scheduler's clock, seconds since the epoch", "time")
_RATE: Final = Field("rate", "<f8", "B/s", "Moving average over transfers above 1 MB")
_ACTIVITY: Final = (
    Field("context", "text", "", "execute, gather-dep, get-data, memory-monitor, p2p, …"),
    Field("label", "text", "", "The prefix in execute, the place in p2p; empty elsewhere"),
    Field("activity", "text", "", "thread-cpu, deserialize, network, disk-write, …"),
    Field("unit", "text", "", "seconds, bytes, count or a unit of the user's own"),
    Field("value", "<f8", "", "Sum over all workers since the scheduler started"),
)

EXTRAS: Final = (
    # Bandwidth by type: `scheduler.bandwidth_types`
    _table(
        "bandwidth-types",
        "whole",
        1_000,
        Field("type", "text", "", "Name of the type of the data"),
        _RATE,
    ),
    # Bandwidth by pair of workers: `scheduler.bandwidth_workers`
    _table(
        "bandwidth-workers",
        "whole",
        20_000,
        Field("source", "text", "", "Address of the worker that sent"),
        Field("destination", "text", "", "Address of the worker that received"),
        _RATE,
    ),
    # The scheduler's own process: `scheduler.monitor`, which keeps an hour of samples
    _table(
        "system",
        "log",
        7_200,
        _TIME,
        Field("cpu", "<f8", "%", "Of one core, the scheduler's process", "cpu"),
        Field("memory", "<f8", "B", "Its resident set size", "memory"),
        Field("read_bps", "<f8", "B/s", "Network of its host, in", "host_net_io.read_bps"),
        Field("write_bps", "<f8", "B/s", "Network of its host, out", "host_net_io.write_bps"),
        Field("fds", "<f8", "", "Open file descriptors; NaN where not known", "num_fds"),
        Field("gil", "<f8", "", "Share of time that the GIL was waited for", "gil_contention"),
        Field("loop_s", "<f8", "s", "Event loop interval; NaN before somebody looked"),
    ),
    # The last failures of each kind, newest last, also of before a restart: from
    # `scheduler.erred_tasks`, without those that erred because of another one
    _table(
        "errors",
        "whole",
        1_000,
        Field("key", "text", "", "The task's key as text"),
        Field("prefix", "text", "", "Its prefix"),
        _TIME,
        Field("workers", "texts", "", "Addresses of the workers it failed on"),
        Field("exception", "text", "", "Text of the exception"),
        Field("traceback", "text", "", "Text of the traceback"),
        Field("is_attempt", "?", "", "Whether the task was run again after"),
        Field("kind", "text", "", "Type of the exception and last frame; else text, no numbers"),
        Field("kind_failures", "<i8", "", "Of its prefix and that kind, also unlisted"),
        Field("kind_attempts", "<i8", "", "How many of these were attempts"),
        Field("kind_first", "<f8", "s", "When the first one of that kind failed"),
    ),
    # Moves of tasks between workers: the topic `stealing`
    _table(
        "stealing",
        "log",
        10_000,
        _TIME,
        Field("event", "text", "", "request, confirmed, or why not: already-computing, …"),
        Field("key", "text", "", "The task's key as text"),
        Field("level", "<i8", "", "Cost class of the stealing queue; -1 unknown"),
        Field("victim", "text", "", "Address of the worker that had the task"),
        Field("thief", "text", "", "Address of the worker it was to go to"),
    ),
    # Sums: `transition_counter`, `digests_total`, and what workers count without a context
    # (`workers: latency`, …)
    _table(
        "counters",
        "whole",
        2_000,
        Field("name", "text", "", "What is counted"),
        Field("unit", "text", "", "seconds, bytes, count, …"),
        Field("value", "<f8", "", "Sum since the scheduler started"),
    ),
    # Who has results kept: `scheduler.clients`
    _table(
        "clients",
        "whole",
        20_000,
        Field("name", "text", "", "Of a client, variable, queue, published data set, …"),
        Field("is_connected", "?", "", "A client, not something on the cluster that keeps keys"),
        Field("wanted", "<i8", "", "Keys: `ClientState.wants_what`"),
    ),
    # Fine performance metrics of the whole cluster since the collector started: what
    # `cumulative_worker_metrics` have gained
    _table(
        "activities",
        "whole",
        20_000,
        *_ACTIVITY,
    ),
    # Fine performance metrics by span: `Span._cumulative_worker_metrics`, and what the scheduler's
    # `cumulative_worker_metrics` have beyond these; all rows sum up to the latter
    _table(
        "fine",
        "whole",
        20_000,
        # Joined by ` > `; `default` for tasks without one; empty for what is not told by span,
        # and for spans before the newest 1000.
        Field("span", "text", "", "Name of the span"),
        *_ACTIVITY,
    ),
    # Parts of a computation that the user named: `extensions['spans']`, newest last
    _table(
        "spans",
        "whole",
        1_000,
        Field("name", "text", "", "Its name, parts joined by ` > `"),
        Field("start", "<f8", "s", "First start of a task; NaN before"),
        Field("states", "<i8", "", "Tasks in each of `STATES`", size=len(STATES)),
        Field("nbytes", "<i8", "B", "In memory now: the sum of its `GROUPS`, inner spans' too"),
        Field("seconds", "<f8", "s", "Sum of all durations, of spans inside it too"),
    ),
    # P2P shuffles, worker by worker, newest last: what they reported last, also when ended
    _table(
        "shuffles",
        "whole",
        20_000,
        Field("id", "text", "", "Id of the shuffle", "id"),
        Field("worker", "text", "", "Address of the worker", "worker"),
        Field("comm_written", "<f8", "B", "Sent so far", "comm.written"),
        Field("comm_read", "<f8", "B", "Received so far", "comm.read"),
        Field("comm_memory", "<f8", "B", "In the send buffer now", "comm.memory"),
        Field("comm_limit", "<f8", "B", "Limit of it; NaN unknown", "comm.memory_limit"),
        Field("disk_written", "<f8", "B", "Written to disk so far", "disk.written"),
        Field("disk_read", "<f8", "B", "Read from disk so far", "disk.read"),
        Field("disk_memory", "<f8", "B", "In the disk buffer now", "disk.memory"),
        Field("disk_limit", "<f8", "B", "Limit of it; NaN unknown", "disk.memory_limit"),
        Field("time", "<f8", "s", "When it began on that worker, by its clock", "start"),
    ),
)


EXTRA_NAMES: Final = frozenset(extra.name for extra in EXTRAS)
_LIVE: Final = (
    *(ACTIONS, RUNNING, GRAPHS, PREFIXES, GROUPS, WORKERS, EVENTS, NTHREADS),
    *(NODES, NODE_STATES),
)
TABLES: Final = {table.name: table for table in (*_LIVE, *EXTRAS)}
"""All tables, by name."""


def _version() -> str:
    """Return what differs when any declaration does."""
    declared = [
        (table.name, table.sent, [(c.name, c.dtype, c.size) for c in table.columns])
        for table in TABLES.values()
    ]
    return hashlib.sha256(repr((11, STATES, declared)).encode()).hexdigest()[:8]


PROTOCOL: Final = _version()
"""Version of the wire format: a client meets a collector of another one as if none were there."""


# --- questions

# Tables arrive by themselves; a query costs the cluster something, so it is asked for a picture
# that somebody looks at, and not again before its answer is old.

QUERIES: Final[Mapping[str, tuple[str, ...]]] = {
    "profile": ("source", "prefix", "worker", "start", "stop"),
    "activity": ("source", "worker"),
    "worker": ("worker",),
    "transfers": ("worker",),
    "call-stacks": ("worker", "key"),
    "logs": ("worker",),
    "task": ("key",),
    "hardware": (),
}
"""Names of the arguments of each kind: text or numbers, and all have to be given."""
