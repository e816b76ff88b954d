"""What the simulated cluster answers to the questions of a view: large, as a long run would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from benchmarks.simulator import BEGIN, PREFIXES
from dask_diag_lab.store import Store
from dask_diag_lab.store.inquiries import Inquiry

_DEPTH: Final = 24
_FANOUT: Final = 3
_NODES: Final = 20_000


def _tree() -> dict[str, Any]:
    """Return a profile of about 20 000 frames, wide at first and then deep."""
    made = 0

    def node(level: int, count: int, number: int) -> dict[str, Any]:
        nonlocal made
        made += 1
        file = f"/lib/module{number % 40}.py"
        name = f"function_{level}_{number}"
        children: dict[str, Any] = {}
        if level < _DEPTH and count > 1:
            for part in range(_FANOUT if level < 9 else 1):
                if made >= _NODES:
                    break
                share = (0.6, 0.3, 0.1)[part] if level < 9 else 0.95
                child = node(level + 1, max(int(count * share), 1), number * _FANOUT + part)
                children[child["identifier"]] = child
        description = {"filename": file, "name": name, "line_number": level, "line": "x = f(x)"}
        identifier = f"{name};{file};{level}"
        return {
            "count": count,
            "identifier": identifier,
            "description": description,
            "children": children,
        }

    return node(0, 1_000_000, 0)


def _profile() -> dict[str, Any]:
    return {"tree": _tree(), "interval_s": 0.01, "missing": {}, "pruned": 0}


def _activity() -> dict[str, Any]:
    n = 1000
    counts = np.full(n, 400)
    return {
        "times": (BEGIN + np.arange(n)).tolist(),
        "counts": counts.tolist(),
        "prefixes": {name: (counts // len(PREFIXES)).tolist() for name, _, _ in PREFIXES},
        "missing": {},
    }


def _worker() -> dict[str, Any]:
    states = ("executing", "ready", "waiting", "memory")
    rows = [
        {"key": f"mul-{i}", "prefix": "mul", "seconds": 0.1, "nbytes": 10**6, "priority": "(0,)"}
        | {"state": state}
        for state in states
        for i in range(200)
    ]
    counts = dict.fromkeys(states, 5000)
    return {"counts": counts, "tasks": rows, "connections": 12, "versions": "simulated"}


def _transfers() -> dict[str, Any]:
    rows: list[dict[str, Any]] = [
        {"worker": "tcp://10.0.0.1:40000", "peer": f"tcp://10.0.0.{2 + i % 30}:40001"}
        | {"direction": ("in", "out")[i % 2], "start": BEGIN + i, "stop": BEGIN + i + 0.3}
        | {"nbytes": 10**7, "compressed": None, "rate": 3e7, "keys": 3, "key": f"mul-{i}"}
        for i in range(1000)
    ]
    return {"rows": rows, "missing": {}}


_ANSWERS: Final[Mapping[str, Callable[[], Any]]] = {
    "profile": _profile,
    "activity": _activity,
    "worker": _worker,
    "transfers": _transfers,
    "call-stacks": lambda: {"stacks": [], "missing": {}},
    "logs": lambda: {"lines": [{"level": "INFO", "message": "simulated"}] * 1000},
    "task": lambda: None,
    "hardware": lambda: {"memory": [], "disk": [], "network": []},
}


def answer_questions(store: Store) -> None:
    """Have every question that a view of this store asks answered at once."""

    def on_ask(inquiry: Inquiry) -> None:
        store.answer(inquiry, _ANSWERS[inquiry.kind]())

    store.inquiries.on_ask = on_ask
