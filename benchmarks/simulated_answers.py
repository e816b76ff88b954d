"""What the simulated cluster answers to the questions of a view: large, as a long run would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from benchmarks.simulated_profiles import profile_tree
from benchmarks.simulator import BEGIN, PREFIXES
from dask_diag_lab.store import Store
from dask_diag_lab.store.inquiries import Inquiry

_SEEDS: Final = 3
"""Different profiles; an answer is never the one before."""


@cache
def _tree(seed: int) -> dict[str, Any]:
    return profile_tree(seed)


def _profile(number: int) -> dict[str, Any]:
    return {"tree": _tree(number % _SEEDS), "interval_s": 0.01, "missing": {}, "pruned": 0}


def _activity(number: int) -> dict[str, Any]:
    n = 1000
    rows = {name: 40 + (np.arange(n) + number) % (7 + i) for i, (name, _, _) in enumerate(PREFIXES)}
    return {
        "times": (BEGIN + np.arange(n)).tolist(),
        "counts": np.sum(list(rows.values()), axis=0).tolist(),
        "prefixes": {name: row.tolist() for name, row in rows.items()},
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


_RENEWED: Final[Mapping[str, Callable[[int], Any]]] = {"profile": _profile, "activity": _activity}
_ANSWERS: Final[Mapping[str, Callable[[], Any]]] = {
    "worker": _worker,
    "transfers": _transfers,
    "call-stacks": lambda: {"stacks": [], "missing": {}},
    "logs": lambda: {"lines": [{"level": "INFO", "message": "simulated"}] * 1000},
    "task": lambda: None,
    "hardware": lambda: {"memory": [], "disk": [], "network": []},
}


class Answers:
    """Answers every question that a view asks at once.

    Parameters
    ----------
    store : Store
        Whose questions.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._number = 0
        self._asked: dict[int, Inquiry] = {}
        store.inquiries.on_ask = self._answer

    def renew(self) -> None:
        """Give another answer to all questions about profiles, as after some seconds of work."""
        self._number += 1
        for inquiry in self._asked.values():
            if inquiry.kind in _RENEWED:
                self._answer(inquiry)

    def _answer(self, inquiry: Inquiry) -> None:
        self._asked[id(inquiry)] = inquiry
        renewed = _RENEWED.get(inquiry.kind)
        known = _ANSWERS[inquiry.kind]() if renewed is None else renewed(self._number)
        self._store.answer(inquiry, known)
