"""The answers to `schema.tables.QUERIES`, one function for each kind.

Each takes the cluster and the arguments of the query, and returns plain data; times are on the
scheduler's clock, and ``missing`` says which workers did not answer and why. Profiles are call
trees as `distributed.profile` makes them, of count, identifier, description and children: they are
added up here.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from math import isfinite
from operator import itemgetter
from typing import Any, Final

import dask.config
from dask.utils import parse_bytes, parse_timedelta

from dask_diag_lab.collector import TASK
from dask_diag_lab.collector.wire import key_text
from dask_diag_lab.schema.columns import WireError, wire_error
from dask_diag_lab.schema.tables import OTHER
from dask_diag_lab.transport import on_worker
from dask_diag_lab.transport.decode import member, members, numbers
from dask_diag_lab.transport.link import AnswerError, Arguments, Cluster, run_message

MAX_NODES: Final = 100_000
"""Of one profile; of workers beyond that nothing is added, and they are said to be missing."""

MAX_TEXT: Final = 300
"""Characters of a line of source."""

MAX_COUNT: Final = 10**12
"""Samples; counts of many workers still add up to what fits 64 bits."""

Tree = dict[str, Any]  # a node: values of several types


def empty_tree() -> Tree:
    """Return a root without samples."""
    return {
        "count": 0,
        "identifier": "root",
        "description": {"filename": "", "name": "", "line_number": 0, "line": ""},
        "children": {},
    }


def add_tree(total: Tree, tree: Any) -> int:  # what a worker sent
    """Add a tree's counts to ``total``, of which it keeps nothing; return how many nodes are new.

    `distributed`'s task profiler does not count the innermost frame of a sample
    (``Worker.trigger_profile`` hands `distributed.profile.process` a child that is not there), so
    a function that calls nothing has a count of 0 and its caller more than its children together.
    That is left as it is: which of several children it was is not known here either.

    Raises
    ------
    WireError
        It is no such tree; ``total`` is unchanged then.
    """
    _check(tree)
    stack, n_new = [(total, tree)], 0
    while stack:
        into, node = stack.pop()
        into["count"] += node["count"]
        children = into["children"]
        for name, child in node["children"].items():
            ours = children.get(name)
            if ours is None:
                n_new += 1
                described = {"identifier": name, "description": _description(child["description"])}
                ours = children[name] = empty_tree() | described
            stack.append((ours, child))
    return n_new


def _check(tree: Any) -> None:
    stack = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            raise wire_error("profile", "a tree", node)
        children = node.get("children")
        count = node.get("count")
        if type(count) is not int or not 0 <= count <= MAX_COUNT:
            raise wire_error("profile.count", "a count", count)
        if not isinstance(node.get("description"), dict):
            raise wire_error("profile.description", "a mapping", node.get("description"))
        if not isinstance(children, dict) or not all(type(name) is str for name in children):
            raise wire_error("profile.children", "trees by name", children)
        stack.extend(children.values())


def _description(given: Mapping[str, Any]) -> dict[str, str | int]:
    line_number = given.get("line_number")
    return {
        "filename": str(given.get("filename", ""))[:MAX_TEXT],
        "name": str(given.get("name", ""))[:MAX_TEXT],
        "line_number": line_number if isinstance(line_number, int) else 0,
        "line": str(given.get("line", ""))[:MAX_TEXT],
    }


MAX_TASKS: Final = 200
"""Of each state."""

MAX_TRANSFERS: Final = 1_000
"""Of each worker and direction."""

MAX_ALL_TRANSFERS: Final = 40_000
"""Of all workers together; with many workers each sends fewer."""

MAX_LINES: Final = 500
MAX_LINE: Final = 4_000
"""Characters; a traceback is one line here."""

MAX_FRAMES: Final = 250
MAX_FRAME: Final = 500
"""Characters; a frame is a file, a line number and a line of source."""

OURS: Final = "Run out-of-band function 'dask_diag_lab_"
"""What a worker logs when these queries are made."""

BENCHMARK_S: Final = 290.0
"""It waits for a free thread on every worker."""

NO_LOOP_PROFILE: Final = (
    "no samples of its event loop: none are taken on Python 3.11, nor where"
    " distributed.worker.profile.enabled is off, nor in a process that has just started"
)

RECENT_S: Final = 4.0
"""A worker asked for its event loop up to now mixes in the samples of its *tasks* of the last
cycle (`Worker.get_profile` adds ``profile_recent`` whatever it was asked for), a hundred times as
dense. Asked up to some cycles ago it does not."""

MAX_PREFIXES: Final = 100
"""Prefixes of `activity`; the others are added up as `OTHER`."""


async def profile(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``profile``: where time went, as a statistical profiler samples it.

    ``source`` is tasks, worker-loops or scheduler-loop; ``prefix`` and ``worker`` are '' for all,
    ``start`` and ``stop`` 0 for open. The answer has a ``tree`` of ``{count, identifier,
    description: {filename, name, line_number, line}, children: {identifier: tree}}``, and
    ``interval_s``: what one count stands for. Tasks are sampled every
    ``distributed.worker.profile.interval``, each running thread once. Event loops are sampled once
    every ``distributed.worker.profile.cycle``, in spite of that interval (distributed issue #6421),
    so there a count stands for a whole cycle. Both settings are those of this process: workers do
    not tell theirs.
    """
    source = str(arguments["source"])
    if source not in ("tasks", "worker-loops", "scheduler-loop"):
        raise AnswerError(f"There is no profile of {source!r:.80}.")
    start, stop = (float(arguments[name]) or None for name in ("start", "stop"))
    tree = empty_tree()
    missing: dict[str, str] = {}
    n_nodes = 0

    def take(place: str, answer: Any) -> None:  # what a peer sent
        nonlocal n_nodes
        if n_nodes > MAX_NODES:
            raise WireError(f"the profile has {MAX_NODES} frames without it")
        n_nodes += add_tree(tree, answer)
        if source != "tasks" and not answer["count"]:
            missing[place] = NO_LOOP_PROFILE

    if source == "scheduler-loop":
        given = await cluster.call("profile", scheduler=True, start=start, stop=stop)
        await asyncio.to_thread(take, "scheduler", given)
    else:
        message: dict[str, Any] = {"stop": stop, "key": str(arguments["prefix"]) or None}
        if source == "worker-loops":
            latest = time.time() - RECENT_S
            message = {"stop": min(stop or latest, latest), "server": True}
        workers = await cluster.workers(str(arguments["worker"]))
        missing |= await cluster.ask_workers(workers, take, op="profile", start=start, **message)
    return {
        "tree": tree,
        "interval_s": sampling_s("interval" if source == "tasks" else "cycle"),
        "missing": missing,
    }


