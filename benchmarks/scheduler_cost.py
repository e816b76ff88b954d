"""Scheduler CPU per task with a growing number of viewers of the status plots.

A few percent are less than one scheduler process differs from the next, so what is to be within
them is compared in turns on one scheduler, round by round.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from distributed import Client, wait

from benchmarks.clusters import RunningCluster, separate_cluster
from benchmarks.report import Figure
from benchmarks.targets import our_targets, stock_targets
from benchmarks.viewers import Viewers
from dask_diag_lab import attach

TITLE = "Scheduler CPU per task"
_TASKS = 3_000
_WARM_UP = 500
_ROUNDS = 12
_FEW_ROUNDS = 2
"""Of the cases that are only compared with stock, each round on a cluster of its own."""
_BUDGET_PERCENT = 3.0

Case = tuple[str, int]
"""``none``, ``ours`` or ``stock``, and how many viewers."""


def _increment(x: int) -> int:
    return x + 1


def _process_s() -> float:
    """Return the CPU seconds of the process that calls it, as finely as its system counts them."""
    return time.process_time()


def _compute(client: Client, n_tasks: int) -> None:
    futures = client.map(_increment, range(n_tasks), pure=False)
    wait(futures)


def _cpu_per_task(client: Client) -> float:
    """Return microseconds of scheduler CPU for each of `_TASKS` tiny tasks."""
    _compute(client, _WARM_UP)
    before = client.run_on_scheduler(_process_s)
    for _ in range(3):
        _compute(client, _TASKS // 3)
    used_s: float = client.run_on_scheduler(_process_s) - before
    return used_s / _TASKS * 1e6


@contextmanager
def _watched(cluster: RunningCluster, client: Client, case: Case) -> Iterator[None]:
    system, n_viewers = case
    with ExitStack() as stack:
        targets = stock_targets(cluster.dashboard)
        if system == "ours":
            targets = our_targets(stack.enter_context(attach(client)))
        if n_viewers:
            stack.enter_context(Viewers(targets * n_viewers))
        yield


@contextmanager
def _cluster() -> Iterator[Callable[[Case], float]]:
    """Run a cluster; what it gives returns the cost of a task in one case."""
    with separate_cluster() as cluster, Client(cluster.address) as client:
        client.wait_for_workers(1)
        _cpu_per_task(client)

        def cost(case: Case) -> float:
            with _watched(cluster, client, case):
                return _cpu_per_task(client)

        yield cost


def _in_turns(cases: Sequence[Case], rounds: int) -> dict[Case, list[float]]:
    """Measure the cases on one scheduler; backwards in each second round, against drift."""
    seen: dict[Case, list[float]] = {case: [] for case in cases}
    with _cluster() as cost:
        for number in range(rounds):
            for case in cases if number % 2 == 0 else cases[::-1]:
                seen[case].append(cost(case))
    return seen


def _apart(case: Case) -> float:
    """Measure on a cluster of its own: stock keeps drawing for viewers that have left."""
    with _cluster() as cost:
        return statistics.median(cost(case) for _ in range(2))


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


def measure() -> list[Figure]:
    """Return µs per task at 0, 1, 5 and 20 viewers, and what 20 viewers and attaching add."""
    none, attached, watched = ("none", 0), ("ours", 0), ("ours", 20)
    turns = _in_turns([none, attached, watched], _ROUNDS)
    of_viewers, words_of_viewers = _more_percent(turns[watched], turns[attached])
    of_attaching, words_of_attaching = _more_percent(turns[attached], turns[none])
    median = {case: statistics.median(values) for case, values in turns.items()}
    for case in [(system, n) for system in ("stock", "ours") for n in (1, 5, 20)]:
        if case not in median:
            median[case] = statistics.median(_apart(case) for _ in range(_FEW_ROUNDS))
    return [
        Figure("nothing attached", "µs", median[none]),
        Figure("attached, no viewer", "µs", median[attached], median[none]),
        *(Figure(f"{n} viewers", "µs", median["ours", n], median["stock", n]) for n in (1, 5, 20)),
        Figure("20 viewers add to none", "%", of_viewers, None, _BUDGET_PERCENT, words_of_viewers),
        Figure("attaching adds", "%", of_attaching, None, None, words_of_attaching),
    ]
