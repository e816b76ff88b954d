"""The table of a task stream: every action, not the merged rectangles of the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.views.base import Table
from dask_diag_lab.views.format import count
from dask_diag_lab.views.stream.rects import Columns
from dask_diag_lab.views.stream.rows import worker_rows

if TYPE_CHECKING:
    from dask_diag_lab.store import Store

MAX_ROWS: Final = 1_000_000

_KINDS: Final = np.array([kind.name.lower().replace("_", "-") for kind in Kind], dtype=object)
_OUTCOMES: Final = np.array([outcome.name.lower() for outcome in Outcome], dtype=object)

_UNITS: Final = {
    "t": "s since the first action",
    "start": "s since the epoch",
    "stop": "s since the epoch",
    "duration": "s",
    "nbytes": "B",
}


def history(store: Store, begin: float, end: float) -> tuple[Table, str]:
    """Return every action between two times and what is left out of them, in words.

    What runs comes last, its duration so far.

    Parameters
    ----------
    store : Store
    begin, end : float
        Seconds since the epoch; infinite ones for all.
    """
    rows, total = store.actions.between(begin, end, MAX_ROWS)
    now = float(store.time)
    running = _running(store, now, begin, end)
    n_running = len(running["start"])
    start = np.concatenate((rows["start"], running["start"]))
    stop = np.concatenate((rows["stop"], np.full(n_running, now)))
    lanes = np.concatenate((rows["lane"], running["lane"])).astype(np.int64)
    prefix = np.concatenate((rows["prefix"], running["prefix"])).astype(np.int64)
    kind = np.concatenate((rows["kind"], np.full(n_running, Kind.COMPUTE)))
    outcome = np.concatenate((rows["outcome"], np.full(n_running, Outcome.RUNNING)))
    first = float(np.fmin(store.actions.first_start, start.min(initial=np.inf)))
    workers, slots = _lane_names(store)
    columns = {
        "t": start - first,
        "start": start,
        "stop": stop,
        "duration": stop - start,
        "worker": workers[lanes],
        "thread": slots[lanes],
        "kind": _KINDS[kind.astype(np.int64)],
        "outcome": _OUTCOMES[outcome.astype(np.int64)],
        "prefix": _texts(store, prefix),
        "key": np.concatenate((store.actions.keys(rows["task"]), running["key"])),
        "nbytes": np.concatenate((rows["nbytes"], np.full(n_running, -1))),
        "source": _texts(store, np.concatenate((rows["source"], np.zeros(n_running))).astype(int)),
    }
    note = ""
    if total > MAX_ROWS:
        note = f"the newest {count(MAX_ROWS)} of {count(total)} actions; zoom in for the others"
    return Table({name: column.tolist() for name, column in columns.items()}, _UNITS), note


def _running(store: Store, now: float, begin: float, end: float) -> Columns:
    """Return what runs ``now`` and did so between the two times, where its thread is known."""
    running: dict[str, Any] = dict(store.running.rows(now))  # columns differ in dtype
    is_in = (running["start"] <= end) & (now >= begin) & (running["lane"] >= 0)
    return {name: column[is_in] for name, column in running.items()}


def _lane_names(store: Store) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.int64]]:
    """Return the worker's name and the number of the thread, from 1, of each lane; -1 for none."""
    names: list[str] = []
    for worker in worker_rows(store):
        names += [worker.label] * worker.count
    workers = np.array([*names, ""], dtype=object)
    return workers, np.append(np.asarray(store.lanes.slot) + 1, 0)


def _texts(store: Store, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
    distinct, index = np.unique(ids, return_inverse=True)
    texts = np.empty(len(distinct), dtype=object)
    texts[:] = store.strings.take(distinct.tolist())
    named: npt.NDArray[np.object_] = texts[index]
    return named
