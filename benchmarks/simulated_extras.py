"""What the simulated cluster sends only to those who look: the tables of `records.EXTRAS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from benchmarks.simulator import BEGIN, PREFIXES, Simulation
from dask_diag_lab.records import EXTRAS, STATES, ExtraChange

Columns = Mapping[str, Sequence[Any]]  # columns differ in type

_ACTIVITIES: Final = (
    *(("execute", "thread-cpu"), ("execute", "thread-noncpu"), ("execute", "executor")),
    *(("execute", "deserialize"), ("gather-dep", "network"), ("gather-dep", "deserialize")),
    *(("get-data", "serialize"), ("memory-monitor", "disk-write"), ("execute", "disk-read")),
)


def _columns(name: str, rows: Sequence[Sequence[Any]]) -> Columns:
    names = [column.name for extra in EXTRAS if extra.name == name for column in extra.columns]
    return {column: [row[i] for row in rows] for i, column in enumerate(names)}


def _durations(_simulation: Simulation, _random: np.random.Generator, scale: float) -> Columns:
    rows = [
        (name, action, scale * seconds * share)
        for name, seconds, _ in PREFIXES
        for action, share in (("compute", 1.0), ("transfer", 0.2), ("disk-read", 0.02))
    ]
    return _columns("durations", rows)


def _bandwidth_types(_simulation: Simulation, random: np.random.Generator, _s: float) -> Columns:
    names = ("numpy.ndarray", "pandas.DataFrame", "list", "dict", "str", "pyarrow.lib.Table")
    return _columns("bandwidth-types", [(name, random.uniform(1e6, 2e9)) for name in names])


def _bandwidth_workers(simulation: Simulation, random: np.random.Generator, _s: float) -> Columns:
    n = simulation.n_workers
    pairs = random.integers(0, n, (min(n * n, 10_000), 2)).tolist()
    known = {(a, b) for a, b in pairs if a != b}
    rows = [
        (simulation.address(a), simulation.address(b), random.uniform(1e6, 2e9)) for a, b in known
    ]
    return _columns("bandwidth-workers", rows)


def _system(_simulation: Simulation, random: np.random.Generator, scale: float) -> Columns:
    n = 1200 if scale == 1.0 else 4
    time = BEGIN + 600 * (scale > 1.0) + 2 * scale + np.arange(n) * 0.5
    noise = random.uniform(0, 1, (9, n))
    factors = (100, 1e9, 1e8, 1e8, 1e7, 1e7, 300, 0.3, 0.02)
    rows = [time, *(noise[i] * factor for i, factor in enumerate(factors))]
    return _columns("system", list(zip(*(row.tolist() for row in rows), strict=True)))


def _errors(simulation: Simulation, _random: np.random.Generator, scale: float) -> Columns:
    rest = "ValueError('x')", "…", 100, "ValueError('x')", 100, BEGIN + scale
    rows = [
        (f"mul-{i}", "mul", BEGIN + scale + i, (simulation.address(i % 3),), *rest)
        for i in range(100)
    ]
    return _columns("errors", rows)


def _stealing(simulation: Simulation, random: np.random.Generator, scale: float) -> Columns:
    n = simulation.n_workers
    n_rows = 1000 if scale == 1.0 else 20
    rows = [
        (
            *(BEGIN + 1000 * (scale > 1.0) + scale + i / n_rows, "confirmed", f"mul-{i}", i % 10),
            *(simulation.address(i % n), simulation.address((i + 1) % n)),
            *(random.uniform(0, 9), 0.1),
        )
        for i in range(n_rows)
    ]
    return _columns("stealing", rows)


def _counters(_simulation: Simulation, _random: np.random.Generator, scale: float) -> Columns:
    return _columns("counters", [(f"counter-{i}", "count", scale + i) for i in range(60)])


def _activities(simulation: Simulation, random: np.random.Generator, scale: float) -> Columns:
    fine = _fine(simulation, random, scale)
    return {name: column[: len(column) // 10] for name, column in fine.items() if name != "span"}


def _fine(_simulation: Simulation, random: np.random.Generator, scale: float) -> Columns:
    rows = [
        (f"default > part {span}", context, label, activity, unit, scale * random.uniform(0, 9))
        for span in range(10)
        for context, activity in _ACTIVITIES
        for label in ([p[0] for p in PREFIXES] if context == "execute" else [""])
        for unit in ("seconds", "bytes")
    ]
    return _columns("fine", rows)


def _spans(_simulation: Simulation, _random: np.random.Generator, scale: float) -> Columns:
    states = tuple(int(100 * scale) for _ in STATES)
    rows = [
        (f"id{i}", f"default > part {i}", "", BEGIN, BEGIN + scale, states, 10**9, scale, ())
        for i in range(100)
    ]
    return _columns("spans", rows)


def _shuffles(simulation: Simulation, random: np.random.Generator, scale: float) -> Columns:
    rows = [
        ("shuffle-1", simulation.address(i), *(scale * random.uniform(0, 1e9, 10)).tolist(), BEGIN)
        for i in range(simulation.n_workers)
    ]
    return _columns("shuffles", rows)


_MAKERS: Final[Mapping[str, Callable[[Simulation, np.random.Generator, float], Columns]]] = {
    "durations": _durations,
    "bandwidth-types": _bandwidth_types,
    "bandwidth-workers": _bandwidth_workers,
    "system": _system,
    "errors": _errors,
    "stealing": _stealing,
    "counters": _counters,
    "activities": _activities,
    "fine": _fine,
    "spans": _spans,
    "shuffles": _shuffles,
}


def simulated_extras(simulation: Simulation, step: int) -> dict[str, ExtraChange]:
    """Return rows of every extra table; another ``step`` gives other values."""
    random = np.random.default_rng(step)
    return {
        extra.name: ExtraChange(_MAKERS[extra.name](simulation, random, 1.0 + step))
        for extra in EXTRAS
    }
