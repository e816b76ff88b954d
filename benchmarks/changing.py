"""A cluster in the middle of a run, in which every table changes with every step."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from benchmarks.simulator import BEGIN, PREFIXES, Simulation
from dask_diag_lab.schema import STATES, Batch, Change
from dask_diag_lab.schema.columns import arrays, columns_of
from dask_diag_lab.schema.tables import EVENTS, EXTRAS, GROUPS, WORKERS, Field
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.queries import Query

NODES: Final = 20_000
"""Frames of a profile."""
DEPTH: Final = 60
"""Of its deepest stack."""
_FUNCTIONS: Final = 4000
_LIBRARY: Final = "/opt/venv/lib/python3.12/site-packages"
_ROWS: Final = {"bandwidth-workers": 10_000, "system": 1200, "stealing": 1000, "shuffles": 1000}
"""Of extra tables; `_OTHER_ROWS` of those that are not here."""
_OTHER_ROWS: Final = 200

Tree = dict[str, Any]  # a node of a profile: values of several types


class ChangingCluster:
    """A simulated cluster near its end: the last batches bring changes of everything.

    Parameters
    ----------
    n_workers, n_tasks : int
        All but the tasks of the last steps are there at once.
    n_steps : int
        Calls of `step` that still bring tasks; more of them bring everything else.
    n_threads : int
        Of each worker.

    Attributes
    ----------
    live : LiveSession
        Its queries for profiles are answered at once, and anew with each step.
    """

    def __init__(self, n_workers: int, n_tasks: int, n_steps: int, n_threads: int = 4) -> None:
        self._simulation = simulation = Simulation(n_workers, n_threads, n_tasks)
        # The simulated clock moves with the batches alone.
        self.live = LiveSession(clock=lambda: 0.0)
        self.live.queries.on_ask = self._answer
        self._asked: dict[int, Query] = {}
        self._profiles = [profile_tree(seed) for seed in range(3)]
        self._rows = len(simulation.actions["start"])
        self._step_rows = min(n_workers * 8, 5000, self._rows // (4 * n_steps))
        self._at = self._rows - (n_steps + 1) * self._step_rows
        for begin in range(0, self._at, 5000):
            self.live.apply(simulation.batch(begin, min(begin + 5000, self._at)))
        self.live.set_feed_state("live", "", time.time())
        self._number = 0
        self.step()

    def step(self) -> None:
        """Bring the next batch, in which every table has changed."""
        begin, end = self._at, min(self._at + self._step_rows, self._rows)
        self.live.apply(self._with_the_rest(self._simulation.batch(begin, end)))
        self._at, self._number = end, self._number + 1
        for query in self._asked.values():
            self._answer(query)

    def _answer(self, query: Query) -> None:
        if query.kind == "profile":
            tree = self._profiles[self._number % len(self._profiles)]
            answer: Any = {"tree": tree, "interval_s": 0.01, "missing": {}}
        elif query.kind == "activity":
            n = 1000
            rows = [40 + (np.arange(n) + self._number) % (7 + i) for i in range(len(PREFIXES))]
            prefixes = {p[0]: row.tolist() for p, row in zip(PREFIXES, rows, strict=True)}
            times, counts = (BEGIN + np.arange(n)).tolist(), np.sum(rows, axis=0).tolist()
            answer = {"times": times, "counts": counts, "prefixes": prefixes, "missing": {}}
        else:
            return
        self._asked[id(query)] = query
        self.live.answer(query, answer)

    def _with_the_rest(self, batch: Batch) -> Batch:
        number = self._number
        n_groups = min(max(self._simulation.n_tasks // 1000, 10), 1000)
        columns = dict(batch.tables["workers"].columns)
        for name in ("cpu", "occupancy", "processing"):
            columns[name] = columns[name] + number
        for name in ("memory", "unmanaged_recent"):
            columns[name] = columns[name] + number * 10**6
        columns["incoming_bytes"] = columns["incoming_bytes"] + number * 1000
        columns["metrics"] = [_metrics(i, number) for i in range(len(columns["cpu"]))]
        addresses = [self._simulation.address(i) for i in range(self._simulation.n_workers)]
        event = (batch.time, "worker-paused", {"worker": addresses[0]})
        tables = {
            **batch.tables,
            "workers": Change(arrays(WORKERS, columns)),
            "groups": Change(columns_of(GROUPS, _groups(n_groups, number))),
            "events": Change(columns_of(EVENTS, [event])),
            **_extras(addresses, number),
        }
        return replace(batch, tables=tables)


def _metrics(worker: int, step: int) -> dict[str, float]:
    names = [f"host_{what}_io.{way}_bps" for what in ("net", "disk") for way in ("read", "write")]
    rates = dict.fromkeys(names, 1e6 * (1 + (worker + step) % 17))
    return rates | {"event_loop_interval": 0.02, "num_fds": 30.0 + step, "custom": float(step)}


def group_row(i: int, dependencies: Iterable[int], step: int) -> Mapping[str, Any]:
    """Return a row of `GROUPS`; the dependencies are numbers of others."""
    names = [f"{PREFIXES[j % 8][0]}-{j:032x}" for j in (i, *dependencies)]
    states = dict.fromkeys(STATES, 0) | {"memory": 50 + step, "processing": 10, "waiting": 40}
    return {
        "name": names[0],
        "prefix": PREFIXES[i % 8][0],
        "states": list(states.values()),
        "nbytes": 10**8,
        "duration": 1.0 + step,
        "start": BEGIN,
        "stop": BEGIN + step,
        "dependencies": names[1:],
        "is_ended": False,
    }


def _groups(n: int, step: int) -> list[Mapping[str, Any]]:
    """Return groups in layers of ten, of which some depend on the layer before."""
    layers = {i: range(i // 10 * 10 - 10, i // 10 * 10) for i in range(10, n) if i % 10 < 3}
    return [group_row(i, layers.get(i, ()), step) for i in range(n)]


def _extras(addresses: list[str], step: int) -> dict[str, Change]:
    """Return rows of every extra table; another ``step`` gives other values.

    No combination of texts is there twice, as in the tables that have keys.
    """
    chance = np.random.default_rng(step)
    changes = {}
    for extra in EXTRAS:
        texts = [_texts(column, addresses) for column in extra.columns]
        n = min(_ROWS.get(extra.name, _OTHER_ROWS), math.prod(len(text) or 1 for text in texts))
        if extra.sent == "log":
            n = _ROWS.get(extra.name, _OTHER_ROWS) if not step else 20
        columns: dict[str, list[Any]] = {}  # columns differ in type
        stride = 1
        for column, values in zip(extra.columns, texts, strict=True):
            if values:
                columns[column.name] = [values[i // stride % len(values)] for i in range(n)]
                stride *= len(values)
            elif column.name in {"time", "start", "stop", "kind_first"}:
                columns[column.name] = [BEGIN + 1000 * step + i * 0.5 for i in range(n)]
            else:
                columns[column.name] = chance.integers(0, 10**6 * (1 + step), n).tolist()
        changes[extra.name] = Change(columns)
    return changes


def _texts(column: Field, addresses: list[str]) -> list[Any]:
    """Return the values of a column that are no numbers; [] for numbers."""
    if column.is_number and column.size == 1:
        return []
    prefixes = [name for name, _, _ in PREFIXES]
    known: dict[str, list[Any]] = {
        **dict.fromkeys(("worker", "source", "destination", "victim", "thief"), addresses),
        **dict.fromkeys(("prefix", "label"), prefixes),
        "action": ["compute", "transfer", "disk-read"],
        "context": ["execute", "gather-dep", "get-data"],
        "activity": ["thread-cpu", "thread-noncpu", "deserialize", "network"],
        "unit": ["seconds", "bytes"],
        "event": ["confirmed"],
        "workers": [(address,) for address in addresses],
        "states": [(100,) * len(STATES)],
        "groups": [()],
        "parent": [""],
    }
    return known.get(column.name, [f"a {i}" for i in range(1000)])


def profile_tree(seed: int) -> Tree:
    """Return a profile of a large program as a worker counts it: a sample at the callers."""
    chance = random.Random(seed)
    root = _node("root", "", 0)
    made = 1
    while made < NODES:
        stack = [root]
        weight = int(min(chance.paretovariate(0.8), 5000))
        for depth in range(chance.randint(DEPTH // 3, DEPTH)):
            callee, is_new = _callee(stack[-1], depth, chance)
            made += is_new
            stack.append(callee)
        for node in stack[:-1]:
            node["count"] += weight
    return root


def _callee(node: Tree, depth: int, chance: random.Random) -> tuple[Tree, bool]:
    """Return what a function calls this time, mostly what it called before, and whether not."""
    known = list(node["children"].values())
    is_usual = chance.random() < (0.93 if depth < 25 or len(known) > 2 else 0.55)
    if known and is_usual:
        return known[min(int(chance.expovariate(1.2)), len(known) - 1)], False
    number = chance.randrange(_FUNCTIONS)
    is_own = number % 5 == 0
    file = f"/home/me/m{number % 17}.py" if is_own else f"{_LIBRARY}/l{number % 30}/m{number}.py"
    made = _node(f"function_{number}", file, number)
    return node["children"].setdefault(made["identifier"], made), True


def _node(name: str, filename: str, line_number: int) -> Tree:
    place = {"filename": filename, "name": name, "line_number": line_number}
    return {
        "count": 0,
        "identifier": f"{name};{filename};{line_number}",
        "description": {**place, "line": f"result = {name}(argument, other=1)"},
        "children": {},
    }
