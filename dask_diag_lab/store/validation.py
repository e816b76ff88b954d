"""What a batch must be before the store takes it; changes nothing."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dask_diag_lab.records import (
    ACTIONS,
    GROUPS,
    PREFIXES,
    STATES,
    WORKERS,
    ActionColumns,
    Batch,
    Column,
    Kind,
    Outcome,
)
from dask_diag_lab.store.arrays import Columns, Row

MAX_TASK = 1 << 40


def check_batch(batch: Batch, known_strings: int) -> Columns | None:
    """Raise ValueError, naming what is wrong, unless the store can take the whole batch.

    Parameters
    ----------
    batch : Batch
    known_strings : int
        Entries of the wire's string table that came before, in the same epoch.

    Returns
    -------
    dict of str to ndarray, or None
        The actions with the dtypes of `ACTIONS`, ``stop`` never before ``start``.
    """
    _check_counts(batch, known_strings)
    n_strings = max(known_strings, batch.strings_from + len(batch.strings))
    for name, rows, columns in (
        ("prefix", batch.prefixes, PREFIXES),
        ("group", batch.groups, GROUPS),
        ("worker", batch.workers, WORKERS),
    ):
        _check_rows(name, rows or (), columns)
    for key, worker, prefix, _ in batch.running or ():
        if not (0 <= worker < n_strings and 0 <= prefix < n_strings):
            raise ValueError(f"running task {key[:80]!r} has string ids that do not exist")
    for node, state in batch.graph.states if batch.graph is not None else ():
        if not 0 <= state < len(STATES):
            raise ValueError(f"graph node {node} is in state {state}, which does not exist")
    return None if batch.actions is None else _check_actions(batch.actions, n_strings)


def _check_counts(batch: Batch, known_strings: int) -> None:
    if not np.isfinite(batch.time):
        raise ValueError(f"the batch's time is {batch.time}")
    if not 0 <= batch.strings_from <= known_strings:
        raise ValueError(
            f"strings begin at {batch.strings_from}, only {known_strings} are known before them"
        )
    if batch.keys_from < 0 or batch.keys_from + len(batch.keys) > MAX_TASK:
        raise ValueError(f"keys begin at {batch.keys_from}")
    if batch.actions_dropped < 0:
        raise ValueError(f"{batch.actions_dropped} actions cannot be dropped")


def _check_rows(table: str, rows: Iterable[Row], columns: tuple[Column, ...]) -> None:
    names = {column.name for column in columns}
    for row in rows:
        if not names <= row.keys():
            missing = ", ".join(sorted(names - row.keys()))
            raise ValueError(f"a {table} row lacks {missing}")
        if "states" in names and len(row["states"]) != len(STATES):
            raise ValueError(f"{table} {row['name']!r} has {len(row['states'])} states")


def _check_actions(given: ActionColumns, n_strings: int) -> Columns:
    missing = [column.name for column in ACTIONS if column.name not in given]
    if missing:
        raise ValueError(f"actions lack {', '.join(missing)}")
    raw = {column.name: np.asarray(given[column.name]) for column in ACTIONS}
    shapes = {name: values.shape for name, values in raw.items()}
    if raw["start"].ndim != 1 or len(set(shapes.values())) > 1:
        raise ValueError(f"columns of actions differ in shape: {shapes}")
    if not len(raw["start"]):
        return {c.name: np.empty(0, dtype=c.dtype) for c in ACTIONS}
    _check_values(raw, n_strings)
    # Signed integers may become unsigned: their limits have been checked.
    rows = {c.name: raw[c.name].astype(c.dtype, copy=False) for c in ACTIONS}
    # A worker's clock that was set back makes a task end before it began.
    rows["stop"] = np.maximum(rows["start"], rows["stop"])
    rows["nbytes"] = np.maximum(rows["nbytes"], -1)
    return rows


def _check_values(raw: ActionColumns, n_strings: int) -> None:
    for column in ACTIONS:
        if raw[column.name].dtype.kind not in ("fiu" if column.dtype == "<f8" else "iu"):
            raise ValueError(f"{column.name} of actions is of type {raw[column.name].dtype}")
    limits = {
        "kind": len(Kind),
        "outcome": int(Outcome.RUNNING),
        "thread": 1 << 64,
        "worker": n_strings,
        "source": n_strings,
        "prefix": n_strings,
        "task": MAX_TASK,
    }
    for name, limit in limits.items():
        low, high = int(raw[name].min()), int(raw[name].max())
        if low < 0 or high >= limit:
            raise ValueError(f"{name} of actions is {low} … {high}, allowed is 0 … {limit - 1}")
    if not (np.isfinite(raw["start"]).all() and np.isfinite(raw["stop"]).all()):
        raise ValueError("start or stop of an action is not finite")
