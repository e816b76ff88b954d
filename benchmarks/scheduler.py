"""Scheduler CPU per task with a growing number of viewers of the status plots.

A few percent are less than one scheduler process differs from the next, and less than what one
that shares its core pays for whatever else computes on it. So what is to be within them is taken
from the clock of the scheduler's own event loop: it does all its work in turns of one loop, and
each turn knows whose it is. Those of the collector are added up, and compared with all that the
process computes. What is missed is that others find the caches cold after such a turn.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from asyncio.events import Handle
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import numpy as np
from distributed import Client, Scheduler, SchedulerPlugin, wait

from benchmarks.clusters import RunningCluster, separate_cluster
from benchmarks.report import Figure
from benchmarks.viewers import our_targets, stock_targets, watching
from dask_diag_lab import attach
from dask_diag_lab.collector import NAME, PULL

_TASKS = 3_000
_WARM_UP = 500
_TIMED_ROUNDS = 4
_RATE = 250
"""Tasks a second in a timed round: fewer than the machine can compute with every viewer there."""
_BATCHES_PER_S = 10
_ROUND_S = 6
_SETTLED_S = 3
"""So long after the last task its rows have been pulled."""
_CLUSTERS = 2
"""For each case that computes as fast as it can."""
_OURS: Final = "dask_diag_lab"
"""How the collector's operations and modules begin."""


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


class _Meter:
    """Adds up, in the scheduler's process, the CPU time of the collector's turns."""

    def __init__(self) -> None:
        self.answers_s = 0.0
        self._sockets: set[int] = set()
        self._run: Any = Handle._run  # takes a handle; of asyncio's inside, as are its fields

    def begin(self) -> None:
        """Have each turn of the loop timed from now on; harmless twice."""
        run, clock = self._run, time.thread_time

        def timed_turn(handle: Any) -> None:  # asyncio's
            callback, arguments = handle._callback, handle._args
            begun = clock()
            run(handle)
            spent_s = clock() - begun
            if self._is_ours(callback, arguments):
                self.answers_s += spent_s

        Handle._run = timed_turn  # type: ignore[assignment,method-assign]  # the one way in

    def _is_ours(self, callback: Any, arguments: Any) -> bool:  # what asyncio was given
        """Tell a turn of the collector: its task, its timer, or bytes for one of its sockets."""
        owner = getattr(callback, "__self__", None)
        if isinstance(owner, asyncio.Task):
            return self._is_answer(owner.get_coro())
        if type(owner).__module__.startswith(_OURS):
            return True
        socket = arguments[0] if arguments else None
        return isinstance(socket, int) and socket in self._sockets

    def _is_answer(self, coroutine: Any) -> bool:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is None or frame.f_code.co_name != "_handle_comm":
            return False
        names = frame.f_locals
        if not str(names.get("op")).startswith(_OURS):
            return False
        self._sockets.add(names["comm"].stream.fileno().fileno())
        return True


_METER: Final = _Meter()


async def _collector_has_come(dask_scheduler: Scheduler) -> None:
    async with asyncio.timeout(10):
        while NAME not in dask_scheduler.plugins:
            await asyncio.sleep(0.05)


async def _spent(dask_scheduler: Scheduler) -> tuple[float, float]:
    """Return CPU seconds so far: of the collector's answers, and of the process.

    Runs on the scheduler, and begins the measuring there.
    """
    await _collector_has_come(dask_scheduler)
    _METER.begin()
    return _METER.answers_s, time.process_time()


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
    with _cluster() as (_, client), attach(client):
        client.run_on_scheduler(_time_hooks)
        _compute(client, _WARM_UP)
        client.run_on_scheduler(_spent_in_hooks)
        for _ in range(3):
            _compute(client, _TASKS)
        time.sleep(_SETTLED_S)
        spent, pulls_s = client.run_on_scheduler(_spent_in_hooks)
    hook, stealing, pulls = (
        1e6 * seconds / (3 * _TASKS) for seconds in (spent["ours"], spent["stealing"], pulls_s)
    )
    what = "all transitions of a task, beside work stealing's hook"
    return [
        Figure(what, "µs", hook, stealing, 1.5 * stealing),
        Figure("pulls", "µs", pulls, None, 4),
    ]


def _taken_percent(client: Client) -> float:
    """Return what the collector's answers take, in percent of all else."""
    _compute(client, _RATE // _BATCHES_PER_S)
    before = client.run_on_scheduler(_spent)
    _compute_steadily(client)
    answers_s, process_s = np.subtract(client.run_on_scheduler(_spent), before)
    return float(100 * answers_s / (process_s - answers_s))


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


def _taken() -> tuple[float, float]:
    """Return the medians of `_taken_percent` without a viewer, and with 20."""
    seen: dict[int, list[float]] = {0: [], 20: []}
    with _cluster() as (cluster, client):
        for n_round in range(_TIMED_ROUNDS + 1):
            # Backwards in each second round, against drift.
            for n_viewers in sorted(seen, reverse=n_round % 2 == 1):
                with _viewers(cluster, client, "ours", n_viewers):
                    taken = _taken_percent(client)
                if n_round:  # the first time, each has something to load
                    seen[n_viewers].append(taken)
    return statistics.median(seen[0]), statistics.median(seen[20])


def scheduler_cost() -> list[Figure]:
    """Return µs per task at 0, 1, 5 and 20 viewers, and what the collector takes."""
    none, attached = _cost("none", 0), _cost("ours", 0)
    viewers = [(n, _cost("ours", n), _cost("stock", n)) for n in (1, 5, 20)]
    unseen, seen = _taken()
    return [
        Figure("nothing attached", "µs", none),
        Figure("attached, no viewer", "µs", attached, none),
        *(Figure(f"{n} viewers", "µs", ours, stock) for n, ours, stock in viewers),
        Figure("answers for 20 viewers, of all else", "%", seen, None, 3.0),
        Figure("answers while nobody looks, of all else", "%", unseen),
    ]
