"""Scheduler CPU per task with a growing number of viewers of the status plots."""

from __future__ import annotations

import statistics
from contextlib import ExitStack

from distributed import Client, wait

from benchmarks.clusters import RunningCluster, separate_cluster
from benchmarks.report import Figure
from benchmarks.targets import Target, our_targets, stock_targets
from benchmarks.viewers import Viewers
from dask_diag_lab import attach

TITLE = "Scheduler CPU per task"
_TASKS = 4_500
_REPEATS = 4
"""Of what is compared within 3 %; the other cases are run `_FEW` times."""
_FEW = 2


def _increment(x: int) -> int:
    return x + 1


def _cpu_per_task(cluster: RunningCluster, client: Client) -> float:
    """Return microseconds of scheduler CPU for each of `_TASKS` tiny tasks."""
    before = cluster.cpu_s()
    for _ in range(3):
        futures = client.map(_increment, range(_TASKS // 3), pure=False)
        wait(futures)
        del futures
    return (cluster.cpu_s() - before) / _TASKS * 1e6


def _run(n_viewers: int, system: str) -> float:
    """Measure once on a fresh cluster; ``system`` is ``none``, ``stock`` or ``ours``."""
    with ExitStack() as stack:
        cluster = stack.enter_context(separate_cluster())
        client = stack.enter_context(Client(cluster.address))
        client.wait_for_workers(1)
        _cpu_per_task(cluster, client)
        targets: list[Target] = []
        if system == "stock":
            targets = stock_targets(cluster.dashboard)
        elif system == "ours":
            diagnostics = attach(client)
            stack.callback(diagnostics.close)
            targets = our_targets(diagnostics)
        if n_viewers:
            stack.enter_context(Viewers(targets * n_viewers))
        return _cpu_per_task(cluster, client)


def measure() -> list[Figure]:
    """Return µs per task at 0, 1, 5 and 20 viewers, medians of interleaved runs."""
    close = [(0, "none"), (0, "ours"), (20, "ours")]
    other = [(20, "stock"), (1, "stock"), (1, "ours"), (5, "stock"), (5, "ours")]
    seen: dict[tuple[int, str], list[float]] = {case: [] for case in close + other}
    for repeat in range(_REPEATS):
        for case in close + (other if repeat < _FEW else []):
            seen[case].append(_run(*case))
    median = {case: statistics.median(values) for case, values in seen.items()}
    base = median[0, "none"]
    spread = (max(seen[0, "none"]) - min(seen[0, "none"])) / base
    note = f"{base:.0f} with nothing attached, its own spread {spread:.0%}"
    figures = [Figure("no viewer, attached", "µs", median[0, "ours"], base, base * 1.03, note)]
    figures += [
        Figure(f"{n} viewers", "µs", median[n, "ours"], median[n, "stock"], base * 1.03)
        for n in (1, 5, 20)
    ]
    return figures
