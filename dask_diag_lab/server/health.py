"""How the cluster is, in one small object: what the sidebar's row shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from dask_diag_lab.records import STATES
from dask_diag_lab.store.processes import common_limit

if TYPE_CHECKING:
    from dask_diag_lab.store import Store


class TaskCounts(TypedDict):
    """Tasks of the groups that the scheduler knows now; done are those in memory or released.

    Without forgotten ones, failed or not, so that what is computed next begins at none.
    """

    total: int
    done: int
    erred: int
    processing: int


class Health(TypedDict):
    """The answer of ``/health``; bytes and seconds.

    ``memory_limit`` is that of Cluster Memory: of processes, 0 unless each has one.
    ``plots_version`` differs when ``/plots.json`` does. ``since`` is when it came into its state,
    by this process's clock in seconds since the epoch.
    """

    state: str
    reason: str
    since: float
    workers: int
    threads: int
    memory_limit: int
    memory: int
    tasks: TaskCounts
    time: float
    plots_version: int


def health_of(store: Store, plots_version: int = 0) -> Health:
    """Return the health of the cluster that `store` follows."""
    feed = store.feed_state
    scheduler = store.scheduler
    is_there = scheduler is not None and feed.state in ("live", "degraded")
    return {
        "state": feed.state,
        "reason": feed.reason,
        "since": feed.since,
        "workers": scheduler.n_workers if scheduler and is_there else 0,
        "threads": scheduler.nthreads if scheduler and is_there else 0,
        "memory_limit": _memory_limit(store) if is_there else 0,
        "memory": store.workers.totals().memory if is_there else 0,
        "tasks": _task_counts(store),
        "time": float(store.time),
        "plots_version": plots_version,
    }


def _memory_limit(store: Store) -> int:
    workers = store.workers
    return common_limit(workers.processes.limits(workers.memory_limit))


def _task_counts(store: Store) -> TaskCounts:
    # Without the collector no groups are told, and of prefixes only what is there.
    table = store.prefixes if store.degraded else store.groups
    states = table.states.sum(axis=0)
    count = {name: int(number) for name, number in zip(STATES, states, strict=True)}
    scheduler = store.scheduler
    # A group counts as erred what failed and is forgotten, also before a restart.
    erred = count["erred"] if store.degraded or scheduler is None else scheduler.n_erred
    return {
        "total": sum(count.values()) - count["forgotten"] - count["erred"] + erred,
        "done": count["memory"] + count["released"],
        "erred": erred,
        "processing": count["processing"],
    }
