"""What runs inside a worker for a moment, to answer a query: sent by value, never imported there.

Standard library and what is on every worker only. Must not change anything there, and must stay
bounded: it runs on the worker's event loop.
"""

# Any: the worker and its tasks are `distributed`'s, of whatever version it has.
from __future__ import annotations

import heapq
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

MAX_TEXT = 500
MAX_LOOKED_AT = 20_000
"""Tasks of one state that are compared to find the largest: about 10 ms of the worker's loop."""


def dask_diag_lab_worker(dask_worker: Any, limit: int) -> dict[str, Any]:
    """Return what a worker holds and does: the answer to the query ``worker``."""
    state = dask_worker.state
    now = time.time()
    tasks: list[dict[str, Any]] = []
    for name, found in _states(dask_worker, limit):
        tasks += [_task(ts, name, now) for ts in islice(found, limit)]
    return {
        "counts": _counts(state),
        "tasks": tasks,
        "connections": len(getattr(dask_worker, "_comms", ())),
        "versions": _versions(),
        "uptime_s": _uptime_s(now),
        "executed": getattr(state, "executed_count", -1),
    }


def dask_diag_lab_transfers(dask_worker: Any, limit: int) -> dict[str, Any]:
    """Return the newest entries of both transfer logs: the answer to ``transfers``."""
    rows: list[dict[str, Any]] = []
    totals: dict[str, int] = {}
    logs = {"in": "transfer_incoming_log", "out": "transfer_outgoing_log"}
    for direction, name in logs.items():
        log = getattr(dask_worker, name, ())
        totals[direction] = len(log)
        newest = islice(log, max(len(log) - limit, 0), None)
        rows += [_transfer(dask_worker.address, direction, entry) for entry in newest]
    rows.sort(key=lambda row: row["stop"])
    return {"rows": rows, "totals": totals}


def _transfer(address: str, direction: str, entry: dict[str, Any]) -> dict[str, Any]:
    keys = entry.get("keys") or {}
    largest = max(keys, key=lambda key: keys[key] or 0, default="")
    # ``start`` and ``stop`` are on the scheduler's clock in both logs; ``middle`` of the outgoing
    # one is not, so it is not used.
    return {
        "worker": address,
        "peer": str(entry.get("who") or ""),
        "direction": direction,
        "start": float(entry["start"]),
        "stop": float(entry["stop"]),
        "nbytes": int(entry.get("total") or 0),
        "compressed": entry.get("compressed"),
        "rate": float(entry.get("bandwidth") or 0.0),
        "keys": len(keys),
        "key": _text(largest),
    }


def _states(worker: Any, limit: int) -> Iterator[tuple[str, Iterable[Any]]]:
    """Yield names of states and some tasks in them, without a walk over all tasks."""
    state = worker.state
    for name in ("executing", "long_running"):
        yield name.replace("_", "-"), sorted(getattr(state, name, ()), key=_started)
    for name in ("ready", "constrained"):
        found = getattr(state, name, ())
        yield name, heapq.nsmallest(limit, islice(found, MAX_LOOKED_AT), key=_priority)
    yield "waiting", getattr(state, "waiting", ())
    yield "flight", getattr(state, "in_flight_tasks", ())
    yield "fetch", _unique(state, limit)
    yield "missing", getattr(state, "missing_dep_flight", ())
    known = state.tasks
    held = (known[key] for key in islice(worker.data, MAX_LOOKED_AT) if key in known)
    yield "memory", heapq.nlargest(limit, held, key=lambda ts: ts.nbytes or 0)


def _unique(state: Any, limit: int) -> Iterable[Any]:
    found: dict[Any, Any] = {}
    for heap in getattr(state, "data_needed", {}).values():
        for ts in islice(heap, limit):
            found[ts.key] = ts
        if len(found) >= limit:
            break
    return found.values()


def _started(ts: Any) -> float:
    return getattr(ts, "start_time", None) or 0.0


def _priority(ts: Any) -> Any:
    return ts.priority or ()


def _task(ts: Any, name: str, now: float) -> dict[str, Any]:
    seconds = None
    if name in ("executing", "long-running"):
        seconds = max(now - start, 0.0) if (start := _started(ts)) else None
    else:
        actions = [a for a in getattr(ts, "startstops", ()) if a.get("action") == "compute"]
        if actions:
            seconds = sum(action["stop"] - action["start"] for action in actions)
    return {
        "key": _text(ts.key),
        "prefix": _text(ts.prefix),
        "state": name if ts.state in ("cancelled", "resumed") else ts.state,
        "seconds": seconds,
        "nbytes": ts.nbytes,
        "priority": str(ts.priority or ""),
    }


def _counts(state: Any) -> dict[str, int]:
    """Return tasks by state; the worker counts them itself, so this is no walk."""
    counts = {
        "executing": len(getattr(state, "executing", ())),
        "long-running": len(getattr(state, "long_running", ())),
        "ready": len(getattr(state, "ready", ())),
        "constrained": len(getattr(state, "constrained", ())),
        "waiting": len(getattr(state, "waiting", ())),
        "flight": len(getattr(state, "in_flight_tasks", ())),
        "fetch": int(getattr(state, "fetch_count", 0)),
        "missing": len(getattr(state, "missing_dep_flight", ())),
        "memory": len(state.data),
    }
    counts["tasks"] = len(state.tasks)
    return counts


def _versions() -> str:
    found = ["Python " + ".".join(map(str, sys.version_info[:3]))]
    for name in ("dask", "distributed", "msgpack", "cloudpickle", "tornado", "numpy", "pandas"):
        version = getattr(sys.modules.get(name), "__version__", None)
        version = version or getattr(sys.modules.get(name), "version", None)
        if isinstance(version, str):
            found.append(f"{name} {version}")
    return ", ".join(found)


def _uptime_s(now: float) -> float | None:
    try:
        import psutil

        return max(now - float(psutil.Process().create_time()), 0.0)
    except (ImportError, OSError):
        return None


def _text(key: object) -> str:
    """Return a key as the collector writes it, so that both name the same task alike."""
    text = key if type(key) is str else str(key)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}… ({len(text)} characters)"
