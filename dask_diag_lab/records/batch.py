"""What one pull brings, decoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

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
    is_followed : bool
        False when nobody here has wanted the graph for a while: forget what was known.
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
    is_followed: bool = True


@dataclass(frozen=True, slots=True)
class ExtraChange:
    """Rows of one extra table: all of them, or those that follow what was sent before.

    Attributes
    ----------
    columns : mapping of str to sequence
        One for each column of the `Extra`, of equal length.
    dropped : int
        Rows of a log that were lost between the last cursor and these; of another table, rows
        that exist beyond its limit.
    """

    columns: Mapping[str, Sequence[Any]]
    dropped: int = 0


@dataclass(slots=True)
class SchedulerInfo:
    """Facts of the scheduler that every batch repeats.

    Attributes
    ----------
    n_erred : int
        Tasks that are erred now: without those that `PREFIXES` and `GROUPS` count as erred though
        they are forgotten.
    """

    id: str
    address: str
    started: float
    n_workers: int
    nthreads: int
    memory_limit: int
    thresholds: Mapping[str, float | None]
    n_erred: int = 0


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
    extras : mapping of str to ExtraChange
        Of the tables of `EXTRAS` that somebody wants: those that changed.
    left_out : mapping of str to int
        What the collector's bounds keep out: ended tasks without their prefix's name (names) or
        their worker's (addresses), counted since it started, groups that were done (groups), since
        it started or the scheduler restarted, tasks that run now (running), and tasks that failed
        with errors that are not kept (errors). Besides, tasks that had ended on this scheduler
        before ``began`` (before).
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
    extras: Mapping[str, ExtraChange] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    cost_s: float = 0.0
    degraded: str = ""