async def activity(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``activity``: samples of ``source`` in buckets of one profiling cycle.

    The answer has ``times``, as many ``counts``, and as many of each of ``prefixes``.
    """
    prefixes: dict[str, Counter[float]] = defaultdict(Counter)
    counts: Counter[float] = Counter()
    if arguments["source"] != "tasks":  # sampled once a cycle: a flat line
        return {"times": [], "counts": [], "prefixes": {}, "missing": {}}
    width_s = sampling_s("cycle")

    def take(_: str, answer: Any) -> None:  # what a worker sent
        samples = [(_bucket(at, width_s), int(n)) for at, n in answer["counts"]]
        named = [
            (key_text(name), _bucket(at, width_s), int(n))
            for at, by_prefix in answer["keys"]
            for name, n in by_prefix.items()
        ]
        for bucket, n in samples:
            counts[bucket] += n
        for name, bucket, n in named:
            prefixes[name][bucket] += n

    workers = await cluster.workers(str(arguments["worker"]))
    missing = await cluster.ask_workers(workers, take, op="profile_metadata", start=0, stop=None)
    largest = sorted(prefixes, key=lambda name: -prefixes[name].total())[:MAX_PREFIXES]
    rows = {name: prefixes.pop(name) for name in largest}
    if prefixes:
        rows[OTHER] = sum(prefixes.values(), Counter())
    times = sorted({*counts, *(t for counter in rows.values() for t in counter)})
    return {
        "times": times,
        "counts": [counts[t] for t in times],
        "prefixes": {name: [counter[t] for t in times] for name, counter in rows.items()},
        "missing": missing,
    }


async def worker(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``worker``: what one worker holds and does.

    The answer has ``counts`` by state, ``tasks`` of ``{key, prefix, state, seconds, nbytes,
    priority}``, at most `MAX_TASKS` of each state of the worker's own (executing, long-running,
    ready, constrained, waiting, memory), where ``seconds`` is so far where it runs, else
    what it took, None unknown; and the number of ``connections``.
    """
    message = run_message(on_worker.dask_diag_lab_worker, limit=MAX_TASKS)
    return await cluster.ask_worker(str(arguments["worker"]), _worker, **message)


async def transfers(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``transfers``: both logs of one worker or, for '', of all.

    Workers correct ``start`` and ``stop`` of both logs by their ``scheduler_delay``. The answer
    has ``rows`` of ``{worker, peer, direction: in or out, start, stop, nbytes, compressed (None
    where not known), rate, keys: n, key: text of the largest}``, newest last, at most ``limit`` of
    a worker and direction, and the ``totals`` in and out that the workers keep.
    """
    workers = await cluster.workers(str(arguments["worker"]))
    limit = max(min(MAX_TRANSFERS, MAX_ALL_TRANSFERS // (2 * max(len(workers), 1))), 20)
    rows: list[Mapping[str, Any]] = []
    totals: Counter[str] = Counter({"in": 0, "out": 0})

    def take(place: str, answer: Any) -> None:  # what a worker sent
        new = [_transfer(row, place) for row in member(answer, "rows", list)]
        totals.update(members(member(answer, "totals", dict), **{"in": int, "out": int}))
        rows.extend(new)

    message = run_message(on_worker.dask_diag_lab_transfers, limit=limit)
    missing = await cluster.ask_workers(workers, take, **message)
    rows.sort(key=itemgetter("stop"))
    return {"rows": rows, "missing": missing, "limit": limit, "totals": dict(totals)}


async def logs(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``logs``: ``lines`` of a worker, or of the scheduler for '', and their ``times``.

    Newest first, as a log is opened for what happened last; lines that these queries made
    themselves are left out.
    """
    asked: dict[str, Any] = {"n": MAX_LINES, "timestamps": True}
    if address := str(arguments["worker"]):
        return await cluster.ask_worker(address, _lines, op="get_logs", **asked)
    return _lines(await cluster.call("get_logs", **asked))


async def task(cluster: Cluster, arguments: Arguments) -> Mapping[str, Any] | None:
    """Answer ``task``: what the collector tells of a key, see `collector.asking`; None: unknown."""
    answer = await cluster.call(TASK, key=str(arguments["key"]))
    if answer is None:
        raise AnswerError("This needs the collector, which is not on the scheduler.")
    answer = _mapping(answer, "task")
    if answer.get("error"):
        raise AnswerError(f"The scheduler could not tell of this task: {answer['error']!s:.300}")
    found = answer.get("task")
    return None if found is None else _mapping(found, "task")


async def call_stacks(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``call-stacks``: what runs now on a worker, or of one task on it; '' for all tasks.

    The answer has ``stacks`` of ``{key, frames: [text], outermost first}``.
    """
    wanted, worker = str(arguments["key"]), str(arguments["worker"])
    found = await cluster.ask_worker(worker, _stacks, op="call_stack", keys=None)
    stacks = [stack for stack in found if stack["key"] == wanted or not wanted]
    return {"stacks": sorted(stacks, key=itemgetter("key"))}


async def hardware(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Run ``benchmark_hardware``, which keeps every worker busy for some seconds.

    The answer has ``{size: bytes, rate: bytes a second}`` of memory, disk and network; sizes are
    ascending, rates means over the workers. Two workers are needed for the network.
    """
    del arguments
    answer = await cluster.call("benchmark_hardware", timeout_s=BENCHMARK_S)
    found = _mapping(answer, "benchmark_hardware")
    return {kind: _rates(found.get(kind, {}), kind) for kind in ("memory", "disk", "network")}


ANSWERS: Final[Mapping[str, Callable[[Cluster, Arguments], Awaitable[object]]]] = {
    "profile": profile,
    "activity": activity,
    "worker": worker,
    "transfers": transfers,
    "call-stacks": call_stacks,
    "logs": logs,
    "task": task,
    "hardware": hardware,
}
"""Who answers, by kind."""


TASK_OF_WORKER: Final[dict[str, Any]] = {
    **dict.fromkeys(("key", "prefix", "state", "priority"), str),
    "seconds": float | None,
    "nbytes": int | None,
}
TRANSFER: Final[dict[str, Any]] = {
    **dict.fromkeys(("peer", "direction", "key"), str),
    **dict.fromkeys(("start", "stop", "rate"), float),
    **dict.fromkeys(("nbytes", "keys"), int),
    "compressed": int | None,
}
"""Fields of a row by their types, as `on_worker` makes them."""


def _worker(answer: Any) -> dict[str, Any]:  # what a worker sent
    facts = members(answer, connections=int)
    tasks = [members(task, **TASK_OF_WORKER) for task in member(answer, "tasks", list)]
    return {**facts, "counts": numbers(answer, "counts"), "tasks": tasks}


def _transfer(row: Any, worker: str) -> dict[str, Any]:  # what a worker sent
    found = members(row, **TRANSFER)
    if not all(isfinite(found[name]) for name in ("start", "stop", "rate")):
        raise wire_error("transfers.rows", "times that are finite", row)
    return {**found, "worker": worker}


def _lines(answer: Any) -> dict[str, Any]:  # what a worker or the scheduler sent
    if not isinstance(answer, (list, tuple)):
        raise wire_error("logs", "a list", answer)
    lines = [(float(at), str(text)[:MAX_LINE]) for at, _, text in answer if OURS not in str(text)]
    return {"lines": [text for _, text in lines], "times": [at for at, _ in lines]}


def _stacks(answer: Any) -> list[dict[str, Any]]:  # what a worker sent
    return [
        {"key": key_text(name), "frames": [str(one)[:MAX_FRAME] for one in frames[-MAX_FRAMES:]]}
        for name, frames in _mapping(answer, "call_stack").items()
    ]


def _rates(value: Any, kind: str) -> list[dict[str, float]]:  # what the scheduler sent
    sizes = {parse_bytes(size): float(rate) for size, rate in _mapping(value, kind).items()}
    return [{"size": size, "rate": sizes[size]} for size in sorted(sizes)]


def _mapping(value: Any, field: str) -> Mapping[str, Any]:  # what a peer sent
    if not isinstance(value, Mapping):
        raise wire_error(field, "a mapping", value)
    return value


def _bucket(at: float, width_s: float) -> float:
    if not isfinite(at):
        raise ValueError("no time")
    return at // width_s * width_s


def sampling_s(setting: str) -> float:
    """Return the seconds of a setting of the profilers of workers."""
    value = dask.config.get(f"distributed.worker.profile.{setting}")
    return float(parse_timedelta(value, default="ms"))
