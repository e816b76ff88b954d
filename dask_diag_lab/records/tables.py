"""The tables that are always followed, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final


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


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        The column's name, everywhere.
    dtype : str
        NumPy dtype, little-endian for numbers on the wire; ``"O"`` for text and mappings.
    unit : str
        Unit of the values, empty where they have none.
    doc : str
        Meaning, and the engine attribute it comes from.
    """

    name: str
    dtype: str
    unit: str
    doc: str


ACTIONS: Final[tuple[Column, ...]] = (
    Column("start", "<f8", "s", "Begin, seconds since the epoch on the scheduler's clock"),
    Column("stop", "<f8", "s", "End, same clock"),
    Column("kind", "<u1", "", "A `Kind`"),
    Column("outcome", "<u1", "", "An `Outcome`"),
    Column("worker", "<u4", "", "String id of the worker's address"),
    Column("thread", "<u8", "", "Thread identifier on that worker; 0 where the engine gives none"),
    Column("source", "<u4", "", "String id of the peer a transfer came from; 0 elsewhere"),
    Column("prefix", "<u4", "", "String id of the task's prefix"),
    Column("task", "<i8", "", "Ordinal of the task since the collector started: index of its key"),
    Column("nbytes", "<i8", "B", "Size of the task's result; -1 where there is none"),
)

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

RUNNING: Final[tuple[Column, ...]] = (
    Column("key", "O", "", "The task's key as text"),
    Column("worker", "<u4", "", "String id of the worker's address"),
    Column("prefix", "<u4", "", "String id of the task's prefix"),
    Column("start", "<f8", "s", "Begin, from the last heartbeat's `executing`"),
)

# How ``nbytes`` comes about in the next two tables, and in the extra ``spans``: the engine's
# ``nbytes_total`` of a task group only grows, so what left memory is taken off, transition by
# transition. Exact, but for groups with released results when the collector came to a scheduler
# that had more than 20 000 tasks: these begin with the share of their tasks that is in memory.

PREFIXES: Final[tuple[Column, ...]] = (
    Column("name", "O", "", "The prefix"),
    Column(
        "states",
        "<i8",
        "",
        "Tasks in each of `STATES`; forgotten ones counted since attach, those erred until then as "
        "erred",
    ),
    Column(
        "nbytes",
        "<i8",
        "B",
        "In memory now, replicas not counted: the sum of its groups; -1 where nobody tells",
    ),
    Column("duration", "<f8", "s", "`TaskPrefix.duration_average`; NaN while unknown"),
)

GROUPS: Final[tuple[Column, ...]] = (
    Column("name", "O", "", "The group"),
    Column("prefix", "O", "", "Its prefix"),
    Column(
        "states",
        "<i8",
        "",
        "Tasks in each of `STATES`; forgotten ones that were erred until then as erred. Those of "
        "earlier groups of its name, which the engine had dropped, are forgotten ones, or erred",
    ),
    Column(
        "nbytes",
        "<i8",
        "B",
        "In memory now, replicas not counted: `TaskGroup.nbytes_total` less what left memory",
    ),
    Column(
        "duration",
        "<f8",
        "s",
        "Sum of all durations, `TaskGroup.duration`, with those of earlier ones",
    ),
    Column("start", "<f8", "s", "First start; NaN before"),
    Column("stop", "<f8", "s", "Last stop; NaN before"),
    Column("dependencies", "O", "", "Names of the groups it depends on"),
    Column("is_ended", "?", "", "The engine has dropped it, with the last of its tasks"),
)

WORKERS: Final[tuple[Column, ...]] = (
    Column("address", "O", "", "`WorkerState.address`"),
    Column("name", "O", "", "`WorkerState.name` as text"),
    Column("host", "O", "", "`WorkerState.host`"),
    Column(
        "process",
        "O",
        "",
        "The same text for workers that live in one process; '' for one that is alone in its own",
    ),
    Column("nthreads", "<i8", "", "`WorkerState.nthreads`"),
    Column("memory_limit", "<i8", "B", "`WorkerState.memory_limit`; 0: no limit"),
    Column("status", "O", "", "`WorkerState.status`, e.g. running, paused, closing_gracefully"),
    Column("last_seen", "<f8", "s", "Time of the last heartbeat, scheduler's clock"),
    Column("cpu", "<f8", "%", "`metrics['cpu']`: of one core, so up to 100 times nthreads"),
    Column("memory", "<i8", "B", "`memory.process`: resident set size"),
    Column("managed", "<i8", "B", "`memory.managed`: tracked results in memory (not spilled)"),
    Column("unmanaged_old", "<i8", "B", "`memory.unmanaged_old`"),
    Column("unmanaged_recent", "<i8", "B", "`memory.unmanaged_recent`"),
    Column("spilled", "<i8", "B", "`memory.spilled`: on disk"),
    Column("processing", "<i8", "", "`len(WorkerState.processing)`: assigned, running or queued"),
    Column("executing", "<i8", "", "`len(WorkerState.executing)` of the last heartbeat"),
    Column("occupancy", "<f8", "s", "`WorkerState.occupancy`: expected seconds of assigned work"),
    Column("is_idle", "?", "", "In `scheduler.idle`"),
    Column("is_saturated", "?", "", "In `scheduler.saturated`"),
    Column("incoming_bytes", "<i8", "B", "`metrics['transfer']['incoming_bytes']`, in flight"),
    Column("outgoing_bytes", "<i8", "B", "`metrics['transfer']['outgoing_bytes']`, in flight"),
    Column("metrics", "O", "", "Every other heartbeat metric, custom ones too, as a mapping"),
)

THRESHOLDS: Final[tuple[str, ...]] = ("target", "spill", "pause", "terminate")
"""`distributed.worker.memory.*`, as shares of the limit; None where switched off."""
