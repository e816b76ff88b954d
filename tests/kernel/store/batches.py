"""Batches made by hand, for tests of everything that reads a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dask_diag_lab.records import (
    ACTIONS,
    STATES,
    Batch,
    GraphChange,
    Kind,
    Outcome,
    SchedulerInfo,
)

T0: Final = 1_795_000_000.0
"""Scheduler's clock when a `BatchMaker` is made."""


def worker_row(address: str, **columns: Any) -> dict[str, Any]:
    """Return a row of `WORKERS` with defaults for what is not given."""
    row: dict[str, Any] = {
        "address": address,
        "name": address,
        "host": "127.0.0.1",
        "process": "",
        "nthreads": 2,
        "memory_limit": 2**30,
        "status": "running",
        "last_seen": T0,
        "cpu": 50.0,
        "memory": 10_000_000,
        "managed": 4_000_000,
        "unmanaged_old": 5_000_000,
        "unmanaged_recent": 1_000_000,
        "spilled": 0,
        "processing": 0,
        "executing": 0,
        "occupancy": 0.0,
        "is_idle": False,
        "is_saturated": False,
        "incoming_bytes": 0,
        "outgoing_bytes": 0,
        "metrics": {},
    }
    assert columns.keys() <= row.keys(), columns
    return row | columns


def prefix_row(
    name: str, nbytes: int = 0, duration: float = np.nan, **states: int
) -> dict[str, Any]:
    """Return a row of `PREFIXES`; task counts by state name, ``_`` for ``-``."""
    return {"name": name, "states": _states(states), "nbytes": nbytes, "duration": duration}


def group_row(
    name: str, prefix: str, dependencies: Sequence[str] = (), **states: int
) -> dict[str, Any]:
    """Return a row of `GROUPS`; task counts by state name, ``_`` for ``-``."""
    return {
        "name": name,
        "prefix": prefix,
        "states": _states(states),
        "is_ended": states.keys() == {"forgotten"},
        "nbytes": 0,
        "duration": 0.0,
        "start": np.nan,
        "stop": np.nan,
        "dependencies": dependencies,
    }


def _states(counts: Mapping[str, int]) -> list[int]:
    named = {name.replace("_", "-"): n for name, n in counts.items()}
    assert named.keys() <= set(STATES), counts
    return [named.get(state, 0) for state in STATES]


class BatchMaker:
    """One collector's point of view: hands out string ids, ordinals and cursors as it would.

    Attributes
    ----------
    time : float
        The scheduler's clock; the batch that is made next has it.
    """

    def __init__(self, epoch: str = "epoch-1", scheduler: str = "Scheduler-1") -> None:
        self.epoch = epoch
        self.time = T0
        self._scheduler = scheduler
        self._strings = [""]
        self._strings_sent = 0
        self._keys: list[str] = []
        self._keys_sent = 0
        self._rows: list[dict[str, Any]] = []
        self._actions_sent = 0
        self._alive: dict[str, dict[str, Any]] = {}

    def string(self, text: str) -> int:
        """Return the wire id of a text."""
        if text not in self._strings:
            self._strings.append(text)
        return self._strings.index(text)

    def action(
        self,
        start: float,
        stop: float,
        *,
        worker: str = "tcp://w0:1",
        thread: int = 1,
        kind: Kind = Kind.COMPUTE,
        outcome: Outcome = Outcome.OK,
        prefix: str = "inc",
        key: str | None = None,
        source: str = "",
        nbytes: int = -1,
    ) -> BatchMaker:
        """Record an action, times counted from `T0`; a key given before is the same task."""
        if key is None:
            key = f"{prefix}-{len(self._keys)}"
        if key not in self._keys:
            self._keys.append(key)
        row = {
            "start": T0 + start,
            "stop": T0 + stop,
            "kind": kind,
            "outcome": outcome,
            "worker": self.string(worker),
            "thread": thread,
            "source": self.string(source),
            "prefix": self.string(prefix),
            "task": self._keys.index(key),
            "nbytes": nbytes,
        }
        self._rows.append(row)
        return self

    def batch(
        self,
        *,
        workers: Iterable[Mapping[str, Any]] | None = None,
        removed_workers: Sequence[str] = (),
        running: Iterable[tuple[str, str, str, float]] | None = None,
        **more: Any,
    ) -> Batch:
        """Return what was recorded since; ``running``: key, worker, prefix, start after `T0`."""
        rows = None if workers is None else list(workers)
        for address in removed_workers:
            self._alive.pop(address, None)
        self._alive.update({row["address"]: dict(row) for row in rows or ()})
        runs = None
        if running is not None:
            runs = [(k, self.string(w), self.string(p), T0 + start) for k, w, p, start in running]
        actions = {c.name: np.array([r[c.name] for r in self._rows], c.dtype) for c in ACTIONS}
        self._actions_sent += len(self._rows) + more.get("actions_dropped", 0)
        batch = Batch(
            epoch=self.epoch,
            time=self.time,
            received=self.time,
            scheduler=self.scheduler(),
            strings_from=self._strings_sent,
            strings=self._strings[self._strings_sent :],
            actions=actions if self._rows else None,
            actions_to=self._actions_sent,
            keys_from=self._keys_sent,
            keys=self._keys[self._keys_sent :],
            running=runs,
            workers=rows,
            removed_workers=removed_workers,
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
            started=T0 - 60,
            n_workers=len(self._alive),
            nthreads=sum(row["nthreads"] for row in self._alive.values()),
            memory_limit=sum(row["memory_limit"] for row in self._alive.values()),
            thresholds={"target": 0.6, "spill": 0.7, "pause": 0.8, "terminate": 0.95},
        )


def graph_change(**more: Any) -> GraphChange:
    """Return a change of an exactly known graph; ``more`` are its fields."""
    given: dict[str, Any] = {"is_snapshot": False, "is_exact": True, "total": 0, "limit": 1000}
    return GraphChange(**given | more)
