"""Scheduler CPU per task with a growing number of viewers of the status plots.

A few percent are less than one scheduler process differs from the next, so what is to be within
them is compared in turns on one scheduler, round by round. They are also less than what a
scheduler's own clockwork (heartbeats, ticks) adds to each task when fewer tasks end in a second,
as they do where client, worker and viewers share a core. So those rounds offer the same number of
tasks in each second, fewer than the machine can compute with every viewer there.

Even then a scheduler that shares its core pays for whatever else computes on it. So a fourth kind
of round has as much computed as the viewers' rounds had, by somebody who asks it nothing: see
`busy`.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

from distributed import Client, wait

from benchmarks.busy import busy
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
"""``none``, ``ours``, ``stock`` or ``busy``, and how many viewers it has, or is like."""
_NONE: Case = ("none", 0)
_ATTACHED: Case = ("ours", 0)
_WATCHED: Case = ("ours", 20)
_BUSY: Case = ("busy", 20)
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


@dataclass
class _Beside:
    """Shares of a core that were computed beside the scheduler in the last round of a kind."""

    attached: float = 0.0
    watched: float = 0.0
    viewers: float = 0.0

    def note(self, case: Case, here: float, viewers: float) -> None:
        """Take in what this process and that of the viewers computed in a round."""
        if case == _ATTACHED:
            self.attached = here
        elif case == _WATCHED:
            self.watched, self.viewers = here, viewers

    def again(self) -> AbstractContextManager[None]:
        """Compute as much as viewers had computed beyond what is computed without them."""
        return busy(max(0.0, self.watched - self.attached), self.viewers)


@contextmanager
def _viewers(cluster: RunningCluster, client: Client, case: Case) -> Iterator[Viewers | None]:
    system, n_viewers = case
    with ExitStack() as stack:
        targets = stock_targets(cluster.dashboard)
        if system in {"ours", "busy"}:
            targets = our_targets(stack.enter_context(attach(client)))
        is_watched = n_viewers and system != "busy"
        yield stack.enter_context(Viewers(targets * n_viewers)) if is_watched else None


@contextmanager
def _cluster(*, has_own_core: bool) -> Iterator[Callable[[Case, Cost], float]]:
    """Run a cluster; what it gives returns the cost of a task in one case."""
    beside = _Beside()
    with (
        separate_cluster(has_own_core=has_own_core) as cluster,
        Client(cluster.address) as client,
    ):
        client.wait_for_workers(1)
        _cost_at_full_speed(client)

        def cost(case: Case, of: Cost) -> float:
            with (
                _viewers(cluster, client, case) as viewers,
                beside.again() if case == _BUSY else nullcontext(),
            ):
                begun, here = time.monotonic(), time.process_time()
                theirs = viewers.cpu_s() if viewers else 0.0
                spent = of(client)
                took_s = time.monotonic() - begun
                theirs = (viewers.cpu_s() if viewers else 0.0) - theirs
                beside.note(case, (time.process_time() - here) / took_s, theirs / took_s)
                return spent

        yield cost


def _in_turns(cases: Sequence[Case], rounds: int) -> dict[Case, list[float]]:
    """Measure the cases on one scheduler; backwards in each second round, against drift."""
    seen: dict[Case, list[float]] = {case: [] for case in cases}
    # On a core of their own, all others could not keep up with the rate.
    with _cluster(has_own_core=False) as cost:
        for case in cases:  # the first time, each has something to load
            cost(case, _cost_at_a_steady_rate)
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
    turns = _in_turns([_NONE, _ATTACHED, _WATCHED, _BUSY], _ROUNDS)
    several = [(system, n) for system in ("stock", "ours") for n in (1, 5, 20)]
    cost = {case: _apart(case) for case in [_NONE, _ATTACHED, *several]}

    def more(name: str, after: Case, before: Case, budget: float | None = None) -> Figure:
        percent, words = _more_percent(turns[after], turns[before])
        return Figure(name, "%", percent, None, budget, words)

    return [
        Figure("nothing attached", "µs", cost[_NONE]),
        Figure("attached, no viewer", "µs", cost[_ATTACHED], cost[_NONE]),
        *(Figure(f"{n} viewers", "µs", cost["ours", n], cost["stock", n]) for n in (1, 5, 20)),
        more("20 viewers add to none, the scheduler's core being shared", _WATCHED, _ATTACHED),
        more("as much work beside it that asks nothing adds", _BUSY, _ATTACHED),
        more("20 viewers add to as much work beside it", _WATCHED, _BUSY, _BUDGET_PERCENT),
        more("attaching adds", _ATTACHED, _NONE),
    ]
