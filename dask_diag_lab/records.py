"""Name, dtype and unit of every column that travels from the scheduler to a plot.

Must not import anything of this package: every other room may read this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

import numpy.typing as npt

PROTOCOL: Final = 1
"""Version of the wire format between the collector and the transport."""


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

PREFIXES: Final[tuple[Column, ...]] = (
    Column("name", "O", "", "The prefix"),
    Column("states", "<i8", "", "Tasks in each of `STATES`; forgotten ones counted since attach"),
    Column("nbytes", "<i8", "B", "`TaskPrefix.nbytes_total`: in memory, replicas not counted"),
    Column("duration", "<f8", "s", "`TaskPrefix.duration_average`; NaN while unknown"),
)

GROUPS: Final[tuple[Column, ...]] = (
    Column("name", "O", "", "The group"),
    Column("prefix", "O", "", "Its prefix"),
    Column("states", "<i8", "", "Tasks in each of `STATES`"),
    Column("nbytes", "<i8", "B", "`TaskGroup.nbytes_total`"),
    Column("duration", "<f8", "s", "Sum of all durations, `TaskGroup.duration`"),
    Column("start", "<f8", "s", "First start; NaN before"),
    Column("stop", "<f8", "s", "Last stop; NaN before"),
    Column("dependencies", "O", "", "Names of the groups it depends on"),
)

WORKERS: Final[tuple[Column, ...]] = (
    Column("address", "O", "", "`WorkerState.address`"),
    Column("name", "O", "", "`WorkerState.name` as text"),
    Column("host", "O", "", "`WorkerState.host`"),
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

ActionColumns = Mapping[str, npt.NDArray[Any]]  # one array a column of ACTIONS: dtypes differ


@dataclass(slots=True)
class GraphChange:
    """What changed in the task graph since the last batch.

    Attributes
    ----------
    is_snapshot : bool
        The lists are the whole graph: forget what was known before.
    is_exact : bool
        False when the cluster holds more tasks than ``limit``: no node is sent then and the
        group graph is all there is.
    total, limit : int
        Tasks known to the scheduler, and how many the collector follows one by one.
    added : sequence of (node, key, prefix, group, dependencies)
        ``node`` is an int that is never used again in an epoch; ``dependencies`` are nodes.
    states : sequence of (node, state)
        ``state`` is an index into `STATES`.
    removed : sequence of int
    """

    is_snapshot: bool
    is_exact: bool
    total: int
    limit: int
    added: Sequence[tuple[int, str, str, str, Sequence[int]]] = ()
    states: Sequence[tuple[int, int]] = ()
    removed: Sequence[int] = ()


@dataclass(slots=True)
class SchedulerInfo:
    """Facts of the scheduler that every batch repeats."""

    id: str
    address: str
    started: float
    n_workers: int
    nthreads: int
    memory_limit: int
    thresholds: Mapping[str, float | None]


@dataclass(slots=True)
class Batch:
    """Everything that the collector answered to one pull, decoded.

    A table that is None did not change. Mappings of a row use the column names above.

    Attributes
    ----------
    epoch : str
        Changes when the collector started anew: cursors and string ids of before are void.
    time : float
        The scheduler's clock when it answered, seconds since the epoch.
    received : float
        This process's clock when the answer arrived.
    strings : sequence of str
        New entries of the string table, first id ``strings_from``. Id 0 is ''.
    actions : mapping of str to ndarray, or None
        One array a column of `ACTIONS`, equal lengths, in order of arrival.
    actions_to : int
        Actions recorded since the collector started; the next cursor. 0 where none is counted.
    actions_dropped : int
        Actions between the last cursor and this batch that were lost to the collector's bound.
    began : float
        Since when actions are recorded, on the scheduler's clock; 0 where that is not known.
    keys : sequence of str
        Keys of the tasks ``keys_from``, ``keys_from + 1``, …
    removed_prefixes, removed_groups : sequence of str
        Names whose rows ended: the tasks are gone, or counted in another row.
    removed_workers : sequence of str
        Addresses of workers that left since the last batch.
    nthreads : sequence of (time, n)
        New entries of ``scheduler.total_nthreads_history``.
    events : sequence of (time, kind, detail)
        worker-added, worker-removed, worker-killed, restart, update-graph, client-added, …
    left_out : mapping of str to int
        What the collector's bounds keep out: ended tasks without their prefix's name (names) or
        their worker's (addresses), counted since it started, and tasks that run now (running).
    cost_s : float
        Scheduler seconds that the collector has used since it started.
    degraded : str
        Why only part of this can be had, in words for the user; empty when all is well.
    """

    epoch: str
    time: float
    received: float
    scheduler: SchedulerInfo
    strings_from: int = 0
    strings: Sequence[str] = ()
    actions: ActionColumns | None = None
    actions_to: int = 0
    actions_dropped: int = 0
    began: float = 0.0
    keys_from: int = 0
    keys: Sequence[str] = ()
    running: Sequence[tuple[str, int, int, float]] | None = None
    prefixes: Sequence[Mapping[str, Any]] | None = None
    removed_prefixes: Sequence[str] = ()
    groups: Sequence[Mapping[str, Any]] | None = None
    removed_groups: Sequence[str] = ()
    workers: Sequence[Mapping[str, Any]] | None = None
    removed_workers: Sequence[str] = ()
    nthreads: Sequence[tuple[float, int]] = ()
    graph: GraphChange | None = None
    events: Sequence[tuple[float, str, Mapping[str, Any]]] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    cost_s: float = 0.0
    degraded: str = ""
