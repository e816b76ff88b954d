"""What the budget of a window is made of, taken out of a history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from math import isfinite, nan
from typing import Any, Final

import numpy as np

from dask_diag_lab.analysis.budget import Facts
from dask_diag_lab.schema import STATES, Kind, Outcome
from dask_diag_lab.store import History
from dask_diag_lab.store.arrays import Columns, Ints, joined
from dask_diag_lab.store.series import SeriesTable
from dask_diag_lab.store.sums import Window

COMPUTING: Final = ("thread-cpu", "shard-partition-cpu", "get-output-cpu")
WAITING: Final = (
    *("thread-noncpu", "shard-partition-noncpu", "get-output-noncpu"),
    *("comms-limiter", "disk-limiter"),
)
"""Fine metrics of what tasks do while they hold a thread; those of shuffles may begin with p2p-."""
AT_SCHEDULER: Final = [STATES.index(state) for state in ("queued", "no-worker")]
MOST_GIVEN: Final = 50
"""Tasks of a worker that have not begun: of more its own are too many all the same."""
_NAMES: Final = (
    *("worker", "kind", "outcome", "prefix", "start", "stop"),
    *("ready", "assigned", "report_delay", "nbytes", "task", "graph", "slot"),
)


def cpu_report_s(history: History) -> float:
    """Return how long after the end of a task its worker has told what it did with the CPU.

    It does so with a heartbeat: of many workers more seldom, by `scheduler.heartbeat_interval`.
    """
    n_workers = len(history.workers)
    return 2.0 if n_workers < 50 else 2.0 + max(n_workers / 200, 1.0)


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
    running = [_running(history, now), *_to_do(history, window, now, run)]
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
    own = {name: running[name][is_there] for name in ("slot", "prefix", "graph", "start")}
    return _as_rows(slots.worker[own["slot"]], now, **own)


def _to_do(history: History, window: Window, now: float, run: int) -> Iterator[Columns]:
    """Yield what has not begun, as rows of the log: tasks that wait until now, and transfers.

    Since when is not recorded: at most since the run, or the cluster, got no further.
    """
    slots, workers, prefixes = history.slots, history.workers, history.prefixes
    own = (one for one in history.runs if run in (0, one.number))
    since = max((one.last for one in own), default=now)
    if window.stop <= since:
        return
    wait = {"ready": now - since, "report_delay": 0.0}
    n_at_scheduler = prefixes.states[:, AT_SCHEDULER].sum(axis=1).clip(max=len(slots.worker))
    ids = np.array([history.strings.find(name) or 0 for name in prefixes.names], np.int64)
    prefix = np.repeat(ids, n_at_scheduler)[: len(slots.worker)]  # no more threads are free
    anywhere = np.resize(slots.worker[:1], len(prefix))
    yield _as_rows(anywhere, now, prefix=prefix, assigned=0.0, **wait)

    known = np.array([history.strings.find(one) or -1 for one in workers.names], np.int64)
    has_slots = np.isin(known, slots.worker)
    worker = known[has_slots]
    n_given = (workers.processing - workers.executing)[has_slots].clip(0, MOST_GIVEN)
    yield _as_rows(np.repeat(worker, n_given), now, assigned=now - since, **wait)
    fetching = worker[workers.incoming_bytes[has_slots] > 0]
    yield _as_rows(fetching, now, kind=Kind.TRANSFER, start=since)


def _as_rows(worker: Ints, now: float, **columns: Any) -> Columns:  # arrays, or one for all
    defaults: dict[str, Any] = {
        **dict.fromkeys(("start", "stop"), now),
        **dict.fromkeys(("prefix", "graph"), 0),
        "kind": Kind.COMPUTE,
        "outcome": Outcome.RUNNING,
        **dict.fromkeys(("ready", "assigned", "report_delay"), nan),
        **dict.fromkeys(("nbytes", "task", "slot"), -1),
    }
    given = defaults | columns
    return {"worker": worker} | {n: np.broadcast_to(of, worker.shape) for n, of in given.items()}


def _waiting_shares(history: History, window: Window) -> tuple[dict[int, float], set[int]]:
    """Return in which share of their time the tasks of each prefix did not use the CPU.

    And of which prefixes workers have told it: with a heartbeat, after the end of the task.
    """
    window = window._replace(stop=window.stop + cpu_report_s(history))
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
