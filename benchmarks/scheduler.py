"""Scheduler CPU per task with a growing number of viewers of the status plots.

A few percent are less than one scheduler process differs from the next, and less than what one
that shares its core pays for whatever else computes on it. So what the collector takes of the
scheduler is measured in the scheduler: in its hook, and in its answers to pulls.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from distributed import Client, Scheduler, SchedulerPlugin, wait

from benchmarks.clusters import RunningCluster, separate_cluster
from benchmarks.report import Figure
from benchmarks.viewers import our_targets, stock_targets, watching
from dask_diag_lab import attach
from dask_diag_lab.collector import NAME, PULL

_TASKS = 3_000
_WARM_UP = 500
_SETTLED_S = 3
"""So long after the last task its rows have been pulled."""
_CLUSTERS = 2
"""For each case that computes as fast as it can."""


def _increment(x: int) -> int:
    return x + 1


def _compute(client: Client, n_tasks: int) -> None:
    wait(client.map(_increment, range(n_tasks), pure=False))


def _cost_at_full_speed(client: Client) -> float:
    """Return microseconds of scheduler CPU for each of `_TASKS` tiny tasks."""
    _compute(client, _WARM_UP)
    before = client.run_on_scheduler(time.process_time)
    for _ in range(3):
        _compute(client, _TASKS // 3)
    used_s: float = client.run_on_scheduler(time.process_time) - before
    return used_s / _TASKS * 1e6


async def _collector_has_come(dask_scheduler: Scheduler) -> None:
    async with asyncio.timeout(10):
        while NAME not in dask_scheduler.plugins:
            await asyncio.sleep(0.05)


class _Hooks:
    """Times each call of plugins' hooks of transitions, and the collector's pulls."""

    def __init__(self) -> None:
        self._calls: dict[str, list[float]] = {}
        self._pulls_s = 0.0

    def begin(self, scheduler: Any) -> None:  # of `distributed`
        """Begin to time; a hook that does nothing tells what timing itself takes."""
        self._calls = {"none": [], "ours": [], "stealing": []}
        scheduler.add_plugin(SchedulerPlugin(), name="none")
        plugins = scheduler.plugins | {"stealing": scheduler.extensions["stealing"]}
        for name, plugin in zip(self._calls, ("none", NAME, "stealing"), strict=True):
            plugins[plugin].transition = self._timed(plugins[plugin].transition, name)
        pull = scheduler.handlers[PULL]

        def timed_pull(**arguments: Any) -> Any:  # of the collector
            begun = time.thread_time()
            answer = pull(**arguments)
            self._pulls_s += time.thread_time() - begun
            return answer

        scheduler.handlers[PULL] = timed_pull

    def _timed(self, hook: Any, name: str) -> Any:
        note, clock = self._calls[name].append, time.perf_counter

        def timed(key: object, start: str, finish: str, /, **named: Any) -> None:
            begun = clock()
            hook(key, start, finish, **named)
            note(clock() - begun)

        return timed

    def read(self) -> tuple[dict[str, float], float]:
        """Return seconds so far of each plugin's hook, and of the pulls.

        Other programs interrupt a call now and then: the longest ones count as the others do.
        """
        means = {
            name: statistics.mean(sorted(calls)[: int(0.99 * len(calls)) + 1])
            for name, calls in self._calls.items()
        }
        spent = {n: (means[n] - means["none"]) * len(c) for n, c in self._calls.items()}
        for calls in self._calls.values():
            calls.clear()
        pulls_s, self._pulls_s = self._pulls_s, 0.0
        return spent, pulls_s


_HOOKS: Final = _Hooks()


async def _time_hooks(dask_scheduler: Scheduler) -> None:
    await _collector_has_come(dask_scheduler)
    _HOOKS.begin(dask_scheduler)


def _spent_in_hooks() -> tuple[dict[str, float], float]:
    return _HOOKS.read()


def hook_cost() -> list[Figure]:
    """Return µs a task of the collector's hook beside that of work stealing, and of its pulls."""
    n_tasks, pulls, shares = 3 * _TASKS, [], []
    with _cluster() as (_, client), attach(client) as diagnostics:
        client.run_on_scheduler(_time_hooks)
        for n_viewers in (0, 20):
            with watching(our_targets(diagnostics) * n_viewers):
                _compute(client, _WARM_UP)
                client.run_on_scheduler(_spent_in_hooks)
                before = client.run_on_scheduler(time.process_time)
                for _ in range(3):
                    _compute(client, _TASKS)
                time.sleep(_SETTLED_S)
                spent, pulls_s = client.run_on_scheduler(_spent_in_hooks)
                used_s = client.run_on_scheduler(time.process_time) - before
            pulls.append(1e6 * pulls_s / n_tasks)
            shares.append(100 * pulls_s / used_s)
    hook, stealing = (1e6 * spent[name] / n_tasks for name in ("ours", "stealing"))
    what = "all transitions of a task, beside work stealing's hook"
    return [
        Figure(what, "µs", hook, stealing, 1.5 * stealing),
        Figure("pulls, no viewer", "µs", pulls[0], None, 4),
        Figure("pulls, 20 viewers", "µs", pulls[1]),
        Figure("the same, of all that the scheduler computes", "%", shares[1], None, 3),
    ]


@contextmanager
def _viewers(
    cluster: RunningCluster, client: Client, system: str, n_viewers: int
) -> Iterator[None]:
    """Have viewers of a system: none, ours or stock."""
    with ExitStack() as stack:
        targets = stock_targets(cluster.dashboard)
        if system == "ours":
            targets = our_targets(stack.enter_context(attach(client)))
        if n_viewers:
            stack.enter_context(watching(targets * n_viewers))
        yield


@contextmanager
def _cluster() -> Iterator[tuple[RunningCluster, Client]]:
    with separate_cluster() as cluster, Client(cluster.address) as client:
        client.wait_for_workers(1)
        _cost_at_full_speed(client)
        yield cluster, client


def _cost(system: str, n_viewers: int) -> float:
    """Return µs a task, on clusters of its own: stock keeps drawing for viewers that have left."""
    seen = []
    for _ in range(_CLUSTERS):
        with _cluster() as (cluster, client):
            for _ in range(2):
                with _viewers(cluster, client, system, n_viewers):
                    seen.append(_cost_at_full_speed(client))
    return statistics.median(seen)


def scheduler_cost() -> list[Figure]:
    """Return µs per task at 0, 1, 5 and 20 viewers, and what the collector takes."""
    none, attached = _cost("none", 0), _cost("ours", 0)
    viewers = [(n, _cost("ours", n), _cost("stock", n)) for n in (1, 5, 20)]
    return [
        Figure("nothing attached", "µs", none),
        Figure("attached, no viewer", "µs", attached, none),
        *(Figure(f"{n} viewers", "µs", ours, stock) for n, ours, stock in viewers),
    ]
