"""The table of a task stream: every action, not the merged blocks of the picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.views.format import count
from dask_diag_lab.views.stream.frame import running_blocks
from dask_diag_lab.views.stream.rows import Rows
from dask_diag_lab.views.view import Table

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession

MAX_ROWS: Final = 1_000_000

_KINDS: Final = np.array([kind.name.lower().replace("_", "-") for kind in Kind], dtype=object)
_OUTCOMES: Final = np.array([outcome.name.lower() for outcome in Outcome], dtype=object)
_COLUMNS: Final = ("start", "stop", "slot", "kind", "outcome", "prefix", "nbytes", "source")
_MOMENTS: Final = ("ready", "assigned")
_UNITS: Final = {
    "t": "s since the first action",
    "start": "s since the epoch",
    "stop": "s since the epoch",
    "ready": "s since the epoch",
    "assigned": "s since the epoch",
    "duration": "s",
    "nbytes": "B",
}


def history_job(
    live: LiveSession, begin: float, end: float, tasks: slice | None = None
) -> Callable[[], tuple[Table, str]]:
    """Return what makes a table of the actions between two times, in any thread.

    What runs comes last, its duration so far. Of too many actions the newest are in it, and how
    many are left out is returned beside it.

    Parameters
    ----------
    live : LiveSession
    begin, end : float
        Seconds since the epoch; infinite ones for all.
    tasks : slice, optional
        Of the tasks that have ended, in the order in which they did, those that are wanted. Then
        what runs is not in it.
    """
    read, keys_of = live.history.actions.between(begin, end, MAX_ROWS), live.history.actions.keys
    first_start, running = live.history.actions.first_start, running_blocks(live)
    is_in = (running["start"] <= end) & (running["stop"] >= begin) & (running["slot"] >= 0)
    is_in &= tasks is None
    running = {name: column[is_in] for name, column in running.items()}
    rows = Rows(live.history, np.ones(live.history.slots.count, dtype=np.bool_))
    worker_names = np.array([w.label for w in rows.workers for _ in range(w.count)] + [""], object)
    threads = np.append(np.asarray(live.history.slots.thread_index) + 1, 0)
    strings = live.history.strings

    def make() -> tuple[Table, str]:
        actions, total = read()
        is_cut = total > MAX_ROWS
        left_out = f"the newest {count(MAX_ROWS)} of {count(total)} actions" if is_cut else ""
        if tasks is not None:
            ended = np.unique(actions["task"])
            is_in = np.isin(actions["task"], ended[tasks])
            actions = {name: column[is_in] for name, column in actions.items()}
            left_out = f"{count(len(ended[tasks]))} of {count(len(ended))} tasks"
        of = {name: np.concatenate((actions[name], running[name])) for name in _COLUMNS}
        start, stop = of["start"], of["stop"]
        unknown = np.full(len(running["start"]), np.nan)
        moments = {
            name: np.concatenate((actions["start"] - actions[name], unknown)).tolist()
            for name in _MOMENTS
        }
        slot, kind, outcome = (of[name].astype(np.int64) for name in ("slot", "kind", "outcome"))
        columns = {
            "t": (start - np.fmin(first_start, start.min(initial=np.inf))).tolist(),
            "start": start.tolist(),
            "stop": stop.tolist(),
            "duration": (stop - start).tolist(),
            "worker": worker_names[slot].tolist(),
            "thread": threads[slot].tolist(),
            "kind": _KINDS[kind].tolist(),
            "outcome": _OUTCOMES[outcome].tolist(),
            "prefix": strings.take(of["prefix"].astype(np.int64).tolist()),
            "key": [*keys_of(actions["task"]), *running["key"]],
            "nbytes": of["nbytes"].tolist(),
            "source": strings.take(of["source"].astype(np.int64).tolist()),
            **moments,
        }
        return Table(columns, _UNITS), left_out

    return make
