"""What the page of a worker says in words; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.detail_page import Facts

MAX_LINES: Final = 500
"""Log lines shown: some 60 kB, sent again with each new line."""


def worker_facts(row: Mapping[str, Any], beside: int = 0) -> Facts:
    """Return what the last heartbeat told: ``row`` is one of `records.WORKERS`.

    ``beside`` is the number of other workers in its process.
    """
    address, name = str(row["address"]), str(row["name"])
    return [
        ("Status", str(row["status"])),
        ("Threads", fmt.count(row["nthreads"])),
        ("CPU", f"{fmt.percent(row['cpu'] / 100)} of one core"),
        ("Process memory", _memory(row)),
        ("Spilled", fmt.binary(row["spilled"]) if row["spilled"] else ""),
        ("Assigned", fmt.plural(row["processing"], "task")),
        ("Expected work", fmt.duration(row["occupancy"])),
        ("Last seen", fmt.clock(row["last_seen"]) if row["last_seen"] else ""),
        ("Name", name if name != address else ""),
        ("Address", address),
        ("Host", str(row["host"])),
        ("Process", _beside(beside)),
    ]


def answer_facts(answer: Mapping[str, Any]) -> Facts:
    """Return what the worker told itself: the answer to the question ``worker``."""
    counts = answer.get("counts", {})
    states = [f"{fmt.count(n)} {state}" for state, n in counts.items() if n and state != "tasks"]
    uptime_s, executed = answer.get("uptime_s"), answer.get("executed", -1)
    return [
        ("Tasks", ", ".join(states) or ("none" if counts else "")),
        ("Run so far", fmt.plural(executed, "task") if executed >= 0 else ""),
        ("Up for", fmt.duration(uptime_s) if uptime_s else ""),
        ("Connections", fmt.count(answer["connections"]) if answer.get("connections") else ""),
        ("Versions", str(answer.get("versions", ""))),
    ]


def stack_text(stacks: Sequence[Mapping[str, Any]]) -> str:
    """Return call stacks as text, one after the other, outermost frame first."""
    return "\n\n".join(
        f"{stack['key']}\n" + "".join(line.rstrip() + "\n" for line in stack["frames"])
        for stack in stacks
    )


def log_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return log lines, newest first: a log is opened for what happened last."""
    shown = lines[: -MAX_LINES - 1 : -1]
    texts = [
        message if level in message else f"{level}: {message}"
        for level, message in ((str(line["level"]), str(line["message"])) for line in shown)
    ]
    if len(lines) > len(shown):
        texts.append(f"… {fmt.count(len(lines) - len(shown))} older lines")
    return "\n".join(texts)


def _beside(number: int) -> str:
    if not number:
        return ""
    return f"shared with {fmt.plural(number, 'other worker')}: CPU and memory are those of all"


def _memory(row: Mapping[str, Any]) -> str:
    limit = row["memory_limit"]
    used = fmt.binary(row["memory"])
    share = f" of {fmt.binary(limit)} ({fmt.percent(row['memory'] / limit)})" if limit else ""
    kinds = (("managed", "managed"), ("unmanaged_old", "other"), ("unmanaged_recent", "recent"))
    parts = [f"{fmt.binary(row[name])} {words}" for name, words in kinds if row[name]]
    return f"{used}{share}" + (f": {', '.join(parts)}" if parts else "")
