"""Answers of workers about themselves: what they hold, sent and logged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dask.utils import key_split

from dask_diag_lab.collector.strings import key_text
from dask_diag_lab.transport import wire
from dask_diag_lab.transport.cluster import AnswerError, Cluster, ForbiddenError

Arguments = Mapping[str, str | float]

MAX_TASKS: Final = 200
"""Of each state."""

MAX_TRANSFERS: Final = 1_000
"""Of each worker and direction."""

MAX_ALL_TRANSFERS: Final = 40_000
"""Of all workers together; with many workers each sends fewer."""

MAX_LINES: Final = 1_000
MAX_LINE: Final = 4_000
"""Characters; a traceback is one line here."""

OURS: Final = "Run out-of-band function 'dask_diag_lab_"
"""What a worker logs when these questions are asked."""

UNKNOWN: Final = "what it holds in memory, waits for and runs since when"


async def worker(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``worker``; from the scheduler alone where the worker runs no code of others."""
    (address,) = await cluster.workers(_one(arguments))
    message = cluster.run_message("dask_diag_lab_worker", limit=MAX_TASKS)
    try:
        answer = await cluster.ask_worker(address, **message)
    except ForbiddenError as error:
        return await _from_scheduler(cluster, address, str(error))
    except AnswerError as error:
        raise AnswerError(f"Worker {address} did not answer: {error}.") from error
    found = wire.mapping(cluster.result(answer), "worker")
    for name, check in (("counts", wire.mapping), ("tasks", wire.items)):
        check(wire.member(found, name), name)
    return {**found, "missing": ""}


async def _from_scheduler(cluster: Cluster, address: str, why: str) -> dict[str, Any]:
    told = wire.mapping(await cluster.call("processing", workers=[address]), "processing")
    keys = wire.items(told.get(address, ()), "processing")
    nothing = {"seconds": None, "nbytes": None, "priority": "", "state": "processing"}
    return {
        "counts": {"processing": len(keys)},
        "tasks": [
            {"key": key_text(key), "prefix": key_text(key_split(key)), **nothing}
            for key in keys[:MAX_TASKS]
        ],
        "connections": 0,
        "versions": "",
        "missing": f"Only what the scheduler knows: {why}. Missing: {UNKNOWN}.",
    }


async def transfers(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``transfers``: both logs of each worker, oldest first.

    Times are on the scheduler's clock: workers correct ``start`` and ``stop`` of both logs by
    their ``scheduler_delay``. They do not correct ``middle`` of the outgoing log, which is left
    alone here.
    """
    workers = await cluster.workers(str(arguments["worker"]))
    limit = max(min(MAX_TRANSFERS, MAX_ALL_TRANSFERS // (2 * max(len(workers), 1))), 20)
    rows: list[Mapping[str, Any]] = []
    totals = {"in": 0, "out": 0}

    def take(_: str, answer: Any) -> None:  # what a worker sent
        found = wire.mapping(cluster.result(answer), "transfers")
        given = wire.items(wire.member(found, "rows"), "rows")
        rows.extend(wire.mapping(row, "rows") for row in given)
        for direction, n in wire.mapping(wire.member(found, "totals"), "totals").items():
            totals[direction] = totals.get(direction, 0) + wire.whole(n, "totals")

    message = cluster.run_message("dask_diag_lab_transfers", limit=limit)
    missing = await cluster.ask_workers(workers, take, **message)
    rows.sort(key=lambda row: wire.number(wire.member(row, "stop"), "rows.stop"))
    return {"rows": rows, "missing": missing, "limit": limit, "totals": totals}


async def logs(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``logs``; lines that these questions made themselves are left out."""
    if arguments["worker"]:
        (address,) = await cluster.workers(_one(arguments))
        try:
            answer = await cluster.ask_worker(address, op="get_logs", n=MAX_LINES)
        except AnswerError as error:
            raise AnswerError(f"Worker {address} did not answer: {error}.") from error
    else:
        answer = await cluster.call("get_logs", n=MAX_LINES)
    lines = []
    for pair in reversed(wire.items(answer, "logs")):
        level, message = (wire.text(part, "logs") for part in wire.items(pair, "logs", 2))
        if OURS not in message:
            lines.append({"level": level, "message": message[:MAX_LINE]})
    return {"lines": lines}


def _one(arguments: Arguments) -> str:
    address = str(arguments["worker"])
    if not address:
        raise AnswerError("No worker was chosen.")
    return address
