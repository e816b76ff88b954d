"""What runs inside a worker for a moment, to answer a query: sent by value, never imported there.

Standard library and what is on every worker only, as msgpack is. Must not change anything there,
and must stay bounded: it runs on the worker's event loop.
"""

# Any: the worker and its tasks are `distributed`'s, of whatever version it has.
from __future__ import annotations

import heapq
import time
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgpack

from dask_diag_lab.collector.wire import key_text

MAX_LOOKED_AT = 20_000
"""Tasks of one state that are compared to find the largest: about 10 ms of the worker's loop."""

COUNTED = {
    "executing": "executing",
    "long-running": "long_running",
    "ready": "ready",
    "constrained": "constrained",
    "waiting": "waiting",
    "memory": "data",
}
"""Collections of a worker's state, which are counted without a walk over all tasks."""


def _packed(**answer: Any) -> bytes:
    """Return an answer as nobody has to unpickle it.

    Compressed here, so that `distributed`, which would by a setting, finds nothing to compress.
    """
    return zlib.compress(msgpack.packb(answer), 1)


def dask_diag_lab_worker(dask_worker: Any, limit: int) -> bytes:
    """Return what a worker holds and does: the answer to the query ``worker``."""
    state = dask_worker.state
    now = time.time()
    counts = {name: len(getattr(state, attribute)) for name, attribute in COUNTED.items()}
    tasks: list[dict[str, Any]] = []
    for name, found in _states(dask_worker, limit):
        tasks += [_task(ts, name, now) for ts in islice(found, limit)]
    return _packed(counts=counts, tasks=tasks, connections=len(dask_worker._comms))


def dask_diag_lab_transfers(dask_worker: Any, limit: int) -> bytes:
    """Return the newest entries of both transfer logs: the answer to ``transfers``."""
    logs = {"in": dask_worker.transfer_incoming_log, "out": dask_worker.transfer_outgoing_log}
    rows = [
        _transfer(direction, entry)
        for direction, log in logs.items()
        for entry in islice(log, max(len(log) - limit, 0), None)
    ]
    return _packed(rows=rows, totals={direction: len(log) for direction, log in logs.items()})


def _transfer(direction: str, entry: dict[str, Any]) -> dict[str, Any]:
    keys = entry.get("keys") or {}
    largest = max(keys, key=lambda key: keys[key] or 0, default="")
    # ``start`` and ``stop`` are on the scheduler's clock in both logs; ``middle`` of the outgoing
    # one is not, so it is not used.
    return {
        "peer": str(entry.get("who") or ""),
        "direction": direction,
        "start": float(entry["start"]),
        "stop": float(entry["stop"]),
        "nbytes": int(entry.get("total") or 0),
        "compressed": entry.get("compressed"),
        "rate": float(entry.get("bandwidth") or 0.0),
        "keys": len(keys),
        "key": key_text(largest),
    }


def _states(worker: Any, limit: int) -> Iterator[tuple[str, Iterable[Any]]]:
    """Yield names of states and some tasks in them, without a walk over all tasks."""
    state = worker.state
    for name in ("executing", "long_running", "ready", "constrained"):
        found = islice(getattr(state, name), MAX_LOOKED_AT)
        yield name.replace("_", "-"), heapq.nsmallest(limit, found, key=_order)
    yield "waiting", state.waiting
    known = state.tasks
    held = (known[key] for key in islice(worker.data, MAX_LOOKED_AT) if key in known)
    yield "memory", heapq.nlargest(limit, held, key=lambda ts: ts.nbytes or 0)


def _order(ts: Any) -> tuple[float, tuple[int, ...]]:
    """Sort what runs by its start, and what is to run by its priority."""
    return ts.start_time or 0.0, ts.priority or ()


def _task(ts: Any, name: str, now: float) -> dict[str, Any]:
    seconds = None
    if name in ("executing", "long-running"):
        seconds = max(now - ts.start_time, 0.0) if ts.start_time else None
    elif actions := [a for a in ts.startstops if a["action"] == "compute"]:
        seconds = sum(action["stop"] - action["start"] for action in actions)
    return {
        "key": key_text(ts.key),
        "prefix": key_text(ts.prefix),
        "state": name if ts.state in ("cancelled", "resumed") else ts.state,
        "seconds": seconds,
        "nbytes": ts.nbytes,
        "priority": str(ts.priority or ""),
    }
