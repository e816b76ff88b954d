"""What the budget of a window is made of, taken out of a history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import isfinite, nan
from typing import Final

import numpy as np

from dask_diag_lab.analysis.budget import Facts
from dask_diag_lab.schema import STATES, Kind, Outcome
from dask_diag_lab.store import History
from dask_diag_lab.store.arrays import Columns, joined
from dask_diag_lab.store.series import SeriesTable
from dask_diag_lab.store.sums import Window

COMPUTING: Final = ("thread-cpu", "shard-partition-cpu", "get-output-cpu")
WAITING: Final = (
    *("thread-noncpu", "shard-partition-noncpu", "get-output-noncpu"),
    *("comms-limiter", "disk-limiter"),
)
"""Fine metrics of what tasks do while they hold a thread; those of shuffles may begin with p2p-."""
CPU_REPORT_S: Final = 2.0
"""So long after the end of a task its worker has told what it did with the CPU."""
NO_WORKER: Final = STATES.index("no-worker")
_NAMES: Final = (
    *("worker", "kind", "outcome", "prefix", "start", "stop"),
    *("ready", "assigned", "report_delay", "nbytes", "task", "graph", "slot"),
)


def facts_of(history: History, window: Window, now: float, run: int = 0) -> Callable[[], Facts]:
    """Return what reads the facts of a window, in any thread.

    Parameters
    ----------
    history : History
    window : Window
        Open ends are the first start there is, and `now`.
    now : float
        Until when running tasks have run.
    run : int
        Number of the run that the window is of; 0: all runs are.
    """
    slots, is_other = history.slots, history.runs.is_other_than(run)
    first = float(np.fmin(history.actions.first_start, now))
    begin = window.start if isfinite(window.start) else first
    window = Window(begin, max(min(window.stop, now), begin))
    read = history.actions.of_window(window, _NAMES)
    running = [_running(history, now), _stuck(history, now)]
    shares, measured = _waiting_shares(history, window)
    unmeasured_share, strings = _share_by_cpu(history.series, window), history.strings
    pauses = [
        (detail["worker"], time, detail.get("resumed", now))
        for time, kind, detail in history.events.rows
        if kind == "worker-paused"
    ]
    gaps = list(history.gaps)
    if history.actions.evicted and window.start < first:
        gaps.append((window.start, first))

    def make() -> Facts:
        string, at = np.unique(slots.worker, return_index=True)
        rows = joined([read(), *running])
        rows["is_other"] = is_other(rows["graph"])
        prefixes = set(np.unique(rows["prefix"][rows["kind"] == Kind.COMPUTE]).tolist())
        is_measured = not isfinite(unmeasured_share) or prefixes & measured
        workers = {
            "name": string,
            "threads": slots.threads[at],
            "joined": slots.joined[at],
            "left": np.where(np.isnan(slots.ended[at]), np.inf, slots.ended[at]),
        }
        known = {one: row for row, one in enumerate(string.tolist())}
        paused = [(known[s], a, b) for w, a, b in pauses if (s := strings.find(w)) in known]
        worker, start, stop = np.array(paused, dtype=np.float64).reshape(-1, 3).T
        return Facts(
            window,
            workers,
            _as_facts(rows | {"worker": np.searchsorted(string, rows["worker"])}),
            np.searchsorted(string, slots.worker),
            {"worker": worker.astype(np.int64), "start": start, "stop": stop},
            np.array(gaps, dtype=np.float64).reshape(-1, 2),
            shares if is_measured else dict.fromkeys(prefixes, unmeasured_share),
        )

    return make


def _running(history: History, now: float) -> Columns:
    """Return what runs, until now, as rows of the log."""
    running, slots = history.running.rows(now), history.slots
    is_there = running["slot"] >= 0
    n = int(is_there.sum())
    return {
        "worker": slots.worker[running["slot"][is_there]],
        "kind": np.full(n, Kind.COMPUTE),
        "outcome": np.full(n, Outcome.RUNNING),
        "prefix": running["prefix"][is_there],
        "graph": running["graph"][is_there],
        "slot": running["slot"][is_there],
        "start": running["start"][is_there],
        "stop": np.full(n, now),
        **{name: np.full(n, np.nan) for name in ("ready", "assigned", "report_delay")},
        **{name: np.full(n, -1) for name in ("nbytes", "task")},
    }


def _stuck(history: History, now: float) -> Columns:
    """Return tasks that no worker may run, as rows of the log: they wait until now.

    Since when is not recorded: at most since the newest run got no further. More of a prefix than
    there are threads are left out.
    """
    slots, run = history.slots, max(history.runs, key=lambda one: one.number, default=None)
    n_of = np.minimum(history.prefixes.states[:, NO_WORKER], len(slots.worker))
    ids = [history.strings.find(name) or 0 for name in history.prefixes.names]
    prefix = np.repeat(np.array(ids, np.int64), n_of)
    n = 0 if run is None else int(n_of.sum())
    return {
        "worker": np.repeat(slots.worker[:1], n),
        "kind": np.full(n, Kind.COMPUTE),
        "outcome": np.full(n, Outcome.RUNNING),
        "prefix": prefix[:n],
        "ready": np.full(n, 0.0 if run is None else max(now - run.last, 0.0)),
        **{name: np.full(n, now) for name in ("start", "stop")},
        **{name: np.zeros(n) for name in ("assigned", "report_delay")},
        **{name: np.full(n, -1) for name in ("nbytes", "task")},
        **{name: np.zeros(n, np.int64) for name in ("graph", "slot")},
    }


def _waiting_shares(history: History, window: Window) -> tuple[dict[int, float], set[int]]:
    """Return in which share of their time the tasks of each prefix did not use the CPU.

    And of which prefixes workers have told it: with a heartbeat, after the end of the task.
    """
    window = window._replace(stop=window.stop + CPU_REPORT_S)
    computing: defaultdict[str, float] = defaultdict(float)
    waiting: defaultdict[str, float] = defaultdict(float)
    for (context, label, activity, unit), gained in history.activities.gained(window).items():
        if (context, unit) == ("execute", "seconds"):
            name = activity.removeprefix("p2p-")
            computing[label] += gained * (name in COMPUTING)
            waiting[label] += gained * (name in WAITING)
    ids = {label: history.strings.find(label) for label in computing}
    known = {label: one for label, one in ids.items() if one is not None}
    shares = {
        prefix: waiting[label] / (computing[label] + waiting[label])
        for label, prefix in known.items()
        if waiting[label] > 0
    }
    return shares, set(known.values())


def _share_by_cpu(series: SeriesTable, window: Window) -> float:
    """Return the same of all tasks, where workers have told nothing of any yet; NaN: not known.

    It is what their CPU time leaves of the threads that tasks hold: tasks that have left their
    threads to others hold none.
    """
    cpu, executing, threads = (series.get(name) for name in ("cpu", "executing", "nthreads"))
    held = np.fmin(executing.total, threads.total)
    is_in = (cpu.times >= window.start) & (cpu.times <= window.stop) & (held > 0)
    n_held = float(held[is_in].sum())
    return max(1 - float(np.nansum(cpu.total[is_in])) / 100 / n_held, 0.0) if n_held else nan


def _as_facts(rows: Columns) -> Columns:
    start, delay = rows["start"], rows["report_delay"]
    moments = {
        "ready": start - rows["ready"],
        "assigned": start - rows["assigned"],
        "reported": rows["stop"] + delay,
    }
    return {n: rows[n] for n in rows if n not in ("report_delay", *moments)} | moments
