"""What became of the time that the threads offered: each moment of each thread has one category.

The categories, their order and their meaning are those of `CATEGORIES`; together they are what was
offered. Worked out by sweeping over all begins and ends: of each worker first, then, of the threads
for which their own worker gives no reason, of all workers together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Outcome
from dask_diag_lab.store.arrays import Columns, Floats, Ints, joined
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
    "scheduler": Category(
        "Scheduler",
        "tasks that could run waited at the scheduler, or for a worker that may run them",
    ),
    "unbalanced": Category("Unbalanced", "other workers had more tasks than threads"),
    "dependencies": Category(
        "Dependencies",
        "too few tasks could run at once: they waited for others, or were the last ones",
    ),
    "client": Category(
        "Client", "no task was left to do: the code that submits tasks, or an actor, was at work"
    ),
}
"""All categories, in order: of two that fit a moment the first counts."""

BUSY: Final = ("computing", "waiting-in-tasks", "failed", "other-runs", "deserialize")
"""Categories of threads that had a task; in all others they had none."""
_WITH_TASK: Final = ("computing", "failed", "other-runs")
_HELD: Final = (*_WITH_TASK, "deserialize", "disk")
"""Categories of what a worker does, in the order in which its threads are counted off."""
_PASSES: Final = {
    **{name: ("queued", "coming", name, "reporting") for name in ("computing", "failed")},
    "other-runs": ("other queued", "other coming", "other-runs", "other reporting"),
    **{name: (name,) for name in ("deserialize", "disk", "transfer")},
    **{name: (name,) for name in ("threads", "paused", "unknown")},
}
"""The states of an action, thread, pause or gap, from its first moment to its last."""
_COUNTED: Final = {
    **{name: (name,) for name in _PASSES},
    "waits": ("coming", "reporting", "other coming", "other reporting"),
    "assigned": ("coming", "other coming", *_WITH_TASK),
    "queued": ("queued", "other queued"),
    "unfinished": ("queued", "coming", "computing", "failed", "reporting"),
}
"""How many are in these states together is counted from moment to moment."""
_MOMENTS: Final = [
    (name, before, after)
    for name, states in _PASSES.items()
    for before, after in pairwise(("", *states, ""))
]
_FIRST: Final = {name: [of for of, *_ in _MOMENTS].index(name) for name in _PASSES}
_CHANGES: Final = {
    name: np.array([(after in of) - (before in of) for _, before, after in _MOMENTS], np.int8)
    for name, of in _COUNTED.items()
}
PARTS: Final = 1_000
"""A window is so many parts wide where moments are looked for: a pane has few more pixels."""
LEAST: Final = 0.1
"""What takes less of a part is not looked at in it."""
_CODE_BITS: Final = len(_MOMENTS).bit_length()
_DOING: Final = list(_PASSES)


class Facts(NamedTuple):
    """What was done in a window, by whom, and who was there. Times are seconds since the epoch.

    Attributes
    ----------
    window : Window
        With finite ends.
    workers : dict of str to ndarray
        ``name`` (string id of its address), ``threads``, ``joined`` and ``left`` of each worker.
    actions : dict of str to ndarray
        ``worker`` (row of ``workers``), ``kind``, ``outcome``, ``prefix``, ``task``, ``nbytes``,
        ``start``, ``stop``, and of compute actions ``ready``, ``assigned`` and ``reported`` (NaN:
        not known); ``graph``, the number of the graph that it came with; ``is_other``: of another
        run than the one that the window is of; ``slot``, row of a task stream.
    slots : ndarray of int64
        Row of ``workers`` of each row of a task stream.
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
    slots: Ints
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
    by_worker : dict of str to (dict of int to float)
        The seconds of each worker, by the string id of its address; together those of the category.
        Of what only all workers together tell, from ``scheduler`` on, each has the share that it
        had of the time that was left.
    """

    window: Window
    offered_s: float
    seconds: dict[str, float]
    by_prefix: dict[str, dict[int, float]]
    by_worker: dict[str, dict[int, float]]


def budget_of(facts: Facts) -> Budget:
    """Return what became of the thread time of a window."""
    doing = _doing(facts.actions)
    of_each: dict[str, Floats] = {}
    ends: list[int] = []  # where the moments of each worker end, after a first 0
    of_all: dict[str, float] = {}
    for each in _uses(facts, doing):
        if each.worker is None:
            of_all[each.category] = _sum(each.used, each.lasts_s)
        else:
            numbers = np.arange(len(facts.workers["threads"]) + 1, dtype=each.worker.dtype)
            ends = ends or np.searchsorted(each.worker, numbers).tolist()
            its = [_sum(each.used[a:b], each.lasts_s[a:b]) for a, b in pairwise(ends)]
            of_each[each.category] = np.array(its, dtype=np.float64)
    offered = of_each.pop("")
    left = np.maximum(offered - sum(of_each.values()), 0.0)
    of_each |= {name: left * (s / (left.sum() or 1.0)) for name, s in of_all.items()}
    seconds = dict.fromkeys(CATEGORIES, 0.0) | of_all
    seconds |= {name: float(its.sum()) for name, its in of_each.items() if name not in of_all}
    by_prefix = _by_prefix(facts, doing, seconds)
    seconds["waiting-in-tasks"] = sum(by_prefix["waiting-in-tasks"].values())
    seconds["computing"] -= seconds["waiting-in-tasks"]
    of_each |= _waits_of_each(facts, doing, of_each["computing"], seconds["waiting-in-tasks"])
    known = {name: seconds[name] for name in CATEGORIES if seconds[name] > 0}
    workers = facts.workers["name"].tolist()
    by_worker = {
        name: {one: s for one, s in zip(workers, of_each[name].tolist(), strict=True) if s > 0}
        for name in known
    }
    return Budget(facts.window, float(offered.sum()), known, by_prefix, by_worker)


def _waits_of_each(facts: Facts, doing: Counts, computing: Floats, waits_s: float) -> Columns:
    """Return what of the computing of each worker was waiting, by the prefixes of its tasks."""
    actions, window, shares = facts.actions, facts.window, facts.waiting_share
    of_prefix = np.zeros(int(actions["prefix"].max(initial=0)) + 1)
    of_prefix[[one for one in shares if one < len(of_prefix)]] = [
        share for one, share in shares.items() if one < len(of_prefix)
    ]
    start, stop = (np.clip(actions[name], *window) for name in ("start", "stop"))
    waited_s = (stop - start) * of_prefix[actions["prefix"]] * (doing == 0)
    waits = np.bincount(actions["worker"], waited_s, len(computing))
    waits = np.minimum(waits * (waits_s / (waits.sum() or 1.0)), computing)
    return {"waiting-in-tasks": waits, "computing": computing - waits}


class _Use(NamedTuple):
    """How many threads a category has after each moment; '' stands for all there are.

    The moments are those of one worker after another, else of all workers together.
    """

    category: str
    used: Counts
    time: Floats
    lasts_s: Floats
    worker: Counts | None = None


def _uses(facts: Facts, doing: Counts) -> Iterator[_Use]:
    """Yield the threads of each category, counted off in order; waits in tasks are computing.

    Most of what workers can do they never did: that is left out.
    """
    time, worker, code = _moments(facts, doing)
    seen = np.flatnonzero(np.bincount(code))
    by_worker = np.argsort(worker, kind="stable")
    # Between the last moment of a worker and the first of the next one nothing is there.
    lasts_s, its = np.diff(time[by_worker], append=0.0), code[by_worker]
    of_each = time[by_worker], lasts_s, worker[by_worker]
    threads = _count("threads", its)
    free = threads
    yield _Use("", threads, *of_each)

    def take(wanted: Counts) -> Counts:
        """Count off threads that are still free."""
        nonlocal free
        used = np.minimum(wanted, free)
        free = free - used
        return used

    for name in ("computing", *(name for name in _HELD[1:] if _CHANGES[name][seen].any())):
        yield _Use(name, take(_count(name, its)), *of_each)
    for name in ("paused", "unknown"):
        if _CHANGES[name][seen].any():
            yield _Use(name, take(free * (_count(name, its) > 0)), *of_each)
    waits, is_fetching = _count("waits", its), _count("transfer", its) > 0
    yield _Use("transfer", take(waits * is_fetching), *of_each)
    yield _Use("starting", take(waits * ~is_fetching), *of_each)
    excess = np.maximum(_count("assigned", its) - threads, 0)

    # Of all workers together, moment by moment.
    free, excess = (_total(number, by_worker) for number in (free, excess))
    of_all = time, np.diff(time, append=0.0)
    yield _Use("scheduler", take(_count("queued", code)), *of_all)
    yield _Use("unbalanced", take(excess), *of_all)
    yield _Use("dependencies", take(free * (_count("unfinished", code) > 0)), *of_all)
    yield _Use("client", free, *of_all)


def stretches_of(facts: Facts, category: str) -> Columns:
    """Return what a task stream shows of a category: actions, or where rows stood idle for it.

    Parameters
    ----------
    facts : Facts
    category : str
        One of `CATEGORIES`.

    Returns
    -------
    dict of str to ndarray
        ``slot``, ``start`` and ``stop`` of each stretch. Of categories in `BUSY`, transfers and
        disk these are actions. Of the others, what no action fills of the rows of a worker at
        moments at which it had threads in this category, or, where only all workers together
        tell, at which any had.
    """
    actions, window = facts.actions, facts.window
    doing = _doing(actions)
    name = "computing" if category == "waiting-in-tasks" else category
    if name in _DOING and name not in ("paused", "unknown"):
        is_it = doing == _DOING.index(name)
        if name != category:
            waiting = [prefix for prefix, share in facts.waiting_share.items() if share > 0]
            is_it &= np.isin(actions["prefix"], waiting)
        start, stop = (np.clip(actions[name], *window) for name in ("start", "stop"))
        is_it &= (actions["slot"] >= 0) & (stop > start)  # else it has no place, or has not begun
        return {"slot": actions["slot"][is_it], "start": start[is_it], "stop": stop[is_it]}
    nothing = np.empty(0)
    never = _Use(category, nothing.astype(np.int32), nothing, nothing)
    use = next((use for use in _uses(facts, doing) if use.category == category), never)
    # Whether the category has threads changes at these moments.
    change = np.flatnonzero(np.diff(use.used > 0, prepend=False, append=False))
    begin, end = change[::2], change[1::2]
    edges = np.linspace(0.0, window.stop - window.start, PARTS + 1)
    n_workers = len(facts.workers["threads"])
    is_of = [np.ones(len(begin), np.bool_)] * n_workers
    if use.worker is not None:
        is_of = [use.worker[begin] == one for one in range(n_workers)]
    shares = [covered_share(use.time[begin[its]], use.time[end[its]], edges) for its in is_of]
    found: list[Columns] = [{"slot": np.empty(0, np.int64), "start": nothing, "stop": nothing}]
    for slot, of in enumerate(facts.slots.tolist()):
        its = actions["slot"] == slot
        start, stop = (actions[name][its] - window.start for name in ("start", "stop"))
        is_it = (shares[of] > LEAST) & (covered_share(start, stop, edges) < 1 - LEAST)
        at = np.flatnonzero(np.diff(is_it, prepend=False, append=False))
        start, stop = window.start + edges[at[::2]], window.start + edges[at[1::2]]
        found.append({"slot": np.full(len(start), slot), "start": start, "stop": stop})
    return joined(found)


def covered_share(start: Floats, stop: Floats, edges: Floats) -> Floats:
    """Return which share of the time from each edge to the next lies in any stretch."""
    order = np.argsort(start, kind="stable")
    start, stop = start[order], np.maximum.accumulate(stop[order])
    start = np.maximum(start, np.append(-np.inf, stop[:-1]))
    before_s = np.append(0.0, np.cumsum(np.maximum(stop - start, 0.0)))
    at = np.searchsorted(start, edges)
    beyond_s = np.maximum(np.append(-np.inf, stop)[at] - edges, 0.0)
    return np.diff(before_s[at] - beyond_s) / np.diff(edges)


def _doing(actions: Columns) -> npt.NDArray[np.int8]:
    """Return the place in `_PASSES` of what each action is."""
    of_kind = ("computing", "transfer", "disk", "disk", "deserialize")  # by `Kind`
    doing = np.array([_DOING.index(name) for name in of_kind], np.int8)[actions["kind"]]
    is_task, outcome = doing == 0, actions["outcome"]
    doing[is_task & (outcome != Outcome.OK) & (outcome != Outcome.RUNNING)] = 1
    doing[is_task & actions["is_other"]] = 2
    return doing


def _count(name: str, code: Counts) -> Counts:
    """Return how many of `_COUNTED` there are after each moment."""
    return np.cumsum(_CHANGES[name][code], dtype=np.int32)


def _total(number: Counts, by_worker: Ints) -> Counts:
    """Return what numbers of each worker are together, in the order of time."""
    change = np.empty_like(number)
    change[by_worker] = np.diff(number, prepend=number.dtype.type(0))
    return np.cumsum(change, dtype=np.int32)


def _sum(number: Counts, lasts_s: Floats) -> float:
    """Return the thread seconds of so many threads; threads of BLAS would wait for each other."""
    return float(np.einsum("i,i", number, lasts_s))


def _moments(facts: Facts, doing: Counts) -> tuple[Floats, Counts, Counts]:
    """Return all moments in order: seconds since the window began, worker, and place in `_MOMENTS`.

    Numbers that hold all three sort ten times faster than an order of them is found. Their digits
    tell nanoseconds of a thousand workers in a week.
    """
    window, n_workers = facts.window, len(facts.workers["threads"])
    bits = (n_workers << _CODE_BITS).bit_length()
    scale = 2.0 ** (62 - bits) / max(window.stop - window.start, 1e-9)
    keys = []
    for first, worker, times in _passed(facts, doing):
        tag = (worker << _CODE_BITS) + first
        for at, time in enumerate(times):
            ticks = ((np.clip(time, *window) - window.start) * scale).astype(np.int64)
            keys.append((ticks << bits) + (tag + at))
    key = np.concatenate(keys)
    key.sort(kind="stable")  # in runs, as of blocks
    tag = key.astype(np.uint32) & ((1 << bits) - 1)
    worker = (tag >> _CODE_BITS).astype(np.min_scalar_type(n_workers))
    code = (tag & ((1 << _CODE_BITS) - 1)).astype(np.uint8)
    return (key >> bits) / scale, worker, code


def _passed(facts: Facts, doing: Counts) -> Iterator[tuple[Ints | int, Ints, Sequence[Floats]]]:
    """Yield of each `_PASSES` its place in `_MOMENTS`, its worker and its moments."""
    workers, actions, pauses = facts.workers, facts.actions, facts.pauses
    there = np.arange(len(workers["threads"]))
    joined, left = (np.repeat(workers[name], workers["threads"]) for name in ("joined", "left"))
    yield _FIRST["threads"], np.repeat(there, workers["threads"]), (joined, np.fmax(left, joined))
    yield _FIRST["paused"], pauses["worker"], (pauses["start"], pauses["stop"])
    gaps = np.repeat(facts.gaps, len(there), axis=0)
    yield _FIRST["unknown"], np.tile(there, len(facts.gaps)), (gaps[:, 0], gaps[:, 1])

    first = np.array([_FIRST[name] for name in _DOING])
    is_task = doing < len(_WITH_TASK)
    for its in (is_task, ~is_task):
        start, stop = actions["start"][its], np.fmax(actions["stop"], actions["start"])[its]
        times = [start, stop]
        if its is is_task:
            ready, assigned, reported = (actions[n][its] for n in ("ready", "assigned", "reported"))
            assigned = np.fmin(assigned, start)
            times = [np.fmin(ready, assigned), assigned, *times, np.fmax(reported, stop)]
        yield first[doing[its]], actions["worker"][its], times


def _by_prefix(
    facts: Facts, doing: Counts, seconds: Mapping[str, float]
) -> dict[str, dict[int, float]]:
    """Return the seconds of each prefix, in categories that belong to tasks.

    Each has the share of a category that it had of the time of all such actions, or waits.
    """
    actions, window = facts.actions, facts.window
    prefix, start = actions["prefix"], np.clip(actions["start"], *window)
    assigned = np.fmin(np.clip(actions["assigned"], *window), start)
    ready = np.fmin(np.clip(actions["ready"], *window), assigned)
    took_s = np.maximum(np.clip(actions["stop"], *window) - start, 0.0)
    n = int(prefix.max(initial=0)) + 1
    did = np.bincount(doing.astype(np.int64) * n + prefix, took_s, len(_DOING) * n).reshape(-1, n)
    sums_of = dict(zip((*_HELD, "transfer"), did, strict=False))
    sums_of["starting"] = np.bincount(prefix, start - assigned)
    sums_of["scheduler"] = np.bincount(prefix, assigned - ready)
    found = {}
    for category, sums in sums_of.items():
        its = np.flatnonzero(sums[1:]) + 1  # 0 is of what has not begun
        scale = seconds[category] / total if (total := sums.sum()) > 0 else 0.0
        found[category] = dict(zip(its.tolist(), (sums[its] * scale).tolist(), strict=True))
    waits = facts.waiting_share
    whole = found["computing"]
    found["waiting-in-tasks"] = {p: s * waits[p] for p, s in whole.items() if waits.get(p)}
    found["computing"] = {p: s * (1 - waits.get(p, 0.0)) for p, s in whole.items()}
    return found
