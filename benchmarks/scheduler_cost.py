"""Scheduler CPU per task with a growing number of viewers of the status plots.

A few percent are less than one scheduler process differs from the next, so what is to be within
them is compared in turns on one scheduler, round by round. They are also less than what a
scheduler's own clockwork (heartbeats, ticks) adds to each task when fewer tasks end in a second,
as they do where client, worker and viewers share a core. So those rounds offer the same number of
tasks in each second, fewer than the machine can compute with every viewer there.
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
_RATE = 250
"""Tasks a second in a round of a comparison within few percent."""
_BATCHES_PER_S = 10
_ROUND_S = 6
_CLUSTERS = 2
"""For each case that computes as fast as it can."""
_BUDGET_PERCENT = 3.0

Case = tuple[str, int]
"""``none``, ``ours`` or ``stock``, and how many viewers."""
Cost = Callable[[Client], float]
"""Computes, and returns microseconds of scheduler CPU for a task."""


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


def _cost_at_a_steady_rate(client: Client) -> float:
    """Return microseconds of scheduler CPU for each of `_RATE` tasks a second, over `_ROUND_S`.

    Raises
    ------
    RuntimeError
        The machine could not compute that many, so the rounds would not be alike.
    """
    n_batches = _ROUND_S * _BATCHES_PER_S
    _compute(client, _RATE // _BATCHES_PER_S)
    before = client.run_on_scheduler(_process_s)
    began = time.monotonic()
    for number in range(n_batches):
        time.sleep(max(0.0, began + number / _BATCHES_PER_S - time.monotonic()))
        _compute(client, _RATE // _BATCHES_PER_S)
    used_s: float = client.run_on_scheduler(_process_s) - before
    late_s = time.monotonic() - began - n_batches / _BATCHES_PER_S
    if late_s > 0.1 * _ROUND_S:
        msg = f"{_RATE} tasks a second are too many here: a round was {late_s:.1f} s late"
        raise RuntimeError(msg)
    return used_s / (_RATE * _ROUND_S) * 1e6


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
def _cluster(*, has_own_core: bool) -> Iterator[Callable[[Case, Cost], float]]:
    """Run a cluster; what it gives returns the cost of a task in one case."""
    with (
        separate_cluster(has_own_core=has_own_core) as cluster,
        Client(cluster.address) as client,
    ):
        client.wait_for_workers(1)
        _cost_at_full_speed(client)

        def cost(case: Case, of: Cost) -> float:
            with _watched(cluster, client, case):
                return of(client)

        yield cost


def _in_turns(cases: Sequence[Case], rounds: int) -> dict[Case, list[float]]:
    """Measure the cases on one scheduler; backwards in each second round, against drift."""
    seen: dict[Case, list[float]] = {case: [] for case in cases}
    # On a core of their own, all others could not keep up with the rate.
    with _cluster(has_own_core=False) as cost:
        for number in range(rounds):
            for case in cases if number % 2 == 0 else cases[::-1]:
                seen[case].append(cost(case, _cost_at_a_steady_rate))
    return seen


def _apart(case: Case) -> float:
    """Measure on clusters of its own: stock keeps drawing for viewers that have left."""
    seen = []
    for _ in range(_CLUSTERS):
        with _cluster(has_own_core=True) as cost:
            seen += [cost(case, _cost_at_full_speed) for _ in range(2)]
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


def measure() -> list[Figure]:
    """Return µs per task at 0, 1, 5 and 20 viewers, and what 20 viewers and attaching add."""
    none, attached, watched = ("none", 0), ("ours", 0), ("ours", 20)
    turns = _in_turns([none, attached, watched], _ROUNDS)
    of_viewers, words_of_viewers = _more_percent(turns[watched], turns[attached])
    of_attaching, words_of_attaching = _more_percent(turns[attached], turns[none])
    several = [(system, n) for system in ("stock", "ours") for n in (1, 5, 20)]
    cost = {case: _apart(case) for case in [none, attached, *several]}
    return [
        Figure("nothing attached", "µs", cost[none]),
        Figure("attached, no viewer", "µs", cost[attached], cost[none]),
        *(Figure(f"{n} viewers", "µs", cost["ours", n], cost["stock", n]) for n in (1, 5, 20)),
        Figure("20 viewers add to none", "%", of_viewers, None, _BUDGET_PERCENT, words_of_viewers),
        Figure("attaching adds", "%", of_attaching, None, None, words_of_attaching),
    ]
