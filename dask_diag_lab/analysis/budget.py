"""What became of the time that the threads offered: each moment of each thread has one category.

The categories, their order and their meaning are those of `CATEGORIES`; together they are what was
offered. Worked out by sweeping over all begins and ends: of each worker first, then, of the threads
for which their own worker gives no reason, of all workers together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store.arrays import Bools, Columns, Floats, Ints
from dask_diag_lab.store.sums import Window

Counts = npt.NDArray[np.integer]


class Category(NamedTuple):
    """What people call it, and what threads did, or why they did nothing."""

    label: str
    meaning: str


CATEGORIES: Final[Mapping[str, Category]] = {
    "computing": Category("Computing", "tasks used the CPU"),
    "waiting-in-tasks": Category("Waiting in tasks", "tasks held a thread and did not use the CPU"),
    "failed": Category("Failed", "tasks that failed, were tried again or whose worker died"),
    "other-runs": Category("Other runs", "tasks of another run held the thread"),
    "deserialize": Category("Deserializing", "tasks were unpacked"),
    "disk": Category("Disk", "no task could run while spilled data was written or read"),
    "paused": Category("Paused", "the worker was paused, its memory being full"),
    "unknown": Category("Not recorded", "nobody recorded what was done"),
    "transfer": Category("Waiting for data", "a task waited for its data from other workers"),
    "starting": Category(
        "Starting", "a task was on its way to its thread, or its end on the way to the scheduler"
    ),
    "scheduler": Category("Scheduler", "tasks that could run waited at the scheduler"),
    "unbalanced": Category("Unbalanced", "other workers had more tasks than threads"),
    "dependencies": Category(
        "Dependencies", "there was too little to do at once: tasks waited for others"
    ),
    "client": Category(
        "Client", "there was nothing to do: the code that submits tasks was at work"
    ),
}
"""All categories, in order: of two that fit a moment the first counts."""

BUSY: Final = ("computing", "waiting-in-tasks", "failed", "other-runs", "deserialize")
"""Categories of threads that had a task; in all others they had none."""
_HELD: Final = ("computing", "failed", "other-runs", "deserialize", "disk")
"""Categories of what a worker does, in the order in which its threads are counted off."""


class Facts(NamedTuple):
    """What was done in a window, by whom, and who was there. Times are seconds since the epoch.

    Attributes
    ----------
    window : Window
        With finite ends.
    workers : dict of str to ndarray
        ``threads``, ``joined`` and ``left`` of each worker.
    actions : dict of str to ndarray
        ``worker`` (row of ``workers``), ``kind``, ``outcome``, ``prefix``, ``task``, ``nbytes``,
        ``start``, ``stop``, and of compute actions ``ready``, ``assigned`` and ``reported`` (NaN:
        not known); ``graph``, the number of the graph that it came with; ``is_other``: of another
        run than the one that the window is of.
    pauses : dict of str to ndarray
        ``worker``, ``start`` and ``stop`` of each stretch in which a worker was paused.
    gaps : ndarray of float64, shape (n, 2)
        Stretches in which nobody recorded what was done.
    waiting_share : mapping of int to float
        Of what each prefix's tasks took, by its string id: the share in which they did not use
        the CPU.
    """

    window: Window
    workers: Columns
    actions: Columns
    pauses: Columns
    gaps: Floats
    waiting_share: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Budget:
    """What became of a window's thread time.

    Attributes
    ----------
    window : Window
    offered_s : float
        Seconds that all threads together were there.
    seconds : dict of str to float
        By category, those of `CATEGORIES` that are not 0; together ``offered_s``.
    by_prefix : dict of str to (dict of int to float)
        Of the categories that belong to tasks: the seconds of each prefix, by its string id.
    """

    window: Window
    offered_s: float
    seconds: dict[str, float]
    by_prefix: dict[str, dict[int, float]]


class _Stretches(NamedTuple):
    """Stretches of time of workers; each counts ``number`` times."""

    name: str
    worker: Ints
    start: Floats
    stop: Floats
    number: Ints | int = 1


def budget_of(facts: Facts) -> Budget:
    """Return what became of the thread time of a window."""
    window = facts.window
    stretches = [_clipped(one, window) for one in _stretches(facts)]
    names = [one.name for one in stretches]
    worker = np.concatenate([np.tile(one.worker, 2) for one in stretches])
    time = np.concatenate([np.concatenate([one.start, one.stop]) for one in stretches])
    change = np.concatenate([_changes(one) for one in stretches])
    what = np.repeat(np.arange(len(names), dtype=np.int8), [2 * len(o.start) for o in stretches])
    # One key sorts five times faster than two; its digits tell microseconds of a thousand workers.
    order = np.argsort(worker * (window.stop - window.start + 1.0) + (time - window.start))
    worker, time, change, what = worker[order], time[order], change[order], what[order]
    # All that has begun has ended at the last moment of a worker: the next one begins at 0.
    lasts_s = np.diff(time, append=time[-1:])
    lasts_s[np.diff(worker, append=worker[-1:]) != 0] = 0.0
    n_of = {
        name: np.cumsum(np.where(what == at, change, 0), dtype=np.int32)
        for at, name in enumerate(names)
    }

    threads = n_of["threads"]
    free: Counts = threads
    seconds: dict[str, float] = {}

    def take(category: str, wanted: Counts) -> None:
        """Count off threads that are still free."""
        nonlocal free
        used = np.minimum(wanted, free)
        free = free - used
        seconds[category] = _sum(used, lasts_s)

    for name in _HELD:
        take(name, n_of[name])
    take("paused", np.where(n_of["paused"] > 0, free, 0))
    take("unknown", np.where(n_of["unknown"] > 0, free, 0))
    waits, is_fetching = n_of["coming"] + n_of["reporting"], n_of["fetching"] > 0
    take("transfer", np.where(is_fetching, waits, 0))
    take("starting", np.where(is_fetching, 0, waits))
    assigned = n_of["coming"] + n_of["computing"] + n_of["failed"] + n_of["other-runs"]
    excess = np.maximum(assigned - threads, 0)
    seconds |= _of_all(facts, time, np.diff(free, prepend=0), np.diff(excess, prepend=0))
    by_prefix = _by_prefix(facts, seconds)
    seconds["waiting-in-tasks"] = sum(by_prefix["waiting-in-tasks"].values())
    seconds["computing"] -= seconds["waiting-in-tasks"]
    return Budget(
        window,
        _sum(threads, lasts_s),
        {name: seconds[name] for name in CATEGORIES if seconds[name] > 0},
        by_prefix,
    )


def _sum(number: Counts, lasts_s: Floats) -> float:
    """Return the thread seconds of so many threads; threads of BLAS would wait for each other."""
    return float((number * lasts_s).sum())


def _stretches(facts: Facts) -> Iterator[_Stretches]:
    """Yield what there was of each worker, by what it counts for."""
    workers, actions, pauses = facts.workers, facts.actions, facts.pauses
    there = np.arange(len(workers["threads"]))
    yield _Stretches("threads", there, workers["joined"], workers["left"], workers["threads"])
    for name, is_it in _held(facts).items():
        yield _Stretches(name, *(actions[n][is_it] for n in ("worker", "start", "stop")))
    yield _Stretches("paused", pauses["worker"], pauses["start"], pauses["stop"])
    n_gaps, n_workers = len(facts.gaps), len(there)
    gaps = np.repeat(facts.gaps, n_workers, axis=0).reshape(-1, 2)
    yield _Stretches("unknown", np.tile(there, n_gaps), gaps[:, 0], gaps[:, 1])

    is_moved = actions["kind"] == Kind.TRANSFER
    yield _Stretches("fetching", *(actions[n][is_moved] for n in ("worker", "start", "stop")))
    tasks = {name: column[_is_task(actions)] for name, column in actions.items()}
    worker, start, stop = tasks["worker"], tasks["start"], tasks["stop"]
    assigned = np.fmin(tasks["assigned"], start)
    reported = np.fmax(tasks["reported"], stop)
    yield _Stretches("coming", worker, assigned, start)
    yield _Stretches("reporting", worker, stop, reported)


def _is_task(actions: Columns) -> Bools:
    is_task: Bools = actions["kind"] == Kind.COMPUTE
    return is_task


def _held(facts: Facts) -> dict[str, Bools]:
    """Return which actions count for each of `_HELD`."""
    actions = facts.actions
    kind, is_ok = actions["kind"], np.isin(actions["outcome"], (Outcome.OK, Outcome.RUNNING))
    is_task, is_other = _is_task(actions), actions["is_other"]
    is_own = is_task & ~is_other
    return {
        "computing": is_own & is_ok,
        "failed": is_own & ~is_ok,
        "other-runs": is_task & is_other,
        "deserialize": kind == Kind.DESERIALIZE,
        "disk": (kind == Kind.DISK_READ) | (kind == Kind.DISK_WRITE),
    }


def _clipped(one: _Stretches, window: Window) -> _Stretches:
    start, stop = np.maximum(one.start, window.start), np.minimum(one.stop, window.stop)
    is_in = stop > start
    number = one.number if isinstance(one.number, int) else one.number[is_in]
    return _Stretches(one.name, one.worker[is_in], start[is_in], stop[is_in], number)


def _changes(one: _Stretches) -> Ints:
    number: Ints = np.broadcast_to(np.asarray(one.number, dtype=np.int32), len(one.start))
    return np.concatenate([number, -number])


def _of_all(facts: Facts, time: Floats, free: Ints, excess: Ints) -> dict[str, float]:
    """Return the seconds of threads for which the whole cluster gives the reason.

    Parameters
    ----------
    time : ndarray of float64
    free, excess : ndarray of int
        By how much the number of threads without a reason of their own worker, and that of tasks
        beyond the threads of their workers, changed at each time.
    """
    window, tasks = facts.window, facts.actions
    is_task = _is_task(tasks)
    start, stop = tasks["start"][is_task], tasks["stop"][is_task]
    assigned = np.fmin(tasks["assigned"][is_task], start)
    ready = np.fmin(tasks["ready"][is_task], assigned)
    nobody = np.zeros(len(ready), dtype=np.int64)
    queued = _clipped(_Stretches("", nobody, ready, assigned), window)
    ends = np.fmax(tasks["reported"][is_task], stop)
    is_own = ~tasks["is_other"][is_task]
    own = _Stretches("", nobody[is_own], ready[is_own], ends[is_own])
    unfinished = _clipped(own, window)
    parts = [
        (np.concatenate([queued.start, queued.stop]), _changes(queued), 2),
        (np.concatenate([unfinished.start, unfinished.stop]), _changes(unfinished), 3),
    ]
    parts += [(time[c != 0], c[c != 0], at) for at, c in enumerate((free, excess))]
    moment = np.concatenate([times for times, _, _ in parts])
    change = np.concatenate([changes for _, changes, _ in parts])
    what = np.repeat([at for *_, at in parts], [len(times) for times, _, _ in parts])
    order = np.argsort(moment)
    moment, change, what = moment[order], change[order], what[order]
    lasts_s = np.diff(moment, append=moment[-1:])
    rest, many, waiting, left = (np.cumsum(np.where(what == at, change, 0)) for at in range(4))
    found = {}
    wanted = {"scheduler": waiting, "unbalanced": many, "dependencies": np.where(left > 0, rest, 0)}
    for category, number in wanted.items():
        used = np.minimum(number, rest)
        rest = rest - used
        found[category] = _sum(used, lasts_s)
    return {**found, "client": _sum(rest, lasts_s)}


def _by_prefix(facts: Facts, seconds: Mapping[str, float]) -> dict[str, dict[int, float]]:
    """Return the seconds of each prefix, in categories that belong to tasks.

    Each has the share of a category that it had of the time of all such actions, or waits.
    """
    window, actions, is_task = facts.window, facts.actions, _is_task(facts.actions)
    prefix, start = actions["prefix"], actions["start"]
    assigned = np.fmin(actions["assigned"], start)
    of_actions = {**_held(facts), "transfer": actions["kind"] == Kind.TRANSFER}
    spans = {name: (start, actions["stop"], is_it) for name, is_it in of_actions.items()}
    spans["starting"] = (assigned, start, is_task)
    spans["scheduler"] = (np.fmin(actions["ready"], assigned), assigned, is_task)
    found = {}
    for category, (begin, end, is_it) in spans.items():
        took_s = np.minimum(end, window.stop)[is_it] - np.maximum(begin, window.start)[is_it]
        sums = np.bincount(prefix[is_it], np.maximum(took_s, 0.0))
        its = np.flatnonzero(sums)
        scale = seconds[category] / total if (total := sums.sum()) > 0 else 0.0
        found[category] = dict(zip(its.tolist(), (sums[its] * scale).tolist(), strict=True))
    waits = facts.waiting_share
    whole = found["computing"]
    found["waiting-in-tasks"] = {p: s * waits[p] for p, s in whole.items() if waits.get(p)}
    found["computing"] = {p: s * (1 - waits.get(p, 0.0)) for p, s in whole.items()}
    return found
