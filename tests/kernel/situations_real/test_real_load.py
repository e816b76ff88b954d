"""Saturated and idle workers, and a queue: what waits where, and for how long."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from distributed import Scheduler, Worker

from tests.kernel.situations_real.reading import Situation, near, situation

GATE = threading.Event()


def hold(x: int) -> int:
    """Run until the gate opens: the workers are threads of this process."""
    GATE.wait(300)
    return x


@pytest.fixture(scope="module")
def loaded() -> Iterator[Situation]:
    """Three workers: one with far more than it can do, one with a little, one with nothing."""
    GATE.clear()
    config = {
        "distributed.scheduler.work-stealing": False,
        "distributed.scheduler.default-task-durations": {"hold": "2s"},
    }
    with situation(config, n_workers=3, threads_per_worker=2) as found:
        one, two, _ = found.addresses
        held = found.client.map(hold, range(40), workers=[one], pure=False)
        held += found.client.map(hold, range(2), workers=[two], pure=False)
        try:
            yield found
        finally:
            GATE.set()
            found.client.gather(held)


def loads(scheduler: Scheduler) -> dict[str, tuple[int, int, str]]:
    """Return assigned and running tasks of each worker, and what the scheduler calls it."""
    return {
        ws.address: (
            len(ws.processing),
            len(ws.executing),
            "idle"
            if ws.address in scheduler.idle
            else "saturated"
            if ws in scheduler.saturated
            else "normal",
        )
        for ws in scheduler.workers.values()
    }


def is_loaded(theirs: dict[str, tuple[int, int, str]]) -> bool:
    return sum(running for _, running, _ in theirs.values()) == 4


def test_processing_counts_and_flags_are_the_engines(loaded: Situation) -> None:
    told = loaded.agree(
        lambda: loaded.by("worker", "nprocessing", "processing", "executing", "load"),
        loads,
        is_loaded,
    )
    one, two, three = (told[address] for address in loaded.addresses)
    assert one == (40, 2, "saturated")
    assert two[:2] == (2, 2)
    assert three == (0, 0, "idle")


def test_occupancy_is_the_engines_in_seconds(loaded: Situation) -> None:
    told = loaded.agree(
        lambda: loaded.by("worker", "occupancy", "occupancy"),
        lambda scheduler: {ws.address: ws.occupancy for ws in scheduler.workers.values()},
        is_same=near(1e-6),
    )
    assert told[loaded.addresses[0]] == pytest.approx(80.0)  # forty tasks of 2 s each
    assert told[loaded.addresses[2]] == 0


def test_the_workers_table_sums_them_up(loaded: Situation) -> None:
    loaded.agree(
        lambda: loaded.by("worker", "workers", "processing", "executing", "nthreads")[None],
        lambda scheduler: (
            sum(len(ws.processing) for ws in scheduler.workers.values()),
            sum(len(ws.executing) for ws in scheduler.workers.values()),
            sum(ws.nthreads for ws in scheduler.workers.values()),
        ),
        lambda theirs: theirs == (42, 4, 6),
    )


def test_running_tasks_are_in_the_stream_before_they_end(loaded: Situation) -> None:
    loaded.agree(
        lambda: sorted(
            row["key"] for row in loaded.rows("task-stream") if row["outcome"] == "running"
        ),
        lambda scheduler: sorted(
            str(ts.key) for ws in scheduler.workers.values() for ts in ws.executing
        ),
        lambda theirs: len(theirs) == 4,
    )


def test_progress_counts_them_as_processing(loaded: Situation) -> None:
    loaded.seen(
        lambda: loaded.by("prefix", "progress", "total", "done", "processing").get("hold"),
        (42, 0, 42).__eq__,
    )


def test_the_worker_page_lists_what_runs_and_what_waits(loaded: Situation) -> None:
    one = loaded.addresses[0]

    def states(dask_worker: Worker) -> dict[str, int]:
        found: dict[str, int] = {}
        for task in dask_worker.state.tasks.values():
            found[task.state] = found.get(task.state, 0) + 1
        return found

    def both() -> tuple[dict[str, int], dict[str, int]]:
        (theirs,) = loaded.client.run(states, workers=[one]).values()
        ours: dict[str, int] = {}
        for row in loaded.rows("worker", worker=one):
            ours[row["state"]] = ours.get(row["state"], 0) + 1
        return ours, theirs

    wanted = {"executing": 2, "ready": 38}
    loaded.seen(both, (wanted, wanted).__eq__)


def test_the_call_stack_of_a_running_task_has_its_function(loaded: Situation) -> None:
    one = loaded.addresses[0]
    key, *_ = loaded.seen(
        lambda: [r["key"] for r in loaded.rows("worker", worker=one) if r["state"] == "executing"],
        bool,
    )
    loaded.seen(
        lambda: loaded.table("task", key=key, show="call-stack")["call-stack"],
        lambda lines: any("hold" in line for line in lines),
    )
