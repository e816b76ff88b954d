"""Clusters in chosen situations, built from batches; and what a view would send of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dask_diag_lab.schema import STATES, Batch, Change, GraphChange, SchedulerInfo
from dask_diag_lab.schema.columns import default_row
from dask_diag_lab.schema.tables import EXTRAS, WORKERS
from dask_diag_lab.store import LiveSession
from tests.kernel.store.batches import THRESHOLDS, graph_change, tables_of

GIB = 1 << 30
MIB = 1 << 20


def worker(number: int, **given: Any) -> dict[str, Any]:  # rows of WORKERS hold many types
    """Return a row of `WORKERS`: an idle worker with 4 threads and 4 GiB, but for ``given``."""
    row = default_row(WORKERS) | {
        "address": f"tcp://10.0.0.{number}:4000",
        "name": str(number),
        "host": f"10.0.0.{number}",
        "nthreads": 4,
        "memory_limit": 4 * GIB,
        "status": "running",
        "last_seen": 1000.0,
    }
    parts = ("managed", "unmanaged_old", "unmanaged_recent")
    row["memory"] = sum(given.get(part, 0) for part in parts)
    if "spilled" in given:
        row["spilled_memory"] = given["spilled"]
    row |= given
    return row


def batch(
    nthreads: int = 8,
    thresholds: Mapping[str, float | None] = THRESHOLDS,
    history: Sequence[tuple[float, int]] | None = None,
    **given: Any,
) -> Batch:
    """Return a batch; ``history`` are rows of `NTHREADS`, ``given`` as for `tables_of`."""
    n_workers = len(given.get("workers") or ())
    tables, fields = tables_of({**given, "nthreads": history})
    info = SchedulerInfo("s", "tcp://10.0.0.9:8786", n_workers, nthreads, thresholds)
    known: dict[str, Any] = {"epoch": "e", "time": 1000.0, "received": 1000.0, "scheduler": info}
    return Batch(**known | fields, tables=tables)


def session_of(**tables: Any) -> LiveSession:
    """Return a session that has had one `batch`."""
    live = LiveSession()
    live.apply(batch(**tables))
    return live


def graph(
    keys: Sequence[str], edges: Sequence[tuple[int, int]] = (), known: Sequence[str] = ()
) -> GraphChange:
    """Return a change that adds tasks to ``known`` ones, else anew.

    Edges are (dependency, dependent) as indices of both.
    """
    every = [*known, *keys]
    needs: dict[str, list[str]] = {key: [] for key in keys}
    for source, target in edges:
        needs[every[target]].append(every[source])
    return graph_change(
        [(key, key.split("-")[0], needs[key]) for key in keys],
        dict.fromkeys(keys, STATES.index("waiting")),
        is_snapshot=not known,
        total=len(every),
    )


FINE = [
    ("default", "execute", "inc", "thread-cpu", "seconds", 6.0),
    ("default", "execute", "inc", "thread-noncpu", "seconds", 1.0),
    ("default", "execute", "load", "deserialize", "seconds", 2.0),
    ("part", "execute", "load", "disk-read", "bytes", 5000.0),
    ("part", "gather-dep", "", "network", "seconds", 3.0),
    ("part", "execute", "load", "my own", "pages", 7.0),
]


def change(name: str, rows: Sequence[Sequence[Any]]) -> dict[str, Change]:
    """Return these rows of one extra table, as a batch carries them."""
    (extra,) = [extra for extra in EXTRAS if extra.name == name]
    columns = {c.name: [row[i] for row in rows] for i, c in enumerate(extra.columns)}
    return {name: Change(columns)}
