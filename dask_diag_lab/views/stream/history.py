"""The table of a task stream: every action, not the merged blocks of the picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.views.format import count
from dask_diag_lab.views.stream.rows import Rows
from dask_diag_lab.views.view import Table

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


def history_job(
    store: Store, begin: float, end: float, max_rows: int = MAX_ROWS
) -> Callable[[], tuple[Table, str]]:
    """Return what makes a table of the actions between two times, in any thread.

    What runs comes last, its duration so far. Of too many actions the newest are in it, and how
    many are left out is returned beside it.

    Parameters
    ----------
    store : Store
    begin, end : float
        Seconds since the epoch; infinite ones for all.
    max_rows : int
    """
    read, keys_of = store.actions.between(begin, end, max_rows), store.actions.keys
    now, first_start = float(store.time), store.actions.first_start
    running: dict[str, npt.NDArray[Any]] = dict(  # columns differ in dtype
        store.running.rows(now)  # type: ignore[arg-type]  # arrays alone
    )
    is_in = (running["start"] <= end) & (now >= begin) & (running["slot"] >= 0)
    running = {name: column[is_in] for name, column in running.items()}
    rows = Rows(store, np.ones(store.slots.count, dtype=np.bool_))
    worker_names = np.array([w.label for w in rows.workers for _ in range(w.count)] + [""], object)
    threads = np.append(np.asarray(store.slots.thread_index) + 1, 0)
    strings = store.strings

    def make() -> tuple[Table, str]:
        actions, total = read()
        n = len(running["start"])
        start = np.concatenate((actions["start"], running["start"]))
        stop = np.concatenate((actions["stop"], np.full(n, now)))
        slot = np.concatenate((actions["slot"], running["slot"])).astype(np.int64)
        prefix = np.concatenate((actions["prefix"], running["prefix"])).astype(np.int64)
        kind = np.concatenate((actions["kind"], np.full(n, Kind.COMPUTE))).astype(np.int64)
        outcome = np.concatenate((actions["outcome"], np.full(n, Outcome.RUNNING)))
        source = np.concatenate((actions["source"], np.zeros(n))).astype(np.int64)
        columns = {
            "t": start - np.fmin(first_start, start.min(initial=np.inf)),
            "start": start,
            "stop": stop,
            "duration": stop - start,
            "worker": worker_names[slot],
            "thread": threads[slot],
            "kind": _KINDS[kind],
            "outcome": _OUTCOMES[outcome.astype(np.int64)],
            "prefix": _texts(strings.take, prefix),
            "key": np.concatenate((keys_of(actions["task"]), running["key"])),
            "nbytes": np.concatenate((actions["nbytes"], np.full(n, -1))),
            "source": _texts(strings.take, source),
        }
        left_out = ""
        if total > max_rows:
            left_out = f"the newest {count(max_rows)} of {count(total)} actions"
        return Table({name: c.tolist() for name, c in columns.items()}, _UNITS), left_out

    return make


def _texts(
    take: Callable[[list[int]], list[str]], ids: npt.NDArray[np.int64]
) -> npt.NDArray[np.object_]:
    distinct, index = np.unique(ids, return_inverse=True)
    texts = np.empty(len(distinct), dtype=object)
    texts[:] = take(distinct.tolist())
    named: npt.NDArray[np.object_] = texts[index]
    return named
