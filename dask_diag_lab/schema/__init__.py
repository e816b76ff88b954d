"""Name, dtype and unit of every column that travels from the scheduler to a plot: `schema.tables`.

Here is what one pull brings of them, decoded, and how the feed is that pulls. Must not import
anything else of this package: every other package may read this one. Without NumPy, which a
scheduler may lack; what makes arrays of columns is in `schema.columns`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dask_diag_lab.schema.tables import STATES, Kind, Outcome

__all__ = [
    "STATES",
    "Batch",
    "Change",
    "FeedState",
    "GraphChange",
    "Kind",
    "Outcome",
    "SchedulerInfo",
    "State",
]

State = Literal["connecting", "live", "degraded", "lost", "closed"]


@dataclass(frozen=True, slots=True)
class Change:
    """Rows of one table: those that changed, those that are new, or all; see `TableSchema.sent`.

    Attributes
    ----------
    columns : mapping of str to ndarray
        One array for each column of the table, of equal length n; of shape (n, size) where the
        column has a size, of dtype object where it has no numbers.
    dropped : int
        Rows of a log that were lost between the last cursor and these; of another table, rows
        that exist beyond its limit.
    removed : sequence of str
        Names of rows that went.
    is_full : bool
        What is not here is gone.
    """

    columns: Mapping[str, Any]  # arrays; for extras any sequences
    dropped: int = 0
    removed: Sequence[str] = ()
    is_full: bool = False

    def rows(self) -> list[tuple[Any, ...]]:  # columns differ in type
        """Return the rows as tuples of Python values."""
        return list(zip(*(column.tolist() for column in self.columns.values()), strict=True))


@dataclass(slots=True)
class GraphChange:
    """The task graph, and what changed in it since the last batch.

    Attributes
    ----------
    is_exact : bool
        False when the cluster holds more tasks than ``limit``: no node is sent then and the
        group graph is all there is.
    total, limit : int
        Tasks known to the scheduler, and how many the collector follows one by one.
    nodes, states : Change or None
        Of `NODES` and `NODE_STATES`; None where nothing changed.
    """

    is_exact: bool
    total: int
    limit: int
    nodes: Change | None = None
    states: Change | None = None


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
    n_workers: int
    nthreads: int
    thresholds: Mapping[str, float | None]
    n_erred: int = 0


@dataclass(slots=True)
class Batch:
    """Everything that the collector answered to one pull, decoded.

    Attributes
    ----------
    epoch : str
        Changes when the collector started anew: cursors and string ids of before are void.
    time : float
        The scheduler's clock when it answered, seconds since the epoch.
    received : float
        This process's clock when the answer arrived.
    tables : mapping of str to Change
        The tables that changed, by name; actions in order of arrival. Of the tables of `EXTRAS`
        only those that somebody wants.
    strings : sequence of str
        New entries of the string table, first id ``strings_from``. Id 0 is ''.
    actions_to : int
        Actions recorded since the collector started; the next cursor. 0 where none is counted.
    began : float
        Since when actions are recorded, on the scheduler's clock; 0 where that is not known.
    keys : sequence of str
        Keys of the tasks ``keys_from``, ``keys_from + 1``, …
    details : sequence of (int, bytes)
        What else the worker told of some of these tasks, mostly failed ones, as msgpack.
    graph : GraphChange or None
        None where nothing changed, or nobody wants it.
    left_out : mapping of str to int
        What the collector's bounds keep out: ended tasks without their prefix's name (names),
        counted since it started, groups that were done (groups), tasks that run now (running),
        tasks that failed with errors that are not kept (errors), runs that a worker's death may
        have hidden (lost_runs), and changes that were not understood (skipped). Besides, tasks that
        had ended on this scheduler before ``began`` (before).
    failed : mapping of str to str
        Tables that the collector cannot read, and why.
    """

    epoch: str
    time: float
    received: float
    scheduler: SchedulerInfo
    tables: Mapping[str, Change] = field(default_factory=dict)
    strings_from: int = 0
    strings: Sequence[str] = ()
    actions_to: int = 0
    began: float = 0.0
    keys_from: int = 0
    keys: Sequence[str] = ()
    details: Sequence[tuple[int, bytes]] = ()
    graph: GraphChange | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    def rows(self, table: str) -> list[tuple[Any, ...]]:  # columns differ in type
        """Return the rows of a table as tuples of Python values; none where it did not change."""
        change = self.tables.get(table)
        return [] if change is None else change.rows()


@dataclass(frozen=True, slots=True)
class FeedState:
    """How the feed is.

    Attributes
    ----------
    state : {'connecting', 'live', 'degraded', 'lost', 'closed'}
    reason : str
        Why, in words for the user; '' when all is well.
    since : float
        This process's clock at the change, seconds since the epoch.
    """

    state: State
    reason: str
    since: float
