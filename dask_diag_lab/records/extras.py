"""Tables that are only sent while somebody looks at a plot that needs them.

What they hold is kept on the scheduler whether anybody looks or not, so nothing is lost by that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dask_diag_lab.records.tables import Column

GRAPH: Final = "graph"
"""What a view needs that draws single tasks: the exact task graph, followed only then."""


@dataclass(frozen=True, slots=True)
class Extra:
    """One such table.

    Attributes
    ----------
    name : str
        What views ask for it by, in `View.needs`.
    columns : tuple of Column
    is_log : bool
        Rows are appended, and the oldest given up above ``max_rows``; else all are replaced.
    max_rows : int
    doc : str
        What a row is, and the engine attribute it comes from.
    """

    name: str
    columns: tuple[Column, ...]
    is_log: bool
    max_rows: int
    doc: str


_TIME: Final = Column("time", "<f8", "s", "Scheduler's clock, seconds since the epoch")
_ACTIVITY: Final = (
    Column("context", "O", "", "execute, gather-dep, get-data, memory-monitor, p2p, …"),
    Column("label", "O", "", "The prefix in execute, the place in p2p; empty elsewhere"),
    Column("activity", "O", "", "thread-cpu, deserialize, network, disk-write, …"),
    Column("unit", "O", "", "seconds, bytes, count or a unit of the user's own"),
    Column("value", "<f8", "", "Sum over all workers since the scheduler started"),
)

EXTRAS: Final[tuple[Extra, ...]] = (
    Extra(
        "durations",
        (
            Column("prefix", "O", "", "The prefix"),
            Column("action", "O", "", "compute, transfer, disk-read, disk-write, …"),
            Column("seconds", "<f8", "s", "Sum over all threads and tasks so far"),
        ),
        is_log=False,
        max_rows=20_000,
        doc="Time of each prefix by what was done: `TaskPrefix.all_durations`, never reset",
    ),
    Extra(
        "bandwidth-types",
        (
            Column("type", "O", "", "Name of the type of the data"),
            Column("rate", "<f8", "B/s", "Moving average over transfers above 1 MB"),
        ),
        is_log=False,
        max_rows=1_000,
        doc="Bandwidth by type: `scheduler.bandwidth_types`",
    ),
    Extra(
        "bandwidth-workers",
        (
            Column("source", "O", "", "Address of the worker that sent"),
            Column("destination", "O", "", "Address of the worker that received"),
            Column("rate", "<f8", "B/s", "Moving average over transfers above 1 MB"),
        ),
        is_log=False,
        max_rows=20_000,
        doc="Bandwidth by pair of workers: `scheduler.bandwidth_workers`",
    ),
    Extra(
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
        is_log=True,
        max_rows=7_200,
        doc="The scheduler's own process: `scheduler.monitor`, which keeps an hour of samples",
    ),
    Extra(
        "errors",
        (
            Column("key", "O", "", "The task's key as text"),
            Column("prefix", "O", "", "Its prefix"),
            _TIME,
            Column("workers", "O", "", "Addresses of the workers it failed on, a tuple"),
            Column("exception", "O", "", "Text of the exception"),
            Column("traceback", "O", "", "Text of the traceback"),
            Column(
                "count", "<i8", "", "Failures of its prefix with that exception, also unlisted ones"
            ),
            Column(
                "kind",
                "O",
                "",
                "Type of the exception and last frame of the traceback; without one, the text "
                "without numbers and quotes",
            ),
            Column("kind_count", "<i8", "", "Failures of its prefix of that kind, also unlisted"),
            Column("kind_first", "<f8", "s", "When the first one of that kind failed"),
        ),
        is_log=False,
        max_rows=1_000,
        doc="The last tasks of each text, newest last, also of before a restart: from "
        "`scheduler.erred_tasks`, without those that erred because of another one",
    ),
    Extra(
        "stealing",
        (
            _TIME,
            Column(
                "event",
                "O",
                "",
                "request, confirmed, or why it came to nothing: already-computing, reschedule, "
                "stale-response, already-aborted",
            ),
            Column("key", "O", "", "The task's key as text"),
            Column("level", "<i8", "", "Cost class of the stealing queue; -1 unknown"),
            Column("victim", "O", "", "Address of the worker that had the task"),
            Column("thief", "O", "", "Address of the worker it was to go to"),
            Column("victim_occupancy", "<f8", "s", "Before the move; NaN unknown"),
            Column("thief_occupancy", "<f8", "s", "Before the move; NaN unknown"),
        ),
        is_log=True,
        max_rows=10_000,
        doc="Moves of tasks between workers: the topic `stealing`",
    ),
    Extra(
        "counters",
        (
            Column("name", "O", "", "What is counted"),
            Column("unit", "O", "", "seconds, bytes, count, …"),
            Column("value", "<f8", "", "Sum since the scheduler started"),
        ),
        is_log=False,
        max_rows=2_000,
        doc="Sums: `transition_counter`, `digests_total`, stealing's requests and their cost, and "
        "what workers count without a context (`workers: latency`, …)",
    ),
    Extra(
        "activities",
        _ACTIVITY,
        is_log=False,
        max_rows=20_000,
        doc="Fine performance metrics of the whole cluster: `cumulative_worker_metrics`",
    ),
    Extra(
        "fine",
        (
            Column(
                "span",
                "O",
                "",
                "Name of the span, parts joined by ` > `; `default` for tasks without one; empty "
                "for what is not told by span, and for spans before the newest 1000",
            ),
            *_ACTIVITY,
        ),
        is_log=False,
        max_rows=20_000,
        doc="Fine performance metrics by span: `Span._cumulative_worker_metrics`, and what the "
        "scheduler's `cumulative_worker_metrics` have beyond these; all rows sum up to the latter",
    ),
    Extra(
        "spans",
        (
            Column("id", "O", "", "Id of the span"),
            Column("name", "O", "", "Its name, parts joined by ` > `"),
            Column("parent", "O", "", "Id of the span around it; empty for none"),
            Column("start", "<f8", "s", "First start of a task; NaN before"),
            Column("stop", "<f8", "s", "Last end of a task; NaN before"),
            Column("states", "O", "", "Tasks in each of `STATES`, a tuple"),
            Column(
                "nbytes",
                "<i8",
                "B",
                "In memory now, replicas not counted: the sum of its `GROUPS`, inner spans' too",
            ),
            Column("seconds", "<f8", "s", "Sum of all durations, of spans inside it too"),
            Column("groups", "O", "", "Names of at most 100 task groups of its own, a tuple"),
        ),
        is_log=False,
        max_rows=1_000,
        doc="Parts of a computation that the user named: `extensions['spans']`, newest last",
    ),
    Extra(
        "shuffles",
        (
            Column("id", "O", "", "Id of the shuffle"),
            Column("worker", "O", "", "Address of the worker"),
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
        is_log=False,
        max_rows=20_000,
        doc="P2P shuffles, worker by worker, newest last: what they reported last, also when ended",
    ),
)

EXTRA_NAMES: Final = frozenset(extra.name for extra in EXTRAS)
