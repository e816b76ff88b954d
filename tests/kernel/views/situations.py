"""Clusters in chosen situations, built from batches; and what a view would send of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dask_diag_lab.schema import STATES, Batch, Change, GraphChange, SchedulerInfo
from dask_diag_lab.schema.columns import default_row
from dask_diag_lab.schema.tables import EXTRAS, WORKERS
from dask_diag_lab.store import LiveSession
from tests.kernel.store.batches import THRESHOLDS, tables_of

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
    info = SchedulerInfo("s", "tcp://10.0.0.9:8786", 0.0, n_workers, nthreads, 0, thresholds)
    known: dict[str, Any] = {"epoch": "e", "time": 1000.0, "received": 1000.0, "scheduler": info}
    return Batch(**known | fields, tables=tables)


def session_of(**tables: Any) -> LiveSession:
    """Return a session that has had one `batch`."""
    live = LiveSession()
    live.apply(batch(**tables))
    return live


def graph(
    keys: Sequence[str],
    edges: Sequence[tuple[int, int]] = (),
    states: Mapping[int, str] | None = None,
    *,
    is_snapshot: bool = True,
    first: int = 0,
) -> GraphChange:
    """Return a change that adds nodes ``first``, … with ``edges`` (dependency, dependent)."""
    nodes = range(first, first + len(keys))
    needs: dict[int, list[int]] = {node: [] for node in nodes}
    for source, target in edges:
        needs[target].append(source)
    named = states or {}
    return GraphChange(
        is_snapshot=is_snapshot,
        is_exact=True,
        total=len(keys),
        limit=5000,
        added=[
            (node, key, key.split("-")[0], key.split("-")[0], needs[node])
            for node, key in zip(nodes, keys, strict=True)
        ],
        states=[(node, STATES.index(named.get(node, "waiting"))) for node in nodes],
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
