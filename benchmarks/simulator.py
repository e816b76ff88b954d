"""A cluster that exists in arrays only: batches as a collector would send them, fast.

Imports nothing of the package but its schema, so that tests can use it as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import STATES, Batch, Change, GraphChange, Kind, Outcome, SchedulerInfo
from dask_diag_lab.schema.columns import arrays, columns_of, default_row
from dask_diag_lab.schema.tables import ACTIONS, GRAPHS, NTHREADS, RUNNING, WORKERS, TableSchema
from dask_diag_lab.schema.tables import PREFIXES as PREFIX_TABLE

BEGIN: Final = 1_790_000_000.0
"""When the simulated scheduler started, seconds since the epoch."""
PREFIXES: Final = (
    ("random_sample", 0.30, 8_000_000),
    ("mul", 0.05, 8_000_000),
    ("sum-partial", 0.08, 512),
    ("rechunk-split", 0.01, 2_000_000),
    ("rechunk-merge", 0.06, 8_000_000),
    ("read-parquet", 0.50, 24_000_000),
    ("getitem", 0.004, 1_000_000),
    ("add", 0.05, 8_000_000),
)
"""Name, median seconds and bytes of a result."""
GIB: Final = 1 << 30


_TASK: Final = [
    *((name, "f8") for name in ("start", "stop")),
    *((name, "i8") for name in ("worker", "thread", "prefix", "outcome")),
]
_Tasks = npt.NDArray[np.void]
"""One record a task, in the order in which they end."""


class Simulation:
    """The life of a cluster, as action rows and batches.

    Parameters
    ----------
    n_workers, n_threads : int
        Workers, and threads of each.
    n_tasks : int
    transfers, spills, errors : float
        Shares of tasks that fetch data first, write to disk after, or fail.
    deaths : int
        Workers that die half-way while running tasks.
    seed : int

    Attributes
    ----------
    actions : dict of str to ndarray
        The columns of `ACTIONS`, in order of arrival. String ids: 0 is '', then the workers'
        addresses, then the prefixes.
    strings, keys : list of str
    """

    def __init__(
        self,
        n_workers: int = 16,
        n_threads: int = 4,
        n_tasks: int = 10_000,
        *,
        transfers: float = 0.25,
        spills: float = 0.02,
        errors: float = 0.001,
        deaths: int = 1,
        seed: int = 7,
    ) -> None:
        self.n_workers, self.n_threads, self.n_tasks = n_workers, n_threads, n_tasks
        self.transfers, self.spills, self.errors = transfers, spills, errors
        self.n_dead = min(deaths, n_workers)
        self._random = np.random.default_rng(seed)
        self._tasks = self._run()
        self.strings = ["", *map(self.address, range(n_workers))]
        self.strings += [name for name, _, _ in PREFIXES]
        self.keys = self._make_keys()
        self.actions = self._make_actions()

    def address(self, worker: int) -> str:
        """Return the address of a worker by its number."""
        return f"tcp://10.0.{worker // 250}.{worker % 250 + 1}:{40_000 + worker}"

    @property
    def stop(self) -> float:
        """When the last task ended."""
        return float(self._tasks["stop"].max(initial=BEGIN))

    @property
    def dead(self) -> range:
        """Numbers of the workers that die."""
        return range(self.n_workers - self.n_dead, self.n_workers)

    def _run(self) -> _Tasks:
        """Fill every thread with tasks, one after the other, and kill some workers half-way."""
        random = self._random
        n, slots = self.n_tasks, self.n_workers * self.n_threads
        if not slots:
            n, slots = 0, 1
        rounds = -(-n // slots)
        number = np.arange(rounds * slots)
        # Groups of some thousand tasks take turns, as stages of an array computation do.
        prefix = (number // max(rounds * slots // 40, 1) + number % 5 // 4) % len(PREFIXES)
        median = np.array([seconds for _, seconds, _ in PREFIXES])[prefix]
        seconds = median * random.lognormal(0.0, 0.4, len(number))
        gap = random.exponential(0.004, len(number)) + 0.0005
        ends = np.cumsum((seconds + gap).reshape(rounds, slots), axis=0).ravel()
        stop = BEGIN + 1.0 + ends
        slot = number % slots
        tasks = np.empty(len(number), dtype=_TASK)
        tasks["start"], tasks["stop"], tasks["prefix"] = stop - seconds, stop, prefix
        tasks["worker"], tasks["thread"] = np.divmod(slot, max(self.n_threads, 1))
        tasks["outcome"] = np.where(random.random(len(number)) < self.errors, Outcome.ERRED, 0)
        tasks = self._kill(tasks[number < n])
        return tasks[np.argsort(tasks["stop"], kind="stable")]

    def _kill(self, tasks: _Tasks) -> _Tasks:
        if not self.n_dead or not len(tasks):
            return tasks
        time = float(tasks["stop"].mean())
        is_dead = tasks["worker"] >= self.dead.start
        is_killed = is_dead & (tasks["start"] < time) & (tasks["stop"] >= time)
        tasks["outcome"][is_killed] = Outcome.KILLED
        tasks["stop"][is_killed] = time
        return tasks[~is_dead | (tasks["start"] < time)]

    def _make_keys(self) -> list[str]:
        """Return keys as Dask makes them: of a collection, and every second one of a function."""
        names = [
            f"{name}-{self._random.bytes(16).hex()}"
            for name, _, _ in PREFIXES * (1 + len(self._tasks) // 100_000)
        ]
        batch = len(PREFIXES)
        tokens = self._random.bytes(16 * len(self._tasks)).hex()
        return [
            f"('{names[p + i // 100_000 * batch]}', {i // 100}, {i % 100})"
            if p % 2
            else f"{PREFIXES[p][0]}-{tokens[32 * i : 32 * (i + 1)]}"
            for i, p in enumerate(self._tasks["prefix"].tolist())
        ]

    def _make_actions(self) -> dict[str, npt.NDArray[Any]]:  # columns differ in dtype
        tasks, random = self._tasks, self._random
        n = len(tasks)
        fetching = np.flatnonzero(random.random(n) < self.transfers)
        spilling = np.flatnonzero(random.random(n) < self.spills)
        task = np.concatenate((np.arange(n), fetching, spilling))
        kind = np.repeat(
            np.array([Kind.COMPUTE, Kind.TRANSFER, Kind.DISK_WRITE], dtype=np.uint8),
            [n, len(fetching), len(spilling)],
        )
        start, stop = tasks["start"][task], tasks["stop"][task].copy()
        fetch, spill = kind == Kind.TRANSFER, kind == Kind.DISK_WRITE
        stop[fetch] = start[fetch]
        start[fetch] -= random.exponential(0.003, len(fetching)) + 1e-4
        start[spill] = stop[spill]
        stop[spill] += random.exponential(0.02, len(spilling)) + 1e-4
        peer = random.integers(0, max(self.n_workers, 1), len(task))
        worker, outcome = tasks["worker"][task], tasks["outcome"][task].astype(np.uint8)
        ident = 140_000_000_000_000 + worker * 4096 * self.n_threads + tasks["thread"][task] * 4096
        sizes = np.array([nbytes for _, _, nbytes in PREFIXES])[tasks["prefix"][task]]
        assigned = np.where(kind == Kind.COMPUTE, random.exponential(0.003, len(task)), np.nan)
        columns: dict[str, npt.NDArray[Any]] = {
            "start": start,
            "stop": stop,
            "kind": kind,
            "outcome": outcome,
            "worker": (worker + 1).astype(np.uint32),
            "thread": np.where(outcome == Outcome.KILLED, 0, ident).astype(np.uint64),
            "source": np.where(fetch, peer + 1, 0).astype(np.uint32),
            "prefix": (tasks["prefix"][task] + 1 + self.n_workers).astype(np.uint32),
            "type": np.zeros(len(task), dtype=np.uint32),
            "report_delay": np.full(len(task), 0.001, dtype=np.float32),
            "ready": (assigned + random.exponential(0.05, len(task))).astype(np.float32),
            "assigned": assigned.astype(np.float32),
            "graph": np.ones(len(task), dtype=np.uint32),
            "task": task,
            "nbytes": np.where(outcome == Outcome.OK, sizes, -1),
        }
        # All actions of a task arrive together, when it ends.
        order = np.lexsort((start, task))
        return {name: column[order] for name, column in columns.items()}

    def batches(self, rows: int = 5000) -> Iterator[Batch]:
        """Yield batches of at most ``rows`` actions; the last one finds the cluster idle."""
        total = len(self.actions["start"])
        for begin in range(0, max(total, 1), rows):
            yield self.batch(begin, min(begin + rows, total))

    def batch(self, begin: int, end: int) -> Batch:
        """Return the batch that brings the actions ``begin`` … ``end``."""
        first, last = self._tasks_before(begin), self._tasks_before(end)
        is_last = end == len(self.actions["start"])
        time = self.stop if is_last else float(self._tasks["stop"][max(last - 1, 0)])
        is_dead = bool(np.any(self._tasks["outcome"][:last] == Outcome.KILLED))
        actions = {name: column[begin:end] for name, column in self.actions.items()}
        rows: dict[TableSchema, Any] = {  # columns differ in type
            RUNNING: self._running(last, time),
            PREFIX_TABLE: self._prefixes(last),
            WORKERS: self._workers(last, time, is_dead),
            NTHREADS: [(BEGIN, self.n_workers * self.n_threads)],
        }
        if begin == 0:
            rows[GRAPHS] = [(1, BEGIN, BEGIN, "Client-simulated", 1, self.n_tasks, 0.0)]
        tables = {table.name: Change(columns_of(table, given)) for table, given in rows.items()}
        dead = [self.address(w) for w in self.dead] if is_dead else ()
        tables["workers"] = Change(tables["workers"].columns, removed=dead)
        return Batch(
            epoch="simulated",
            time=time,
            received=time,
            scheduler=self._scheduler(is_dead),
            tables=tables | {"actions": Change(arrays(ACTIONS, actions))},
            strings_from=0 if begin == 0 else len(self.strings),
            strings=self.strings if begin == 0 else (),
            actions_to=end,
            keys_from=first,
            keys=self.keys[first:last],
            graph=GraphChange(False, self.n_tasks, 5000) if begin == 0 else None,
        )

    def _tasks_before(self, row: int) -> int:
        if row == len(self.actions["start"]):
            return len(self._tasks)
        task = self.actions["task"]
        return int(task[row]) + int(row > 0 and task[row] == task[row - 1])

    def _scheduler(self, is_dead: bool) -> SchedulerInfo:
        workers = self.n_workers - (self.n_dead if is_dead else 0)
        return SchedulerInfo(
            id="Scheduler-simulated",
            address="tcp://10.0.0.1:8786",
            n_workers=workers,
            nthreads=workers * self.n_threads,
            thresholds={"target": 0.6, "spill": 0.7, "pause": 0.8, "terminate": 0.95},
        )

    def _next(self, done: int) -> _Tasks:
        """Return the tasks that end next: all that run are among them."""
        slots = self.n_workers * self.n_threads
        return self._tasks[done : done + 200 * slots]

    def _running(self, done: int, time: float) -> list[tuple[str, int, int, float, int]]:
        tasks = self._next(done)
        prefix = tasks["prefix"] + 1 + self.n_workers
        return [
            (
                self.keys[done + i],
                int(tasks["worker"][i]) + 1,
                int(prefix[i]),
                float(tasks["start"][i]),
                1,
            )
            for i in np.flatnonzero(tasks["start"] < time).tolist()
        ]

    def _prefixes(self, done: int) -> list[dict[str, Any]]:
        """Return rows of `PREFIXES`."""
        n = len(PREFIXES)
        total = np.bincount(self._tasks["prefix"], minlength=n)
        ended = np.bincount(self._tasks["prefix"][:done], minlength=n)
        erred = np.bincount(
            self._tasks["prefix"][:done],
            self._tasks["outcome"][:done] == Outcome.ERRED,
            minlength=n,
        ).astype(np.int64)
        rows = []
        for i, (name, seconds, nbytes) in enumerate(PREFIXES):
            states = dict.fromkeys(STATES, 0)
            memory = int(ended[i] - erred[i])
            states |= {"erred": int(erred[i]), "waiting": int(total[i] - ended[i])}
            states |= {"memory": memory // 4, "forgotten": memory - memory // 4}
            row = {"name": name, "states": list(states.values()), "nbytes": memory // 4 * nbytes}
            rows.append(row | {"duration": seconds if ended[i] else float("nan")})
        return rows

    def _workers(self, done: int, time: float, is_dead: bool) -> list[dict[str, Any]]:
        """Return rows of `WORKERS`."""
        running = self._next(done)
        executing = np.bincount(
            running["worker"][running["start"] < time], minlength=self.n_workers
        )
        alive = self.dead.start if is_dead else self.n_workers
        load = 0.2 + 0.7 * np.abs(np.sin(np.arange(alive) + (time - BEGIN) / 60))
        return [self._worker(i, time, float(load[i]), int(executing[i])) for i in range(alive)]

    def _worker(self, number: int, time: float, load: float, executing: int) -> dict[str, Any]:
        memory = int(8 * GIB * load)
        host = f"10.0.{number // 250}.{number % 250 + 1}"
        row = default_row(WORKERS) | {
            "address": self.address(number),
            "name": str(number),
            "host": host,
        }
        row |= {"nthreads": self.n_threads, "memory_limit": 8 * GIB, "last_seen": time}
        row |= {"status": "paused" if load > 0.85 else "running", "cpu": 97.0 * executing}
        row |= {"memory": memory, "managed": memory // 2, "unmanaged_old": memory // 3}
        row |= {"unmanaged_recent": memory // 6, "spilled": int(max(load - 0.7, 0) * 16 * GIB)}
        row |= {"processing": executing * 2, "executing": executing, "occupancy": executing * 0.4}
        row |= {"is_idle": not executing, "is_saturated": executing > 0 and number % 3 == 0}
        row |= {"incoming_bytes": 1000 * number, "outgoing_bytes": 500 * number}
        return row | {"metrics": {"event_loop_interval": 0.02}}
