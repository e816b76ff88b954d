"""What held a run up, and how long it would have taken: its critical path, and list scheduling.

Which task waited for which is recorded for groups only. What released a task is taken to be the
task that was reported last before it could run, among those of the prefixes it may depend on. A
simulation starts tasks in the order in which they were started, each as soon as what released it
has ended and a thread is free. It is made of what was measured first: what it is off by then tells
how good it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import Final, NamedTuple

import numpy as np

from dask_diag_lab.analysis.case import Case
from dask_diag_lab.schema import Kind
from dask_diag_lab.store.arrays import Bools, Floats, Ints, narrow

LATEST_S: Final = 0.25
"""Where it is not known when its graph came: what released a task was done so shortly before."""
MOST_STARTING: Final = 0.25
"""Of the thread time: where starting tasks took more, more threads do not have more done."""
MOST_LOST: Final = 0.01
"""Of what was done, and of what it waited for; where more is not known there is no estimate."""
EXACT_S: Final = 1e-3
"""A moment that is known as a difference is off by less."""
MOST_TASKS: Final = 200_000
"""Of more, several that follow each other are simulated as one: it takes 2 µs a task."""
MOST_WRONG: Final = 0.15
"""Where the simulation of what was measured is off by more, there is no estimate."""


class Step(NamedTuple):
    """A task on the critical path: its prefix, times, and whether it waited for a free thread."""

    prefix: str
    task: int
    start: float
    stop: float
    is_queued: bool


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """What the end of a run waited for, backwards.

    Attributes
    ----------
    steps : list of Step
        As it was executed, first one first.
    chain_s, n_chain : float, int
        Longest chain of tasks that released each other, with their way to the worker. How many
        tasks it has.
    at_best_s, client_s : float
        With any number of threads the run takes so long: the longest chains of what was submitted
        one after the other, and the time in which nothing was left to do. How long that was.
    wall_s : float
        How long the run was.
    note : str
        Why there are no steps, or why nobody can say whether more workers help.
    """

    steps: list[Step]
    chain_s: float
    n_chain: int
    at_best_s: float
    client_s: float
    wall_s: float
    note: str = ""

    def __str__(self) -> str:
        if not self.steps:
            return f"No critical path: {self.note}."
        helps = self.note or "more workers may help"
        if self.at_best_s > 0.8 * self.wall_s:
            helps = "more workers will not help"
        times = (self.at_best_s, self.wall_s, self.client_s)
        best, whole, client = (f"{s:#.3g}".rstrip(".") for s in times)
        of = f"Critical path {best} of {whole} s"
        if self.client_s > 0.05 * self.wall_s:
            of += f", {client} s of it without tasks"
        names = list(dict.fromkeys(step.prefix for step in self.steps))
        return f"{of}: {helps}. {' → '.join(names)}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a run would have taken.

    Attributes
    ----------
    seconds : float
        NaN where the simulation is off by more than 15 % of what was measured.
    measured_s : float
        How long it took.
    error : float
        What the simulation of what was measured is off by, as a share of it.
    note : str
        Why there is none, or what it takes for granted.
    """

    seconds: float
    measured_s: float
    error: float
    note: str = ""

    def __str__(self) -> str:
        error = f"{100 * self.error:.0f} % off for what was measured"
        if np.isnan(self.seconds):
            return f"No estimate: {self.note or f'the simulation is {error}'}."
        about = f"About {self.seconds:.3g} s instead of {self.measured_s:.3g} s"
        return f"{about}{self.note and f' {self.note}'} (simulated, {error})"


def released_by(case: Case) -> Ints:
    """Return the row of the task that released each of `Case.tasks`; -1 for none."""
    tasks = case.tasks
    ready, done = tasks["ready"], tasks["done"]
    # What had been done when its graph came has let the client submit it, if anything.
    came = _came(case)
    since = np.where(np.isnan(came + ready), ready - LATEST_S, came)
    released = np.full(len(ready), -1)
    rows_of = {case.names.get(of.prefix, ""): of.rows for of in case.prefixes}
    for name, rows in rows_of.items():
        needed = [rows_of[one] for one in {*case.needs.get(name, ()), name} if one in rows_of]
        others = np.concatenate(needed)
        others = others[np.argsort(done[others], kind="stable")]
        # What is not known is NaN, and sorts last: no task was done so late.
        at = np.searchsorted(done[others], ready[rows], side="right") - 1
        found = others[np.maximum(at, 0)]
        released[rows] = np.where((at >= 0) & (done[found] > since[rows]), found, -1)
    return released


def _came(case: Case) -> Floats:
    """Return when the graph of each task came; NaN where it is not known."""
    graph = case.tasks["graph"]
    return case.arrived[np.where(graph < len(case.arrived), graph, 0)]


