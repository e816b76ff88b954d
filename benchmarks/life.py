"""A store in the middle of a run, in which every table changes with every step."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from benchmarks.off_loop import OffLoop
from benchmarks.simulated_answers import Answers
from benchmarks.simulated_extras import simulated_extras
from benchmarks.simulator import BEGIN, PREFIXES, Simulation
from dask_diag_lab.records import STATES, Batch
from dask_diag_lab.store import Store


def _groups(n: int, step: int) -> list[Mapping[str, Any]]:
    """Return rows of `GROUPS` in layers of ten, each depending on the layer before."""
    rows: list[Mapping[str, Any]] = []
    for i in range(n):
        states = dict.fromkeys(STATES, 0) | {"memory": 50 + step, "processing": 10, "waiting": 40}
        rows.append(
            {
                "name": f"{PREFIXES[i % 8][0]}-{i:032x}",
                "prefix": PREFIXES[i % 8][0],
                "states": list(states.values()),
                "nbytes": 10**8,
                "duration": 1.0 + step,
                "start": BEGIN,
                "stop": BEGIN + step,
                "dependencies": [f"{PREFIXES[j % 8][0]}-{j:032x}" for j in _before(i)],
                "is_ended": False,
            }
        )
    return rows


def _before(i: int) -> Iterable[int]:
    layer = i // 10
    return range(max(layer - 1, 0) * 10, layer * 10) if layer and i % 10 < 3 else ()


class Life:
    """A simulated cluster near its end: the last batches bring changes of everything.

    Parameters
    ----------
    n_workers, n_tasks : int
        Of four threads each; all but the tasks of the last steps are in the store at once.
    n_steps : int
        Calls of `step` that still bring tasks; more of them bring everything else.

    Attributes
    ----------
    store : Store
    answers : Answers
        Of the cluster, to what views ask.
    off_loop : OffLoop
        What views have worked out.
    """

    def __init__(self, n_workers: int, n_tasks: int, n_steps: int) -> None:
        self._simulation = simulation = Simulation(n_workers, 4, n_tasks)
        # The simulated clock moves with the batches alone.
        self.store = Store(clock=lambda: 0.0)
        self.answers = Answers(self.store)
        self.off_loop = OffLoop(self.store)
        self._rows = len(simulation.actions["start"])
        self._step_rows = min(n_workers * 8, 5000, self._rows // (4 * n_steps))
        self._at = self._rows - (n_steps + 1) * self._step_rows
        for begin in range(0, self._at, 5000):
            self.store.apply(simulation.batch(begin, min(begin + 5000, self._at)))
        self.store.set_feed_state("live", "", time.time())
        self._number = 0
        self.step()

    def step(self) -> None:
        """Bring the next batch, in which every table has changed."""
        begin, end = self._at, min(self._at + self._step_rows, self._rows)
        batch = self._simulation.batch(begin, end)
        self.store.apply(self._with_the_rest(batch))
        self.answers.renew()
        self._at, self._number = end, self._number + 1

    def _with_the_rest(self, batch: Batch) -> Batch:
        n_groups = min(max(self._simulation.n_tasks // 1000, 10), 1000)
        workers = [
            {
                **row,
                "cpu": row["cpu"] + self._number,
                "memory": row["memory"] + self._number * 10**6,
                "unmanaged_recent": row["unmanaged_recent"] + self._number * 10**6,
                "occupancy": row["occupancy"] + self._number * 0.1,
                "processing": row["processing"] + self._number,
                "incoming_bytes": row["incoming_bytes"] + self._number * 1000,
                "metrics": _metrics(i, self._number),
            }
            for i, row in enumerate(batch.workers or ())
        ]
        return replace(
            batch,
            workers=workers,
            groups=_groups(n_groups, self._number),
            extras=simulated_extras(self._simulation, self._number),
            events=[(batch.time, "worker-paused", {"worker": self._simulation.address(0)})],
        )


def _metrics(worker: int, step: int) -> dict[str, float]:
    names = [f"host_{what}_io.{way}_bps" for what in ("net", "disk") for way in ("read", "write")]
    rates = dict.fromkeys(names, 1e6 * (1 + (worker + step) % 17))
    return rates | {"event_loop_interval": 0.02, "num_fds": 30.0 + step, "custom": float(step)}
