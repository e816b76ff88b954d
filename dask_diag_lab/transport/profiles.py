"""Answers from the statistical profilers: where the time went, and when samples were taken.

Trees are added up in this process, worker by worker: the scheduler only passes them on. A large
one takes longer than anything may on the loop, so this is done in another thread.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from math import isfinite
from typing import Any, Final

import dask.config
from dask.utils import parse_timedelta

from dask_diag_lab.collector.strings import key_text
from dask_diag_lab.schema import OTHER_PREFIXES
from dask_diag_lab.schema.columns import wire_error
from dask_diag_lab.transport.cluster import AnswerError, Arguments, Cluster
from dask_diag_lab.transport.trees import MAX_NODES, add_tree, count_nodes, empty_tree, prune_tree

NO_LOOP_PROFILE: Final = (
    "no samples of its event loop: none are taken on Python 3.11, nor where"
    " distributed.worker.profile.enabled is off, nor in a process that has just started"
)

LOOP_ACTIVITY: Final = (
    "event loops are sampled once a cycle, so their samples over time are a flat line"
)

RECENT_S: Final = 4.0
"""A worker asked for its event loop up to now mixes in the samples of its *tasks* of the last
cycle (`Worker.get_profile` adds ``profile_recent`` whatever it was asked for), a hundred times as
dense. Asked up to some cycles ago it does not."""

MAX_TREE_NODES: Final = 10 * MAX_NODES
"""Bound of a sum under way: trees of many workers with different code do not pile up."""

MAX_PREFIXES: Final = 100
"""Prefixes of `activity`; the others are added up as `OTHER_PREFIXES`."""


async def profile(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``profile``.

    The answer's ``interval_s`` is what one count stands for. Tasks are sampled every
    ``distributed.worker.profile.interval``, each running thread once. Event loops are sampled
    once every ``distributed.worker.profile.cycle``, in spite of that interval (distributed issue
    #6421), so there a count stands for a whole cycle. Both settings are those of this process:
    workers do not tell theirs.
    """
    source = str(arguments["source"])
    if source not in ("tasks", "worker-loops", "scheduler-loop"):
        raise AnswerError(f"There is no profile of {source!r:.80}.")
    start, stop = (float(arguments[name]) or None for name in ("start", "stop"))
    tree = empty_tree()
    if source == "scheduler-loop":
        given = await cluster.call("profile", scheduler=True, start=start, stop=stop)
        await asyncio.to_thread(add_tree, tree, given)
        missing = {} if tree["count"] else {"scheduler": NO_LOOP_PROFILE}
        pruned, n_workers = 0, 0
    else:
        workers = await cluster.workers(str(arguments["worker"]))
        total = _Total(tree, source)
        missing = await cluster.ask_workers(
            workers, total.take, **_message(source, arguments, start, stop)
        )
        missing |= total.silent
        pruned, n_workers = total.pruned, len(workers)
    pruned += await asyncio.to_thread(prune_tree, tree)
    return {
        "tree": tree,
        "interval_s": _seconds("interval" if source == "tasks" else "cycle"),
        "missing": missing,
        "pruned": pruned,
        "n_workers": n_workers,
    }


async def activity(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``activity``: samples of all workers in buckets of one profiling cycle."""
    empty: dict[str, Any] = {"times": [], "counts": [], "prefixes": {}}
    if arguments["source"] != "tasks":
        return {**empty, "missing": {str(arguments["source"]): LOOP_ACTIVITY}}
    workers = await cluster.workers(str(arguments["worker"]))
    buckets = _Buckets(_seconds("cycle"))
    missing = await cluster.ask_workers(
        workers, buckets.take, op="profile_metadata", start=0, stop=None
    )
    return {**buckets.columns(), "missing": missing}


class _Total:
    """A sum of trees, kept within bounds while it grows."""

    def __init__(self, tree: dict[str, Any], source: str) -> None:
        self.silent: dict[str, str] = {}
        self.pruned = 0
        self._tree = tree
        self._is_loops = source == "worker-loops"
        self._n_since = 0

    def take(self, worker: str, answer: Any) -> None:  # what a worker sent
        add_tree(self._tree, answer)
        if self._is_loops and not answer["count"]:
            self.silent[worker] = NO_LOOP_PROFILE
        self._n_since += 1
        if self._n_since >= 32:  # counting nodes takes about as long as adding a tree
            self._n_since = 0
            if count_nodes(self._tree) > MAX_TREE_NODES:
                self.pruned += prune_tree(self._tree)


def _message(
    source: str, arguments: Arguments, start: float | None, stop: float | None
) -> dict[str, Any]:
    message: dict[str, Any] = {"op": "profile", "start": start, "stop": stop}
    if source == "worker-loops":
        latest = time.time() - RECENT_S
        return {**message, "server": True, "stop": min(stop or latest, latest)}
    return {**message, "key": str(arguments["prefix"]) or None}


class _Buckets:
    """Samples by time and prefix, of several workers whose cycles are not in step."""

    def __init__(self, width_s: float) -> None:
        self._width_s = width_s
        self._counts: Counter[float] = Counter()
        self._prefixes: dict[str, Counter[float]] = defaultdict(Counter)

    def take(self, worker: str, answer: Any) -> None:  # what a worker sent
        del worker
        try:
            counts = [self._pair(at, n) for at, n in answer["counts"]]
            keys = [
                (name, self._pair(at, n))
                for at, by_prefix in answer["keys"]
                for name, n in by_prefix.items()
            ]
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise wire_error("profile_metadata", "counts and keys", answer) from error
        for time_s, n in counts:
            self._counts[time_s] += n
        for name, (time_s, n) in keys:
            if n:
                self._prefixes[key_text(name)][time_s] += n

    def columns(self) -> dict[str, Any]:
        times = sorted({*self._counts, *(t for c in self._prefixes.values() for t in c)})
        order = sorted(self._prefixes, key=lambda name: -self._prefixes[name].total())
        rows = {name: self._prefixes[name] for name in order[:MAX_PREFIXES]}
        rest: Counter[float] = sum((self._prefixes[n] for n in order[MAX_PREFIXES:]), Counter())
        if rest:
            rows[OTHER_PREFIXES] = rest
        return {
            "times": times,
            "counts": [self._counts[t] for t in times],
            "prefixes": {name: [counter[t] for t in times] for name, counter in rows.items()},
        }

    def _pair(self, at: float, n: int) -> tuple[float, int]:
        if not isfinite(at):
            raise ValueError("no time")
        return at // self._width_s * self._width_s, int(n)


def _seconds(setting: str) -> float:
    value = dask.config.get(f"distributed.worker.profile.{setting}")
    return float(parse_timedelta(value, default="ms"))