def chains(seconds: Floats, released: Ints) -> Floats:
    """Return how long the chain that ends with each task is."""
    total, link = seconds.copy(), released.copy()
    has = np.flatnonzero(link >= 0)
    while len(has):  # each round doubles what is added up
        before = link[has]
        total[has] += total[before]
        link[has] = after = link[before]
        has = has[after >= 0]
    return total


def critical_path(case: Case) -> CriticalPath:
    """Return what the end of a run waited for."""
    released = released_by(case)
    if note := _unknown(case, released):
        return CriticalPath([], 0.0, 0, 0.0, 0.0, case.wall_s, note)
    total = chains(case.tasks["seconds"] + _lag(case, released), released)
    n_chain, at = 0, int(total.argmax())
    while at >= 0:
        n_chain, at = n_chain + 1, int(released[at])
    parts_s = np.maximum.reduceat(total, np.flatnonzero(_begins(case, released)))
    client_s = case.wall("client")
    # Clocks differ a little: no path is longer than what it is a part of.
    at_best_s = min(float(parts_s.sum()) + client_s, case.wall_s)
    steps = _executed(case, released)
    chain_s, note = float(total.max()), _too_short(case)
    return CriticalPath(steps, chain_s, n_chain, at_best_s, client_s, case.wall_s, note)


def _unknown(case: Case, released: Ints) -> str:
    """Return why nobody can say what waited for what; '' where it is known."""
    if not len(released):
        return "no task has ended well"
    if case.share("unknown") > MOST_LOST:
        return "not all was recorded"
    if case.is_nested:
        return "tasks have submitted tasks"
    if case.n_stuck:
        return "no worker may run some of the tasks"
    if case.without_workers_s > MOST_LOST * case.wall_s:
        return "there were no workers for some of the time"
    names = {case.names.get(of.prefix, "") for of in case.prefixes}
    has_waited = (released < 0) & (case.tasks["ready"] > _came(case) + EXACT_S)
    if not names <= case.needs.keys() or has_waited.mean() > MOST_LOST:
        return "it is not known what tasks waited for"
    return ""


def _too_short(case: Case) -> str:
    """Return why nobody can say what more threads bring: their event loops start all tasks."""
    share = case.share("starting", "scheduler")
    if share <= MOST_STARTING:
        return ""
    return f"starting tasks took {100 * share:.0f} % of the thread time"


def _begins(case: Case, released: Ints) -> Bools:
    """Return where all before a task was done when it and all after it could run.

    There the client went on, which had waited for what was before.
    """
    ready, start = case.tasks["ready"], case.tasks["start"]
    could = np.where(np.isnan(ready), start, ready)
    could = np.where(released >= 0, could[released], could)  # so that a chain is not cut
    soonest = np.minimum.accumulate(could[::-1])[::-1]
    return np.append(True, np.maximum.accumulate(case.tasks["done"])[:-1] <= soonest[1:])


def _executed(case: Case, released: Ints) -> list[Step]:
    """Return the path from the task that ended last: what it waited for longer, again and again."""
    tasks = case.tasks
    worker, start, stop = tasks["worker"], tasks["start"], tasks["stop"]
    by_stop, first = case.by_stop
    ends = stop[by_stop]
    steps: list[Step] = []
    at = int(tasks["done"].argmax())
    while at >= 0:
        begin, end = first[worker[at]], first[worker[at] + 1]
        place = begin + np.searchsorted(ends[begin:end], start[at], side="right") - 1
        before = int(by_stop[place]) if place >= begin else -1
        # Where it is known; whatever clocks say, the path goes back.
        is_queued = bool(0 <= before < at and stop[before] > tasks["ready"][at])
        step = (float(start[at]), float(stop[at]), is_queued)
        steps.append(
            Step(case.names.get(int(tasks["prefix"][at]), ""), int(tasks["task"][at]), *step)
        )
        at = before if is_queued else int(released[at])
    return steps[::-1]


