"""Batches made by hand, for tests of everything that reads a history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dask_diag_lab.schema import STATES, Batch, Change, GraphChange, Kind, Outcome, SchedulerInfo
from dask_diag_lab.schema.columns import columns_of, default_row
from dask_diag_lab.schema.tables import (
    ACTIONS,
    EVENTS,
    GRAPHS,
    GROUPS,
    NODE_STATES,
    NODES,
    NTHREADS,
    PREFIXES,
    RUNNING,
    WORKERS,
    TableSchema,
)

T0: Final = 1_795_000_000.0
"""Scheduler's clock when a `BatchMaker` is made."""

THRESHOLDS: Final[Mapping[str, float | None]] = {
    "target": 0.6,
    "spill": 0.7,
    "pause": 0.8,
    "terminate": 0.95,
}


def worker_row(address: str, **columns: Any) -> dict[str, Any]:
    """Return a row of `WORKERS` with defaults for what is not given."""
    row = default_row(WORKERS) | {"address": address, "name": address, "host": "127.0.0.1"}
    row |= {"nthreads": 2, "memory_limit": 2**30, "status": "running", "last_seen": T0, "cpu": 50.0}
    row |= {"memory": 10_000_000, "managed": 4_000_000}
    row |= {"unmanaged_old": 5_000_000, "unmanaged_recent": 1_000_000}
    assert columns.keys() <= row.keys(), columns
    if "spilled" in columns:
        row["spilled_memory"] = columns["spilled"]
    return row | columns


def prefix_row(
    name: str, duration: float = np.nan, nbytes: int = 0, **states: int
) -> dict[str, Any]:
    """Return a row of `PREFIXES`; task counts by state name, ``_`` for ``-``."""
    return {"name": name, "states": _states(states), "nbytes": nbytes, "duration": duration}


def group_row(
    name: str, prefix: str, dependencies: Sequence[str] = (), **states: int
) -> dict[str, Any]:
    """Return a row of `GROUPS`; task counts by state name, ``_`` for ``-``."""
    return default_row(GROUPS) | {
        "name": name,
        "prefix": prefix,
        "states": _states(states),
        "is_ended": states.keys() == {"forgotten"},
        "dependencies": dependencies,
        "start": 1.0,
        "stop": 2.0,
    }


def _states(counts: Mapping[str, int]) -> list[int]:
    named = {name.replace("_", "-"): n for name, n in counts.items()}
    assert named.keys() <= set(STATES), counts
    return [named.get(state, 0) for state in STATES]


def change(table: TableSchema, rows: Iterable[Any], removed: Sequence[str] = ()) -> Change:
    """Return rows, mappings or sequences, as a change of a table."""
    return Change(columns_of(table, rows), removed=removed)


def tables_of(given: Mapping[str, Any]) -> tuple[dict[str, Change], dict[str, Any]]:
    """Return the tables made of what is given for a batch, and what is none.

    Rows of tables go by their names (``workers``, ``prefixes``, …), names that went by
    ``removed_workers`` and so on, and ``extras`` are tables by name.
    """
    rest = dict(given)
    tables: dict[str, Change] = dict(rest.pop("extras", ()))
    for table in (WORKERS, PREFIXES, GROUPS, RUNNING, EVENTS, NTHREADS):
        rows, gone = rest.pop(table.name, None), rest.pop(f"removed_{table.name}", ())
        if rows is not None or gone:
            tables[table.name] = change(table, rows or (), gone)
    return tables, rest


