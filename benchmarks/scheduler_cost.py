"""Scheduler CPU per task with a growing number of viewers of the status plots.

A few percent are less than one scheduler process differs from the next, and less than what one
that shares its core pays for whatever else computes on it. So what is to be within them is taken
from the scheduler's own clock: see `loop_time`. What a scheduler costs with and without viewers is
compared as well, in turns, for what that clock cannot see.

Those rounds offer the same number of tasks in each second, fewer than the machine can compute with
every viewer there: a scheduler's own clockwork (heartbeats, ticks) adds more to each task when
fewer tasks end in a second, as they do where client, worker and viewers share a core.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from distributed import Client, wait

from benchmarks import loop_time
from benchmarks.clusters import RunningCluster, separate_cluster
from benchmarks.report import Figure
from benchmarks.targets import our_targets, stock_targets
from benchmarks.viewers import Viewers
from dask_diag_lab import attach

TITLE = "Scheduler CPU per task"
_TASKS = 3_000
_WARM_UP = 500
_ROUNDS = 8
_TIMED_ROUNDS = 4
_RATE = 250
"""Tasks a second in a round of a comparison within few percent."""
_BATCHES_PER_S = 10
_ROUND_S = 6
_CLUSTERS = 2
"""For each case that computes as fast as it can."""
_BUDGET_PERCENT = 3.0

Case = tuple[str, int]
"""``none``, ``ours`` or ``stock``, and how many viewers it has."""
_NONE: Case = ("none", 0)
_ATTACHED: Case = ("ours", 0)
_WATCHED: Case = ("ours", 20)
T = TypeVar("T")
Measure = Callable[[Client], T]
"""Computes with a client, and returns what that took."""


def _increment(x: int) -> int:
    return x + 1


def _process_s() -> float:
    """Return the CPU seconds of the process that calls it, as finely as its system counts them."""
    return time.process_time()


def _compute(client: Client, n_tasks: int) -> None:
    futures = client.map(_increment, range(n_tasks), pure=False)
    wait(futures)


def _cost_at_full_speed(client: Client) -> float:
    """Return microseconds of scheduler CPU for each of `_TASKS` tiny tasks."""
    _compute(client, _WARM_UP)
    before = client.run_on_scheduler(_process_s)
    for _ in range(3):
        _compute(client, _TASKS // 3)
    used_s: float = client.run_on_scheduler(_process_s) - before
    return used_s / _TASKS * 1e6


def _compute_steadily(client: Client) -> None:
    """Compute `_RATE` tiny tasks a second for `_ROUND_S`.

    Raises
    ------
    RuntimeError
        The machine could not compute that many, so the rounds would not be alike.
    """
    n_batches = _ROUND_S * _BATCHES_PER_S
    began = time.monotonic()
    for number in range(n_batches):
        time.sleep(max(0.0, began + number / _BATCHES_PER_S - time.monotonic()))
        _compute(client, _RATE // _BATCHES_PER_S)
    late_s = time.monotonic() - began - n_batches / _BATCHES_PER_S
    if late_s > 0.1 * _ROUND_S:
        msg = f"{_RATE} tasks a second are too many here: a round was {late_s:.1f} s late"
        raise RuntimeError(msg)


def _cost_at_a_steady_rate(client: Client) -> float:
    """Return microseconds of scheduler CPU for each of `_RATE` tasks a second, over `_ROUND_S`."""
    _compute(client, _RATE // _BATCHES_PER_S)
    before = client.run_on_scheduler(_process_s)
    _compute_steadily(client)
    used_s: float = client.run_on_scheduler(_process_s) - before
    return used_s / (_RATE * _ROUND_S) * 1e6


def _taken_at_a_steady_rate(client: Client) -> tuple[float, float]:
    """Return what the collector's answers and its hooks take, in percent of all else."""
    _compute(client, _RATE // _BATCHES_PER_S)
    client.run_on_scheduler(loop_time.begin)
    before = client.run_on_scheduler(loop_time.spent)
    _compute_steadily(client)
    after = client.run_on_scheduler(loop_time.spent)
    answers_s, hooks_s, process_s = (b - a for a, b in zip(before, after, strict=True))
    own_s = process_s - answers_s - hooks_s
    return 100 * answers_s / own_s, 100 * hooks_s / own_s


@contextmanager
def _viewers(cluster: RunningCluster, client: Client, case: Case) -> Iterator[None]:
    system, n_viewers = case
    with ExitStack() as stack:
        targets = stock_targets(cluster.dashboard)
        if system == "ours":
            targets = our_targets(stack.enter_context(attach(client)))
        if n_viewers:
            stack.enter_context(Viewers(targets * n_viewers))
        yield


@contextmanager
def _cluster(*, has_own_core: bool) -> Iterator[Callable[[Case, Measure[T]], T]]:
    """Run a cluster; what it gives measures a client's computation in one case."""
    with (
        separate_cluster(has_own_core=has_own_core) as cluster,
        Client(cluster.address) as client,
    ):
        client.wait_for_workers(1)
        _cost_at_full_speed(client)

        def measured(case: Case, of: Measure[T]) -> T:
            with _viewers(cluster, client, case):
                return of(client)

        yield measured


def _in_turns(cases: Sequence[Case], rounds: int, of: Measure[T]) -> dict[Case, list[T]]:
    """Measure the cases on one scheduler; backwards in each second round, against drift."""
    seen: dict[Case, list[T]] = {case: [] for case in cases}
    # On a core of their own, all others could not keep up with the rate.
    with _cluster(has_own_core=False) as measured:
        for case in cases:  # the first time, each has something to load
            measured(case, _compute_steadily)
        for number in range(rounds):
            for case in cases if number % 2 == 0 else cases[::-1]:
                seen[case].append(measured(case, of))
    return seen


def _apart(case: Case) -> float:
    """Measure on clusters of its own: stock keeps drawing for viewers that have left."""
    seen = []
    for _ in range(_CLUSTERS):
        with _cluster(has_own_core=True) as measured:
            seen += [measured(case, _cost_at_full_speed) for _ in range(2)]
    return statistics.median(seen)


def _more_percent(after: Sequence[float], before: Sequence[float]) -> tuple[float, str]:
    """Return the median of the rounds' differences in percent, and its 95 % interval in words.

    The interval is the bootstrap's (Efron 1979) with 2000 resamples of the rounds.
    """
    percent = [100 * (a / b - 1) for a, b in zip(after, before, strict=True)]
    chance = random.Random(0)
    medians = sorted(
        statistics.median(chance.choices(percent, k=len(percent))) for _ in range(2000)
    )
    low, high = medians[49], medians[1949]
    words = f"{len(percent)} rounds, 95 % interval {low:+.1f} to {high:+.1f}"
    return statistics.median(percent), words


def _taken() -> list[Figure]:
    """Return what the collector takes, by the clock of the scheduler's own loop."""
    turns = _in_turns([_ATTACHED, _WATCHED], _TIMED_ROUNDS, _taken_at_a_steady_rate)

    def median(case: Case, which: int) -> float:
        return statistics.median(taken[which] for taken in turns[case])

    return [
        Figure(
            "answers for 20 viewers, of all else", "%", median(_WATCHED, 0), None, _BUDGET_PERCENT
        ),
        Figure("answers while nobody looks, of all else", "%", median(_ATTACHED, 0)),
        Figure("taking down what happens, of all else", "%", median(_ATTACHED, 1)),
    ]


def _compared() -> list[Figure]:
    """Return by how much rounds with viewers differ from those without, for whatever reason."""
    cases = [_NONE, _ATTACHED, _WATCHED]
    turns = _in_turns(cases, _ROUNDS, _cost_at_a_steady_rate)

    def more(name: str, after: Case, before: Case) -> Figure:
        percent, words = _more_percent(turns[after], turns[before])
        return Figure(name, "%", percent, note=words)

    return [
        more("rounds with 20 viewers differ from those with none by", _WATCHED, _ATTACHED),
        more("rounds with the collector differ from those without by", _ATTACHED, _NONE),
    ]


def measure() -> list[Figure]:
    """Return µs per task at 0, 1, 5 and 20 viewers, and what 20 viewers and attaching add."""
    several = [(system, n) for system in ("stock", "ours") for n in (1, 5, 20)]
    cost = {case: _apart(case) for case in [_NONE, _ATTACHED, *several]}
    return [
        Figure("nothing attached", "µs", cost[_NONE]),
        Figure("attached, no viewer", "µs", cost[_ATTACHED], cost[_NONE]),
        *(Figure(f"{n} viewers", "µs", cost["ours", n], cost["stock", n]) for n in (1, 5, 20)),
        *_taken(),
        *_compared(),
    ]