def what_if(case: Case, threads: int | None = None, transfer: float = 1.0) -> Estimate:
    """Return how long a run would have taken with something else.

    Parameters
    ----------
    case : Case
    threads : int, optional
        With so many threads; default: as many as there were.
    transfer : float
        With so many times what waiting for data took.

    Raises
    ------
    ValueError
        `threads` is less than 1, or `transfer` less than 0 or infinite.
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads!r}: it is how many there are, 1 at least")
    if not 0 <= transfer < np.inf:
        raise ValueError(f"transfer is {transfer!r}: it is a factor from 0 on")
    tasks, n_threads = case.tasks, max(round(case.threads), 1)
    released, begin = released_by(case), case.facts.window.start
    is_more = threads is not None and threads > n_threads
    note = _unknown(case, released)
    if is_more and not note:
        note = _too_short(case)
    if note:
        return Estimate(np.nan, case.wall_s, np.nan, note)
    lag, seconds = _lag(case, released), tasks["seconds"]
    moved = np.minimum(_moved(case), lag)
    waves = _waves(tasks["prefix"], -(-len(released) // MOST_TASKS))
    measured = _simulated(case, released, waves, seconds, lag, n_threads)
    error = abs(measured - (float(tasks["stop"].max()) - begin)) / case.wall_s
    if error > MOST_WRONG:
        return Estimate(np.nan, case.wall_s, error)
    lag += (transfer - 1) * moved
    other = _simulated(case, released, waves, seconds, lag, threads or n_threads)
    rest_s = case.facts.window.stop - float(tasks["stop"].max())
    # What it is off by in both cases cancels.
    return Estimate(
        other + (float(tasks["stop"].max()) - begin - measured) + rest_s,
        case.wall_s,
        error,
        f"if there are processors for {threads} threads" if is_more else "",
    )


def _moved(case: Case) -> Floats:
    """Return how long data moved that is booked on each task."""
    actions, task = case.actions, case.tasks["task"]
    is_moved = (actions["kind"] == Kind.TRANSFER) & (actions["task"] >= 0)
    of, took_s = actions["task"][is_moved], (actions["stop"] - actions["start"])[is_moved]
    n = int(max(task.max(), of.max(initial=0))) + 1
    moved_s: Floats = np.zeros(n)
    np.add.at(moved_s, of, took_s)
    return moved_s[task]


def _freed(case: Case) -> Floats:
    """Return when a thread of its worker was free for each task; NaN for the first ones.

    As many tasks had to end before as had begun, but for one on each thread: this does not depend
    on whether clocks let a task seem to begin before the one before it ended.
    """
    worker, start, stop = (case.tasks[name] for name in ("worker", "start", "stop"))
    by_start, (by_stop, first) = np.argsort(narrow(worker), kind="stable"), case.by_stop
    its = worker[by_start]
    place = np.arange(len(its)) - case.facts.workers["threads"][its]
    is_later = place >= first[its]
    rows, freed = by_start[is_later], np.full(len(start), np.nan)
    freed[rows] = np.minimum(stop[by_stop[place[is_later]]], start[rows])
    return freed


def _lag(case: Case, released: Ints) -> Floats:
    """Return how long each task was on its way when a thread was free for it, with its data."""
    tasks = case.tasks
    could = np.where(released >= 0, tasks["stop"][released], tasks["ready"])
    could = np.fmax(could, _freed(case))
    lag: Floats = np.maximum(np.nan_to_num(tasks["start"] - could), 0.0)
    return lag


def _waves(prefix: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the wave of each task, and the first task of each wave.

    So many tasks of a prefix that began one after the other are a wave, done by one thread. Waves
    are in the order of their first tasks.
    """
    order = np.argsort(narrow(prefix), kind="stable")
    begins = np.flatnonzero(np.diff(prefix[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    is_first = place % size == 0
    first, wave = order[is_first], np.empty(len(order), np.int64)
    rank = np.argsort(np.argsort(first))
    wave[order] = rank[np.cumsum(is_first) - 1]
    return wave, np.sort(first)


def _simulated(
    case: Case,
    released: Ints,
    waves: tuple[Ints, Ints],
    seconds: Floats,
    lag: Floats,
    threads: int,
) -> float:
    """Return how long the tasks take on so many threads."""
    tasks, begin, (wave, first) = case.tasks, case.facts.window.start, waves
    ready = np.fmin(tasks["ready"], tasks["start"])[first] - begin
    part = np.cumsum(_begins(case, released))[first]
    prior = np.append(0.0, np.maximum.accumulate(tasks["stop"] - begin)[:-1])[first]
    prior[np.diff(part, prepend=0) <= 0] = np.nan
    released = np.where(released >= 0, wave[released], -1)[first]
    released[released >= np.arange(len(first))] = -1  # it is done with the one that it waits for
    sums = (np.bincount(wave, weights).tolist() for weights in (seconds, lag))
    ends = [0.0] * len(first)
    free = [0.0] * min(threads, len(first))
    heapify(free)
    rows = zip(released.tolist(), ready.tolist(), *sums, prior.tolist(), strict=True)
    done = earlier = 0.0
    for row, (before, could, took, late, until) in enumerate(rows):
        if until >= 0:  # the client goes on as long after this as it did
            earlier = until - done
        start = max(free[0], ends[before] if before >= 0 else could - earlier) + late
        ends[row] = start + took
        done = max(done, ends[row])
        heapreplace(free, ends[row])
    return done