class BatchMaker:
    """One collector's point of view: hands out string ids, ordinals and cursors as it would.

    Attributes
    ----------
    time : float
        The scheduler's clock; the batch that is made next has it.
    received : float or None
        This process's clock; None for the same.
    """

    def __init__(self, epoch: str = "epoch-1", scheduler: str = "Scheduler-1") -> None:
        self.epoch = epoch
        self.time = T0
        self.received: float | None = None
        self._scheduler = scheduler
        self._strings = {"": 0}
        self._strings_sent = 0
        self._keys: dict[str, int] = {}
        self._keys_sent = 0
        self._rows: list[dict[str, Any]] = []
        self._actions_sent = 0
        self._alive: dict[str, dict[str, Any]] = {}

    def string(self, text: str) -> int:
        """Return the wire id of a text."""
        return self._strings.setdefault(text, len(self._strings))

    def action(
        self,
        start: float,
        stop: float,
        *,
        worker: str = "tcp://w0:1",
        prefix: str = "inc",
        key: str | None = None,
        source: str = "",
        **columns: float,
    ) -> BatchMaker:
        """Record an action, times counted from `T0`; a key given before is the same task.

        ``columns`` are further ones of `ACTIONS`.
        """
        key = f"{prefix}-{len(self._keys)}" if key is None else key
        row = {
            "start": T0 + start,
            "stop": T0 + stop,
            "kind": Kind.COMPUTE,
            "outcome": Outcome.OK,
            "thread": 1,
            "nbytes": -1,
            "task": self._keys.setdefault(key, len(self._keys)),
            "worker": self.string(worker),
            "source": self.string(source),
            "prefix": self.string(prefix),
            "type": 0,
            "report_delay": 0.001,
            "ready": 0.03,
            "assigned": 0.002,
            "graph": 0,
        }
        assert columns.keys() <= row.keys(), columns
        self._rows.append(row | columns)
        return self

    def batch(
        self,
        *,
        workers: Iterable[Mapping[str, Any]] | None = None,
        removed_workers: Sequence[str] = (),
        running: Iterable[tuple[str, str, str, float]] | None = None,
        graphs: Sequence[tuple[Any, ...]] = (),
        actions_dropped: int = 0,
        **more: Any,
    ) -> Batch:
        """Return what was recorded since; ``running``: key, worker, prefix, start after `T0`.

        ``graphs``: number, arrival after `T0`, client, tasks and, if any, bytes that each carries.
        ``more`` is what `tables_of` takes, or fields of `Batch`.
        """
        rows = None if workers is None else list(workers)
        for address in removed_workers:
            self._alive.pop(address, None)
        self._alive.update({row["address"]: dict(row) for row in rows or ()})
        given = {**more, "workers": rows, "removed_workers": removed_workers}
        tables, more = tables_of(given)
        if running is not None:
            runs = [
                (k, self.string(w), self.string(p), T0 + start, 0) for k, w, p, start in running
            ]
            tables["running"] = change(RUNNING, runs)
        if graphs:
            each = ((*graph, 0.0)[:5] for graph in graphs)
            rows_ = [(n, T0 + at, T0 + at, c, 1, tasks, nbytes) for n, at, c, tasks, nbytes in each]
            tables["graphs"] = change(GRAPHS, rows_)
        if self._rows or actions_dropped:
            tables["actions"] = Change(columns_of(ACTIONS, self._rows), actions_dropped)
        self._actions_sent += len(self._rows) + actions_dropped
        batch = Batch(
            epoch=self.epoch,
            time=self.time,
            received=self.time if self.received is None else self.received,
            scheduler=self.scheduler(),
            tables=tables,
            strings_from=self._strings_sent,
            strings=list(self._strings)[self._strings_sent :],
            actions_to=self._actions_sent,
            keys_from=self._keys_sent,
            keys=list(self._keys)[self._keys_sent :],
            **more,
        )
        self._rows = []
        self._strings_sent, self._keys_sent = len(self._strings), len(self._keys)
        return batch

    def scheduler(self) -> SchedulerInfo:
        """Return the facts of the scheduler with the workers that are there."""
        return SchedulerInfo(
            id=self._scheduler,
            address="tcp://127.0.0.1:8786",
            n_workers=len(self._alive),
            nthreads=sum(row["nthreads"] for row in self._alive.values()),
            thresholds=THRESHOLDS,
        )


def graph_change(
    added: Sequence[tuple[str, str, Sequence[str]]] = (),
    states: Mapping[str, int] | None = None,
    removed: Sequence[str] = (),
    *,
    is_snapshot: bool = False,
    is_exact: bool = True,
    total: int = 0,
    limit: int = 5000,
) -> GraphChange:
    """Return a change of the exact graph: (key, prefix, keys of what it needs) of new tasks."""
    tables = ((NODES, added), (NODE_STATES, list((states or {}).items())))
    nodes, of_nodes = (
        Change(columns_of(table, rows), 0, removed, is_snapshot) for table, rows in tables
    )
    return GraphChange(is_exact, total, limit, nodes, of_nodes)
