"""The answers to `schema.QUERIES`, one function for each kind.

Each takes the cluster and the arguments of the query, and returns plain data.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from dask.utils import parse_bytes

from dask_diag_lab.collector import TASK
from dask_diag_lab.collector.strings import key_text
from dask_diag_lab.schema.columns import wire_error
from dask_diag_lab.transport import on_worker
from dask_diag_lab.transport.cluster import AnswerError, Arguments, Cluster
from dask_diag_lab.transport.profiles import activity, profile

MAX_TASKS: Final = 200
"""Of each state."""

MAX_TRANSFERS: Final = 1_000
"""Of each worker and direction."""

MAX_ALL_TRANSFERS: Final = 40_000
"""Of all workers together; with many workers each sends fewer."""

MAX_LINES: Final = 1_000
MAX_LINE: Final = 4_000
"""Characters; a traceback is one line here."""

MAX_FRAMES: Final = 250
MAX_FRAME: Final = 500
"""Characters; a frame is a file, a line number and a line of source."""

OURS: Final = "Run out-of-band function 'dask_diag_lab_"
"""What a worker logs when these queries are made."""

BENCHMARK_S: Final = 290.0
"""It waits for a free thread on every worker."""


async def worker(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``worker``."""
    (address,) = await cluster.workers(_one(arguments))
    message = cluster.run_message(on_worker.dask_diag_lab_worker, limit=MAX_TASKS)
    found = await cluster.ask_worker(address, **message)
    return {**_mapping(found, "worker"), "missing": ""}


async def transfers(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``transfers``: both logs of each worker, oldest first.

    Times are on the scheduler's clock: workers correct ``start`` and ``stop`` of both logs by
    their ``scheduler_delay``.
    """
    workers = await cluster.workers(str(arguments["worker"]))
    limit = max(min(MAX_TRANSFERS, MAX_ALL_TRANSFERS // (2 * max(len(workers), 1))), 20)
    rows: list[Mapping[str, Any]] = []
    totals = {"in": 0, "out": 0}

    def take(_: str, answer: Any) -> None:  # what a worker sent
        found = _mapping(answer, "transfers")
        rows.extend(found["rows"])
        for direction in totals:
            totals[direction] += found["totals"].get(direction, 0)

    message = cluster.run_message(on_worker.dask_diag_lab_transfers, limit=limit)
    missing = await cluster.ask_workers(workers, take, **message)
    rows.sort(key=lambda row: float(row["stop"]))
    return {"rows": rows, "missing": missing, "limit": limit, "totals": totals}


async def logs(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``logs``; lines that these queries made themselves are left out."""
    if arguments["worker"]:
        (address,) = await cluster.workers(_one(arguments))
        answer = await cluster.ask_worker(address, op="get_logs", n=MAX_LINES)
    else:
        answer = await cluster.call("get_logs", n=MAX_LINES)
    if not isinstance(answer, (list, tuple)):
        raise wire_error("logs", "a list", answer)
    return {
        "lines": [
            {"level": str(level), "message": str(message)[:MAX_LINE]}
            for level, message in reversed(answer)
            if OURS not in str(message)
        ]
    }


async def task(cluster: Cluster, arguments: Arguments) -> Mapping[str, Any] | None:
    """Answer ``task``, from the collector."""
    answer = await cluster.call(TASK, key=str(arguments["key"]))
    if answer is None:
        raise AnswerError("This needs the collector, which is not on the scheduler.")
    answer = _mapping(answer, "task")
    if answer.get("error"):
        raise AnswerError(f"The scheduler could not tell of this task: {answer['error']!s:.300}")
    found = answer.get("task")
    return None if found is None else _mapping(found, "task")


async def call_stacks(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``call-stacks``: what runs now, of one task, one worker or all."""
    key, address = str(arguments["key"]), str(arguments["worker"])
    if key and not address:
        known = await task(cluster, {"key": key})
        if known is None:
            raise AnswerError("The scheduler does not know this task.")
        if known["state"] != "processing":
            raise AnswerError(f"This task does not run now; it is in the state {known['state']}.")
        address = str(known["worker"])
    workers = await cluster.workers(address)
    stacks: list[dict[str, Any]] = []

    def take(worker: str, answer: Any) -> None:  # what a worker sent
        for name, frames in _mapping(answer, "call_stack").items():
            text = key_text(name)
            if not key or text == key:
                lines = [str(frame)[:MAX_FRAME] for frame in frames[-MAX_FRAMES:]]
                stacks.append({"worker": worker, "key": text, "frames": lines})

    missing = await cluster.ask_workers(workers, take, op="call_stack", keys=None)
    if address and missing:
        raise AnswerError(f"Worker {address} did not answer: {missing[address]}.")
    stacks.sort(key=lambda stack: (stack["worker"], stack["key"]))
    return {"stacks": stacks, "missing": missing}


async def hardware(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Run ``benchmark_hardware``, which keeps every worker busy for some seconds.

    Sizes are in bytes and ascending, rates means over the workers. Two workers are needed for the
    network.
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


def _rates(value: Any, kind: str) -> list[dict[str, float]]:  # what the scheduler sent
    sizes = {parse_bytes(size): float(rate) for size, rate in _mapping(value, kind).items()}
    return [{"size": size, "rate": sizes[size]} for size in sorted(sizes)]


def _mapping(value: Any, field: str) -> Mapping[str, Any]:  # what a peer sent
    if not isinstance(value, Mapping):
        raise wire_error(field, "a mapping", value)
    return value


def _one(arguments: Arguments) -> str:
    address = str(arguments["worker"])
    if not address:
        raise AnswerError("No worker was chosen.")
    return address
